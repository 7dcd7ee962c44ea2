"""The cheapest pattern of a small table, with a proof: a yardstick for the quicker methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit
from diskret.model.errors import BadOption
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.persons import persons_of
from diskret.moves.witnesses import cover_of
from diskret.suppression.by_cuboids import prices, usable_cells
from diskret.suppression.by_moves import by_moves
from diskret.suppression.methods import Moves, Optimal, Progress
from diskret.suppression.optimum.optimal import optimal
from diskret.suppression.result import Suppression


def by_proof(
    table: Table, promise: Promise, method: Optimal = Optimal(), progress: Progress | None = None
) -> Suppression:
    """Start from the pattern by moves, and look for the cheapest one until the time is over.

    Prices are those of ``cost`` alone; the note says what was proved.
    """
    if promise.guard == "largest" or promise.coalitions:
        raise BadOption(
            "the optimum guards against single contributors only",
            hint="promise no more than guard='single', or use the method Moves.",
        )
    quick = Moves(
        cost=method.cost, zeros=method.zeros, barriers=method.barriers, effort=method.effort, seconds=method.seconds
    )
    first = by_moves(table, promise, quick, progress=progress)
    if first.unprotected:
        return first
    people = persons_of(table) if promise.guard == "single" else np.full(table.size, -1)
    best = optimal(
        table, usable_cells(table, method.zeros), prices(table, method), promise, persons=people,
        start=first.table.hidden.reshape(-1), seconds=method.seconds,
    )  # fmt: skip
    status = table.status.reshape(-1).copy()
    status[best.hidden & ~table.hidden.reshape(-1)] = Status.SECONDARY
    found = replace(table, status=status.reshape(table.shape))
    report = audit(found, promise, certify=True)
    said = (
        "the cheapest pattern there is"
        if best.proved_optimal
        else f"at most {best.gap:.2%} more expensive than the cheapest"
    )
    moves = cover_of(found, promise, report.moves).all()
    return replace(first, table=found, moves=moves, audit=report, notes=(*first.notes, f"proved: {said}"))
