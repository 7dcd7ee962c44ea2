"""The search for the cheapest pattern: a safe pattern that gets cheaper, a bound that rises, until they meet."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.suppression.optimum.attackers import Attackers, Cut
from diskret.suppression.optimum.master import Master
from diskret.suppression.optimum.rounded_cuts import rounded
from diskret.suppression.optimum.separation import broken, lonely
from diskret.suppression.optimum.witnesses import Witnesses

Progress = Callable[[str, int, int], None]
DEAREST = 1000.0
"""Prices are scaled to at most this: the solver's tolerances are absolute."""
SMALL = 1000
"""Up to so many cells all are kept in mind when cuts are looked for, beyond only those near a pattern."""
FEW, BEST, MANY = 5, 3, 30
"""Cuts below which a round found little; patterns of a programme worth completing; gaps of a pattern worth cutting."""
LOOSE = 0.05
"""Share of the gap a mixed-integer programme may leave as long as cuts are missing."""
FIRST = 0.4
"""Share of the time that the first pattern may take."""
PATIENCE = 2
"""So many mixed-integer programmes are tried before cuts are looked for by diving."""


class Search:
    """The best safe pattern and the best bound so far, getting better."""

    def __init__(self, attackers: Attackers, witnesses: Witnesses, price: Floats, begun: float, seconds: float,
                 progress: Progress | None) -> None:  # fmt: skip
        self.attackers, self.witnesses = attackers, witnesses
        self.price = price
        self.scale = DEAREST / max(float(price.max(initial=0.0)), 1e-300)
        self.step = _step(price[~attackers.always])
        self.end = begun + seconds
        self.begun, self.seconds = begun, seconds
        self.say = progress or (lambda what, done, of: None)
        self.base = attackers.always.astype(np.float64)
        self.master = Master(price * self.scale, ~attackers.always)
        self.best = np.ones(price.size, dtype=np.bool_)
        self.bound = 0.0
        self.loose = True
        self.near = attackers.always | (price.size <= SMALL)
        """Cells that were hidden, at least in part, in some point or pattern before."""
        self.shut = np.zeros(price.size, dtype=np.bool_)
        self.trace: Callable[[str], None] = lambda text: None

    def late(self) -> bool:
        """Whether the time is up."""
        self.say("optimal", int(time.perf_counter() - self.begun), int(self.seconds))
        return time.perf_counter() > self.end

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter()

    def cost(self, hidden: Bools) -> float:
        """Price of the cells a pattern hides in addition."""
        return float(self.price[hidden & ~self.attackers.always].sum())

    @property
    def proved(self) -> bool:
        """Whether no safe pattern can be cheaper."""
        cost = self.cost(self.best)
        return bool(cost - self.bound <= 1e-6 * cost or cost - self.bound < 0.999 * self.step)

    def run(self, start: Bools | None) -> None:
        """Begin with a thinned pattern, then bounds and better patterns in turn."""
        self._first(start)
        self._relax(patterns=True)
        turn = 0
        while not self.proved and not self.late() and self._branch():
            self._relax(patterns=False)
            turn += 1
            if turn > PATIENCE and not self.proved:
                self._dive(True)
                self._dive(False)

    def _first(self, start: Bools | None) -> None:
        """What the first look at everything used, then a routed pattern; bounds need the larger part of the time."""
        self.best = self.witnesses.cells(self.best) | self.attackers.always
        end, self.end = self.end, self.begun + FIRST * (self.end - self.begun)
        if start is not None:
            given = start | self.attackers.always
            if self.witnesses.gaps(given, self.late, most=1) == []:
                self.offer(given, self.price)
        self.build(np.zeros(self.price.size))
        self.end = end

    def offer(self, hidden: Bools, dear: Floats) -> None:
        """Take a safe pattern, thin it, dearest cells first, and keep what is the cheapest so far."""
        if self.cost(hidden) < self.cost(self.best):
            self.best = hidden
        thinned = self.witnesses.thin(hidden, np.argsort(-dear, kind="stable").tolist(), self.late)
        if self.cost(thinned) < self.cost(self.best):
            self.best = thinned
            self.near |= thinned
            self.trace(f"pattern {self.cost(thinned):,.0f} ({int((thinned & ~self.attackers.always).sum())})")

    def raise_bound(self, found: float) -> None:
        """A programme's bound, a hair less for its tolerances, rounded up where prices are whole."""
        value = found / self.scale
        value -= 1e-7 * max(1.0, abs(value))
        if self.step > 0:
            value = np.ceil(value / self.step - 1e-6) * self.step
        self.bound = min(max(self.bound, value), self.cost(self.best))

    # --- relaxation ---------------------------------------------------------------------------------------------------

    def _relax(self, patterns: bool) -> None:
        """Cut off the cheapest point of the relaxation until no cut is broken or the bound hardly rises."""
        history: list[float] = []
        while not self.late() and not self.proved:
            solved = self.master.solve(self.base, self.left)
            if solved is None:
                break
            value, x, reduced = solved
            self.raise_bound(value)
            self.near |= x > 1e-6
            history.append(value)
            self._fix(value, reduced)
            new = self.master.from_shelf(x) + self.master.add(self._broken(x, len(history)), self.base)
            self.trace(f"round {len(history)}: {value / self.scale:,.1f}, {new} cuts, {len(self.master.cuts)} rows")
            if patterns:
                self.master.tidy()  # later on, every cut was hard to find
            if patterns and (len(history) % 10 == 0 or not new):
                self.complete(x)
                self.build(x)
            if not new or (len(history) > 12 and value - history[-6] < 1e-4 * value):
                break

    def _broken(self, x: Floats, turn: int) -> list[Cut]:
        """Cuts a point breaks; insiders, of whom there are many, only where outsiders find little, and in turn."""
        cuts = lonely(self.attackers, x)
        cuts += broken(self.attackers, self.witnesses, x, self.near, self.late, [0])
        if len(cuts) < FEW and len(self.attackers.knows) > 1:
            people = np.roll(np.arange(1, len(self.attackers.knows)), -7 * turn).tolist()
            cuts += broken(self.attackers, self.witnesses, x, self.near, self.late, people)
        return cuts + [r for r in (rounded(c, x) for c in [*cuts, *self.master.cuts]) if r is not None]

    def _fix(self, value: float, reduced: Floats) -> None:
        """A cell whose hiding would cost more than the best pattern stays open."""
        room = self.cost(self.best) * self.scale - value + 1e-6
        fixed = self.master.free & ~self.shut & (reduced > room)
        if fixed.any():
            self.shut |= fixed
            self.master.fix(np.flatnonzero(fixed), 0.0)

    def complete(self, x: Floats) -> None:
        """A safe pattern near a point: what it hides, and the best pattern, thinned; the point's cells last."""
        whole = (x > 0.01) | self.attackers.always
        if self.witnesses.gaps(whole, self.late, most=1) != []:
            whole |= self.best
        self.offer(whole, self.price * (1.02 - np.minimum(x, 1.0)))

    def build(self, x: Floats) -> None:
        """A safe pattern routed near a point."""
        dear = self.price * (1.02 - np.minimum(x, 1.0))
        pattern = self.witnesses.route(dear, self.late)
        if pattern is not None:
            self.trace(f"routed {self.cost(pattern):,.0f}")
            self.offer(pattern, dear)

    def _dive(self, upward: bool) -> int:
        """Hide (or open) one half-hidden cell after the other and collect the cuts that the points on the way break.

        These are the cuts a branching programme would need deep in its tree.
        """
        fixed: list[int] = []
        new = 0
        while not self.late():
            solved = self.master.solve(self.base, self.left)
            if solved is None or solved[0] >= self.cost(self.best) * self.scale:
                break
            x = solved[1]
            found = self.master.from_shelf(x) + self.master.add(self._broken(x, len(fixed)), self.base)
            new += found
            if found > FEW:
                continue
            (half,) = np.nonzero((x > 1e-6) & (x < 1 - 1e-6))
            if not half.size:
                break
            cell = int(half[np.argmax(x[half])] if upward else half[np.argmin(np.abs(x[half] - 0.5))])
            self.master.fix(np.array([cell]), 1.0 if upward else 0.0)
            fixed.append(cell)
        self.master.release(np.array(fixed, dtype=np.int64))
        self.trace(f"  dived {len(fixed)} deep: {new} cuts")
        return new

    # --- whole cells --------------------------------------------------------------------------------------------------

    def _branch(self) -> bool:
        """Let the mixed-integer programme choose, attack its patterns and cut off what is not safe.

        As long as cuts are missing its last percents are not worth the time. False if nothing more can be done.
        """
        cost = self.cost(self.best)
        whole = 0.99 * self.step if self.step > 0 else 1e-7 * cost
        gap = max(whole, LOOSE * (cost - self.bound) if self.loose else 0.0)
        choice = self.master.choose(self.base, self.best, self.left, gap * self.scale, self.shut)
        self.raise_bound(choice.bound)
        self.trace(f"branched: {choice.bound / self.scale:,.1f}, {len(choice.patterns)} patterns, {choice.finished}")
        new = 0
        for number, hidden in enumerate(choice.patterns):
            if self.late():
                return True
            cuts = self._cut_off(hidden)
            new += self.master.add(cuts, self.base)
            if number < BEST and self.cost(hidden) < self.cost(self.best):
                self.complete(hidden.astype(np.float64))
        self.trace(f"  {new} cuts")
        stuck = not new and not self.loose
        self.loose = new > 0
        return not stuck

    def _cut_off(self, hidden: Bools) -> list[Cut]:
        """Cuts a pattern breaks."""
        x = hidden.astype(np.float64)
        everybody = range(len(self.attackers.knows))
        cuts = broken(self.attackers, self.witnesses, x, self.near, self.late, everybody)
        if not cuts:
            cuts = [c for gap in self.witnesses.gaps(hidden, self.late, most=MANY) or [] for c in gap.cuts]
        return cuts


def _step(price: Floats) -> float:
    """The largest number all prices are a multiple of; 0 if they are not whole."""
    if not price.size or (price != np.round(price)).any() or price.max() > 2**50:
        return 0.0
    return float(np.gcd.reduce(price.astype(np.int64)))
