"""What leaves the page: published files, job files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.read import job_from
from diskret.job.suppression import intervals_of
from diskret.job.table_job import TableJob
from diskret.job.write import job_as_text
from diskret.model.errors import BadOption
from diskret.model.private import private_folder
from diskret.publication.publish import WRITERS, publish
from diskret.web.answers import Json, attachment, body_of
from diskret.web.incoming import incoming_file
from diskret.web.reading import LONG
from diskret.web.table_runs import load
from diskret.web.workbench import RECORDS, TABLE, Workbench, choice, workbench


def exported(request: Request) -> Response:
    """A finished run's tables as a file for the public, the same bytes as its job file gives."""
    bench, run = workbench(request), request.path_params["run"]
    ending = f".{request.path_params['ending']}"
    if ending not in WRITERS:
        raise BadOption(f"tables are not published as {ending}", hint=f"endings: {', '.join(WRITERS)}.")
    content = as_shown(bench.runs.content(run), request.query_params.get("sums"))
    given = (content, bench.workspace.root, ending)
    with bench.runs.result(run) as folder:
        made = bench.reading.do(made_export, folder, *given, where=run, seconds=LONG)
    return attachment(made, stem(bench.runs.status(run)["name"]) + ending)


def made_export(folder: Path, content: dict[str, Any], root: Path, ending: str) -> bytes:
    """The tables of a result as a file for the public."""
    job = job_from(content, "the page", root, TableJob)
    tables = {name: each.table for name, each in load(folder).items()}
    asked = job.output
    with made_apart(f"table{ending}") as path:
        publish(
            tables, path, **asked.options,
            intervals=intervals_of(job, tables), unprotected=asked.unprotected or job.suppression is not None,
        )  # fmt: skip
        return path.read_bytes()


def as_shown(content: dict[str, Any], sums: Any) -> dict[str, Any]:
    """A job on tables with sums where the page shows them, if it shows them elsewhere than the job puts them.

    >>> as_shown({"table": {"by": ["s"]}, "output": {"title": "Trade"}}, "before")["output"]
    {'title': 'Trade', 'sums': 'before'}
    """
    said = content.get("output") or {}
    if sums is None or "anonymise" in content or "microdata" in content or not isinstance(said, dict):
        return content
    return content | {"output": said | {"sums": sums}}


@contextmanager
def made_apart(name: str) -> Iterator[Path]:
    """A private place for a file that is sent and forgotten."""
    folder = private_folder()
    try:
        yield folder.path / name
    finally:
        folder.remove()


def stem(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^\w-]+", "-", name).strip("-.")[:60] or "table"


def job_text(bench: Workbench, content: dict[str, Any], name: str) -> str:
    """The job file of what was done: it reads the same data and writes what the page exports."""
    if "anonymise" in content:
        files: dict[str, Any] = {"microdata": f"out/{name}.csv"}
    elif "microdata" in content:
        files = {"records": f"out/{name}.csv"}
    else:
        files = {"publish": [f"out/{name}.csv", f"out/{name}.xlsx"], "working": f"out/{name}.working.parquet"}
    said = content.get("output") or {}
    if isinstance(said, dict):  # else it is refused below
        content = content | {"output": said | files | {"report": f"out/{name}-report.html"}}
    return job_as_text(job_from(content, "the page", bench.workspace.root))


def job_file(request: Request) -> Response:
    """A run's job file."""
    bench, run = workbench(request), request.path_params["run"]
    name = stem(bench.runs.status(run)["name"])
    content = as_shown(bench.runs.content(run), request.query_params.get("sums"))
    content.pop("audit", None)
    return attachment(job_text(bench, content, name).encode(), f"{name}.toml")


async def save_job(request: Request) -> Response:
    """Write the job file of a run, or of the present choice, into the workspace."""
    return await run_in_threadpool(_save_job, request, await body_of(request))


def _save_job(request: Request, asked: Mapping[str, Any]) -> Response:
    bench, run = workbench(request), asked.get("run")
    page = RECORDS if asked.get("of") == RECORDS else TABLE
    content = bench.runs.content(str(run)) if run else choice(request, page).content()
    content = as_shown(content, asked.get("sums"))
    content.pop("audit", None)
    name = stem(str(asked.get("name") or (bench.runs.status(str(run))["name"] if run else "job")))
    return saved(bench, name, lambda: job_text(bench, content, name), replace=asked.get("replace") is True)


def saved(bench: Workbench, name: str, text: Callable[[], str], *, replace: bool) -> Response:
    """Write a job or a plan into the workspace; over an older one only if that is asked for."""
    place = bench.workspace.new(f"{name}.toml")
    with incoming_file(place, bench.placing, replace=replace) as part:
        part.write_text(text(), encoding="utf-8", newline="")
    return Json({"name": place.name, "path": str(place)}, status_code=201)


ROUTES = [
    Route("/api/runs/{run}/job.toml", job_file, methods=["GET"]),
    Route("/api/runs/{run}/export.{ending}", exported, methods=["GET"]),
    Route("/api/savejob", save_job, methods=["POST"]),
]
