"""Files of the workspace: list, hand in, take an example, look what is in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.errors import BadOption, listed
from diskret.web import examples
from diskret.web.answers import Json
from diskret.web.incoming import in_threads, incoming_file
from diskret.web.routes.names import NAME
from diskret.web.workbench import choice, workbench

RECORDS = ("anonymise", "microdata")
BEYOND = ("tables", "perturbation", "adjustment", "cell_key", "compare", "attack")
"""Sections of a job that only the command line does."""


def listed_files(request: Request) -> Response:
    """What is there."""
    return Json({"files": workbench(request).workspace.files(), "examples": [*examples.EXAMPLES, examples.LARGE]})


async def upload(request: Request) -> Response:
    """Take a file as the raw body of the request; it is there when it is whole."""
    bench = workbench(request)
    name, size = request.path_params["name"], 0
    place = await run_in_threadpool(bench.workspace.new, name)
    coming = incoming_file(place, bench.placing, replace=request.query_params.get("replace") == "yes")
    async with in_threads(coming) as part, in_threads(part.open("wb")) as file:
        async for chunk in request.stream():
            size += await run_in_threadpool(file.write, chunk)
    return Json({"name": name, "bytes": size}, status_code=201)


def take_example(request: Request) -> Response:
    """Copy an example into the workspace and choose it."""
    bench = workbench(request)
    content = examples.take(request.path_params["name"], bench.workspace)
    return Json(choice(request).put(content))


def open_job(request: Request) -> Response:
    """A job file of the workspace as the present choice."""
    bench = workbench(request)
    name = request.path_params["name"]
    content = bench.reading.do(bench.workspace.job, name, where=name).model_dump(mode="json", exclude_unset=True)
    refuse_beyond(content)
    return Json(choice(request).put(content))


def refuse_beyond(content: Mapping[str, Any]) -> None:
    """Refuse a job of which this page would show only a part, as if it were the whole."""
    if any(content.get(key) is not None for key in RECORDS):
        raise BadOption("the job is about records, not tables", hint="open it on the page of records.")
    beyond = [f"[{key}]" for key in BEYOND if content.get(key) is not None]
    if beyond:
        raise BadOption(
            f"the page cannot do what the job asks for in {listed(beyond)}", hint="run the job file with `diskret run`."
        )


ROUTES = [
    Route("/api/files", listed_files, methods=["GET"]),
    Route(f"/api/files/{NAME}", upload, methods=["PUT"]),
    Route("/api/examples/{name}", take_example, methods=["POST"]),
    Route(f"/api/jobs/{NAME}", open_job, methods=["POST"]),
]
