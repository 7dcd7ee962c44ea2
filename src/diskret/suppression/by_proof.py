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
from diskret.suppression.by_cuboids import usable_cells
from diskret.suppression.by_moves import by_moves
from diskret.suppression.methods import Method, Moves, Optimal, Progress
from diskret.suppression.objective import exact_prices
from diskret.suppression.optimum.optimal import optimal
from diskret.suppression.result import Suppression

SMALL = 400
"""Cells up to which economy looks for the optimum as well: beyond, the proof seldom ends in reasonable time."""
PROGRAMMES = 4_000
"""Programmes it may take, up to 7 CPU s: 4 of 8 tables of 100 to 400 cells were proved (`firms` of the tests)."""


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
    first = by_moves(table, promise, quick, progress=progress)
    return first if first.unprotected else cheapest(first, method, seconds=method.seconds)


def by_proof_where_small(done: Suppression, method: Moves) -> Suppression:
    """What was found, or what is cheaper and proved for a small table: the same on every machine."""
    table, promise = done.before, done.promise
    small = table.size <= SMALL and method.seconds is None
    if method.effort_for(table.size) != "economy" or not small or done.unprotected or not provable(promise):
        return done
    return cheapest(done, method, programmes=PROGRAMMES)


def provable(promise: Promise) -> bool:
    """Whether the exact method guards against everybody a promise names."""
    return promise.guard != "largest" and not promise.coalitions


def cheapest(
    first: Suppression, method: Method, *, seconds: float = 60.0, programmes: int | None = None
) -> Suppression:
    """The cheapest safe pattern that is found within seconds or a number of programmes, never dearer than the first."""
    table, promise = first.before, first.promise
    people = persons_of(table) if promise.guard == "single" else np.full(table.size, -1)
    price = exact_prices(table, method)
    best = optimal(
        table, usable_cells(table, method.zeros), price, promise, persons=people,
        start=first.table.hidden.reshape(-1), seconds=seconds, programmes=programmes,
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
    sure = cost if best.proved_optimal and cost <= best.cost else min(best.bound, cost)
    return replace(first, cost=cost, bound=sure)
