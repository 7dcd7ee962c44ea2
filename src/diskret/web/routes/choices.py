"""What is chosen on a page: read, change, undo; and how many cells the rules of a table mark."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.errors import BadOption, listed
from diskret.web.answers import Json, body_of
from diskret.web.drafts import Drafts
from diskret.web.workbench import TABLE, workbench

WAYS = {"undo": -1, "redo": 1}


def chosen(request: Request) -> Response:
    """The present choice."""
    return Json(_drafts(request).get())


async def choose(request: Request) -> Response:
    """A new choice; it need not be complete."""
    content, drafts = await body_of(request), _drafts(request)
    if request.path_params.get("name") != "plan":  # a plan names no files
        await run_in_threadpool(workbench(request).workspace.refuse_outside, content)
    return Json(await run_in_threadpool(drafts.put, content))


def step(request: Request) -> Response:
    """One step back or forth."""
    way = request.path_params["way"]
    if way not in WAYS:
        raise BadOption(f"no way {way!r}", hint="undo or redo.")
    return Json(_drafts(request).move(WAYS[way]))


def marks(request: Request) -> Response:
    """How many cells each rule of the present choice marks."""
    bench = workbench(request)
    return Json(bench.tables.marked(bench.drafts.get()["content"]).facts())


def _drafts(request: Request) -> Drafts:
    """The choices of the page that is named, else those of the page of tables."""
    name, known = request.path_params.get("name", TABLE), workbench(request).choices
    if name not in known:
        raise BadOption(f"there is no page {name!r}", hint=f"there are {listed(known)}.")
    return known[name]


ROUTES = [
    Route("/api/draft/marks", marks, methods=["GET"]),
    *(
        route
        for page in ("/api/draft", "/api/choices/{name}")
        for route in (
            Route(page, chosen, methods=["GET"]),
            Route(page, choose, methods=["PUT"]),
            Route(page + "/{way}", step, methods=["POST"]),
        )
    ),
]
