"""The tables of a job before marking: its data, its classifications, statuses set by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.io.cell_list import read_cell_list
from diskret.io.hierarchies import read_hierarchy
from diskret.io.metadata import Metadata, classification, source, with_parts
from diskret.io.rda import read_metadata
from diskret.job.cell_keys import as_told, ranked_for, record_key
from diskret.job.data_section import READING, Data
from diskret.job.recoding import closings_of
from diskret.job.rules import rules_of
from diskret.job.table_sections import CellStatus, Classification, FlagColumn
from diskret.model.closing import Closing, closed
from diskret.model.coded import MISSING
from diskret.model.databases import is_server
from diskret.model.delimited import Delimited, found_in, look
from diskret.model.engine import connect
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.periods import in_periods
from diskret.model.places import files_meant
from diskret.model.sheets import Workbook, header_value, preview_sheet
from diskret.model.source import file_source, normalised, open_source
from diskret.model.spelling import plain
from diskret.model.status import Status, refuse_false_zeros
from diskret.model.table import Table
from diskret.model.unpivot import unpivoted
from diskret.publication.working import load_working
from diskret.rules.further import Request
from diskret.rules.rule import largest_needed
from diskret.tabulation.options import Roles, TabulationOptions
from diskret.tabulation.tabulate import Progress, tabulate

if TYPE_CHECKING:
    from diskret.job.anonymise_job import AnonymiseJob
    from diskret.job.compare_job import CompareJob
    from diskret.job.records_job import RecordsJob
    from diskret.job.table_job import TableJob


def load_tables(job: TableJob, here: Path, progress: Progress | None = None, largest: int = 0) -> dict[str, Table]:
    """The tables of a job before marking: tabulated, built from cells, or loaded."""
    if job.data.table:
        return load_working(here / job.data.table)
    if job.data.cells and job.data.metadata:
        table = _cell_list(job, here)
        return {table.response: table}
    data, described = classified_source(job.data, job.classifications, here)
    by = hierarchies_of(job, here, job.table.by, data, described)
    coarser = closings_of(job.classifications, here, by, described)
    by |= {name: closing.tree for name, closing in coarser.items()}
    by |= dict.fromkeys(_told_by_records(job, described) - coarser.keys())
    made = _from_cells(job, data, by) if job.data.cells else _tabulated(job, data, described, by, progress, largest)
    return {name: closed(table, coarser) for name, table in made.items()}


def _told_by_records(job: TableJob, described: Metadata | None) -> set[str]:
    """Classifications whose codes are those of the records that count: rows of totals and gaps may have others."""
    if described is not None or not job.data.microdata:
        return set()
    said = {name: job.classifications.get(name, Classification()) for name in job.table.by}
    return {name for name, each in said.items() if not (each.hierarchy or each.prefixes or each.missing is not None)}


def _from_cells(job: TableJob, data: Any, by: Mapping[str, Hierarchy | None]) -> dict[str, Table]:
    """Tables from a list of cells."""
    asked = job.table
    return Table.from_cells(
        data, by=by, value=list(asked.value), count=asked.count, largest=list(asked.largest), shadow=asked.shadow,
        owner=asked.owner,
        status=asked.status, below=asked.below, above=asked.above, lower=asked.lower, upper=asked.upper,
        weight=asked.cost, positive=asked.positive, frequency=asked.frequency, tolerance=asked.tolerance,
        sums=asked.sums, categories=categories_of(job.classifications),
        **_gaps(job),
    )  # fmt: skip


def _tabulated(
    job: TableJob, data: Any, described: Metadata | None, by: Mapping[str, Hierarchy | None],
    progress: Progress | None, largest: int,
) -> dict[str, Table]:  # fmt: skip
    """Tables from records."""
    asked = job.table
    rules = rules_of(job)
    noise = as_told(job.cell_key, described, asked.value)
    ranked = max(largest_needed(rules) if rules.rules else 2, ranked_for(noise))
    request = any(isinstance(rule, Request) for rule in rules)
    roles = Roles(
        weight=asked.weight, holding=asked.holding, waiver=_flag(asked.waiver), public=_flag(asked.public),
        request=None if request else _flag(asked.request), asked=_flag(asked.request) if request else None,
        shadow=asked.shadow, key=record_key(noise, described), cost=asked.cost,
    )  # fmt: skip
    options = TabulationOptions(
        **_gaps(job),
        totals=totals_of(job.classifications, by),
        categories=categories_of(job.classifications),
        tolerance=asked.tolerance,
        positive=asked.positive,
        weighted_counts=job.rules.weighs,
        normalise=job.data.normalise,
        engine=job.data.engine,
        sparse=False if asked.sparse is None and _needs_all(job) else asked.sparse,
    )
    made = tabulate(
        data, by=by, value=list(asked.value) or None, largest=max(largest, ranked), roles=roles, options=options,
        progress=progress,
    )  # fmt: skip
    return made if isinstance(made, dict) else {made.response: made}


def _needs_all(job: TableJob) -> bool:
    """Whether something in a job needs all cells of its table: it is held whole then, unless the job says otherwise."""
    asked = job.suppression
    by_moves = asked is None or (asked.method in ("moves", "thin") and getattr(asked, "zeros", "") != "allowed")
    return bool(job.perturbation or job.adjustment or job.cell_key or job.apriori or not by_moves)


def _gaps(job: TableJob) -> dict[str, Any]:
    """What becomes of rows without a value or a code."""
    said = job.classifications
    return {
        "missing": missing_codes(said, job.data.normalise),
        "without_value": job.table.without_value,
        "without_code": {name: each.without_code for name, each in said.items()},
        "unknown": {name: each.unknown for name, each in said.items()},
    }


def _cell_list(job: TableJob, here: Path) -> Table:
    """A list of cells as its metadata describe it."""
    assert job.data.cells
    assert job.data.metadata
    asked = job.table
    coarser: dict[str, Closing] = {}

    def change(by: Mapping[str, Hierarchy], metadata: Metadata) -> dict[str, Hierarchy]:
        unknown = [name for name in asked.by if name not in by]
        if unknown:
            raise BadOption(
                f"table.by lists {listed(unknown)}, the metadata {listed(by)}",
                where=str(metadata.path),
                hint="name classifications of the metadata, or leave table.by out for all of them.",
            )
        shown = {name: each.missing_codes for name, each in job.classifications.items()}
        kept = {name: with_parts(by[name], shown.get(name, ())) for name in asked.by or by}
        coarser.update(closings_of(job.classifications, here, kept, metadata))
        return kept | {name: closing.tree for name, closing in coarser.items()}

    table = read_cell_list(
        here / job.data.cells, here / job.data.metadata, value=asked.value[0] if asked.value else None,
        shadow=asked.shadow, positive=asked.positive, tolerance=asked.tolerance, sums=asked.sums,
        statuses=asked.statuses, normalise=job.data.normalise, change=change,
    )  # fmt: skip
    return closed(table, coarser)


def described_source(data: Data, here: Path) -> tuple[Any, Metadata | None]:
    """The records or cells a job reads, with the metadata that describe them, if it names any."""
    name = data.microdata or data.cells
    assert name is not None
    if data.metadata:
        described = read_metadata(here / data.metadata)
        signs = {"decimal": data.decimal, "thousands": data.thousands, "encoding": data.encoding}
        return _as_asked(data, source(described, here / name, **signs)), described
    return file_of(data, name if is_server(name) else here / name), None


def classified_source(
    data: Data, classifications: Mapping[str, Classification], here: Path
) -> tuple[Any, Metadata | None]:
    """The same with dates as the periods that classifications ask for."""
    read, described = described_source(data, here)
    periods = {n: c.period for n, c in classifications.items() if c.period}
    orders = {n: c.dates for n, c in classifications.items() if c.dates}
    return in_periods(read, periods, orders), described


def found_reading(data: Data, here: Path) -> dict[str, Any]:
    """What is found of how the file of a job is to be read (encoding, rows of names), by the keys of a job."""
    name = data.microdata or data.cells
    if name is None or is_server(name) or data.metadata or data.engine != "duckdb":
        return {}
    source = file_source(here / name, **{key: getattr(data, key) for key in READING})
    if isinstance(source, Delimited):
        first = replace(source, path=files_meant(source.path)[0])
        text = look(connect(), first)
        return found_in([text], source)
    if isinstance(source, Workbook) and source.header is None and source.range is None:
        seen = preview_sheet(source.path, source.sheet)
        return {"header": header_value(seen.header)} if seen.sure and seen.header not in (None, [1]) else {}
    return {}


def file_of(data: Data, path: Path | str) -> object:
    """A file, or a table of a server, that is read as a job says of its data."""
    return _as_asked(data, file_source(path, **{key: getattr(data, key) for key in READING}))


def _as_asked(data: Data, source: object) -> object:
    if data.normalise:
        source = normalised(source)
    if data.unpivot is None:
        return source
    return unpivoted(source, data.unpivot.columns, into=data.unpivot.into, value=data.unpivot.value)


def source_of(job: RecordsJob, here: Path) -> Any:
    """The records a job reads, for whoever opens them."""
    return described_source(job.data, here)[0]


def missing_codes(classifications: Mapping[str, Classification], normalise: bool = False) -> dict[str, str]:
    """Codes under which records without one are counted."""
    found = {n: c.missing for n, c in classifications.items() if c.missing is not None}
    return {n: plain(code) for n, code in found.items()} if normalise else found


def categories_of(classifications: Mapping[str, Classification]) -> dict[str, list[str]]:
    """Codes that look like totals and are none."""
    return {n: c.categories for n, c in classifications.items() if c.categories}


def totals_of(
    classifications: Mapping[str, Classification], by: Mapping[str, Hierarchy | None]
) -> dict[str, list[str]]:
    """Codes of totals and subtotals that rows of the data may have."""
    found = {n: [*([c.total] if c.total else []), *c.subtotals] for n, c in classifications.items() if n in by}
    return {n: codes for n, codes in found.items() if codes}


def hierarchies_of(
    job: TableJob | CompareJob | AnonymiseJob, here: Path, names: Iterable[str], data: Any, described: Metadata | None
) -> dict[str, Hierarchy | None]:
    """How the codes of classifications add up, as the job or its metadata say; None: all to one total."""
    found = {n: _hierarchy(job.data, job.classifications.get(n), here, n, data, described) for n in names}
    return {n: h.normalised() if h and job.data.normalise else h for n, h in found.items()}


def _hierarchy(
    asked: Data, said: Classification | None, here: Path, name: str, data: Any, described: Metadata | None
) -> Hierarchy | None:
    if said is not None and said.hierarchy:
        return read_hierarchy(here / said.hierarchy, total=said.total, lead=said.lead)
    if said is not None and said.prefixes:
        codes = [c for c in _codes(data, name) if c != said.total]
        return Hierarchy.from_prefixes(codes, said.prefixes, total=said.total or TOTAL)
    if described is not None:
        missing = said.missing_codes if said is not None else ()
        return classification(described, name, _codes(data, name), normalise=asked.normalise, missing=missing)
    return None if said is None else _flat(said, _codes(data, name, blanks=bool(asked.microdata)))


def _flat(said: Classification, found: Iterable[str]) -> Hierarchy:
    """All codes to one total; those of records without a code under the one the job names."""
    total = said.total or TOTAL
    codes = [c for c in found if c != total]
    if said.without_code == "leave out":
        codes = [c for c in codes if c != MISSING]
    if said.missing is not None and said.missing != total:
        codes = [c for c in codes if c not in (MISSING, said.missing)] + [said.missing]
    return Hierarchy.flat(codes, total=total)


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


def set_by_hand(table: Table, said: Sequence[CellStatus]) -> Table:
    """Statuses the job sets cell by cell."""
    status, given = table.status.copy(), np.zeros_like(table.status)
    for each in said:
        unknown = [n for n in each.cell if n not in table.by]
        if unknown:
            raise BadOption(
                f"status: no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}."
            )
        if each.response in (None, table.response):
            at = table.index(*(each.cell.get(n, h.total) for n, h in table.by.items()))
            status[at] = given[at] = Status.from_text(each.status)
    refuse_false_zeros(given, table.value, table.name_cells)
    return replace(table, status=status) if said else table
