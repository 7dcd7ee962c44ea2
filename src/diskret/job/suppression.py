"""The secondary suppression a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.auditing.published_intervals import Intervals, publishable_intervals
from diskret.job.models import Job, SuppressionSection
from diskret.job.pool import previous_of
from diskret.job.section import RelativeKnowledge
from diskret.model.errors import BadOption, listed
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.publication.working import load_working
from diskret.suppression.methods import AnyMethod, Complete, Cuboids, Moves
from diskret.suppression.prices import Cost
from diskret.suppression.responses import inherited, leading_of
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress
from diskret.tabulation.tabulate import Progress


def suppress_tables(
    job: Job, here: Path, tables: Mapping[str, Table], progress: Progress | None = None
) -> dict[str, Suppression]:
    """Protect every table or pool of the job, on its own or after a leading one; nothing if the job does not ask."""
    asked = job.suppression
    if asked is None:
        return {}
    before = _previous(job, here, tables)

    def protected(name: str, table: Table) -> Suppression:
        promise, method = promise_of(job, table), method_of(asked)
        return suppress(table, promise, method, previous=before.get(name), progress=progress)

    if asked.leading is None:
        return {name: protected(name, table) for name, table in tables.items()}
    if asked.leading not in tables:
        raise BadOption(f"no response {asked.leading!r} to lead", hint=f"the job has {listed(tables)}.")
    others = {name: table for name, table in tables.items() if name != asked.leading}
    first = protected(asked.leading, leading_of(tables[asked.leading], others))
    done = {name: protected(name, inherited(first.table, name, table)) for name, table in others.items()}
    return {name: first if name == asked.leading else done[name] for name in tables}


def _previous(job: Job, here: Path, tables: Mapping[str, Table]) -> Mapping[str, Table | Mapping[str, Table]]:
    """Last period's table of every response; of a pool its tables by their names."""
    if job.tables:
        return previous_of(job, here)
    file = job.suppression.previous if job.suppression else None
    if not file:
        return {}
    before = load_working(here / file)
    missing = [name for name in tables if name not in before]
    if missing:
        raise BadOption(
            f"last period's file has no table {listed(missing)}", where=file, hint=f"it has {listed(before)}."
        )
    return before


def intervals_of(job: Job, tables: Mapping[str, Table]) -> dict[str, Intervals]:
    """What may be published about hidden cells; nothing if the job does not ask for it."""
    if not job.output.intervals:
        return {}
    return {name: publishable_intervals(table, promise_of(job, table)) for name, table in tables.items()}


def promise_of(job: Job, table: Table) -> Promise:
    """What a job promises about one of its tables; the whole promise if it asks for no suppression."""
    asked = job.suppression or SuppressionSection()
    return Promise(
        guard="largest" if asked.largest_contributors else "single" if asked.single_contributors else "public",
        coalitions=tuple(tuple(tuple(_codes(cell, table)) for cell in cells) for cells in asked.coalitions),
        levels=asked.guarantee != "subtables" if asked.levels is None else asked.levels,
        sliding=asked.sliding,
        min_relative_range=asked.min_relative_range,
        min_range=asked.min_range,
        knowledge=knowledge_of(job, table),
    )


def method_of(asked: SuppressionSection) -> AnyMethod:
    """How a job protects its tables."""
    common: dict[str, Any] = {
        "cost": _cost_of(asked),
        "zeros": asked.zeros,
        "barriers": asked.barriers,
        "thin": asked.thin,
    }
    if asked.guarantee == "subtables":
        return Cuboids(**common, non_additive=tuple(asked.non_additive), carry=asked.carry)
    if asked.guarantee == "complete":
        return Complete(**common, deformations=asked.deformations, totals_last=asked.totals_last, stages=asked.stages)
    return Moves(**common, effort=asked.effort, seconds=asked.seconds)


def _cost_of(asked: SuppressionSection) -> Cost | None:
    """Left out it is the value, or with last period's table classes of values."""
    said = asked.model_fields_set & {"cost", "distance"}
    return Cost(asked.cost, distance=asked.distance) if said else None


def _codes(cell: Mapping[str, str], table: Table) -> list[str]:
    """The codes of a cell; the total where one is left out."""
    unknown = [name for name in cell if name not in table.names]
    if unknown:
        raise BadOption(
            f"a coalition's cell with the classification {listed(unknown)}",
            where="[suppression] coalitions",
            hint=f"the table has {listed(table.names)}.",
        )
    return [cell.get(name, top) for name, top in zip(table.names, table.tops, strict=True)]


def knowledge_of(job: Job, table: Table) -> Knowledge:
    """What the attacker knows; left out, that no value is negative, if none is.

    Intervals of tables that are out already are known to everybody, whether the job says so or not.
    """
    said = job.suppression.knowledge if job.suppression else None
    if said is None and table.out and table.upper is not None:
        return Knowledge.intervals()
    if isinstance(said, RelativeKnowledge):
        return Knowledge.relative(said.relative, said.absolute)
    return Knowledge(kind=said) if said else Knowledge.usual()
