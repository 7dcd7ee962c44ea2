"""The cheapest pattern of a small table, with a proof: a yardstick for the quicker methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.insiders import insiders_of, persons_of
from diskret.auditing.targets import targets_of
from diskret.auditing.witnesses import witnesses
from diskret.model.errors import BadOption
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.by_cuboids import Settings, prices, usable_cells
from diskret.suppression.by_moves import Guarding, by_moves
from diskret.suppression.moves import RoutedMoves
from diskret.suppression.optimum.optimal import optimal
from diskret.suppression.result import Suppression

SECONDS = 60.0


def by_proof(table: Table, settings: Settings, guarding: Guarding) -> Suppression:
    """Start from the pattern by moves, and look for the cheapest one until the time is over.

    Prices are those of ``cost`` alone; the note says what was proved.
    """
    if guarding.insiders == "largest" or guarding.coalitions:
        raise BadOption(
            "the optimum guards against single contributors only",
            hint="leave largest_contributors and coalitions out, or use method='moves'.",
        )
    usable = usable_cells(table, settings.zeros)
    first = by_moves(table, settings, guarding)
    if first.unprotected:
        return first
    people = persons_of(table) if guarding.insiders == "single" else np.full(table.size, -1)
    best = optimal(
        table, usable, prices(table, settings.cost), settings.protection, settings.knowledge, persons=people,
        start=first.table.hidden.reshape(-1), seconds=guarding.seconds or SECONDS,
    )  # fmt: skip
    status = table.status.reshape(-1).copy()
    status[best.hidden & ~table.hidden.reshape(-1)] = Status.SECONDARY
    found = replace(table, status=status.reshape(table.shape))
    report = audit(
        found, protection=settings.protection, knowledge=settings.knowledge, insiders=guarding.insiders,
        rule=guarding.rule, certify=True,
    )  # fmt: skip
    said = (
        "the cheapest pattern there is" if best.proved_optimal else f"at most {best.gap:.2%} dearer than the cheapest"
    )
    people_now = insiders_of(found, guarding.insiders)
    targets = targets_of(found, settings.protection)
    shown = witnesses(found, targets, people_now, *settings.knowledge.room(found), report.moves)
    moves = RoutedMoves.of(shown.cover)
    return replace(first, table=found, moves=moves, audit=report, notes=(*first.notes, f"proved: {said}"))
