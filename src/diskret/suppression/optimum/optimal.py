"""Optimal suppression of a small table: the cheapest safe pattern, or a safe one and a proof how far it can be off.

Every cell that may be hidden is a variable, zero or one; what every attacker must not find out becomes cuts over them
(Fischetti and Salazar). Cuts are first collected on the linear relaxation, then in turn with a mixed-integer programme:
its pattern is attacked, what the attack finds is cut off, and so on. Every pattern on the way is completed to a safe
one and thinned, so there is a safe pattern at any time, and every programme's bound holds for all safe patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations, equations_of
from diskret.model.errors import BadOption
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.model.tolerances import SOLVER
from diskret.moves.demands import demands_of
from diskret.moves.persons import stand_behind
from diskret.suppression.optimum.attackers import DOWN, RANGE, UP, Attackers, Goals
from diskret.suppression.optimum.clock import Clock
from diskret.suppression.optimum.known_moves import Gap, Witnesses
from diskret.suppression.optimum.search import Search
from diskret.suppression.result import Unprotected


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimum:
    """A safe pattern, and what is proved about it."""

    hidden: Bools
    """All hidden cells (flat): those of the table and the new ones."""
    cost: float
    bound: float
    """No safe pattern costs less."""
    proved_optimal: bool
    unprotectable: tuple[Unprotected, ...]
    """What no pattern can protect; left out of what is asked."""
    cuts: int
    programmes: int

    @property
    def gap(self) -> float:
        """By which share of the cost the pattern may be too expensive."""
        return 0.0 if self.proved_optimal or self.cost <= 0 else (self.cost - self.bound) / self.cost


def optimal(
    table: Table,
    usable: Bools,
    price: Floats,
    promise: Promise,
    *,
    persons: Ints | None = None,
    start: Bools | None = None,
    seconds: float = 60.0,
    programmes: int | None = None,
) -> Optimum:
    """The cheapest pattern that keeps what ``promise`` asks for, against outsiders and against every single person.

    ``usable`` says which open cells may be hidden and ``price`` what each costs. ``persons`` has the number of the
    person who is alone in a cell, -1 elsewhere: he knows all cells of his number and must not find out another primary
    cell. ``start`` is a safe pattern to begin with. All arrays are flat. After ``seconds`` the best safe pattern found
    so far comes back with the bound proved so far. (What no pattern can protect is looked up first, whatever the time.)
    With a number of ``programmes`` these are counted instead of seconds, for the same pattern on every machine.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 30, 20], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> open_cells, value = table.status.reshape(-1) == 0, table.value.reshape(-1)
    >>> best = optimal(table, open_cells, value, Promise())
    >>> best.hidden.tolist(), best.cost, best.proved_optimal
    ([True, False, True, False], 20.0, True)
    """
    if not seconds > 0:
        raise BadOption(f"{seconds:g} seconds", hint="a positive time limit, for instance 60.")
    flat = table.hidden.reshape(-1)
    system, up, down = _movable(table, flat | usable, *promise.knowledge.room(table))
    people = np.full(table.size, -1) if persons is None else persons
    demands, lost = _goals(table, promise, system, people)
    knows = [np.flatnonzero(people[system.cells] == k) for k in np.unique(people) if k >= 0]
    knows.insert(0, np.empty(0, dtype=np.int64))
    attackers = Attackers(system, up, down, always=flat[system.cells], demands=demands, knows=knows)
    clock = Clock(seconds) if programmes is None else Clock(programmes, lambda: attackers.programmes)
    witnesses = Witnesses(attackers, price[system.cells], clock)
    everything = np.ones(system.cells.size, dtype=np.bool_)
    begin = None if start is None else start[system.cells] | flat[system.cells]
    safe = begin is not None and not lost.size and witnesses.gaps(begin, most=1) == []
    unprotectable = () if safe else _unprotectable(table, attackers, lost, witnesses.gaps(everything) or [])
    search = Search(witnesses)
    search.run(begin)
    clock.end_after(np.inf)
    if witnesses.gaps(search.best) != []:
        search.best = everything  # never seen: a solver that contradicts itself gets no benefit of the doubt
    hidden = flat.copy()
    hidden[system.cells[search.best]] = True
    return Optimum(
        hidden=hidden,
        cost=float(price[hidden & ~flat].sum()),
        bound=search.bound,
        proved_optimal=search.proved,
        unprotectable=unprotectable,
        cuts=len(search.master.cuts) + len(search.master.shelf),
        programmes=attackers.programmes,
    )


def _movable(table: Table, allowed: Bools, up: Floats, down: Floats) -> tuple[Equations, Floats, Floats]:
    """The cells that can move at all if everything is hidden: a cell alone in an equation is known."""
    movable = allowed & (up + down > 0)
    while True:
        system = equations_of(table, movable)
        single = np.diff(system.start) == 1
        if not single.any():
            return system, np.maximum(up[system.cells], 0.0), np.maximum(down[system.cells], 0.0)
        movable[system.cells[system.columns[system.start[:-1][single]]]] = False


def _goals(table: Table, promise: Promise, system: Equations, people: Ints) -> tuple[Goals, Ints]:
    """What is asked for, as the audit asks for it (a hair more, so that it always agrees), and hopeless primaries."""
    demands = demands_of(table, promise)
    asked = demands.some(np.isin(demands.cells, system.cells))
    slack = SOLVER * np.maximum(asked.size, 1.0)
    need = np.zeros((3, asked.cells.size))
    need[UP] = np.where(asked.up > slack, asked.up - slack / 2, 0.0)
    need[DOWN] = np.where(asked.down > slack, asked.down - slack / 2, 0.0)
    need[RANGE] = asked.length + 2 * slack
    need[RANGE, need[UP] + need[DOWN] >= need[RANGE]] = 0.0
    # whoever stands behind a cell himself is the business of the primary rule
    own = stand_behind(table, people, asked.cells).T
    asked_by = np.concatenate([np.ones((1, asked.cells.size), dtype=np.bool_), ~own])
    columns = np.searchsorted(system.cells, asked.cells)
    return Goals(columns=columns, need=need, asked=asked_by), np.setdiff1d(demands.cells, asked.cells)


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
            why += f" for the respondent alone in {table.name_of(own)}"
            demands.asked[gap.attacker, gap.target] = False
        else:
            demands.asked[:, gap.target] = False
        found.append((int(cells[demands.columns[gap.target]]), gap.rise + gap.fall, why))
    return tuple(
        Unprotected(cell=table.name_of(cell), index=_index(table, cell), reached=reached, why=why)
        for cell, reached, why in found
    )


def _index(table: Table, cell: int) -> tuple[int, ...]:
    return table.place(cell)
