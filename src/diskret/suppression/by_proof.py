"""The cheapest pattern of a small table, with a proof: a yardstick for the quicker methods."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit
from diskret.model.errors import BadOption
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.persons import persons_of
from diskret.moves.witnesses import cover_of
from diskret.suppression.by_cuboids import usable_cells
from diskret.suppression.by_moves import by_moves
from diskret.suppression.methods import Method, Moves, Optimal, Progress
from diskret.suppression.objective import exact_prices
from diskret.suppression.optimum.optimal import optimal
from diskret.suppression.result import Suppression

LAST = 0.1
"""Share of the time that is left for the proof, however long the first pattern took."""


def by_proof(
    table: Table, promise: Promise, method: Optimal = Optimal(), progress: Progress | None = None
) -> Suppression:
    """Start from the pattern by moves, and look for the cheapest one until the time is over.

    The result says what it costs, and what every pattern costs at least.
    """
    if not provable(promise):
        raise BadOption(
            "the optimum guards against single contributors only",
            hint="promise no more than guard='single', or use the method Moves.",
        )
    quick = Moves(
        cost=method.cost, zeros=method.zeros, barriers=method.barriers, effort=method.effort, seconds=method.seconds
    )
    begun = time.monotonic()
    first = by_moves(table, promise, quick, progress=progress)
    left = max(method.seconds - (time.monotonic() - begun), LAST * method.seconds)
    return first if first.unprotected else cheapest(first, method, seconds=left)


def provable(promise: Promise) -> bool:
    """Whether the exact method guards against everybody a promise names."""
    return promise.guard != "largest" and not promise.coalitions


def cheapest(first: Suppression, method: Method, *, seconds: float = 60.0) -> Suppression:
    """The cheapest safe pattern that is found within seconds, never dearer than the first."""
    table, promise = first.before, first.promise
    people = persons_of(table) if promise.guard == "single" else np.full(table.size, -1)
    price = exact_prices(table, method)
    best = optimal(
        table, usable_cells(table, method.zeros), price, promise, persons=people,
        start=first.table.hidden.reshape(-1), seconds=seconds,
    )  # fmt: skip
    cost = float(price[first.secondary.reshape(-1)].sum())
    if best.cost < cost:
        status = table.status.reshape(-1).copy()
        status[best.hidden & ~table.hidden.reshape(-1)] = Status.SECONDARY
        found = replace(table, status=status.reshape(table.shape))
        report = audit(found, promise, certify=True)
        if report.safe:
            moves = cover_of(found, promise, report.moves).all()
            first, cost = replace(first, table=found, moves=moves, audit=report), best.cost
    # what a proof says of the pattern it found holds of an equally cheap one
    sure = cost if best.proved_optimal and cost <= best.cost else min(max(best.bound, first.bound or 0.0), cost)
    return replace(first, cost=cost, bound=sure)
