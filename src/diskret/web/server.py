"""The server as one object: guard before routes before the page's own files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from diskret.model.errors import DiskretError
from diskret.web.answers import on_no_access, on_refusal, refused
from diskret.web.api.routes import ROUTES as PROGRAMS
from diskret.web.guard import Guard
from diskret.web.routes import ALL
from diskret.web.workbench import Workbench

STATIC = Path(__file__).parent / "static"
MOST_UPLOAD = 1 << 30


def make_app(bench: Workbench, *, most_upload: int = MOST_UPLOAD) -> Starlette:
    """The application of a workbench."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        bench.open()
        yield
        bench.close()

    routes = [
        Route("/", _page),
        Route("/favicon.ico", _icon),
        *ALL,
        *(PROGRAMS if bench.key else ()),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Middleware(Guard, place=bench.place, sessions=bench.sessions, most_upload=most_upload, key=bench.key)
    handlers = {DiskretError: on_refusal, OSError: on_no_access, HTTPException: _no_such_page}
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=lifespan)
    app.state.workbench = bench
    return app


def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


def _icon(request: Request) -> Response:
    return FileResponse(STATIC / "icon.svg")


def _no_such_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(error.status_code, DiskretError(error.detail, hint="reload the page."))
