"""Protecting a table beside everything published before: in its place all that is connected is protected.

What is published stays as it is; only cells of the table itself can be hidden. Its pattern is taken from the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.auditing.audit import audit, verdicts_on
from diskret.auditing.report import AuditReport
from diskret.model.beside import Beside, Memory
from diskret.model.errors import ProtectionWarning
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.suppression.by_moves import unprotected_of
from diskret.suppression.methods import Moves, Progress
from diskret.suppression.result import Suppression
from diskret.suppression.widening import widened

MOST_ROUNDS = 4


def protected_beside(
    table: Table, promise: Promise, method: Moves, ledger: Memory,
    protect: Callable[[Table, Promise, Any, Progress | None], Suppression], progress: Progress | None,
) -> Suppression:  # fmt: skip
    """The table with its own pattern, and the attack on it together with all that is published."""
    bounding = ledger.withheld(table, promise)
    if bounding is not None:
        beside = ledger.beside(bounding, promise)
        told = audit(beside.cells, beside.promise)
        if told.open_to:
            told = ledger.told_of(table, beside, told)
        return Suppression(
            table=bounding, before=table, promise=promise, moves=MoveSet.none(), unprotected=unprotected_of(told),
            audit=told, notes=_told(beside),
        ).sealed()  # fmt: skip
    pattern = table
    for _ in range(MOST_ROUNDS):
        done, report, pattern = _once(pattern, promise, method, ledger, protect, progress)
        unions = audit(pattern, promise).unions if promise.unions else ()
        if not unions:
            break
        # what hidden cells of a line tell together is looked at in the table itself
        pattern = protect(pattern, promise, method, progress).table
    if report is not None:
        report = replace(report, unions=unions)
    return Suppression(
        table=pattern, before=table, promise=promise, moves=MoveSet.none(), notes=done.notes, audit=report,
        unprotected=() if report is None else unprotected_of(report), cost=done.cost, beside=done,
    ).sealed()  # fmt: skip


def _once(
    table: Table, promise: Promise, method: Moves, ledger: Memory,
    protect: Callable[[Table, Promise, Any, Progress | None], Suppression], progress: Progress | None,
) -> tuple[Suppression, AuditReport | None, Table]:  # fmt: skip
    """All that is connected with the table protected, what an audit says of the table, and its pattern."""
    beside = ledger.beside(table, promise, nearly=True)
    lost = _lost(beside)
    if lost.open_to:
        # no search helps: whoever asks for the table is told so at once
        ledger.told_of(table, beside, lost)
    with warnings.catch_warnings():
        # whose fault it is that a cell cannot be protected says the ledger
        warnings.filterwarnings("ignore", ".* cannot be protected as asked", ProtectionWarning)
        done = protect(beside.cells, beside.promise, method, progress)
    if beside.nearly:
        # the pattern was searched without some of what adds up; it is attacked with all of it
        beside = ledger.beside(_patterned(table, beside, done.table), promise)
        found = audit(beside.cells, beside.promise)
        done = replace(done, table=beside.cells, audit=found, moves=found.moves)
    if done.audit is not None and done.audit.open_to:
        done = widened(beside, done)
    report = done.audit
    if report is not None and report.open:
        report = ledger.told_of(table, beside, report)
    notes = (*done.notes, *_told(beside))
    return replace(done, notes=notes), report, _patterned(table, beside, done.table)


def _patterned(table: Table, beside: Beside, found: Table) -> Table:
    """The table with what was hidden of its cells."""
    status = table.status.reshape(-1).copy()
    mine = beside.own >= 0
    hidden = np.isin(found.status.reshape(-1)[beside.own[mine]], (Status.PRIMARY, Status.SECONDARY))
    status[mine] = np.where(hidden & ~table.hidden.reshape(-1)[mine], Status.SECONDARY, status[mine])
    return replace(table, status=status.reshape(table.shape))


def _lost(beside: Beside) -> AuditReport:
    """What is exposed of the sensitive cells of the table although all of it is hidden."""
    own = np.zeros(beside.cells.size, dtype=np.bool_)
    own[beside.own[beside.own >= 0]] = True
    status = beside.cells.status.reshape(-1).copy()
    status[own & (status == Status.OPEN) | ~own & (status == Status.PRIMARY)] = Status.SECONDARY
    return verdicts_on(replace(beside.cells, status=status), beside.promise)


def _told(beside: Beside) -> tuple[str, ...]:
    """What could not be looked at, also said as a warning: a table beside it is not known to be safe."""
    for note in beside.notes:
        warnings.warn(f"the table is protected as far as could be looked at: {note}", ProtectionWarning, stacklevel=5)
    return beside.notes
