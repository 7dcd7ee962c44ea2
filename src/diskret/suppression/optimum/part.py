"""A part of a pattern as a problem of its own: what it hides may change, everything else stays as it is.

Some secondary cells are released, and the cheapest cells are looked for that prove the same demands. Demands that
moves without a released cell prove are not asked for. Cells hidden elsewhere are hidden anyway; of these only those
near the part are looked at, so whatever is found holds in the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.tolerances import ROUNDING, SOLVER
from diskret.moves.demands import DOWN, LENGTH, State
from diskret.moves.pattern import Pattern
from diskret.suppression.optimum import attackers as roles
from diskret.suppression.optimum.attackers import Attackers, Goals
from diskret.suppression.optimum.clock import Clock
from diskret.suppression.optimum.known_moves import Witnesses
from diskret.suppression.optimum.search import Search

KINDS = {DOWN: roles.DOWN, LENGTH: roles.RANGE}
"""How the exact method calls what a demand asks for; all others ask for a way up."""


class Lost(NamedTuple):
    """A demand that the moves left do not prove: at all, or (settled) against some insiders."""

    demand: int
    state: State


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Cells that may change, the moves that go through those hidden now, and what these prove."""

    system: Equations
    start: Bools
    """Columns that are hidden now,"""
    always: Bools
    """and those hidden in any case."""
    moves: list[int]
    lost: list[Lost]
    gain: float
    """Price of what is released: nothing dearer is looked for."""


class Found(NamedTuple):
    """What came of a part."""

    hidden: Ints | None
    """Cells of the part to hide; None if nothing cheaper was found."""
    cost: float
    bound: float
    """No choice of cells costs less,"""
    proved: bool
    """and none is cheaper than what is hidden now, or than what was found."""
    programmes: int


def part_of(pattern: Pattern, whole: Equations, price: Floats, free: Bools) -> Part | None:
    """The part of a pattern in which some cells may change; None if none of them is hidden for others' sake.

    ``whole`` are the equations of all cells that may ever move, ``price`` is what is minimised.
    """
    cover, router = pattern.cover, pattern.router
    now = pattern.hidden | cover.in_use
    released = pattern.added & free
    gain = float(price[released].sum())
    if not gain > 0:
        return None
    moves = sorted({n for cell in np.flatnonzero(released).tolist() for n in cover.through[cell]})
    used = np.zeros(now.size, dtype=np.bool_)
    for number in moves:
        used[cover.moves[number].cells] = True
    candidates = free & router.movable & ~now & (price < gain) & (router.up + router.down > 0)
    core = candidates | used
    system = _near(whole, core, core | now)
    return Part(
        system=system, start=now[system.cells], always=now[system.cells] & ~released[system.cells], moves=moves,
        lost=_lost(pattern, moves), gain=gain,
    )  # fmt: skip


def _near(whole: Equations, core: Bools, movable: Bools) -> Equations:
    """The equations of the core and of movable cells that share one with it, without cells that cannot move."""
    row = whole.row_of()
    at = whole.cells[whole.columns]
    touched = np.zeros(whole.rows, dtype=np.bool_)
    touched[row[core[at]]] = True
    chosen = np.zeros(movable.size, dtype=np.bool_)
    chosen[at[touched[row]]] = True
    chosen &= movable
    while True:
        system = whole.among(chosen[whole.cells])
        system = Equations(
            whole.cells[system.cells], system.start, system.columns, system.coefficients, system.axis, system.sum_cell
        )
        single = np.diff(system.start) == 1
        if not single.any():
            return system
        chosen[system.cells[system.columns[system.start[:-1][single]]]] = False


def _lost(pattern: Pattern, out: Sequence[int]) -> list[Lost]:
    """What is not proved without some moves; what is hopeless is not asked for."""
    cover, gone = pattern.cover, set(out)
    found = []
    for demand in sorted({d for number in gone for d in cover.moves[number].settles}):
        left: frozenset[int] | None = None
        for number in cover.settled_by[demand]:
            if number not in gone:
                objects = cover.moves[number].settles[demand]
                left = objects if left is None else left & objects
                if not left:
                    break
        given_up = pattern.hopeless.get(demand, frozenset())
        if given_up is None or (left is not None and not left - given_up):
            continue
        found.append(Lost(demand, State(settled=left is not None, against=(left or frozenset()) - given_up)))
    return found


def solve(pattern: Pattern, part: Part, price: Floats, programmes: int, branch: bool = True) -> Found:
    """Look for cheaper cells; with ``branch`` until it is proved that there are none, or the programmes are spent."""
    goals, knows = _asked(pattern, part)
    cover, cells = pattern.cover, part.system.cells
    attackers = Attackers(
        part.system, np.maximum(cover.up[cells], 0.0), np.maximum(cover.down[cells], 0.0),
        always=part.always, demands=goals, knows=knows,
    )  # fmt: skip
    clock = Clock(programmes, lambda: attackers.programmes)
    witnesses = Witnesses(attackers, price[cells], clock)
    for number in part.moves:
        move = cover.moves[number]
        y = np.zeros(cells.size)
        y[np.searchsorted(cells, move.cells)] = move.coefficients * _times(cover.limits(move.cells, move.coefficients))
        witnesses.add(y)
    search = Search(witnesses)
    search.improve(part.start, branch)
    better = search.cost(search.best) < part.gain * (1 - ROUNDING)
    hidden = cells[search.best & ~part.always] if better else None
    return Found(hidden, search.cost(search.best), search.bound, search.proved, attackers.programmes)


def _times(limits: tuple[float, float]) -> float:
    """How often a move is made: as often as it can, forth or back; once where that is without end."""
    forth, back = limits
    return forth if np.isfinite(forth) and forth > 0 else -back if np.isfinite(back) and back > 0 else 1.0


def _asked(pattern: Pattern, part: Part) -> tuple[Goals, list[Ints]]:
    """One goal for every demand that was lost, and the columns that insiders know; the public knows none."""
    cover, people, cells = pattern.cover, pattern.cover.insiders, part.system.cells
    demands = np.array([lost.demand for lost in part.lost], dtype=np.int64)
    ways, target = cover.ways, cover.ways.cell[demands]
    slack = SOLVER * np.maximum(ways.amount[demands], 1.0)
    need = np.zeros((3, demands.size))
    kind = np.array([KINDS.get(int(k), roles.UP) for k in ways.kind[demands]], dtype=np.int64)
    strict = np.maximum(ways.least[demands], ways.amount[demands] + 2 * slack)
    need[kind, np.arange(demands.size)] = np.where(ways.strict[demands], strict, ways.amount[demands] - slack / 2)
    at, entry = people.entries(cells)
    who = np.unique(people.who[entry])
    asked = np.ones((1 + who.size, demands.size), dtype=np.bool_)
    asked[1:] = ~people.contribute(who, target, cover.shape).T
    for column, (demand, state) in enumerate(part.lost):
        if state.settled:
            asked[:, column] = np.isin(np.concatenate([[-1], who]), sorted(state.against))
        elif pattern.hopeless.get(demand):
            asked[1:, column] &= ~np.isin(who, sorted(pattern.hopeless[demand] or ()))
    knows = [np.empty(0, dtype=np.int64), *(at[people.who[entry] == each] for each in who.tolist())]
    return Goals(columns=np.searchsorted(cells, target), need=need, asked=asked), knows
