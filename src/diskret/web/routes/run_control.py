"""Runs: start, watch, cancel, delete; audit and repair what a run made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.older import translated
from diskret.model.damage import reading
from diskret.web.answers import Json, body_of
from diskret.web.run_differences import compared
from diskret.web.run_files import JOB, OF_PROGRAMS, RESULT
from diskret.web.table_runs import WORKING, findings
from diskret.web.workbench import Workbench, choice, session, workbench
from diskret.web.workspace import RUNS


def every(request: Request) -> Response:
    """All runs but those of programs, which have nothing to show here."""
    return Json({"runs": [each for each in workbench(request).runs.all() if each["kind"] not in OF_PROGRAMS]})


def one(request: Request) -> Response:
    """One run."""
    return Json(workbench(request).runs.status(request.path_params["run"]))


async def start(request: Request) -> Response:
    """Protect what is chosen, in a process of its own."""
    bench, asked = workbench(request), await body_of(request)
    content = await run_in_threadpool(lambda: choice(request).content())
    content = content | {"suppression": content.get("suppression") or {}}
    name = str(asked.get("name", ""))[:80]
    return Json(await run_in_threadpool(bench.runs.start, content, name=name), status_code=201)


def settings(request: Request) -> Response:
    """The choice that a run was made from, and whether the files it read have changed since."""
    bench, run = workbench(request), request.path_params["run"]
    content, said = bench.runs.content(run), bench.runs.status(run).get("data")
    content.pop("audit", None)
    return Json({"content": content, "changed": said not in (None, bench.workspace.state_of(content))})


def cancel(request: Request) -> Response:
    """End a run."""
    return Json(workbench(request).runs.cancel(request.path_params["run"]))


def delete(request: Request) -> Response:
    """Remove a run with its result."""
    workbench(request).runs.delete(request.path_params["run"])
    return Json({"deleted": request.path_params["run"]})


def audit(request: Request) -> Response:
    """Attack a finished run's tables with a solver."""
    bench, run = workbench(request), request.path_params["run"]
    bench.runs.finished(run)
    content = bench.runs.content(run) | {"audit": f"{RUNS}/{run}/{RESULT}"}
    return Json(bench.runs.start(content, name=bench.runs.status(run)["name"], kind="audit", of=run), status_code=201)


def repair(request: Request) -> Response:
    """Protect a finished run's tables against everything an audit looks for, from the pattern they have."""
    bench, run = workbench(request), request.path_params["run"]
    before = bench.runs.content(run)
    # nobody has looked inside the sections yet
    with bench.runs.result(run), reading(JOB, f"{JOB} is not a job"):
        content = repaired(before, f"{RUNS}/{run}/{RESULT}/{WORKING}")
    return Json(bench.runs.start(content, name=bench.runs.status(run)["name"], of=run), status_code=201)


def repaired(before: Mapping[str, Any], table: str) -> dict[str, Any]:
    """The job that goes on from the table of another one."""
    today, _ = translated(before)
    promise = dict(today.get("promise") or {})
    if (before.get("suppression") or {}).get("levels") is None and "levels" not in (before.get("promise") or {}):
        promise.pop("levels", None)  # the method as printed does not reach for levels, the repair does
    said = today.get("suppression") or {}
    asked = {key: said[key] for key in ("cost", "zeros", "barriers", "thin", "leading") if key in said}
    kept = {key: before[key] for key in ("rules", "output") if key in before} | {"promise": promise}
    content = {"data": {"table": table}, "suppression": asked | {"method": "moves"}} | kept
    said = {
        n: {k: c[k] for k in ("ordered", "sensitive") if k in c} for n, c in before.get("classifications", {}).items()
    }
    return content | {"classifications": {n: c for n, c in said.items() if c}}


def compare(request: Request) -> Response:
    """Two finished runs side by side."""
    bench = workbench(request)
    one, two = (request.query_params.get(key, "") for key in ("one", "two"))
    audits = _audits(bench, one), _audits(bench, two)
    found = compared(bench.tables.get(one), bench.tables.get(two), audits, internal=session(request).internal)
    return Json({"tables": found})


def _audits(bench: Workbench, run: str) -> dict[str, Any]:
    """What the run's own attack found, or the last one on it."""
    last = attack_on(bench, run)
    with bench.runs.result(last) as folder:
        return bench.reading.do(findings, folder, where=last)


def attack_on(bench: Workbench, run: str) -> str:
    """The last attack on a run that has come to its end, or the run itself."""
    later = (each for each in bench.runs.all() if each["kind"] == "audit" and each["of"] == run)
    return next((each["id"] for each in later if each["state"] == "finished"), run)


ROUTES = [
    Route("/api/compare", compare, methods=["GET"]),
    Route("/api/runs", every, methods=["GET"]),
    Route("/api/runs", start, methods=["POST"]),
    Route("/api/runs/{run}", one, methods=["GET"]),
    Route("/api/runs/{run}", delete, methods=["DELETE"]),
    Route("/api/runs/{run}/settings", settings, methods=["GET"]),
    Route("/api/runs/{run}/cancel", cancel, methods=["POST"]),
    Route("/api/runs/{run}/audit", audit, methods=["POST"]),
    Route("/api/runs/{run}/repair", repair, methods=["POST"]),
]
