"""Tables as a grid: axes, windows, and what is behind a cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.read import job_from
from diskret.job.table_job import TableJob
from diskret.model.errors import BadOption, listed
from diskret.model.table import Index
from diskret.suppression.result import Suppression
from diskret.web.answers import Json
from diskret.web.grid import described, window
from diskret.web.inspector import could_open, explained, remaining
from diskret.web.shown_tables import DRAFT
from diskret.web.workbench import choice, session, workbench


def axes(request: Request) -> Response:
    """What the grid must know before it shows cells."""
    key = request.path_params["key"]
    found = _tables(request)
    shown = key != DRAFT or session(request).internal
    return Json(described({name: each.table for name, each in found.items()}, protected=shown))


def cells(request: Request) -> Response:
    """A window: some rows and columns, by their positions on their axes."""
    asked = request.query_params
    table = _one(request).table
    rows, columns = whole_numbers(asked, "r"), whole_numbers(asked, "c")
    at = dict(zip(table.names, whole_numbers(asked, "at") or [n - 1 for n in table.shape], strict=False))
    return Json(
        window(
            table, rows, columns, row_axis=asked.get("rows", ""), column_axis=asked.get("columns") or None,
            at={n: i for n, i in at.items() if n not in (asked.get("rows"), asked.get("columns"))},
            protected=request.path_params["key"] != DRAFT, internal=session(request).internal,
        )
    )  # fmt: skip


def cell(request: Request) -> Response:
    """What is behind a cell."""
    found, at = _chosen(request)
    job = _job(request)
    return Json(
        explained(
            found, at, internal=session(request).internal, protected=request.path_params["key"] != DRAFT,
            counts=job.output.counts,
            language=request.query_params.get("language", "en"),
        )
    )  # fmt: skip


def interval(request: Request) -> Response:
    """What remains possible for a hidden cell."""
    found, at = _chosen(request)
    ends = None
    if request.path_params["key"] != DRAFT:
        ends = remaining(found, at, internal=session(request).internal)
    return Json({"status": int(found.table.status[at]), "interval": ends})


def instead(request: Request) -> Response:
    """Whether another cell could open if an open one were hidden."""
    found, at = _chosen(request)
    if request.path_params["key"] == DRAFT:
        raise BadOption("the table is not protected yet", hint="protect it first.")
    return Json({"words": could_open(found, at, request.query_params.get("language", "en"))})


def _tables(request: Request) -> Mapping[str, Suppression]:
    """The tables of a run by its name, or of the choice that the tab shows (``draft``)."""
    bench, key = workbench(request), request.path_params["key"]
    return bench.tables.marked(choice(request).content()).unprotected if key == DRAFT else bench.tables.get(key)


def _one(request: Request) -> Suppression:
    """The table of one response."""
    found, response = _tables(request), request.query_params.get("response", "")
    if response not in found:
        raise BadOption(f"there is no table {response!r}", hint=f"there are {listed(found)}.")
    return found[response]


def _chosen(request: Request) -> tuple[Suppression, Index]:
    asked = request.query_params
    found = _one(request)
    at = tuple(whole_numbers(asked, "cell"))
    if len(at) != len(found.table.shape) or not all(0 <= i < n for i, n in zip(at, found.table.shape, strict=True)):
        raise BadOption("there is no such cell", hint="reload the page.")
    return found, at


def _job(request: Request) -> TableJob:
    """The job behind what is shown."""
    bench, key = workbench(request), request.path_params["key"]
    content = choice(request).content() if key == DRAFT else bench.runs.content(key)
    return job_from(content, "the page", bench.workspace.root, TableJob)


def whole_numbers(asked: Mapping[str, str], key: str) -> list[int]:
    """Numbers with commas between them."""
    try:
        # positions in arrays: what has more digits is none
        return [int(np.int32(int(part))) for part in asked.get(key, "").split(",") if part]
    except (ValueError, OverflowError) as e:
        raise BadOption(f"{key} is not a list of whole numbers", hint="reload the page.") from e


ROUTES = [
    Route("/api/tables/{key}", axes, methods=["GET"]),
    Route("/api/tables/{key}/cells", cells, methods=["GET"]),
    Route("/api/tables/{key}/cell", cell, methods=["GET"]),
    Route("/api/tables/{key}/interval", interval, methods=["GET"]),
    Route("/api/tables/{key}/instead", instead, methods=["GET"]),
]
