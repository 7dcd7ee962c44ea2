"""The section [anonymise] of a job: what is wrong with it, running it, writing what it asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diskret.io.files import all_or_none
from diskret.job.models import AnonymiseSection, Job
from diskret.job.problem import Problem
from diskret.job.report import write_safe_report
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy
from diskret.publication.microdata_files import write_anonymous_file, write_quality, write_rematched
from diskret.publication.plots import plot_deviations
from diskret.publication.report_file import ENDINGS as REPORTS
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.anonymise import anonymise
from diskret.safe.control import Control
from diskret.safe.history import Watch
from diskret.safe.options import AnonymiseOptions, LadderSearch, PrintedSearch, SearchOptions
from diskret.safe.rematch import rematch
from diskret.tabulation.tabulate import Progress

ANONYMOUS_OUTPUTS = {
    "microdata": (".parquet", ".csv"),
    "quality": (".json", ".txt"),
    "deviations": (".svg", ".html", ".png"),
    "rematched": (".parquet", ".csv"),
}
"""Keys of [output] that go with [anonymise], and the endings they may have."""


def anonymise_problems(job: Job, folder: Path) -> Iterator[Problem]:
    """What the types cannot say about [anonymise]."""
    asked = job.anonymise
    assert asked is not None
    if not job.data.microdata:
        yield Problem("anonymise", "goes only with data.microdata", "one record per object")
    for key in ("table", "rules", "suppression", "status"):
        if key in job.model_fields_set:
            yield Problem(key, "goes not with [anonymise]", "make tables from the anonymous file, in a job of its own")
    for key in ("publish", "working", "tau_argus", "comparison"):
        if getattr(job.output, key):
            yield Problem(f"output.{key}", "goes not with [anonymise]", f"{listed(ANONYMOUS_OUTPUTS)} do")
    for key, endings in (*ANONYMOUS_OUTPUTS.items(), ("report", REPORTS)):
        name = getattr(job.output, key)
        if name and Path(name).suffix.lower() not in endings:
            yield Problem(f"output.{key}", f"cannot write {name!r}", f"endings: {', '.join(endings)}")
    if len(set(asked.attributes)) < len(asked.attributes):
        yield Problem("anonymise.attributes", "names a column twice", "name each once")
    if isinstance(asked.fictitious, str) and not os.path.exists(folder / asked.fictitious):
        yield Problem("anonymise.fictitious", f"there is no file {asked.fictitious!r}", "a number, or a file with rows")
    wrong = ("printed",) if asked.search == "ladder" else ("effort", "limits", "checkpoint")
    for key in wrong:
        if key in asked.model_fields_set:
            yield Problem(f"anonymise.{key}", f"goes not with search = {asked.search!r}")
    try:
        search_of(asked)
    except BadOption as e:
        yield Problem("anonymise", e.what, e.hint)
    for counter, of in asked.counters.items():
        unknown = [name for name in (counter, *of) if name not in asked.attributes]
        if unknown:
            yield Problem("anonymise.counters", f"{listed(unknown)} is no attribute", "add it to attributes")


def search_of(asked: AnonymiseSection) -> SearchOptions:
    """The search with its options."""
    if asked.search == "ladder":
        return LadderSearch(effort=asked.effort, limits=None if asked.limits is None else tuple(asked.limits))
    given: dict[str, Any] = {} if asked.printed is None else asked.printed.model_dump()
    if "expected" in given:
        given["expected"] = tuple(given["expected"])
    return PrintedSearch(**given)


def anonymise_file(
    job: Job, here: Path, data: object, by: Mapping[str, Hierarchy | None], progress: Progress | None,
    watch: Watch | None = None,
) -> Anonymisation:  # fmt: skip
    """Run the section."""
    asked = job.anonymise
    assert asked is not None
    fictitious: object = here / asked.fictitious if isinstance(asked.fictitious, str) else asked.fictitious or None
    missing = {n: c.missing for n, c in job.classifications.items() if c.missing is not None}
    control = Control(up_to=asked.up_to, tables=asked.tables, counters=asked.counters, weights=asked.weights)
    options = AnonymiseOptions(
        missing=missing, fictitious=fictitious, time_limit=asked.time_limit, engine=job.data.engine,
        checkpoint=None if asked.checkpoint is None else here / asked.checkpoint, progress=progress, watch=watch,
    )  # fmt: skip
    return anonymise(data, by, control=control, k=asked.k, search=search_of(asked), seed=asked.seed, options=options)


def write_anonymous(job: Job, here: Path, data: object, done: Anonymisation) -> tuple[Path, ...]:
    """Write everything the job asks for, or nothing."""
    asked = job.output
    files: list[Path] = []
    with all_or_none() as meanwhile:

        def place(name: str) -> Path:
            files.append(here / name)
            return meanwhile(here / name)

        if asked.microdata:
            write_anonymous_file(done, place(asked.microdata))
        if asked.quality:
            write_quality(done, place(asked.quality))
        if asked.deviations:
            plot_deviations({done.search: done.quality}, place(asked.deviations))
        if asked.report:
            write_safe_report(job, done, place(asked.report))
        if asked.rematched and job.anonymise is not None:
            write_rematched(rematch(data, done, job.anonymise.priority), place(asked.rematched))
    return tuple(files)
