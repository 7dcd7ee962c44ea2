"""Cell-key noise and the comparison of methods, as a job asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.cellkey.cell_key import KeyedNoise, perturb_by_key
from diskret.cellkey.options import Scaling
from diskret.cellkey.p_table import PTable
from diskret.cellkey.p_table_design import design_p_table
from diskret.cellkey.p_table_files import read_p_table
from diskret.comparison.compare import Comparison, compare_methods
from diskret.comparison.options import METHODS, ComparisonOptions
from diskret.io.files import all_or_none
from diskret.io.metadata import Metadata, Role
from diskret.job.noise_models import CellKeySection
from diskret.job.problem import Problem
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.publication.comparison_files import ENDINGS, write_comparison
from diskret.rules.rule import AnyOf
from diskret.tabulation.plan import RecordKey
from diskret.tabulation.tabulate import Progress

if TYPE_CHECKING:
    from diskret.job.models import Job

RANKED = 3


def record_key(job: Job, described: Metadata | None) -> RecordKey | None:
    """The record keys a table is tabulated with: the column named in the job, or the one its metadata call so."""
    asked = job.cell_key
    if asked is None:
        return None
    marked = described.having(Role.RECORD_KEY) if described is not None else ()
    column = asked.key or (marked[0].name if marked else None)
    return None if column is None else RecordKey(column, asked.modulus, asked.zeros)


def add_noise_by_key(job: Job, here: Path, tables: Mapping[str, Table]) -> dict[str, KeyedNoise]:
    """Every table with cell-key noise; nothing if the job does not ask for it."""
    asked = job.cell_key
    if asked is None:
        return {}
    if any(table.key is None for table in tables.values()):
        raise BadOption(
            "the table has no cell keys",
            where="[cell_key]",
            hint="name the column of record keys: cell_key.key; a working file must have been tabulated with it.",
        )
    small = read_p_table(here / asked.small_values) if asked.small_values else None
    scaling = Scaling(
        small=asked.small, large=min(asked.large, asked.small), flex_point=asked.flex_point,
        weights=tuple(asked.weights), extra=asked.extra,
    )  # fmt: skip
    return {
        name: perturb_by_key(table, _p_table(asked, here, table.frequency), scaling=scaling, small_values=small)
        for name, table in tables.items()
    }


def _p_table(asked: CellKeySection, here: Path, frequency: bool) -> PTable:
    if asked.p_table:
        return read_p_table(here / asked.p_table)
    if frequency:
        return design_p_table(
            deviation=asked.deviation, variance=asked.variance or 2.0, smallest=asked.smallest, stay=asked.stay
        )
    return design_p_table(
        deviation=asked.deviation, variance=asked.variance or 1.0, step=0.5, cells=(1, asked.deviation)
    )


def run_compare(
    job: Job, here: Path, data: Any, by: Mapping[str, Hierarchy | None], rules: AnyOf, progress: Progress | None,
    *, write: bool = True,
) -> tuple[tuple[Path, ...], Comparison]:  # fmt: skip
    """Compare all methods on the microdata of a job; write what it asks for, or nothing."""
    asked = job.compare
    assert asked is not None
    options = ComparisonOptions(
        percent=asked.percent, seed=asked.seed, base=asked.base, k=asked.k, merge=asked.merge,
        p_table=read_p_table(here / asked.p_table) if asked.p_table else None,
        ordered=tuple(n for n, c in job.classifications.items() if c.ordered),
    )  # fmt: skip
    found = compare_methods(
        data, by=by, value=job.table.value[0] if job.table.value else None, rules=rules, key=asked.key,
        methods=asked.methods or METHODS, options=options, progress=progress,
    )  # fmt: skip
    files = []
    if write:
        with all_or_none() as meanwhile:
            for name in asked.files:
                write_comparison(found, meanwhile(here / name))
                files.append(here / name)
    return tuple(files), found


def noise_problems(job: Job, folder: Path) -> Iterator[Problem]:
    """What a job about cell keys or about the comparison may not say, and what it needs."""
    files = {"cell_key.p_table": job.cell_key and job.cell_key.p_table,
             "cell_key.small_values": job.cell_key and job.cell_key.small_values,
             "compare.p_table": job.compare and job.compare.p_table}  # fmt: skip
    for key, name in files.items():
        if name and not os.path.exists(folder / str(name)):
            yield Problem(key, f"there is no file {name!r}", "looked in the folder of the job file")
    if job.cell_key is not None:
        if job.suppression is not None:
            yield Problem("suppression", "goes not with [cell_key]", "hide values or change them, not both")
        if job.perturbation is not None:
            yield Problem("perturbation", "goes not with [cell_key]", "change values in one way only")
        if job.data.microdata and not job.cell_key.key and not job.data.metadata:
            yield Problem("cell_key.key", "missing", "column of record keys")
        if job.data.cells:
            yield Problem("cell_key", "goes not with data.cells", "cell keys are made of records")
    if job.compare is None:
        return
    if not job.data.microdata:
        yield Problem("data.microdata", "missing", "a job with [compare] reads records")
    if not job.rules.model_fields_set:
        yield Problem("rules", "missing", "which cells are primary, such as min_count = 3")
    if len(job.table.value) > 1:
        yield Problem("table.value", "names several columns", "compare methods for one value at a time")
    for key in ("weight", "holding", "waiver", "request", "public"):
        if getattr(job.table, key):
            yield Problem(f"table.{key}", "goes not with [compare]", "not all methods know it")
    for key in ("suppression", "perturbation", "cell_key", "microdata", "attack", "anonymise", "status"):
        if key in job.model_fields_set:
            yield Problem(key, "goes not with [compare]", "the comparison runs every method itself")
    for key in ("publish", "working", "tau_argus", "comparison", "certificate"):
        if getattr(job.output, key):
            yield Problem(f"output.{key}", "goes not with [compare]", "name compare.files")
    if job.compare.merge is not None and job.compare.merge not in job.table.by:
        yield Problem("compare.merge", f"no classification {job.compare.merge!r}", f"table.by: {listed(job.table.by)}")
    for name in job.compare.files:
        if Path(name).suffix not in ENDINGS:
            yield Problem("compare.files", f"cannot write {name!r}", f"endings: {', '.join(ENDINGS)}")
