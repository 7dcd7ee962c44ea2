"""The token for a cookie, and the switch of the internal view."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import diskret
from diskret.model.errors import DiskretError
from diskret.web.answers import Json, body_of, refused
from diskret.web.workbench import session, workbench


async def enter(request: Request) -> Response:
    """Exchange the token in the address for a cookie that no script can read and no other site can send."""
    bench = workbench(request)
    name = bench.sessions.open(str((await body_of(request)).get("token", "")))
    if name is None:
        return refused(401, DiskretError("the token is wrong", hint="open the address that `diskret serve` printed."))
    answer = Json({"entered": True})
    answer.set_cookie(bench.place.cookie, name, httponly=True, samesite="strict", path="/")
    return answer


async def state(request: Request) -> Response:
    """What the page must know when it starts."""
    bench = workbench(request)
    shown = {"workspace": str(bench.workspace.root), "version": diskret.__version__}
    return Json(shown | {"internal": session(request).internal, "rows": session(request).rows})


async def switch_view(request: Request) -> Response:
    """Show hidden values in this browser, or no longer."""
    session(request).internal = (await body_of(request)).get("internal") is True
    return Json({"internal": session(request).internal})


async def show_rows(request: Request) -> Response:
    """Show the first rows of files in this browser, or no longer."""
    session(request).rows = (await body_of(request)).get("rows") is True
    return Json({"rows": session(request).rows})


ROUTES = [
    Route("/api/session", enter, methods=["POST"]),
    Route("/api/state", state, methods=["GET"]),
    Route("/api/view", switch_view, methods=["PUT"]),
    Route("/api/rows", show_rows, methods=["PUT"]),
]
