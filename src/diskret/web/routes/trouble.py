"""The rows of a file that an error points to, for whoever looks at the internal view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.loading import described_source
from diskret.job.read import job_from
from diskret.job.table_job import TableJob
from diskret.model.errors import BadOption
from diskret.model.source import MOST_ROWS, open_source
from diskret.web.answers import Json
from diskret.web.routes.table_cells import whole_numbers
from diskret.web.workbench import choice, session, workbench

LONGEST = 200
"""Characters of a cell that are shown."""


def rows(request: Request) -> Response:
    """Some rows of the chosen file, by their numbers; records are confidential, whether they are hidden or not."""
    bench = workbench(request)
    if not session(request).internal:
        raise BadOption("rows of a file are shown in the internal view only", hint="switch it on.")
    content = choice(request).content()
    bench.workspace.refuse_outside(content)
    wanted = whole_numbers(request.query_params, "rows")[:MOST_ROWS]
    return Json(bench.reading.do(rows_of, content, bench.workspace.root, wanted, where="the chosen file"))


def rows_of(content: dict[str, Any], root: Path, wanted: Sequence[int]) -> dict[str, Any]:
    """The rows of a job's file with these numbers, from 1, as text."""
    job = job_from(content, "the page", root, TableJob)
    if job.data.table:
        raise BadOption("a working file has no rows to show", hint="look at the table.")
    data = open_source(described_source(job.data, root)[0])
    shown = ", ".join(f"substring(CAST({data.column(n)} AS STRING), 1, {LONGEST})" for n in data.columns)
    numbers = ", ".join(str(int(n)) for n in (*wanted, 0))
    numbered = f"SELECT {data.row_number} AS n, {data.view}.* FROM {data.view}"
    found = data.query(f"SELECT n, {shown} FROM ({numbered}) AS {data.view} WHERE n IN ({numbers}) ORDER BY n")
    return {"columns": list(data.columns), "rows": [{"row": n, "cells": cells} for n, *cells in found]}


ROUTES = [Route("/api/draft/rows", rows, methods=["GET"])]
