"""The secondary suppression a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diskret.job.models import Job, RelativeKnowledge
from diskret.model.errors import BadOption, listed
from diskret.model.protection import Knowledge, Protection
from diskret.model.table import Table
from diskret.publication.working import load_working
from diskret.suppression.options import Cost
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress
from diskret.tabulation.tabulate import Progress


def suppress_tables(
    job: Job, here: Path, tables: Mapping[str, Table], progress: Progress | None = None
) -> dict[str, Suppression]:
    """Protect every table of the job on its own; nothing if the job asks for no suppression."""
    asked = job.suppression
    if asked is None:
        return {}
    before = load_working(here / asked.previous) if asked.previous else {}
    missing = [name for name in tables if asked.previous and name not in before]
    if missing:
        raise BadOption(
            f"last period's file has no table {listed(missing)}",
            where=asked.previous or "",
            hint=f"it has {listed(before)}.",
        )
    return {
        name: suppress(
            table,
            protection=Protection(asked.min_relative_range, asked.min_range, asked.levels, asked.sliding),
            knowledge=_knowledge(job),
            guarantee=asked.guarantee,
            cost=Cost(asked.cost, distance=asked.distance),
            zeros=asked.zeros,
            barriers=asked.barriers,
            single_contributors=asked.single_contributors,
            non_additive=asked.non_additive,
            carry=asked.carry,
            previous=before.get(name),
            thin=asked.thin,
            progress=progress,
        )
        for name, table in tables.items()
    }


def _knowledge(job: Job) -> Knowledge | None:
    """What the attacker knows; None: that values are positive, if they are."""
    said = job.suppression.knowledge if job.suppression else None
    if isinstance(said, RelativeKnowledge):
        return Knowledge.relative(said.relative, said.absolute)
    return Knowledge(said) if said else None
