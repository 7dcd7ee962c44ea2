"""Tables as a grid: axes, windows, and what is behind a cell."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.model.errors import BadOption
from diskret.web.answers import Json
from diskret.web.grid import described, window
from diskret.web.workbench import session, workbench


def axes(request: Request) -> Response:
    """What the grid must know before it shows cells."""
    found = workbench(request).tables.get(request.path_params["key"])
    return Json(described({name: each.table for name, each in found.items()}))


def cells(request: Request) -> Response:
    """A window: some rows and columns, by their positions on their axes."""
    asked = request.query_params
    table = workbench(request).tables.one(request.path_params["key"], asked.get("response", "")).table
    rows, columns = whole_numbers(asked, "r"), whole_numbers(asked, "c")
    at = dict(zip(table.names, whole_numbers(asked, "at") or [n - 1 for n in table.shape], strict=False))
    return Json(
        window(
            table, rows, columns, row_axis=asked.get("rows", ""), column_axis=asked.get("columns") or None,
            at={n: i for n, i in at.items() if n not in (asked.get("rows"), asked.get("columns"))},
            internal=session(request).internal,
        )
    )  # fmt: skip


def whole_numbers(asked: Mapping[str, str], key: str) -> list[int]:
    """Numbers with commas between them."""
    try:
        return [int(part) for part in asked.get(key, "").split(",") if part]
    except ValueError as e:
        raise BadOption(f"{key} is no list of whole numbers", hint="reload the page.") from e


ROUTES = [
    Route("/api/tables/{key}", axes, methods=["GET"]),
    Route("/api/tables/{key}/cells", cells, methods=["GET"]),
]
