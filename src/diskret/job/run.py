"""Running a job: read, tabulate, mark, protect, write. The CLI and the page both call `run_job`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from diskret.job.compare_job import CompareJob
from diskret.job.cures import cures_for
from diskret.job.models import Job
from diskret.job.naming import named_outputs
from diskret.job.origin import job_origin
from diskret.job.outcome import JobResult, Running
from diskret.model.errors import ProtectionWarning
from diskret.model.memory import in_words
from diskret.tabulation.tabulate import Progress

if TYPE_CHECKING:
    from diskret.safe.history import Watch


def run_job(
    job: Job, folder: str | Path, progress: Progress | None = None, *, write: bool = True, largest: int = 0,
    watch: Watch | None = None, traced: bool = False,
) -> JobResult:  # fmt: skip
    """Do what a job says; files named in it are looked for, and written, in ``folder``.

    ``largest`` keeps more largest contributions than the rules of the job need, for rules applied later. ``watch`` is
    told the course of a search for an anonymous file. The result says by which hash its data are known, if it is to be
    ``traced`` or the job asks for an internal report.
    """
    origin = job_origin(job, Path(folder), hashed=traced or (write and _asks_for_origin(job)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtectionWarning)
        running = Running(
            here=Path(folder),
            progress=progress,
            write=write,
            largest=largest,
            watch=watch,
            caught=caught,
            origin=origin,
        )
        with in_words(), cures_for(job, running.here):
            done = named_outputs(job, running.here).run(running)
    for other in caught:
        if not issubclass(other.category, ProtectionWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return replace(done, warnings=running.said(), origin=origin)


def _asks_for_origin(job: Job) -> bool:
    """Whether the job writes a report for the house or enters the ledger: only they name the data by their hash."""
    if getattr(job, "ledger", None) is not None:
        return True
    if isinstance(job, CompareJob):
        return any(name.endswith(".html") for name in job.compare.files)
    return bool(getattr(getattr(job, "output", None), "internal_report", None))
