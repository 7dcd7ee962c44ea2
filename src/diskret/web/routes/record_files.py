"""Records on the page: what is chosen, runs that make files, their figures, files and reports."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.anonymise_job import AnonymiseJob
from diskret.job.read import job_from
from diskret.job.records_job import RecordsJob
from diskret.job.report import table_facts, write_table_report
from diskret.job.table_job import TableJob
from diskret.microdata.condition import Condition
from diskret.model.errors import BadOption, listed
from diskret.publication.report_file import ENDINGS
from diskret.web import examples
from diskret.web.answers import Json, attachment, body_of
from diskret.web.reading import LONG
from diskret.web.record_runs import FIGURES, FILES, write_kept_report
from diskret.web.routes.exports import as_shown, made_apart, stem
from diskret.web.routes.names import NAME
from diskret.web.routes.run_control import attack_on
from diskret.web.run_files import MOST_APART, read_bytes, read_json
from diskret.web.table_runs import findings, load, load_origin
from diskret.web.workbench import RECORDS, Workbench, choice, workbench

EXAMPLES = {"care": "care.toml"}


def take_example(request: Request) -> Response:
    """Copy an example into the workspace and choose it."""
    bench, name = workbench(request), request.path_params["example"]
    content = _firms(bench) if name == "firms" else examples.take(name, bench.workspace, EXAMPLES)
    return Json(choice(request, RECORDS).put(content))


def _firms(bench: Workbench) -> dict[str, Any]:
    """A scientific-use file of the firms whose table is the first example."""
    file = examples.take("turnover", bench.workspace)["data"]["microdata"]
    return {
        "data": {"microdata": file},
        "microdata": {
            "values": ["employees", "turnover"], "classes": ["industry", "size"], "seed": fresh_seed(),
            "steps": [{"do": "drop", "columns": ["firm", "owner", "region"]}, {"do": "microaggregate", "m": 3}],
        },
        "attack": {"keys": ["industry", "size"], "values": ["employees", "turnover"]},
    }  # fmt: skip


def condition(request: Request) -> Response:
    """The columns that a condition on records looks at; refused if it is none."""
    return Json({"columns": Condition.parse(request.query_params.get("where", "")).columns})


def open_job(request: Request) -> Response:
    """A job file about records as the present choice."""
    bench, name = workbench(request), request.path_params["name"]
    job = bench.reading.do(bench.workspace.job, name, where=name)
    if not isinstance(job, AnonymiseJob | RecordsJob):
        raise BadOption("the job is about tables, not records", hint="open it on the page of tables.")
    content = job.model_dump(mode="json", exclude_unset=True)
    title = content.pop("output", {}).get("title")
    return Json(choice(request, RECORDS).put(content | ({"output": {"title": title}} if title else {})))


def fresh_seed() -> int:
    """A long random number: whoever knows it can undo the noise."""
    return secrets.randbits(52)  # a browser counts exactly up to 53 bits


def seed(request: Request) -> Response:
    """A fresh seed."""
    return Json({"seed": fresh_seed()})


async def start(request: Request) -> Response:
    """Make the file that is chosen, in a process of its own."""
    bench, asked = workbench(request), await body_of(request)
    content = await run_in_threadpool(lambda: choice(request, RECORDS).content())
    name = str(asked.get("name", ""))[:80]
    # mistakes are told at once, before a process starts
    await run_in_threadpool(job_from, dict(content), "the page", bench.workspace.root)
    return Json(await run_in_threadpool(bench.runs.start, content, name=name, kind="records"), status_code=201)


def stop(request: Request) -> Response:
    """Take the best file a search has so far."""
    return Json(workbench(request).runs.stop(request.path_params["run"]))


def figures(request: Request) -> Response:
    """What a finished run about records found."""
    bench, run = workbench(request), request.path_params["run"]
    _refuse_other(bench, run)
    with bench.runs.result(run) as folder:
        return Json(bench.reading.do(read_json, folder / FIGURES, MOST_APART, where=run))


def file(request: Request) -> Response:
    """The protected records of a finished run."""
    bench, run = workbench(request), request.path_params["run"]
    ending = f".{request.path_params['ending']}"
    _refuse_other(bench, run)
    if ending not in FILES:
        raise BadOption(f"records are not written as {ending}", hint=f"endings: {listed(FILES)}.")
    with bench.runs.result(run) as folder:
        content = read_bytes(folder / FILES[ending])
    return attachment(content, stem(bench.runs.status(run)["name"]) + ending)


def report(request: Request) -> Response:
    """A report of any finished run, public unless the internal one is asked for.

    The bytes are those of its job, unless the run was attacked later: then the report knows what was found.
    """
    bench, run = workbench(request), request.path_params["run"]
    ending, language = f".{request.path_params['ending']}", request.query_params.get("language", "en")
    if ending not in ENDINGS or language not in ("en", "de"):
        raise BadOption(f"no report as {ending} in {language!r}", hint=f"{listed(ENDINGS)}, in 'en' or 'de'.")
    internal = request.query_params.get("for") == "internal"
    status, content = bench.runs.status(run), as_shown(bench.runs.content(run), request.query_params.get("sums"))
    given = (content, bench.workspace.root, ending, language, internal, status.get("summary", {}))
    with bench.runs.result(run) as folder, bench.runs.result(attack_on(bench, run)) as attacked:
        made = bench.reading.do(made_report, folder, *given, attacked, where=run, seconds=LONG)
    return attachment(made, f"{stem(status['name'])}-{'internal-' if internal else ''}report{ending}")


def made_report(
    folder: Path,
    content: dict[str, Any],
    root: Path,
    ending: str,
    language: str,
    internal: bool,
    summary: Mapping[str, Any],
    attacked: Path,
) -> bytes:
    """The report on a result; what an attack found may stand in another folder."""
    job = job_from(content, "the page", root)
    with made_apart(f"report{ending}") as path:
        if isinstance(job, AnonymiseJob | RecordsJob):
            write_kept_report(job, folder, path, language, internal=internal)
        elif isinstance(job, TableJob):
            done = load(folder)
            tables = {name: each.table for name, each in done.items()}
            facts = table_facts(job, done, findings(attacked), summary.get("warnings", ()), summary)
            origin = load_origin(folder)
            write_table_report(job.output, tables, facts, path, language, internal=internal, origin=origin)
        else:
            raise BadOption(f"no report on a job of kind {job.kind!r}", hint="run its job file with `diskret run`.")
        return path.read_bytes()


def _refuse_other(bench: Workbench, run: str) -> None:
    if bench.runs.status(run)["kind"] != "records":
        raise BadOption("the run is about tables, not records", hint="show it on the page of tables.")


ROUTES = [
    Route("/api/records/examples/{example}", take_example, methods=["POST"]),
    Route(f"/api/records/jobs/{NAME}", open_job, methods=["POST"]),
    Route("/api/records/seed", seed, methods=["GET"]),
    Route("/api/records/condition", condition, methods=["GET"]),
    Route("/api/records/runs", start, methods=["POST"]),
    Route("/api/runs/{run}/stop", stop, methods=["POST"]),
    Route("/api/runs/{run}/figures", figures, methods=["GET"]),
    Route("/api/runs/{run}/records.{ending}", file, methods=["GET"]),
    Route("/api/runs/{run}/report.{ending}", report, methods=["GET"]),
]
