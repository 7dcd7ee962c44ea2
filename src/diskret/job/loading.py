"""The tables of a job before marking: its data, its classifications, statuses set by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from diskret.io.cell_list import read_cell_list
from diskret.io.hierarchies import read_hierarchy
from diskret.io.metadata import Metadata, classification, source
from diskret.io.rda import read_metadata
from diskret.job.models import FlagColumn, Job
from diskret.job.noise import RANKED, record_key
from diskret.job.rules import rules_of
from diskret.model.errors import BadOption, listed
from diskret.model.from_cells import MISSING
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.source import file_source, open_source
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.working import load_working
from diskret.rules.rule import largest_needed
from diskret.tabulation.options import Roles, TabulationOptions
from diskret.tabulation.tabulate import Progress, tabulate


def load_tables(job: Job, here: Path, progress: Progress | None = None, largest: int = 0) -> dict[str, Table]:
    """The tables of a job before marking: tabulated, built from cells, or loaded."""
    if job.data.table:
        return load_working(here / job.data.table)
    if job.data.cells and job.data.metadata:
        table = _cell_list(job, here)
        return {table.response: table}
    data, described = described_source(job, here)
    by = {name: hierarchy_of(job, here, name, data, described) for name in job.table.by}
    asked = job.table
    if job.data.cells:
        return Table.from_cells(
            data, by=by, value=list(asked.value), count=asked.count, largest=list(asked.largest), status=asked.status,
            lower=asked.lower, upper=asked.upper, weight=asked.cost, positive=asked.positive,
            frequency=asked.frequency, tolerance=asked.tolerance,
        )  # fmt: skip
    rules = rules_of(job)
    ranked = max(largest_needed(rules) if rules.rules else 2, RANKED if job.cell_key is not None else 0)
    missing = {n: c.missing for n, c in job.classifications.items() if c.missing is not None}
    roles = Roles(
        weight=asked.weight, holding=asked.holding, waiver=_flag(asked.waiver), request=_flag(asked.request),
        public=_flag(asked.public), key=record_key(job, described),
    )  # fmt: skip
    options = TabulationOptions(missing=missing, positive=asked.positive, engine=job.data.engine)
    made = tabulate(
        data, by=by, value=list(asked.value) or None, largest=max(largest, ranked), roles=roles, options=options,
        progress=progress,
    )  # fmt: skip
    return made if isinstance(made, dict) else {made.response: made}


def _cell_list(job: Job, here: Path) -> Table:
    """A list of cells as its metadata describe it."""
    assert job.data.cells
    assert job.data.metadata
    asked = job.table
    table = read_cell_list(
        here / job.data.cells, here / job.data.metadata, value=asked.value[0] if asked.value else None,
        positive=asked.positive, tolerance=asked.tolerance,
    )  # fmt: skip
    if asked.by and list(asked.by) != list(table.names):
        raise BadOption(
            f"table.by lists {listed(asked.by)}, the metadata {listed(table.names)}",
            where=str(here / job.data.metadata),
            hint="leave table.by out: a list of cells has all of its classifications.",
        )
    return table


def described_source(job: Job, here: Path) -> tuple[Any, Metadata | None]:
    """The records or cells a job reads, with the metadata that describe them, if it names any."""
    name = job.data.microdata or job.data.cells
    assert name is not None
    path = here / name
    if job.data.metadata:
        described = read_metadata(here / job.data.metadata)
        return source(described, path, decimal=job.data.decimal, encoding=job.data.encoding), described
    asked = job.data
    return file_source(
        path, delimiter=asked.delimiter, decimal=asked.decimal, encoding=asked.encoding, sheet=asked.sheet
    ), None


def source_of(job: Job, here: Path) -> Any:
    """The records or cells a job reads, for whoever opens them."""
    return described_source(job, here)[0]


def hierarchy_of(job: Job, here: Path, name: str, data: Any, described: Metadata | None) -> Hierarchy | None:
    """How the codes of a classification add up, as the job or its metadata say; None: all to one total."""
    said = job.classifications.get(name)
    if said is not None and said.hierarchy:
        return read_hierarchy(here / said.hierarchy, total=said.total, lead=said.lead)
    if said is not None and said.prefixes:
        return Hierarchy.from_prefixes(_codes(data, name), said.prefixes, total=said.total or TOTAL)
    if described is not None:
        return classification(described, name, _codes(data, name))
    if said is not None:
        total = said.total or TOTAL
        codes = [c for c in _codes(data, name, blanks=bool(job.data.microdata)) if c != total]
        if said.missing is not None:
            codes = [c for c in codes if c not in (MISSING, said.missing)] + [said.missing]
        return Hierarchy.flat(codes, total=total)
    return None


def _codes(data: Any, name: str, blanks: bool = False) -> list[str]:
    """Distinct codes of a column; with ``blanks`` records without a code get one of their own."""
    relation = open_source(data)
    relation.require([name])
    code = relation.code(name)
    found = relation.query(f"SELECT DISTINCT {code} FROM {relation.view} ORDER BY 1")
    codes = [c for (c,) in found if c is not None]
    return codes + [MISSING] if blanks and len(codes) < len(found) else codes


def _flag(given: str | FlagColumn | None) -> str | tuple[str, list[str]] | None:
    return (given.column, given.codes) if isinstance(given, FlagColumn) else given


def set_by_hand(table: Table, job: Job) -> Table:
    """Statuses the job sets cell by cell."""
    status = table.status.copy()
    for each in job.status:
        unknown = [n for n in each.cell if n not in table.by]
        if unknown:
            raise BadOption(
                f"status: no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}."
            )
        if each.response in (None, table.response):
            at = table.index(*(each.cell.get(n, h.total) for n, h in table.by.items()))
            status[at] = Status.from_text(each.status)
    return replace(table, status=status) if job.status else table
