"""The secondary suppression a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from diskret.auditing.published_intervals import Intervals, publishable_intervals
from diskret.job.apriori import with_prices
from diskret.job.ledger_section import memory_of
from diskret.job.outcome import Running
from diskret.model.errors import BadOption, listed
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.publication.working import load_working
from diskret.suppression.methods import Moves
from diskret.suppression.prices import Cost
from diskret.suppression.responses import inherited, leading_of
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import OF_SERIES, as_printed, suppress, thin
from diskret.tabulation.tabulate import Progress

if TYPE_CHECKING:
    from diskret.job.pool_job import PoolJob
    from diskret.job.table_job import TableJob

    Protecting: TypeAlias = TableJob | PoolJob

WORTH_A_CLUSTER = 1_000_000
"""Cells from which on parts are sent to workers elsewhere: below, one machine is ready sooner."""


def suppress_tables(job: Protecting, running: Running, tables: Mapping[str, Table]) -> dict[str, Suppression]:
    """Protect every table or pool of the job, on its own or after a leading one; nothing if the job does not ask."""
    asked = job.suppression
    if asked is None:
        return {}
    before, progress = _previous(job, running.here, tables), running.progress

    def protected(name: str, table: Table) -> Suppression:
        promise, method = promise_of(job, table), asked.made()
        usual = OF_SERIES if name in before and as_printed(method, asked.at_most) else Cost()
        table, method = with_prices(table, method, running.prices.get(name), usual)
        if asked.method == "thin" and isinstance(method, Moves):
            return thin(table, promise, method, progress=progress)
        asked_ledger = job.ledger if job.kind == "table" else None
        return suppress(
            table, promise, method, ledger=memory_of(asked_ledger, running.here, name, several=len(tables) > 1),
            previous=before.get(name), at_most=asked.at_most, engine=_engine(job, table),
            progress=progress,
        )  # fmt: skip

    if asked.leading is None:
        return {name: protected(name, table) for name, table in tables.items()}
    if asked.leading not in tables:
        raise BadOption(f"no response {asked.leading!r} to lead", hint=f"the job has {listed(tables)}.")
    others = {name: table for name, table in tables.items() if name != asked.leading}
    first = protected(asked.leading, leading_of(tables[asked.leading], others))
    done = {name: protected(name, inherited(first.table, name, table)) for name, table in others.items()}
    return {name: first if name == asked.leading else done[name] for name in tables}


def _engine(job: Protecting, table: Table) -> str | None:
    """Where a large table is protected: where its records were tabulated. For a small one that takes longer."""
    return job.data.engine if job.kind == "table" and table.size >= WORTH_A_CLUSTER else None


def _previous(job: Protecting, here: Path, tables: Mapping[str, Table]) -> Mapping[str, Table | Mapping[str, Table]]:
    """Last period's table of every response; of a pool its tables by their names."""
    if job.kind == "pool":
        return _previous_of_pool(job, here)
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


def _previous_of_pool(job: PoolJob, here: Path) -> dict[str, dict[str, Table]]:
    """Last period's tables: per response those of the tables that have some."""
    before: dict[str, dict[str, Table]] = {}
    for name, asked in job.tables.items():
        for response, table in load_working(here / asked.previous).items() if asked.previous else ():
            before.setdefault(response, {})[name] = table
    return before


def intervals_of(
    job: Protecting, tables: Mapping[str, Table], progress: Progress | None = None
) -> dict[str, Intervals]:
    """What may be published about hidden cells; nothing if the job does not ask for it."""
    asked = job.output
    if not asked.intervals:
        return {}
    return {
        name: publishable_intervals(table, promise_of(job, table), digits=asked.interval_digits, progress=progress)
        for name, table in tables.items()
    }


def promise_of(job: Protecting, table: Table) -> Promise:
    """What a job promises about one of its tables."""
    said = job.promise.keywords() | {"knowledge": knowledge_of(job, table)}
    cells = tuple(tuple(tuple(_codes(cell, table)) for cell in known) for known in said.pop("coalitions"))
    return Promise(**said, coalitions=cells)


def _codes(cell: Mapping[str, str], table: Table) -> list[str]:
    """The codes of a cell; the total where one is left out."""
    unknown = [name for name in cell if name not in table.names]
    if unknown:
        raise BadOption(
            f"a coalition's cell with the classification {listed(unknown)}",
            where="[promise] coalitions",
            hint=f"the table has {listed(table.names)}.",
        )
    return [cell.get(name, top) for name, top in zip(table.names, table.tops, strict=True)]


def knowledge_of(job: Protecting, table: Table) -> Knowledge:
    """What the attacker knows; left out, that no value is negative, if none is.

    Intervals of tables that are out already are known to everybody, whether the job says so or not.
    """
    said = job.promise.knowledge_said()
    late = table.out and table.upper is not None
    return Knowledge.intervals() if late and said.kind == "usual" else said
