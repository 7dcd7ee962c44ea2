"""The present choice: read, change, undo; and how many cells its rules mark."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.errors import BadOption
from diskret.web.answers import Json, body_of
from diskret.web.workbench import workbench


def show(request: Request) -> Response:
    """The present choice."""
    return Json(workbench(request).drafts.get())


async def change(request: Request) -> Response:
    """A new choice; it need not be complete."""
    bench = workbench(request)
    content = await body_of(request)
    bench.workspace.refuse_outside(content)
    return Json(bench.drafts.put(content))


def step(request: Request) -> Response:
    """One step back or forth."""
    ways = {"undo": -1, "redo": 1}
    way = request.path_params["way"]
    if way not in ways:
        raise BadOption(f"no way {way!r}", hint="undo or redo.")
    return Json(workbench(request).drafts.move(ways[way]))


def marks(request: Request) -> Response:
    """How many cells each rule of the present choice marks."""
    bench = workbench(request)
    return Json(bench.tables.marked(bench.drafts.get()["content"]).facts())


ROUTES = [
    Route("/api/draft", show, methods=["GET"]),
    Route("/api/draft", change, methods=["PUT"]),
    Route("/api/draft/marks", marks, methods=["GET"]),
    Route("/api/draft/{way}", step, methods=["POST"]),
]
