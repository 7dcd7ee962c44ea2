"""Optimal suppression of a small table: the cheapest safe pattern, or a safe one and a proof how far it can be off.

Every cell that may be hidden is a variable, zero or one; what every attacker must not find out becomes cuts over them
(Fischetti and Salazar). Cuts are first collected on the linear relaxation, then in turn with a mixed-integer programme:
its pattern is attacked, what the attack finds is cut off, and so on. Every pattern on the way is completed to a safe one
and thinned, so there is a safe pattern at any time, and every programme's bound holds for all safe patterns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.equations import Equations, equations_of
from diskret.model.errors import BadOption
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.attackers import DOWN, RANGE, UP, Attackers, Bools, Cut, Demands, Floats, Ints
from diskret.suppression.master import Master
from diskret.suppression.result import Unprotected
from diskret.suppression.rounded_cuts import rounded
from diskret.suppression.separation import broken, deepened, lonely
from diskret.suppression.witnesses import Gap, Witnesses

Progress = Callable[[str, int, int], None]
TOLERANCE = 1e-7
DEAREST = 1000.0
"""Prices are scaled to at most this: the solver's tolerances are absolute."""
SMALL = 1000
"""Up to so many cells all are kept in mind when cuts are looked for, beyond only those near a pattern."""
FEW, BEST, MANY = 5, 3, 30
LOOSE = 0.2


@dataclass(frozen=True, eq=False)
class Optimum:
    """A safe pattern, and what is proved about it."""

    hidden: npt.NDArray[np.bool_]
    """All hidden cells (flat): those of the table and the new ones."""
    cost: float
    bound: float
    """No safe pattern costs less."""
    proved_optimal: bool
    unprotectable: tuple[Unprotected, ...]
    """What no pattern can protect; left out of what is asked."""
    cuts: int
    programmes: int
    seconds: float

    @property
    def gap(self) -> float:
        """By which share of the cost the pattern may be too dear."""
        return 0.0 if self.proved_optimal or self.cost <= 0 else (self.cost - self.bound) / self.cost


def optimal(
    table: Table,
    usable: npt.NDArray[np.bool_],
    price: npt.NDArray[np.float64],
    protection: Protection,
    knowledge: Knowledge,
    *,
    persons: npt.NDArray[np.int64] | None = None,
    start: npt.NDArray[np.bool_] | None = None,
    seconds: float = 60.0,
    progress: Progress | None = None,
) -> Optimum:
    """The cheapest pattern that keeps what ``protection`` asks for, against outsiders and against every single person.

    ``usable`` says which open cells may be hidden and ``price`` what each costs. ``persons`` has the number of the
    person who is alone in a cell, -1 elsewhere: he knows all cells of his number and must not find out another primary
    cell. ``start`` is a safe pattern to begin with. All arrays are flat. After ``seconds`` the best safe pattern found
    so far comes back with the bound proved so far. (What no pattern can protect is looked up first, whatever the time.)

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 30, 20], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> best = optimal(table, table.status.reshape(-1) == 0, table.value.reshape(-1), Protection(), Knowledge.positive())
    >>> best.hidden.tolist(), best.cost, best.proved_optimal
    ([True, False, True, False], 20.0, True)
    """
    if not seconds > 0:
        raise BadOption(f"{seconds:g} seconds", hint="a positive time limit, for instance 60.")
    begun = time.perf_counter()
    flat = table.hidden.reshape(-1)
    system, up, down = _movable(table, flat | usable, *knowledge.room(table))
    always = flat[system.cells]
    people = np.full(table.size, -1) if persons is None else persons
    demands, lost = _demands(table, protection, system, people)
    knows = [np.empty(0, dtype=np.int64), *(np.flatnonzero(people[system.cells] == k) for k in _numbers(people))]
    attackers = Attackers(system, up, down, always, demands, knows)
    witnesses = Witnesses(attackers, price[system.cells])
    everything = np.ones(system.cells.size, dtype=np.bool_)
    gaps = witnesses.gaps(everything, lambda: False) or []
    unprotectable = _unprotectable(table, attackers, lost, gaps)
    search = Search(attackers, witnesses, price[system.cells], begun, seconds, progress)
    search.run(None if start is None else start[system.cells])
    again = Witnesses(Attackers(system, up, down, always, demands, knows), price[system.cells])
    if again.gaps(search.best, lambda: False) != []:
        search.best = everything  # never seen: a solver that contradicts itself gets no benefit of the doubt
    hidden = flat.copy()
    hidden[system.cells[search.best]] = True
    return Optimum(
        hidden, float(price[hidden & ~flat].sum()), search.bound, search.proved, unprotectable,
        len(search.master.cuts) + len(search.master.shelf), attackers.programmes, time.perf_counter() - begun,
    )  # fmt: skip


def _movable(table: Table, allowed: Bools, up: Floats, down: Floats) -> tuple[Equations, Floats, Floats]:
    """The cells that can move at all if everything is hidden: a cell alone in an equation is known."""
    movable = allowed & (up + down > 0)
    while True:
        system = equations_of(table, movable)
        single = np.diff(system.start) == 1
        if not single.any():
            return system, np.maximum(up[system.cells], 0.0), np.maximum(down[system.cells], 0.0)
        movable[system.cells[system.columns[system.start[:-1][single]]]] = False


def _numbers(people: Ints) -> list[int]:
    return [int(k) for k in np.unique(people) if k >= 0]


def _demands(table: Table, protection: Protection, system: Equations, people: Ints) -> tuple[Demands, Ints]:
    """What is asked for, as the audit asks for it (a hair more, so that it always agrees), and hopeless primaries."""
    primary = table.status.reshape(-1) == Status.PRIMARY
    columns = np.flatnonzero(primary[system.cells])
    cells = system.cells[columns]
    span, below, above = (a[cells] for a in protection.needs(table))
    slack = TOLERANCE * np.maximum(np.abs(table.value.reshape(-1)[cells]), 1.0)
    need = np.zeros((3, cells.size))
    need[UP] = np.where(above > slack, above - slack / 2, 0.0)
    need[DOWN] = np.where(below > slack, below - slack / 2, 0.0)
    need[RANGE] = span + 2 * slack
    need[RANGE, need[UP] + need[DOWN] >= need[RANGE]] = 0.0
    asked = np.stack([np.ones(cells.size, dtype=np.bool_), *(people[cells] != k for k in _numbers(people))])
    lost = np.setdiff1d(np.flatnonzero(primary), cells)
    return Demands(columns, need, asked), lost


def _unprotectable(table: Table, attackers: Attackers, lost: Ints, gaps: list[Gap]) -> tuple[Unprotected, ...]:
    """Name what fails even if everything is hidden, and ask for it no longer."""
    demands, cells = attackers.demands, attackers.system.cells
    found = [(int(cell), 0.0, "it can be computed whatever is hidden") for cell in lost]
    for gap in gaps:
        if not demands.asked[gap.attacker, gap.target]:
            continue
        why = "no further suppression leaves a wide enough interval"
        if gap.attacker:
            own = int(cells[attackers.knows[gap.attacker][0]])
            why += f" for the respondent alone in {_name(table, own)}"
            demands.asked[gap.attacker, gap.target] = False
        else:
            demands.asked[:, gap.target] = False
        found.append((int(cells[demands.columns[gap.target]]), gap.rise + gap.fall, why))
    return tuple(Unprotected(_name(table, cell), _index(table, cell), reached, why) for cell, reached, why in found)


def _index(table: Table, cell: int) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(cell, table.shape))


def _name(table: Table, cell: int) -> str:
    return ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(_index(table, cell)), strict=True))


class Search:
    """The best safe pattern and the best bound so far, getting better."""

    def __init__(self, attackers: Attackers, witnesses: Witnesses, price: Floats, begun: float, seconds: float,
                 progress: Progress | None) -> None:  # fmt: skip
        self.attackers, self.witnesses = attackers, witnesses
        self.price = price
        self.scale = DEAREST / max(float(price.max(initial=0.0)), 1e-300)
        self.step = _step(price[~attackers.always])
        self.end = begun + seconds
        self.begun = begun
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
        while not self.proved and not self.late():
            if not self._branch():
                break
            self._relax(patterns=False)

    def _first(self, start: Bools | None) -> None:
        self.build(np.zeros(self.price.size))
        if start is not None:
            given = start | self.attackers.always
            if self.witnesses.gaps(given, self.late, most=1) == []:
                self.offer(given, self.price)

    def offer(self, hidden: Bools, dear: Floats) -> None:
        """Thin a safe pattern, dearest cells first, and keep it if it is the cheapest so far."""
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
            self.master.fix(np.flatnonzero(fixed))

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
        order = np.argsort(self.price, kind="stable")
        for gap in self.witnesses.gaps(hidden, self.late, most=MANY) or []:
            cuts += deepened(self.attackers, hidden, gap, order, self.late)
        return cuts


def _step(price: Floats) -> float:
    """The largest number all prices are a multiple of; 0 if they are not whole."""
    if not price.size or (price != np.round(price)).any() or price.max() > 2**50:
        return 0.0
    return float(np.gcd.reduce(price.astype(np.int64)))
