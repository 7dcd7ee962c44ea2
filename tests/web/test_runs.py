"""Runs: whole results or none, several at once, found again by whoever starts next."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.publication.working import load_working
from diskret.web.run_files import write_json
from diskret.web.run_folders import RunProgress
from diskret.web.table_runs import run_tables
from diskret.web.workbench import Workbench
from tests.web.case import JOB, LONG_JOB, Served, ended, many_firms


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def at_work(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Wait until a run is in the middle of it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        status = read()
        if status["state"] != "running" or status["progress"]["what"] in ("protecting", "rerouting"):
            return status
        time.sleep(0.05)
    raise AssertionError("nothing happens")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_two_runs_at_once_end_well_and_are_compared(chosen: TestClient, bench: Workbench) -> None:
    one = chosen.post("/api/runs", json={"name": "one"}).json()["id"]
    chosen.put(
        "/api/draft", json=JOB | {"suppression": {"guarantee": "audit", "effort": "quick", "min_relative_range": 0.9}}
    )
    two = chosen.post("/api/runs", json={"name": "two"}).json()["id"]
    assert {r["state"] for r in chosen.get("/api/runs").json()["runs"]} == {"running"}
    for run in (one, two):
        status = ended(chosen, run)
        assert status["state"] == "finished"
        assert not status["exposed"]
        if process := bench.runs.processes.get(run):
            process.wait()  # it has said its last word, and tidies up
        assert names(bench.runs.folder(run)) == {"job.json", "status.json", "result"}
        assert not any(each.stat().st_mode & 0o077 for each in bench.runs.folder(run).rglob("*"))
    (found,) = chosen.get("/api/compare", params={"one": one, "two": two}).json()["tables"]
    tables = [load_working(bench.runs.finished(run) / "working.parquet")["turnover"] for run in (one, two)]
    for side, table in zip((found["one"], found["two"]), tables, strict=True):
        assert side["secondary"] == (table.status == Status.SECONDARY).sum()
        assert side["audit"]["exposed"] == 0
        assert "hidden share" not in side
    assert found["only two"] == (tables[1].hidden & ~tables[0].hidden).sum()
    chosen.put("/api/view", json={"internal": True})
    (internal,) = chosen.get("/api/compare", params={"one": one, "two": two}).json()["tables"]
    assert 0 < internal["one"]["hidden share"] < 1


def test_an_audit_finds_what_subtables_leave_open_and_repair_closes_it(page: TestClient) -> None:
    page.post("/api/examples/turnover")
    content = page.get("/api/draft").json()["content"]
    page.put("/api/draft", json=content | {"suppression": {"guarantee": "subtables", "levels": True}})
    run = page.post("/api/runs", json={"name": "fast"}).json()["id"]
    assert ended(page, run)["state"] == "finished"
    attacked = ended(page, page.post(f"/api/runs/{run}/audit").json()["id"])
    assert attacked["exposed"]
    assert attacked["of"] == run
    assert all(e["cell"] for e in attacked["audits"]["turnover"]["exposed"])
    repaired = ended(page, page.post(f"/api/runs/{run}/repair").json()["id"])
    assert repaired["state"] == "finished"
    assert not repaired["exposed"]
    again = ended(page, page.post(f"/api/runs/{repaired['id']}/audit").json()["id"])
    assert not again["exposed"]


def test_a_run_says_in_words_what_it_promised_without_its_secrets(chosen: TestClient) -> None:
    chosen.put("/api/draft", json=JOB | {"suppression": {"effort": "quick", "min_relative_range": 0.871}})
    said = ended(chosen, chosen.post("/api/runs", json={}).json()["id"])["promises"]
    (english,) = said["en"]
    promised = " ".join(Promise(min_relative_range=0.871).describe("en").split())
    # and what the table knows about those behind its cells
    assert english.removeprefix(promised).startswith(" All cells in which a respondent is alone count together;")
    assert "871" not in repr(said)


def test_a_run_cancelled_half_way_leaves_no_half_file(page: TestClient, bench: Workbench) -> None:
    many_firms(bench.workspace.root / "trade.csv")
    before = names(bench.workspace.root)
    page.put("/api/draft", json=LONG_JOB)
    run = page.post("/api/runs", json={"name": "long"}).json()["id"]
    status = at_work(lambda: page.get(f"/api/runs/{run}").json())
    assert status["state"] == "running"
    assert page.post(f"/api/runs/{run}/cancel").json()["state"] == "cancelled"
    assert not alive(status["pid"])
    assert names(bench.runs.folder(run)) == {"job.json", "status.json"}
    assert names(bench.workspace.root) == before | {".diskret-runs"}
    assert page.get(f"/api/tables/{run}").json()["error"]["code"] == "W4"
    assert page.delete(f"/api/runs/{run}").status_code == 200
    assert page.get(f"/api/runs/{run}").json()["error"]["code"] == "W4"


def test_a_refused_job_says_what_is_wrong(page: TestClient) -> None:
    page.put("/api/draft", json=JOB | {"table": {"by": ["industry", "region"], "value": ["region"]}})
    status = ended(page, page.post("/api/runs", json={}).json()["id"])
    assert status["state"] == "refused"
    assert status["error"]["code"] == "T2"


@pytest.mark.parametrize("name", ["..%2f..", "20260101-120000-abcd", "draft.json", "%2e%2e"])
def test_only_runs_are_runs(page: TestClient, name: str) -> None:
    for path in (f"/api/runs/{name}", f"/api/runs/{name}/job.toml", f"/api/tables/{name}"):
        assert page.get(path).status_code in (404, 422)
    assert page.delete(f"/api/runs/{name}").status_code in (404, 405, 422)


def test_a_server_that_was_killed_finds_its_finished_runs_again(
    serve: Callable[[Path], Served], tmp_path: Path, bench: Workbench
) -> None:
    """As a crash: no chance to tidy up. The unfinished run is called interrupted, and its process has ended too."""
    folder = bench.workspace.root
    many_firms(folder / "trade.csv")
    first = serve(folder)
    with closing(_client(first)) as page:
        page.put("/api/draft", json=JOB)
        done = page.post("/api/runs", json={"name": "done"}).json()["id"]
        assert ended(page, done)["state"] == "finished"
        cells = page.get(f"/api/tables/{done}").json()
        page.put("/api/draft", json=LONG_JOB)
        long = page.post("/api/runs", json={"name": "long"}).json()["id"]
        status = at_work(lambda: page.get(f"/api/runs/{long}").json())
    first.kill()
    until = time.monotonic() + 30
    while alive(status["pid"]) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(status["pid"])
    second = serve(folder)
    assert second.token != first.token
    with closing(_client(second)) as page:
        states = {r["id"]: r["state"] for r in page.get("/api/runs").json()["runs"]}
        assert states == {done: "finished", long: "interrupted"}
        assert page.get(f"/api/tables/{done}").json() == cells
        assert names(folder / ".diskret-runs" / long) == {"job.json", "status.json"}
    said = second.end()
    assert second.token not in said.replace(second.address, "")  # it stands in the address and nowhere else
    assert json.loads((folder / ".diskret-runs" / done / "status.json").read_text(encoding="utf-8"))["name"] == "done"


def _client(server: Served) -> httpx.Client:
    client = httpx.Client(base_url=f"http://{server.host}", headers={"origin": f"http://{server.host}"}, timeout=60)
    assert client.post("/api/session", json={"token": server.token}).status_code == 200
    return client


def test_runs_stay_out_of_version_control_and_of_other_users_eyes(chosen: TestClient, bench: Workbench) -> None:
    run = chosen.post("/api/runs", json={}).json()["id"]
    assert (bench.workspace.runs / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert os.stat(bench.workspace.runs / ".gitignore").st_mode & 0o077 == 0
    assert os.stat(bench.runs.folder(run)).st_mode & 0o077 == 0
    chosen.post(f"/api/runs/{run}/cancel")


def test_a_table_that_nobody_protected_is_not_exported(page: TestClient, bench: Workbench) -> None:
    run = bench.workspace.runs / "20260102-030405-aaaa"
    (run / "result").mkdir(parents=True)
    job = {key: each for key, each in JOB.items() if key != "suppression"}
    found = run_tables(job, bench.workspace.root, run / "result", RunProgress(lambda said: None))
    status = {"id": run.name, "name": "marked", "kind": "job", "of": "", "state": "finished", "started": time.time()}
    write_json(run / "job.json", job)
    write_json(run / "status.json", status | {"progress": {"what": "", "done": 0, "of": 0}} | found)
    answer = page.get(f"/api/runs/{run.name}/export.csv")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "W5")
    assert names(run) == {"job.json", "status.json", "result"}
