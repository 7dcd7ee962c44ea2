"""A job file for other data than it names: the options of `run` and `check`, and what is said before they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from diskret.job.models import Job

OtherData = Annotated[
    list[str] | None,
    typer.Option("--data", help="Other data for this job: FILE, or NAME=FILE for one of several linked tables."),
]
Previous = Annotated[
    list[str] | None,
    typer.Option(
        "--previous", help="Working file of the last period; its pattern is kept if that is cheap. Or NAME=FILE."
    ),
]
AtMost = Annotated[
    float | None,
    typer.Option("--at-most", min=0.0, help="By what share keeping it may make the result dearer: 0.1, or inf."),
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for all files the job writes, under the names they have.")
]


@dataclass(frozen=True, kw_only=True)
class Instead:
    """What a command says instead of its job file."""

    data: Sequence[str] = ()
    previous: Sequence[str] = ()
    at_most: float | None = None
    out: Path | None = None
    write: bool = True


def job_for(path: Path, instead: Instead, quiet: bool) -> Job:
    """The job of a file with what the command says instead; what differs in the data is told on standard error."""
    from diskret.job.cures import cures_for
    from diskret.job.differences import differences
    from diskret.job.models import job_of
    from diskret.job.next_file import into_folder, refuse_taken, with_data, with_previous
    from diskret.job.read import job_content, job_from

    written = job_content(path)
    content = with_data(written, _resolved(written, instead.data))
    content = with_previous(content, _resolved(written, instead.previous), instead.at_most)
    if instead.out is not None:
        content = into_folder(content, str(instead.out.resolve()))
    job = job_from(content, str(path), path.parent)
    if not instead.data:
        return job
    before = job_of(written)
    if instead.write:
        refuse_taken(before, job, path.parent)
    with cures_for(job, path.parent):
        found = differences(before, job, path.parent)
    for each in () if quiet else [*map(str, found)] or ["nothing but the numbers"]:
        typer.echo(f"differs: {each}", err=True)
    return job


def _resolved(content: Mapping[str, Any], files: Sequence[str]) -> list[str]:
    """Files as seen from anywhere: the command is given them from its own folder, the job from its own."""
    from diskret.job.next_file import meant

    found = []
    for said in files:
        table, file = meant(content, said)
        place = str(Path(file).resolve())
        found.append(place if table is None else f"{table}={place}")
    return found
