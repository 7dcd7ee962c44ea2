"""More of a table is hidden where the search for moves gave up, until nothing is exposed that would not be in any case.

Whatever is exposed with a table, and not without it, can be protected: at worst by all cells of the table. So a search
that finds no move is no reason to refuse one. What stands near exposed cells goes first, zeros last; then what turned
out not to be needed is opened again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit, verdicts_on
from diskret.auditing.report import AuditReport
from diskret.model.arrays import Bools, Ints
from diskret.model.beside import Beside
from diskret.model.status import Status
from diskret.model.system import System
from diskret.suppression.result import Suppression

FIRST = 4
"""Cells that are hidden at once at first; then twice as many each time."""
MOST_AUDITS = 60
"""Attempts to open cells again."""


def widened(beside: Beside, done: Suppression) -> Suppression:
    """The same with more cells of the table hidden, if that protects what is exposed; else as it was."""
    cells = done.table
    assert isinstance(cells, System)
    assert done.audit is not None
    open_own = np.unique(beside.own[beside.own >= 0])
    open_own = open_own[cells.status[open_own] == Status.OPEN]

    exposed = places_of(cells, done.audit)

    def attacked(hidden: Ints) -> frozenset[tuple[str, str]]:
        # hiding more exposes nothing: only what is exposed now is asked for again
        status = np.where(cells.status == Status.PRIMARY, np.uint8(Status.SECONDARY), cells.status)
        status[hidden], status[exposed] = Status.SECONDARY, Status.PRIMARY
        return verdicts_on(replace(cells, status=status), beside.promise, moves=done.moves).open_to

    in_any_case = attacked(open_own)
    if done.audit.open_to <= in_any_case:
        return done
    movable = cells.hidden.reshape(-1).copy()
    movable[open_own] = True
    far = distances(cells, exposed, movable)[open_own]
    order = open_own[np.lexsort((cells.value[open_own], far, cells.value[open_own] == 0))]
    many = FIRST
    while not attacked(order[:many]) <= in_any_case:
        many *= 2
    hidden = needed(order[:many], lambda some: attacked(some) <= in_any_case)
    status = cells.status.copy()
    status[hidden] = Status.SECONDARY
    table = replace(cells, status=status)
    return replace(done, table=table, audit=audit(table, beside.promise, moves=done.moves))


def places_of(cells: System, report: AuditReport) -> Ints:
    """Exposed and undecided cells."""
    found = {each.index[0] for each in report.exposed if each.index}
    if report.undecided:
        sensitive = np.flatnonzero(cells.status == Status.PRIMARY).tolist()
        found |= {cell for cell in sensitive if cells.name_of(cell) in report.undecided}
    return np.array(sorted(found), dtype=np.int64)


def distances(cells: System, exposed: Ints, movable: Bools) -> Ints:
    """How many equations away from exposed cells all others stand, by ``movable`` ones; the size where none leads."""
    row, columns, rows = cells.system.row_of(), cells.system.columns, cells.system.rows
    far = np.full(cells.size, cells.size, dtype=np.int64)
    far[exposed] = 0
    step = 0
    while True:
        step += 1
        near = np.bincount(row, weights=((far < step) & movable)[columns], minlength=rows) > 0
        fresh = np.zeros(cells.size, dtype=np.bool_)
        fresh[columns[near[row]]] = True
        fresh &= far == cells.size
        if not fresh.any():
            return far
        far[fresh] = step


def needed(cells: Ints, enough: Callable[[Ints], bool], most: int = MOST_AUDITS) -> Ints:
    """Some cells without those that need not be hidden: halves are opened, then smaller parts; the last ones first."""
    step, attempts = max(1, cells.size // 2), 0
    while attempts < most:
        at = cells.size
        while at > 0 and attempts < most:
            fewer = np.delete(cells, slice(max(0, at - step), at))
            attempts += 1
            if enough(fewer):
                cells = fewer
            at -= step
        if step == 1:
            break
        step = max(1, step // 2)
    return cells
