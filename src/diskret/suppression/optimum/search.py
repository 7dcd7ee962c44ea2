"""The search for the cheapest pattern: a safe pattern that gets cheaper, a bound that rises, until they meet."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.tolerances import POSITIVE, SOLVER, WHOLE
from diskret.suppression.optimum.attackers import Cut
from diskret.suppression.optimum.known_moves import Witnesses
from diskret.suppression.optimum.master import Master, Relaxed
from diskret.suppression.optimum.rounded_cuts import rounded
from diskret.suppression.optimum.separation import broken, lonely

HIGHEST = 1000.0
"""Prices are scaled to at most this: the solver's tolerances are absolute."""
SMALL = 1000
"""Up to this many cells all are kept in mind when cuts are looked for, beyond only those near a pattern."""
FEW, BEST, MANY = 5, 3, 30
"""Cuts below which a round found little; patterns of a programme worth completing; gaps of a pattern worth cutting."""
LOOSE = 0.05
"""Share of the gap a mixed-integer programme may leave as long as cuts are missing."""
FIRST = 0.4
"""Share of the time that the first pattern may take."""
RELAXED = 0.6
"""Share of the programmes of a part that its relaxation may take."""
PATIENCE = 2
"""This many mixed-integer programmes are tried before cuts are looked for by diving."""
SLOW, ROUNDS, BACK = 1e-4, 12, 6
"""After this many rounds the relaxation is left if its last ones raised the bound by less than this share."""


class Search:
    """The best safe pattern and the best bound so far, getting better."""

    def __init__(self, witnesses: Witnesses) -> None:
        self.witnesses, self.attackers, self.clock = witnesses, witnesses.attackers, witnesses.clock
        self.price, always = witnesses.price, witnesses.attackers.always
        self.scale = HIGHEST / max(float(self.price.max(initial=0.0)), POSITIVE)
        self.step = _step(self.price[~always])
        self.master = Master(self.price * self.scale, always)
        self.best = np.ones(always.size, dtype=np.bool_)
        self.bound = 0.0
        self.loose = True
        self.near = always | (always.size <= SMALL)
        """Cells that were hidden, at least in part, in some point or pattern before."""
        self.shut = np.zeros(always.size, dtype=np.bool_)

    def cost(self, hidden: Bools) -> float:
        """Price of the cells a pattern hides in addition."""
        return float(self.price[hidden & ~self.attackers.always].sum())

    @property
    def proved(self) -> bool:
        """Whether no safe pattern can be cheaper."""
        cost = self.cost(self.best)
        return bool(cost - self.bound <= WHOLE * cost or cost - self.bound < 0.999 * self.step)

    @property
    def _over(self) -> bool:
        return self.clock.late or self.proved

    def run(self, start: Bools | None) -> None:
        """Begin with a thinned pattern, then bounds and better patterns in turn."""
        self._first(start)
        self._relax(patterns=True)
        turn = 0
        while not self._over and self._branch():
            self._relax(patterns=False)
            turn += 1
            if turn > PATIENCE and not self.proved:
                self._dive(True)
                self._dive(False)

    def improve(self, start: Bools, branch: bool) -> None:
        """Begin with a pattern known to be safe; without ``branch`` only the relaxation and patterns near it."""
        self.best = start
        self.near |= start
        self.clock.end_after(RELAXED)
        self._relax(patterns=True)
        ended = not self.clock.late
        self.clock.end_after(1.0)
        if not ended and (found := self._solve()) is not None:
            self.complete(found.x)
            self.build(found.x)
        while branch and not self._over and self._branch():
            self._relax(patterns=False)

    def _first(self, start: Bools | None) -> None:
        """What the first look at everything used, then a routed pattern; bounds need the larger part of the time."""
        self.best = self.witnesses.cells(self.best) | self.attackers.always
        self.clock.end_after(FIRST)
        if start is not None:
            given = start | self.attackers.always
            if self.witnesses.gaps(given, most=1) == []:
                self.offer(given, self.price)
        self.build(np.zeros(self.price.size))
        self.clock.end_after(1.0)

    # --- patterns -----------------------------------------------------------------------------------------------------

    def offer(self, hidden: Bools, price: Floats) -> None:
        """Take a safe pattern, thin it, the most expensive cells first, and keep what is the cheapest so far."""
        if self.cost(hidden) < self.cost(self.best):
            self.best = hidden
        thinned = self.witnesses.thin(hidden, np.argsort(-price, kind="stable").tolist())
        if self.cost(thinned) < self.cost(self.best):
            self.best = thinned
            self.near |= thinned

    def complete(self, x: Floats) -> None:
        """A safe pattern near a point: what it hides, and the best pattern, thinned; the point's cells last."""
        whole = (x > 0.01) | self.attackers.always
        if self.witnesses.gaps(whole, most=1) != []:
            whole |= self.best
        self.offer(whole, self._nearer_is_cheaper(x))

    def build(self, x: Floats) -> None:
        """A safe pattern routed near a point."""
        price = self._nearer_is_cheaper(x)
        pattern = self.witnesses.route(price)
        if pattern is not None:
            self.offer(pattern, price)

    def _nearer_is_cheaper(self, x: Floats) -> Floats:
        return np.asarray(self.price * (1.02 - np.minimum(x, 1.0)))

    # --- relaxation ---------------------------------------------------------------------------------------------------

    def raise_bound(self, found: float) -> None:
        """A programme's bound, a hair less for its tolerances, rounded up where prices are whole."""
        value = found / self.scale
        value -= SOLVER * max(1.0, abs(value))
        if self.step > 0:
            value = np.ceil(value / self.step - WHOLE) * self.step
        self.bound = float(min(max(self.bound, value), self.cost(self.best)))

    def _solve(self) -> Relaxed | None:
        found = self.master.solve(self.clock.left)
        self._count()
        return found

    def _count(self) -> None:
        """A step of the solver takes about as long as a programme."""
        self.attackers.programmes += self.master.iterations
        self.master.iterations = 0

    def _relax(self, patterns: bool) -> None:
        """Cut off the cheapest point of the relaxation until no cut is broken or the bound hardly rises."""
        history: list[float] = []
        while not self._over:
            found = self._solve()
            if found is None:
                return
            history.append(found.cost)
            self.raise_bound(found.cost)
            self.near |= found.x > WHOLE
            self._fix(found.cost, found.reduced)
            new = self._cut(found.x, len(history))
            if patterns:
                self.master.tidy()  # later on, every cut was hard to find
                if len(history) % 10 == 0 or not new:
                    self.complete(found.x)
                    self.build(found.x)
            if not new or (len(history) > ROUNDS and found.cost - history[-BACK] < SLOW * found.cost):
                return

    def _cut(self, x: Floats, turn: int) -> int:
        """Take in the cuts a point breaks; insiders, of whom there are many, only where outsiders find little."""
        back = self.master.from_shelf(x)
        cuts = lonely(self.attackers, x) + broken(self.witnesses, x, self.near, [0])
        if len(cuts) < FEW and len(self.attackers.knows) > 1:
            in_turn = np.roll(np.arange(1, len(self.attackers.knows)), -7 * turn).tolist()
            cuts += broken(self.witnesses, x, self.near, in_turn)
        stronger = [rounded(c, x) for c in [*cuts, *self.master.cuts]]
        return back + self.master.add(cuts + [c for c in stronger if c is not None])

    def _fix(self, value: float, reduced: Floats) -> None:
        """A cell whose hiding would cost more than the best pattern stays open."""
        room = self.cost(self.best) * self.scale - value + WHOLE
        fixed = self.master.free & ~self.shut & (reduced > room)
        if fixed.any():
            self.shut |= fixed
            self.master.bound(np.flatnonzero(fixed), 0.0, 0.0)

    def _dive(self, upward: bool) -> None:
        """Hide (or open) one half-hidden cell after the other and collect the cuts that the points on the way break.

        These are the cuts a branching programme would need deep in its tree.
        """
        fixed: list[int] = []
        while not self.clock.late:
            found = self._solve()
            if found is None or found.cost >= self.cost(self.best) * self.scale:
                break
            if self._cut(found.x, len(fixed)) > FEW:
                continue
            (half,) = np.nonzero((found.x > WHOLE) & (found.x < 1 - WHOLE))
            if not half.size:
                break
            hidden = found.x[half]
            fixed.append(int(half[np.argmax(hidden) if upward else np.argmin(np.abs(hidden - 0.5))]))
            self.master.bound(np.array(fixed[-1:]), float(upward), float(upward))
        self.master.bound(np.array(fixed, dtype=np.int64), 0.0, 1.0)

    # --- whole cells --------------------------------------------------------------------------------------------------

    def _branch(self) -> bool:
        """Let the mixed-integer programme choose, attack its patterns and cut off what is not safe.

        As long as cuts are missing its last percents are not worth the time. False if nothing more can be done.
        """
        cost = self.cost(self.best)
        whole = 0.99 * self.step if self.step > 0 else SOLVER * cost
        gap = max(whole, LOOSE * (cost - self.bound) if self.loose else 0.0)
        choice = self.master.choose(self.best, self.shut, self.clock, gap * self.scale)
        self._count()
        self.raise_bound(choice.bound)
        new = 0
        for number, hidden in enumerate(choice.patterns):
            if self.clock.late:
                return True
            new += self.master.add(self._cut_off(hidden))
            if number < BEST and self.cost(hidden) < self.cost(self.best):
                self.complete(hidden.astype(np.float64))
        stuck = not new and not self.loose
        self.loose = new > 0
        return not stuck

    def _cut_off(self, hidden: Bools) -> list[Cut]:
        """Cuts a pattern breaks."""
        everybody = range(len(self.attackers.knows))
        cuts = broken(self.witnesses, hidden.astype(np.float64), self.near, everybody)
        return cuts or [c for gap in self.witnesses.gaps(hidden, most=MANY) or [] for c in gap.cuts]


def _step(price: Floats) -> float:
    """The largest number all prices are a multiple of; 0 if they are not whole."""
    if price.size and price.min() == price.max():
        return float(price[0])
    if not price.size or (price != np.round(price)).any() or price.max() > 2**50:
        return 0.0
    return float(np.gcd.reduce(price.astype(np.int64)))
