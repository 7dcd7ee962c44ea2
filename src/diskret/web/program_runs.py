"""Runs of programs: a job as `diskret run` does it, its files kept in the folder of the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.job.form import Writes, named_files
from diskret.job.models import Job
from diskret.job.naming import named_outputs
from diskret.job.next_file import into_folder
from diskret.job.paths import with_paths
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadOption
from diskret.tabulation.tabulate import Progress

WHERE = "the job"
"""What messages call it."""


def run_files(content: Mapping[str, Any], workspace: Path, result: Path, say: Progress) -> dict[str, Any]:
    """Do a job of any kind and write what it asks for into the folder of the result."""
    job = job_in(content, workspace, result.relative_to(workspace).as_posix())
    done = run_job(job, workspace, say)
    public = public_files(named_outputs(job, workspace))
    return _told(done.summary()) | {"exposed": done.exposed, "public": public}


def run_check(content: Mapping[str, Any], workspace: Path, result: Path, say: Progress) -> dict[str, Any]:
    """Do everything a job says except writing."""
    done = run_job(job_in(content, workspace, "out"), workspace, say, write=False)
    return _told(done.summary()) | {"exposed": done.exposed}


def job_in(content: Mapping[str, Any], workspace: Path, folder: str) -> Job:
    """The job with all its files in one folder, under the names it gives them; refused with every mistake found."""
    refuse_odd_names(content)
    return job_from(into_folder(content, folder), WHERE, workspace)


def refuse_odd_names(content: Mapping[str, Any]) -> None:
    """Refuse names of outputs that lead elsewhere than into the folder, or are hidden there."""

    def judged(name: str) -> str:
        plain = Path(name).name
        if not plain or plain.startswith(".") or not plain.isprintable() or len(plain.encode()) > 200:
            raise BadOption("an output has no name that a file can have here", hint="give it one such as table.csv.")
        return name

    with_paths(content, judged, Writes)


def public_files(job: Job) -> list[str]:
    """The files of a job that are for everybody: what its sections call so, and nothing else writes."""
    files = [(Path(name).name, mark) for _, name, mark in named_files(job) if isinstance(mark, Writes)]
    confidential = {name for name, mark in files if not mark.public}
    return sorted({name for name, mark in files if mark.public} - confidential)


def _told(summary: dict[str, Any]) -> dict[str, Any]:
    """What a run says of itself: counts and names; where its files lie is said otherwise."""
    return {"summary": {key: each for key, each in summary.items() if key != "files"}}
