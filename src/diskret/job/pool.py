"""A job with linked tables: every table is loaded as by a job of its own, then all of them are one pool per response.

What `[data]`, `[table]` and `[classifications.NAME]` say holds for every table that does not say it itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from diskret.io.hierarchies import read_hierarchy
from diskret.job.models import Job, PoolTable, TableSection
from diskret.job.problem import Problem
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.pool import Pool
from diskret.model.table import Table
from diskret.publication.working import load_working

FILES = ("publish", "working", "tau_argus")
"""Outputs that every table of a pool has for itself."""


def job_of(job: Job, name: str) -> Job:
    """The job of one table alone, as if it stood in a file of its own; suppression is the pool's business."""
    asked = job.tables[name]
    said = {key: getattr(asked, key) for key in asked.model_fields_set & TableSection.model_fields.keys()}
    # a table with data of its own says everything itself: columns of [table] are columns of [data]
    table = (TableSection() if asked.data else job.table).model_copy(update=said)
    common = {n: c for n, c in job.classifications.items() if n in table.by}
    output = job.output.model_copy(
        update={key: getattr(asked.output, key) for key in asked.output.model_fields_set} | {"certificate": None}
    )
    return job.model_copy(
        update={
            "data": asked.data or job.data,
            "table": table,
            "classifications": common | asked.classifications,
            "tables": {},
            "status": [],
            "suppression": None,
            "output": output,
        }
    )


def pool_problems(job: Job, folder: Path) -> Iterator[Problem]:
    """What the types cannot say about the tables of a pool as a whole."""
    if len(job.tables) == 1:
        yield Problem("tables", "a pool of one table", "a single table is described in [table]")
    for key in (*FILES, "comparison"):
        if getattr(job.output, key):
            hint = "compare rules for one table" if key == "comparison" else f"write [tables.NAME.output] {key} = ..."
            yield Problem(f"output.{key}", "goes not with several tables", hint)
    used = {n for t in job.tables.values() for n in (t.by or job.table.by)} | {*job.pool.over}
    for name in job.classifications:
        described = any(_describes_itself(job, t) for t in job.tables.values())
        if name not in used and not described:
            yield Problem(f"classifications.{name}", "is in no table of the pool", f"they run over {listed(used)}")
    fixed = {n for t in job.tables.values() for n in t.fixed}
    for name in job.pool.over:
        if name not in fixed:
            yield Problem("pool.over", f"no table stands at a code of {name!r}", f"write fixed = {{ {name} = ... }}")
    if job.tables and all(t.published for t in job.tables.values()):
        yield Problem("tables", "all of them are published already", "there is nothing left to protect")
    if job.suppression is not None and job.suppression.guarantee == "complete":
        yield Problem("suppression.guarantee", "'complete' is for single tables", "'audit', or 'subtables' as printed")
    if job.suppression is not None and job.suppression.previous:
        yield Problem("suppression.previous", "goes not with several tables", "write [tables.NAME] previous = ...")
    for number, each in enumerate(job.status):
        if each.table is not None and each.table not in job.tables:
            yield Problem(f"status.{number}.table", f"no table {each.table!r}", f"the job has {listed(job.tables)}")
    for name, asked in job.tables.items():
        yield from _table_problems(job, name, asked, folder)


def _table_problems(job: Job, name: str, asked: PoolTable, folder: Path) -> Iterator[Problem]:
    key = f"tables.{name}"
    if asked.data is None and "data" not in job.model_fields_set:
        yield Problem(f"{key}.data", "missing", "give every table its data, or all of them [data]")
    for classification in asked.fixed:
        if classification in (asked.by or job.table.by):
            yield Problem(f"{key}.fixed", f"the table runs over {classification!r}", "a table runs or stands, not both")
    if asked.previous and not os.path.exists(folder / asked.previous):
        yield Problem(f"{key}.previous", f"there is no file {asked.previous!r}", "a working file of the last period")
    if asked.previous and job.suppression is None:
        yield Problem(f"{key}.previous", "goes only with [suppression]")
    for wanted in FILES if asked.published else ():
        if getattr(asked.output, wanted):
            yield Problem(f"{key}.output.{wanted}", "the table is published already", "nothing in it changes")


def _describes_itself(job: Job, asked: PoolTable) -> bool:
    """Whether the classifications of a table are known only when its data are read."""
    data = asked.data or job.data
    return bool(data.table or (data.cells and data.metadata))


def pools_of(
    job: Job, here: Path, load: Callable[[str, Job], dict[str, Table]], by_hand: Callable[[Table, Job], Table]
) -> dict[str, Pool]:
    """One pool per response of the tables; ``load`` gives the tables of one table's job, marked."""
    loaded = {name: load(name, job_of(job, name)) for name in job.tables}
    responses = dict.fromkeys(r for tables in loaded.values() for r in tables)
    for name, tables in loaded.items():
        missing = [r for r in responses if r not in tables]
        if missing:
            raise BadOption(
                f"table {name!r} has no response {listed(missing)}",
                hint=f"the tables of a pool show the same responses; it has {listed(tables)}.",
            )
    loaded = _with_statuses(job, loaded, by_hand)
    fixed = {name: asked.fixed for name, asked in job.tables.items() if asked.fixed}
    over = {name: _hierarchy_over(job, here, name) for name in job.pool.over}
    published = [name for name, asked in job.tables.items() if asked.published]
    return {
        r: Pool.of({name: tables[r] for name, tables in loaded.items()}, fixed=fixed, over=over, published=published)
        for r in responses
    }


def _with_statuses(
    job: Job, loaded: Mapping[str, dict[str, Table]], by_hand: Callable[[Table, Job], Table]
) -> dict[str, dict[str, Table]]:
    """Statuses the job sets by hand, in every table that shows the cell."""
    result = {name: dict(tables) for name, tables in loaded.items()}
    for number, each in enumerate(job.status):
        used = False
        for name, tables in result.items():
            fixed = job.tables[name].fixed
            cell = {n: code for n, code in each.cell.items() if fixed.get(n) != code}
            for response, table in tables.items():
                here = all(n in each.cell for n in fixed)
                shown = here and all(n in table.by and c in table.by[n] for n, c in cell.items())
                if each.table in (None, name) and each.response in (None, response) and (shown or each.table == name):
                    alone = job.model_copy(update={"status": [each.model_copy(update={"cell": cell})]})
                    tables[response], used = by_hand(table, alone), True
        if not used:
            raise BadOption(
                f"status.{number}: no table of the pool shows this cell",
                where=", ".join(f"{n}={c}" for n, c in each.cell.items()),
                hint="check its codes; name the code of a table that stands at one (fixed).",
            )
    return result


def _hierarchy_over(job: Job, here: Path, name: str) -> Hierarchy:
    """How whole tables add up: by the hierarchy of the classification, or all of them to its total."""
    said = job.classifications.get(name)
    if said is not None and said.hierarchy:
        return read_hierarchy(here / said.hierarchy, total=said.total, lead=said.lead)
    total = (said.total if said is not None else None) or TOTAL
    codes = dict.fromkeys(t.fixed[name] for t in job.tables.values() if name in t.fixed)
    return Hierarchy.flat([c for c in codes if c != total], total=total)


def previous_of(job: Job, here: Path) -> dict[str, dict[str, Table]]:
    """Last period's tables: per response those of the tables that have some."""
    before: dict[str, dict[str, Table]] = {}
    for name, asked in job.tables.items():
        if asked.previous:
            for response, table in load_working(here / asked.previous).items():
                before.setdefault(response, {})[name] = table
    return before


def unpublished(job: Job) -> dict[str, Job]:
    """For every table that is not out already its own job, which says what is written of it."""
    return {name: job_of(job, name) for name, asked in job.tables.items() if not asked.published}
