"""From cells that stand for several always equal ones to all of these, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.model.arrays import Ints
from diskret.model.merged import Merged
from diskret.model.status import Status
from diskret.moves.move import MoveSet


def spread_report(small: Merged, report: AuditReport) -> AuditReport:
    """What was found about a table with equal cells as one, said of all its cells."""
    table = small.whole
    primary = table.status == Status.PRIMARY

    def members(cell: int) -> list[int]:
        _, found = small.spread(np.array([cell]))
        mine: list[int] = found[primary[found]].tolist()
        return mine

    exposed = [
        replace(each, cell=table.name_of(cell), index=table.place(cell))
        for each in report.exposed
        for cell in members(each.index[0])
    ]
    number = _numbers(small, [*report.undecided, *report.intervals])
    undecided = [table.name_of(cell) for name in report.undecided for cell in members(number[name])]
    intervals = {
        table.name_of(cell): ends
        for name, ends in report.intervals.items()
        for cell in small.spread(np.array([number[name]]))[1].tolist()
    }
    return replace(
        report, table=table, exposed=tuple(exposed), undecided=tuple(undecided), intervals=intervals,
        moves=spread_moves(small, report.moves), proofs=(),
    )  # fmt: skip


def _numbers(small: Merged, names: Iterable[str]) -> dict[str, int]:
    """The cells behind names."""
    wanted = set(names)
    hidden = np.flatnonzero(small.hidden).tolist() if wanted else []
    return {name: cell for cell in hidden if (name := small.name_of(cell)) in wanted}


def spread_moves(small: Merged, moves: MoveSet) -> MoveSet:
    """The same moves over all cells."""
    entry, cells = small.spread(moves.cells)
    start = np.searchsorted(moves.number()[entry], np.arange(len(moves) + 1))
    of_protected, protected = small.spread(moves.protected_cells)
    primary = small.whole.status[protected] == Status.PRIMARY
    owner = np.repeat(np.arange(len(moves)), np.diff(moves.first_protected))[of_protected[primary]]
    return replace(
        moves, start=start, cells=cells, coefficients=moves.coefficients[entry],
        first_protected=np.searchsorted(owner, np.arange(len(moves) + 1)), protected_cells=protected[primary],
    )  # fmt: skip


def gathered(small: Merged, moves: MoveSet) -> MoveSet:
    """Moves over all cells as moves of those that stand for them; they are checked, not trusted."""
    wrong = (moves.cells < 0) | (moves.cells >= small.number_of.size)
    cells = np.where(wrong, -1, small.number_of[np.where(wrong, 0, moves.cells)])
    _, kept = np.unique(np.stack([moves.number(), cells]), axis=1, return_index=True)
    kept.sort()
    start = np.searchsorted(moves.number()[kept], np.arange(len(moves) + 1))
    nothing: Ints = np.empty(0, dtype=np.int64)
    return replace(
        moves, start=start, cells=cells[kept], coefficients=moves.coefficients[kept],
        first_protected=np.zeros(len(moves) + 1, dtype=np.int64), protected_cells=nothing,
    )  # fmt: skip
