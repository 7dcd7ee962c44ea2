"""The same settings for another file: what differs, and which results could lend their pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.cures import cures_for
from diskret.job.differences import differences
from diskret.job.models import job_of
from diskret.job.naming import data_file
from diskret.job.next_file import with_data
from diskret.job.read import job_from
from diskret.job.table_job import TableJob
from diskret.model.errors import BadOption, DiskretError
from diskret.web.answers import Json, body_of
from diskret.web.run_files import RESULT
from diskret.web.table_runs import WORKING
from diskret.web.workbench import Workbench, workbench
from diskret.web.workspace import RUNS


async def compare(request: Request) -> Response:
    """What would be different about the data; nothing is chosen by this."""
    return await run_in_threadpool(_compare, workbench(request), await body_of(request))


def _compare(bench: Workbench, asked: Mapping[str, Any]) -> Response:
    content, file = asked.get("content"), asked.get("file")
    if not isinstance(content, dict) or not isinstance(file, str):
        raise BadOption("no settings or no file", hint="reload the page.")
    after = with_data(content, [file])
    for each in (content, after):
        bench.workspace.refuse_outside(each)
    found = bench.reading.do(compared, content, after, bench.workspace.root, where=file)
    return Json({"content": after, "differences": found, "previous": _lenders(bench, content)})


def compared(content: dict[str, Any], after: dict[str, Any], root: Path) -> list[dict[str, str]]:
    """What differs, as plain data."""
    job = job_from(after, "the page", root, TableJob)
    with cures_for(job, root):
        return [asdict(each) for each in differences(job_of(content), job, root)]


def _lenders(bench: Workbench, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Finished runs of the same table, the last one first: the place of their result, and whether of the same data."""
    found = []
    for run in bench.runs.all():
        theirs = _content(bench, run["id"]) if run["kind"] == "job" and run["state"] == "finished" else {}
        if _same_table(theirs, content):
            path = f"{RUNS}/{run['id']}/{RESULT}/{WORKING}"
            own = data_file(theirs.get("data")) == data_file(content.get("data"))
            found.append({"id": run["id"], "name": run["name"], "path": path, "own": own})
    return found


def _content(bench: Workbench, run: str) -> Mapping[str, Any]:
    try:
        return bench.runs.content(run)
    except DiskretError:  # a damaged run lends nothing
        return {}


def _same_table(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    theirs, ours = one.get("table"), two.get("table")
    if not isinstance(theirs, Mapping) or not isinstance(ours, Mapping):
        return False
    return all(_names(theirs.get(key)) == _names(ours.get(key)) for key in ("by", "value"))


def _names(said: object) -> object:
    return [said] if isinstance(said, str) else said or []


ROUTES = [Route("/api/next", compare, methods=["POST"])]
