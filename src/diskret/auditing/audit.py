"""What everybody, and what every insider, can find out about the hidden cells of a table, exactly.

Moves that are known already, or found near a cell, settle most of it: they are re-checked in whole numbers and need no
trust. What they do not settle, programmes over the whole table decide, whose points and proofs are whole numbers too. A
cell is safe by a move or a point, exposed by a proof; everything else is undecided, and counts as exposed.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from diskret.auditing.case import Case
from diskret.auditing.elimination import determined
from diskret.auditing.ends import exact_ends
from diskret.auditing.inside import attack_from_inside
from diskret.auditing.outsiders import attack
from diskret.auditing.proof import line_name
from diskret.auditing.report import AuditReport, ClosestCall
from diskret.auditing.spread import gathered, spread_report
from diskret.auditing.unions import unions_breaking, zero_lines
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption
from diskret.model.given import refuse_no_promise, refuse_no_table
from diskret.model.grid import digits_of
from diskret.model.memory import refuse_short
from diskret.model.merged import merged
from diskret.model.older import older_attack
from diskret.model.promise import Promise
from diskret.model.scale import in_units
from diskret.model.sparse import SparseTable
from diskret.model.table import Table
from diskret.model.workers import Workers, workers_of
from diskret.moves.demands import Demands, demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.move import MoveSet
from diskret.moves.witnesses import reached, search, search_near, witnesses

Intervals = Literal["none", "primary", "hidden"]
CLOSE_CALLS = 5
AT_ONCE = 1_000
"""Demands for which moves are tried together."""
WORTH_A_BASIS = 100
"""So many open demands are worth a basis of all moves."""
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
    engine: object = None,
    **older: Any,
) -> AuditReport:
    """Attack a table with a solver: find the primary cells that can be computed more closely than was promised.

    ``intervals`` asks for the exact interval of every primary or every hidden cell as well, which takes two programmes
    each (an end is not a number if the solver gave up on it). ``moves`` are witnesses from an earlier run; they are
    checked, not trusted. ``certify`` looks for a move for every cell, also where a few programmes would settle many at
    once. A frequency table is attacked in whole numbers, with at most ``seconds`` for a cell. ``engine``: a
    Spark session (or "spark") whose workers look for moves and attack components; they find the same.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> report = audit(table)
    >>> [(e.cell, e.lower, e.upper, e.exact) for e in report.exposed]
    [('s=a', 1.0, 1.0, True)]
    """
    if intervals not in ("none", "primary", "hidden"):
        raise BadOption(f"intervals {intervals!r}", hint="'none', 'primary' or 'hidden'.")
    refuse_no_table(table)
    if older:
        table, promise = older_attack(table, promise, older)
    refuse_no_promise(promise)
    table.check_pattern()
    refuse_short(table.size, "attacking a table")
    same, asked, scale = in_units(table, promise)
    with workers_of(engine) as workers:
        found = attacked(
            same, asked, intervals=intervals, moves=moves, certify=certify, seconds=seconds, workers=workers
        )
    return found if same is table else found.written_in(table, promise, scale)


def attacked(
    table: Table,
    promise: Promise,
    demands: Demands | None = None,
    *,
    intervals: Intervals = "none",
    moves: MoveSet | None = None,
    certify: bool = False,
    seconds: float = 10.0,
    workers: Workers | None = None,
    explain: bool = True,
) -> AuditReport:
    """The attack on a table in its own unit, whose demands may be known already.

    Of a sparse table cells that are always equal are attacked as one. Without ``explain`` no proof is put into words.
    """
    if isinstance(table, SparseTable):
        small = merged(table)
        known = None if moves is None else gathered(small, moves)
        found = attacked(
            small, promise, intervals=intervals, moves=known, certify=certify, seconds=seconds, workers=workers,
            explain=explain,
        )  # fmt: skip
        return spread_report(small, found)
    case = _case(table, promise, demands or demands_of(table, promise), moves or MoveSet.none(), seconds, workers)
    case.certify, case.explain = certify, explain
    _add_basis(case)
    if certify or case.system.cells.size > LARGE:
        search_near(case.witnesses)
    waiting = np.flatnonzero(_open_demands(case))
    _attack_from_outside(case, waiting)
    if table.frequency:
        _in_whole_numbers(case)
    if case.insiders.count:
        attack_from_inside(case)
    asked = {"none": np.empty(0, np.int64), "primary": case.columns, "hidden": np.arange(case.system.cells.size)}
    settled = case.demands.cells[~_open_demands(case, against_insiders=True)]
    zeros = _zero_lines(case) if table.frequency else ()
    ends = {case.name(c): case.interval(c, *found) for c, found in _ends(case, asked[intervals])}
    return AuditReport(
        table=table,
        promise=promise,
        exposed=tuple(case.exposed),
        undecided=tuple(case.name(int(case.columns[k])) for k in sorted(case.undecided)),
        programmes=case.programmes,
        checked=int(table.stands_for(case.demands.cells).sum()),
        intervals=ends,
        without_solver=int(table.stands_for(settled).sum()),
        insiders=int(np.unique(case.insiders.who).size),
        unions=unions_breaking(table, case.system) if promise.unions else (),
        zeros=zeros,
        moves=case.all_moves(),
        proofs=tuple(case.proofs),
        close_calls=_close_calls(case),
    )


def verdicts_on(table: Table, promise: Promise = Promise(), *, moves: MoveSet | None = None) -> AuditReport:
    """What an audit finds, without a word on how exposed cells are found out: for whoever asks again and again.

    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> [(e.cell, e.proof) for e in verdicts_on(table).exposed]
    [('s=a', '')]
    """
    same, asked, scale = in_units(table, promise)
    found = attacked(same, asked, moves=moves, explain=False)
    return found if same is table else found.written_in(table, promise, scale)


def exact_intervals(
    table: Table, promise: Promise = Promise(), *, seconds: float = 10.0, whole: bool = True
) -> tuple[Floats, Floats]:
    """The exact interval of every primary cell, in their order, and no verdict on any: lower and upper ends.

    An end is not a number if the solver gave up on it; with counts it may take ``seconds``. Without ``whole`` counts
    are taken for real numbers and their ends rounded inwards: much sooner found, and now and then a unit too wide.

    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> [ends.tolist() for ends in exact_intervals(table)]
    [[0.0], [3.0]]
    """
    same, asked, scale = in_units(table, promise)
    case = _case(same, asked, demands_of(same, asked), MoveSet.none(), seconds)
    found = [case.interval(c, *ends) for c, ends in _ends(case, case.columns, whole)]
    lower, upper = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return (lower, upper) if same is table else (scale.up(lower), scale.up(upper))


def _ends(case: Case, columns: Ints, whole: bool = True) -> list[tuple[int, tuple[float, float]]]:
    """How far some unknowns can rise and fall."""
    return list(zip(columns.tolist(), exact_ends(case, columns, whole=whole), strict=True)) if columns.size else []


def _case(
    table: Table, promise: Promise, demands: Demands, moves: MoveSet, seconds: float, workers: Workers | None = None
) -> Case:
    """Check what is given, and put it together."""
    up, down = promise.knowledge.room(table)
    system, people = equations_of(table), insiders_of(table, promise)
    known = np.concatenate([people.up, people.down])
    return Case(
        table=table,
        system=system,
        up=up[system.cells],
        down=down[system.cells],
        demands=demands,
        columns=np.searchsorted(system.cells, demands.cells),
        insiders=people,
        witnesses=witnesses(table, demands, people, up, down, moves, workers),
        digits=demands.digits if table.frequency else digits_of(known, first=demands.digits) or demands.digits,
        seconds=seconds,
        workers=workers,
    )


def _add_basis(case: Case) -> None:
    """Where moves leave much open, those that all others are made of settle most of it."""
    cover = case.witnesses.cover
    waiting = ~(cover.standing().entirely if case.insiders.count else cover.standing().settled)
    if waiting.sum() < WORTH_A_BASIS:
        return
    for some in np.array_split(np.flatnonzero(waiting), 1 + int(waiting.sum()) // AT_ONCE):
        own, moves = case.basis.through(np.searchsorted(case.system.cells, cover.ways.cell[some]))
        cover.take(case.basis.moves.some(moves), some[own], alone=True)


def _open_demands(case: Case, against_insiders: bool = False) -> Bools:
    """Targets with a demand that no move settles (or that some insider can object to)."""
    cover = case.witnesses.cover
    standing = cover.standing()
    still_open = ~(standing.entirely if against_insiders else standing.settled)
    return np.isin(case.demands.cells, cover.ways.cell[still_open])


def _attack_from_outside(case: Case, waiting: Ints) -> None:
    """Programmes for what no move settles; what stays too short is exposed to everybody."""
    if not waiting.size:
        return
    # what equations alone fix is decided without any solver
    everywhere = determined(case.system) if case.kinds is None else case.kinds < 0
    fixed = everywhere[case.columns[waiting]]
    for k in waiting[fixed].tolist():
        case.lost.add(k)
        case.expose(k, case.fixed(k), exactly=True)
    waiting = waiting[~fixed]
    found = attack(case.attackers, case.columns[waiting], [case.needs[k] for k in waiting.tolist()], case.workers)
    for k, verdict in zip(waiting.tolist(), found.values(), strict=True):
        case.settle(k, verdict)


def _in_whole_numbers(case: Case) -> None:
    """Counts must be able to move in whole numbers: what moves do not show, splitting rooms decides."""
    case.give_up()
    search(case.witnesses)
    for k in np.flatnonzero(_open_demands(case)).tolist():
        if k not in case.lost and k not in case.undecided:
            case.settle(k, case.verdict(k, counts=True))


def _zero_lines(case: Case) -> tuple[str, ...]:
    """Lines of a frequency table in which nothing but zeros can be hidden; what is undecided counts as zero."""
    lines = zero_lines(case.table, case.system)
    if not lines:
        return ()
    rise, _ = reached(case.witnesses.cover)
    free = rise[case.system.cells] >= 1
    return tuple(
        line_name(case.table, case.system, row)
        for row, columns in lines
        if not free[columns].any() and not any(case.rises(column) for column in columns.tolist())
    )


def _close_calls(case: Case) -> tuple[ClosestCall, ...]:
    """The protected cells with the least to spare, by what was seen; the closest first."""
    rise, fall = reached(case.witnesses.cover)
    columns, cells = case.columns, case.demands.cells
    times = case.demands.times(rise[cells], fall[cells])
    # what programmes over the whole table settled reaches at least what it must
    shown = np.zeros(cells.size, dtype=np.bool_)
    shown[sorted(case.shown)] = True
    times = np.where(shown & np.isfinite(times), np.maximum(times, 1.0), times)
    times[sorted(case.lost | case.undecided)] = np.inf
    order = np.argsort(times, kind="stable")[:CLOSE_CALLS]
    return tuple(ClosestCall(case.name(int(columns[k])), float(times[k])) for k in order if np.isfinite(times[k]))
