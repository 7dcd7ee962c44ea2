"""The beginning of a file as it stands, for whoever says where its table begins."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.previews import preview
from diskret.web.answers import Json
from diskret.web.workbench import session, workbench


def first_rows(request: Request) -> Response:
    """The first rows and columns of a file or one of its sheets as texts, and the rows of names that we propose.

    The rows themselves are confidential: they are sent to a tab in which the user asked for them, and to no other.
    """
    bench, asked = workbench(request), request.query_params
    name = asked.get("file", "")
    place = bench.workspace.path(name)
    found = bench.reading.do(preview, place, asked.get("sheet") or None, asked.get("encoding") or None, where=name)
    return Json(found.answer() | ({} if session(request).rows else {"rows": None}))


ROUTES = [Route("/api/preview", first_rows, methods=["GET"])]
