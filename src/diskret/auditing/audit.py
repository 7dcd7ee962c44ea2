"""What everybody, and what every insider, can find out about the hidden cells of a table, exactly.

Moves that are known already, or found near a cell, settle most of it: they are re-checked in plain arithmetic and need
no trust. What they do not settle, linear programmes over the whole table decide.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from diskret.auditing.case import Case
from diskret.auditing.elimination import determined
from diskret.auditing.inside import attack_from_inside
from diskret.auditing.integers import integer_extreme
from diskret.auditing.outsiders import OutsideAttack, attack
from diskret.auditing.report import AuditReport, ClosestCall
from diskret.auditing.unions import all_zero, unions_breaking
from diskret.model.arrays import Bools, Ints
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption
from diskret.model.older import older_attack
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.moves.demands import Demands, demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.move import MoveSet
from diskret.moves.witnesses import reached, search, search_near, witnesses

Intervals = Literal["none", "primary", "hidden"]
CLOSE_CALLS = 5
LARGE = 50_000
"""Beyond this many unknowns programmes over the whole table are slow: first look near the cells."""


def audit(
    table: Table,
    promise: Promise = Promise(),
    *,
    intervals: Intervals = "none",
    moves: MoveSet | None = None,
    certify: bool = False,
    seconds: float = 10.0,
    **older: Any,
) -> AuditReport:
    """Attack a table with a solver: find the primary cells that can be computed more closely than was promised.

    ``intervals`` asks for the exact interval of every primary or every hidden cell as well, which takes two programmes
    each (an end is not a number if the solver gave up on it). ``moves`` are witnesses from an earlier run; they are
    checked, not trusted. ``certify`` looks for a move for every cell, also where a few programmes would settle many at
    once. A frequency table is attacked in whole numbers, with at most ``seconds`` for a cell.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> report = audit(table)
    >>> [(e.cell, e.lower, e.upper, e.exact) for e in report.exposed]
    [('s=a', 1.0, 1.0, True)]
    """
    if intervals not in ("none", "primary", "hidden"):
        raise BadOption(f"intervals {intervals!r}", hint="'none', 'primary' or 'hidden'.")
    if older:
        table, promise = older_attack(table, promise, older)
    table.check_pattern()
    demands = demands_of(table, promise)
    return attacked(table, promise, demands, intervals=intervals, moves=moves, certify=certify, seconds=seconds)


def attacked(
    table: Table,
    promise: Promise,
    demands: Demands,
    *,
    intervals: Intervals = "none",
    moves: MoveSet | None = None,
    certify: bool = False,
    seconds: float = 10.0,
) -> AuditReport:
    """The attack on a table whose demands are known already."""
    case = _case(table, promise, demands, moves or MoveSet.none())
    if certify or case.system.cells.size > LARGE:
        search_near(case.witnesses)
    waiting = np.flatnonzero(_open_demands(case))
    attacker = _attack_from_outside(case, waiting)
    if table.frequency:
        _in_whole_numbers(case, waiting, seconds)
    if case.insiders.count:
        attack_from_inside(case)
    asked = {"none": np.empty(0, np.int64), "primary": case.columns, "hidden": np.arange(case.system.cells.size)}
    settled = ~_open_demands(case, against_insiders=True)
    return AuditReport(
        table=table,
        promise=promise,
        exposed=tuple(case.exposed),
        undecided=tuple(case.name(int(case.columns[k])) for k in sorted(case.undecided)),
        programmes=attacker.programmes + case.witnesses.router.programmes + case.programmes,
        checked=case.columns.size,
        intervals=_exact_intervals(case, attacker, asked[intervals], seconds),
        without_solver=int(settled.sum()),
        insiders=int(np.unique(case.insiders.who).size),
        unions=unions_breaking(table, case.system) if promise.unions else (),
        zeros=_zero_lines(case) if table.frequency else (),
        moves=case.witnesses.cover.all(),
        close_calls=_close_calls(case, attacker),
    )


def _case(table: Table, promise: Promise, demands: Demands, moves: MoveSet) -> Case:
    """Check what is given, and put it together."""
    up, down = promise.knowledge.room(table)
    system, people = equations_of(table), insiders_of(table, promise)
    return Case(
        table=table,
        system=system,
        up=up[system.cells],
        down=down[system.cells],
        demands=demands,
        columns=np.searchsorted(system.cells, demands.cells),
        insiders=people,
        witnesses=witnesses(table, demands, people, up, down, moves),
    )


def _open_demands(case: Case, against_insiders: bool = False) -> Bools:
    """Targets with a demand that no move settles (or that some insider can object to)."""
    cover = case.witnesses.cover
    states = [cover.state(d) for d in range(cover.ways.size)]
    still_open = [not state.settled or (against_insiders and bool(state.against)) for state in states]
    return np.isin(case.demands.cells, cover.ways.cell[np.array(still_open, dtype=np.bool_)])


def _attack_from_outside(case: Case, waiting: Ints) -> OutsideAttack:
    """Programmes for what no move settles; what stays too short is exposed to everybody."""
    if waiting.size:
        # what equations alone fix is decided without any tolerance
        fixed = determined(case.system)[case.columns[waiting]]
        for k in waiting[fixed].tolist():
            case.lost.add(k)
            case.expose(k, 0.0, 0.0, case.up, case.down)
        waiting = waiting[~fixed]
    demands, columns = case.demands.some(waiting), case.columns[waiting]
    attacker, given_up = attack(case.system, case.up, case.down, columns, demands)
    case.undecided |= {int(waiting[k]) for k in given_up}
    for k in waiting[~demands.kept(attacker.reached_up[columns], attacker.reached_down[columns])].tolist():
        if k in case.undecided:
            continue
        limits = tuple(float(max(side[k], case.demands.length[k])) for side in (case.demands.up, case.demands.down))
        rise, fall = attacker.extremes(int(case.columns[k]), (limits[0], limits[1]))
        if np.isnan(rise + fall):
            case.undecided.add(k)
            continue
        if case.keeps(k, rise, fall):
            continue  # the batches stop at the level; on its own the cell goes far enough
        case.lost.add(k)
        case.expose(k, rise, fall, case.up, case.down)
    return attacker


def _in_whole_numbers(case: Case, waiting: Ints, seconds: float) -> None:
    """Counts must be able to move in whole numbers: what moves do not show, mixed-integer programmes decide."""
    case.give_up()
    search(case.witnesses, whole=True)
    still = np.flatnonzero(_open_demands(case))
    values = case.table.value.reshape(-1)[case.system.cells]
    for k in still.tolist():
        if k in case.lost or k in case.undecided:
            continue
        column = int(case.columns[k])
        ends = [
            integer_extreme(case.system, values, case.up, case.down, column, upward, seconds)
            for upward in (True, False)
        ]
        case.programmes += 2
        rise, fall = ends
        if rise is None or fall is None:
            case.undecided.add(k)
        elif not case.keeps(k, rise, fall):
            case.lost.add(k)
            case.expose(k, rise, fall, case.up, case.down)


def _exact_intervals(
    case: Case, attacker: OutsideAttack, asked: Ints, seconds: float
) -> dict[str, tuple[float, float]]:
    """What each of some unknowns can be, by name."""
    return {case.name(c): case.interval(c, *_farthest(case, attacker, c, seconds)) for c in asked.tolist()}


def _farthest(case: Case, attacker: OutsideAttack, column: int, seconds: float) -> tuple[float, float]:
    """How far an unknown can go, in whole numbers for counts."""
    if not case.table.frequency:
        return attacker.extremes(column)
    values = case.table.value.reshape(-1)[case.system.cells]
    ends = [integer_extreme(case.system, values, case.up, case.down, column, way, seconds) for way in (True, False)]
    case.programmes += 2
    rise, fall = (np.nan if end is None else end for end in ends)
    return rise, fall


def _zero_lines(case: Case) -> tuple[str, ...]:
    """Lines of a frequency table in which nothing but zeros can be hidden."""
    zero = np.flatnonzero(case.table.value.reshape(-1)[case.system.cells] == 0)
    possible = np.ones(case.system.cells.size, dtype=np.bool_)
    if zero.size:
        nothing = np.zeros(zero.size)
        one_up = Demands(
            cells=case.system.cells[zero], up=np.ones(zero.size), down=nothing, length=nothing, size=nothing,
            sliding=np.zeros(zero.size, dtype=np.bool_),
        )  # fmt: skip
        attacker, _ = attack(case.system, case.up, case.down, zero, one_up)
        case.programmes += attacker.programmes
        possible[zero] = attacker.reached_up[zero] >= 0.5
    return all_zero(case.table, case.system, possible)


def _close_calls(case: Case, attacker: OutsideAttack) -> tuple[ClosestCall, ...]:
    """The protected cells with the least to spare, by what was seen; the closest first."""
    rise, fall = reached(case.witnesses.cover)
    columns, cells = case.columns, case.demands.cells
    up = np.maximum(rise[cells], attacker.reached_up[columns])
    down = np.maximum(fall[cells], attacker.reached_down[columns])
    times = case.demands.times(up, down)
    times[sorted(case.lost | case.undecided)] = np.inf
    order = np.argsort(times, kind="stable")[:CLOSE_CALLS]
    return tuple(ClosestCall(case.name(int(columns[k])), float(times[k])) for k in order if np.isfinite(times[k]))
