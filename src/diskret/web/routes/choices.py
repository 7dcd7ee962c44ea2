"""What is chosen on a page: read, change, undo; and how many cells the rules of a table mark."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.errors import BadOption, listed
from diskret.web.answers import Json, body_of
from diskret.web.tabs import PAGES, Choice
from diskret.web.workbench import PLAN, TABLE, choice, workbench

WAYS = {"undo": -1, "redo": 1}


def chosen(request: Request) -> Response:
    """The present choice."""
    return Json(_choice(request).get())


async def choose(request: Request) -> Response:
    """A new choice; it need not be complete."""
    content = await body_of(request)
    return Json(await run_in_threadpool(lambda: _put(request, content)))


def _put(request: Request, content: dict[str, Any]) -> dict[str, Any]:
    before = _choice(request)
    if request.path_params.get("name") != PLAN:  # a plan names no files
        workbench(request).workspace.refuse_outside(content)
    return before.put(content)


def step(request: Request) -> Response:
    """One step back or forth."""
    way = request.path_params["way"]
    if way not in WAYS:
        raise BadOption(f"no way {way!r}", hint="undo or redo.")
    return Json(_choice(request).move(WAYS[way]))


def marks(request: Request) -> Response:
    """How many cells each rule of the present choice marks."""
    return Json(workbench(request).tables.marked(choice(request).content()).facts())


def _choice(request: Request) -> Choice:
    """What is chosen on the page that is named, else on the page of tables."""
    name = request.path_params.get("name", TABLE)
    if name not in PAGES:
        raise BadOption(f"there is no page {name!r}", hint=f"there are {listed(PAGES)}.")
    return choice(request, name)


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
