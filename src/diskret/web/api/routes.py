"""What programs ask: files in, jobs, files out. Every path here stands in the OpenAPI document, and no other does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

import diskret
from diskret.job.models import job_schema
from diskret.model.damage import reading
from diskret.model.errors import BadOption, NoSuchRun
from diskret.web.answers import Json, body_of
from diskret.web.api import forms
from diskret.web.api.document import document, media_of
from diskret.web.program_runs import job_in
from diskret.web.routes import workspace_files
from diskret.web.routes.names import NAME
from diskret.web.run_files import OF_PROGRAMS, RESULT, STATUS, real_file
from diskret.web.run_folders import ACTIVE
from diskret.web.workbench import Workbench, workbench
from diskret.web.workspace import RUNS

LONGEST_WAIT, EVERY = 60.0, 0.1
"""Seconds a question may wait for the end of a run; between two looks at it."""


def told(form: forms.Form, status: int = 200) -> Json:
    """An answer."""
    return Json(form.model_dump(mode="json"), status_code=status)


def about(request: Request) -> Response:
    """Who answers."""
    return told(forms.About(version=diskret.__version__))


def openapi(request: Request) -> Response:
    """The interface itself, for programs that read such documents."""
    return Json(document())


def schema(request: Request) -> Response:
    """The JSON Schema of a job."""
    return Json(job_schema())


# --- files -----------------------------------------------------------------------------------------------------------


def every_file(request: Request) -> Response:
    """What is there."""
    found = workbench(request).workspace.files()
    return told(forms.WorkspaceFiles(files=[forms.WorkspaceFile(**each) for each in found]))


def remove_file(request: Request) -> Response:
    """Remove a file that was handed in: data need not lie there longer than they are used."""
    bench, name = workbench(request), request.path_params["name"]
    place = bench.workspace.new(name)
    with bench.placing:
        if not place.exists():
            raise NoSuchRun(f"there is no file {name!r}", hint="look at the list of files.")
        place.unlink()
    return told(forms.Removed(removed=name))


# --- runs ------------------------------------------------------------------------------------------------------------


async def start(request: Request) -> Response:
    """Begin a run; every mistake in the job is told at once."""
    given, bench = await body_of(request), workbench(request)
    try:
        asked = forms.Asked.model_validate(given, strict=True)
    except ValidationError as e:
        keys = ", ".join(".".join(map(str, error["loc"])) for error in e.errors(include_input=False)[:10])
        raise BadOption(
            "the request does not have the right form",
            where=keys,
            hint='send {"job": {...}, "name": "...", "check": false}.',
        ) from None
    return told(shown(await run_in_threadpool(_start, bench, asked)), 201)


def _start(bench: Workbench, asked: forms.Asked) -> dict[str, Any]:
    bench.workspace.refuse_outside(asked.job)
    bench.reading.do(judge, dict(asked.job), bench.workspace.root)
    return bench.runs.start(asked.job, name=asked.name, kind="check" if asked.check else "files")


def judge(content: dict[str, Any], root: Any) -> None:
    """Refuse a job with mistakes before anything is computed."""
    job_in(content, root, f"{RUNS}/next")


def every_run(request: Request) -> Response:
    """All runs of programs."""
    bench = workbench(request)
    return told(forms.Runs(runs=[shown(each) for each in bench.runs.all() if each["kind"] in OF_PROGRAMS]))


async def one_run(request: Request) -> Response:
    """How far a run is; with ``wait`` answered when it has ended, or after so many seconds."""
    bench, run, until = workbench(request), request.path_params["run"], time.monotonic() + _seconds(request)
    while True:
        status = await run_in_threadpool(status_of, bench, run)
        if status["state"] != ACTIVE or time.monotonic() >= until or await request.is_disconnected():
            return told(shown(status))
        await asyncio.sleep(EVERY)


def _seconds(request: Request) -> float:
    said = request.query_params.get("wait", "0")
    if not (said.isascii() and said.isdecimal() and len(said) < 4):
        raise BadOption("wait is not a number of seconds", hint=f"0 to {LONGEST_WAIT:g}, such as wait=30.")
    return min(float(said), LONGEST_WAIT)


def cancel(request: Request) -> Response:
    """End a run; nothing half-done stays."""
    bench, run = workbench(request), request.path_params["run"]
    status_of(bench, run)
    return told(shown(bench.runs.cancel(run)))


def delete(request: Request) -> Response:
    """Remove a run with all its files."""
    bench, run = workbench(request), request.path_params["run"]
    status_of(bench, run)
    bench.runs.delete(run)
    return told(forms.Removed(removed=run))


def fetch(request: Request) -> Response:
    """A file of a run that is for everybody."""
    bench, run, name = workbench(request), request.path_params["run"], request.path_params["name"]
    status = status_of(bench, run)
    folder = bench.runs.finished(run)
    if name not in status.get("public", ()) or name not in status.get("files", {}):
        raise NoSuchRun(
            "the run has no public file of that name", hint="its `files` are named by the run; others do not leave."
        )
    return FileResponse(real_file(folder / name), media_type=media_of(name), filename=name)


def status_of(bench: Workbench, run: str) -> dict[str, Any]:
    """The state of a run of programs; runs of the page are none of theirs."""
    status = bench.runs.status(run)
    if status["kind"] not in OF_PROGRAMS:
        raise NoSuchRun(f"there is no run {run!r}", hint="runs of the page, and damaged ones, are shown there only.")
    return status


def shown(status: Mapping[str, Any]) -> forms.Run:
    """A run as programs see it."""
    with reading(STATUS, f"{STATUS} does not say what it should"):
        return _shown(status)


def _shown(status: Mapping[str, Any]) -> forms.Run:
    run, sizes, public = status["id"], status.get("files", {}), status.get("public", ())
    summary, error = status.get("summary", {}), status.get("error")
    at = f"/v1/runs/{run}/files"
    return forms.Run(
        id=run,
        name=status["name"],
        check=status["kind"] == "check",
        state=status["state"],
        started=status["started"],
        ended=status.get("ended"),
        progress=forms.Progress(**{key: status["progress"][key] for key in forms.Progress.model_fields}),
        exposed=status.get("exposed", False),
        warnings=summary.get("warnings", []),
        summary={key: each for key, each in summary.items() if key != "warnings"},
        files=[
            forms.PublicFile(name=name, bytes=size, media=media_of(name), href=f"{at}/{quote(name)}")
            for name, size in sizes.items()
            if name in public
        ],
        confidential=[
            forms.ConfidentialFile(name=name, path=f"{RUNS}/{run}/{RESULT}/{name}")
            for name in sizes
            if name not in public
        ],
        error=error and forms.Problem(**{key: error[key] for key in forms.Problem.model_fields if key in error}),
    )


ROUTES = [
    Route("/v1/about", about, methods=["GET"]),
    Route("/v1/openapi.json", openapi, methods=["GET"]),
    Route("/v1/job.schema.json", schema, methods=["GET"]),
    Route("/v1/files", every_file, methods=["GET"]),
    Route(f"/v1/files/{NAME}", workspace_files.upload, methods=["PUT"]),
    Route(f"/v1/files/{NAME}", remove_file, methods=["DELETE"]),
    Route("/v1/runs", every_run, methods=["GET"]),
    Route("/v1/runs", start, methods=["POST"]),
    Route("/v1/runs/{run}", one_run, methods=["GET"]),
    Route("/v1/runs/{run}", delete, methods=["DELETE"]),
    Route("/v1/runs/{run}/cancel", cancel, methods=["POST"]),
    Route("/v1/runs/{run}/files/{name}", fetch, methods=["GET"]),
]
