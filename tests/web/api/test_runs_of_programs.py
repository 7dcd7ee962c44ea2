"""A job by HTTP does what `diskret run` does: the same bytes, the same refusals; what is confidential stays."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from diskret.job.read import job_from
from diskret.job.write import job_as_text
from diskret.web.workbench import Workbench
from tests.leaks import Secrets
from tests.web import case

FILES = ["t.csv", "t.arrow", "t.xlsx", "t.dta", "t.json"]
JOB: dict[str, Any] = case.JOB | {
    "output": {
        "title": "Firms of Musterland", "publish": [f"out/{name}" for name in FILES], "report": "report.html",
        "working": "w.parquet", "certificate": "c.json", "tau_argus": "argus", "internal_report": "house.html",
    },
}  # fmt: skip
PUBLIC = [*FILES, "report.html"]
TURNED = ["industry", "region"]
OTHER_KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "linked tables": (
        {
            "data": {"microdata": "firms.csv"}, "rules": {"min_count": 3}, "suppression": {"effort": "quick"},
            "tables": {
                "a": {"by": ["industry"], "value": "turnover", "output": {"publish": "a.csv"}},
                "b": {"by": ["region"], "value": "turnover", "output": {"publish": "b.arrow"}},
            },
        },
        ["a.csv", "b.arrow"],
    ),
    "anonymous records": (
        {
            "data": {"microdata": "firms.csv"}, "anonymise": {"attributes": TURNED},
            "output": {"microdata": "records.csv", "quality": "quality.json"},
        },
        ["records.csv"],
    ),
    "a scientific-use file": (
        {
            "data": {"microdata": "firms.csv"},
            "microdata": {"values": ["turnover"], "seed": 7, "steps": [{"do": "noise", "sd": 0.1}]},
            "output": {"records": "use.csv", "report": "use.html"},
        },
        ["use.csv", "use.html"],
    ),
    "the risk of records": (
        {"data": {"microdata": "firms.csv"}, "risk": {"keys": TURNED}, "output": {"internal_report": "r.html"}}, [],
    ),
    "all methods side by side": (
        {
            "data": {"microdata": "firms.csv"}, "table": {"by": TURNED}, "rules": {"small_cells": 3},
            "compare": {"methods": ["suppression"], "files": "methods.json"},
        },
        [],
    ),
}  # fmt: skip


def begun(program: TestClient, job: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = program.post("/v1/runs", json={"job": job, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ended(program: TestClient, run: str) -> dict[str, Any]:
    for _ in range(4):
        status: dict[str, Any] = program.get(f"/v1/runs/{run}", params={"wait": 60}).json()
        if status["state"] != "running":
            return status
    raise AssertionError(f"{run} is still running")


@pytest.fixture(scope="module")
def done(program: TestClient) -> dict[str, Any]:
    """One run for most of these tests."""
    status = ended(program, begun(program, JOB, name="firms")["id"])
    assert status["state"] == "finished", status
    return status


def test_a_job_by_http_gives_the_bytes_of_the_command_line(
    program: TestClient, done: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.toml").write_text(job_as_text(job_from(JOB, "here", folder)), encoding="utf-8")
    (tmp_path / "firms.csv").write_bytes((folder / "firms.csv").read_bytes())
    command = [sys.executable, "-c", "from diskret.cli import main; main()", "run", "job.toml", "-q"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert [each["name"] for each in done["files"]] == sorted(PUBLIC)
    for each in done["files"]:
        fetched = program.get(each["href"])
        assert fetched.headers["content-type"].split(";")[0] == each["media"]
        assert len(fetched.content) == each["bytes"]
        if each["name"] != "report.html":  # which names its folder's files the same, but not the way they lie
            assert fetched.content == (tmp_path / "out" / each["name"]).read_bytes(), each["name"]
    arrow = program.get(f"/v1/runs/{done['id']}/files/t.arrow").content
    assert pa.ipc.open_stream(io.BytesIO(arrow)).read_all().column("turnover").null_count > 0


def test_what_is_confidential_is_named_and_stays(program: TestClient, done: dict[str, Any], folder: Path) -> None:
    kept = {each["name"]: folder / each["path"] for each in done["confidential"]}
    assert {"w.parquet", "c.json", "house.html"} <= set(kept)
    for name, path in kept.items():
        assert path.stat().st_mode & 0o077 == 0, name
        assert program.get(f"/v1/runs/{done['id']}/files/{name}").status_code == 404
    assert program.get(f"/v1/runs/{done['id']}/files/argus").status_code == 404


def test_no_answer_holds_a_hidden_value_or_a_parameter(program: TestClient, done: dict[str, Any], folder: Path) -> None:
    from diskret.publication.working import load_working

    path = next(folder / each["path"] for each in done["confidential"] if each["name"] == "w.parquet")
    table = load_working(path)["turnover"]
    secrets = Secrets.of(table.value[table.hidden].tolist(), ["13.37"], told=table.value[~table.hidden].tolist())
    asked = ["/v1/about", "/v1/files", "/v1/runs", f"/v1/runs/{done['id']}", *(each["href"] for each in done["files"])]
    for each in asked:
        answer = program.get(each)
        assert answer.status_code == 200
        assert secrets.found_in(each.rsplit("/", 1)[-1], answer.content) == [], each
    refused = program.post("/v1/runs", json={"job": JOB | {"rules": {"p_percent": -13.37}}})
    assert secrets.found_in("refusal", refused.content) == []


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_kind_of_job_runs(program: TestClient, kind: str) -> None:
    job, public = OTHER_KINDS[kind]
    status = ended(program, begun(program, job)["id"])
    assert status["state"] == "finished", status
    assert [each["name"] for each in status["files"]] == public
    assert all(program.get(each["href"]).status_code == 200 for each in status["files"])
    assert len(status["confidential"]) + len(status["files"]) > 0


def test_a_check_writes_nothing(program: TestClient, folder: Path) -> None:
    run = begun(program, JOB, check=True)
    status = ended(program, run["id"])
    assert status["state"] == "finished"
    assert status["check"]
    assert status["files"] == status["confidential"] == []
    assert status["summary"]["tables"]["turnover"]["status"]["primary"] > 0
    assert not (folder / "out").exists()


def test_all_mistakes_in_a_job_are_told_at_once_and_nothing_begins(program: TestClient, bench: Workbench) -> None:
    before = bench.runs.all()
    wrong = {"data": {"microdata": "firms.csv"}, "table": {"by": ["industry"], "valeu": "x"}, "rules": {"min_count": 0}}
    answer = program.post("/v1/runs", json={"job": wrong})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "J1"
    assert "table.valeu" in error["what"]
    assert "rules.min_count" in error["what"]
    assert bench.runs.all() == before


def test_a_run_that_is_refused_says_why(program: TestClient) -> None:
    status = ended(program, begun(program, JOB | {"table": JOB["table"] | {"value": ["firm"]}})["id"])
    assert status["state"] == "refused"
    assert status["error"]["code"] == "T2"
    assert status["files"] == []


def test_files_come_in_are_listed_and_go(program: TestClient, folder: Path) -> None:
    assert program.put("/v1/files/people.csv", content=b"sex\nm\nw\n").json() == {"name": "people.csv", "bytes": 8}
    assert (folder / "people.csv").stat().st_mode & 0o077 == 0
    assert program.put("/v1/files/people.csv", content=b"").json()["error"]["code"] == "O1"
    assert program.put("/v1/files/people.csv?replace=yes", content=b"sex\nm\n").status_code == 201
    assert "people.csv" in [each["name"] for each in program.get("/v1/files").json()["files"]]
    assert program.delete("/v1/files/people.csv").json() == {"removed": "people.csv"}
    assert program.delete("/v1/files/people.csv").status_code == 404
    assert not (folder / "people.csv").exists()


def test_runs_of_two_programs_do_not_meet(program: TestClient) -> None:
    first, second = (begun(program, JOB | {"rules": {"min_count": n}}) for n in (3, 5))
    assert first["id"] != second["id"]
    told = [ended(program, run["id"]) for run in (first, second)]
    assert [each["state"] for each in told] == ["finished", "finished"]
    one, two = (program.get(f"/v1/runs/{run['id']}/files/t.csv").content for run in (first, second))
    assert one != two
    assert program.delete(f"/v1/runs/{first['id']}").json() == {"removed": first["id"]}
    assert program.get(f"/v1/runs/{first['id']}").status_code == 404
    assert program.get(f"/v1/runs/{second['id']}/files/t.csv").content == two


def test_a_run_is_cancelled_and_leaves_nothing(program: TestClient, folder: Path) -> None:
    case.many_firms(folder / "trade.csv")
    run = begun(program, case.LONG_JOB | {"output": {"publish": "t.csv"}})["id"]
    status = program.post(f"/v1/runs/{run}/cancel").json()
    assert status["state"] == "cancelled"
    assert status["files"] == []
    assert program.get(f"/v1/runs/{run}/files/t.csv").json()["error"]["what"].endswith("it is cancelled")


def test_the_page_and_programs_do_not_see_each_others_runs(
    program: TestClient, bench: Workbench, done: dict[str, Any]
) -> None:
    page = TestClient(program.app, base_url=case.ORIGIN, headers={"origin": case.ORIGIN})
    page.post("/api/session", json={"token": bench.sessions.token})
    page.put("/api/draft", json=case.JOB)
    run = page.post("/api/runs", json={}).json()["id"]
    case.ended(page, run)
    assert program.get(f"/v1/runs/{run}").status_code == 404
    assert program.delete(f"/v1/runs/{run}").status_code == 404
    assert program.get(f"/v1/runs/{run}/files/working.parquet").status_code == 404
    assert run not in [each["id"] for each in program.get("/v1/runs").json()["runs"]]
    assert [each["id"] for each in page.get("/api/runs").json()["runs"]] == [run]
    assert done["id"] in [each["id"] for each in program.get("/v1/runs").json()["runs"]]
