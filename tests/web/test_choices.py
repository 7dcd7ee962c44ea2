"""What is chosen: counted at once, undone, kept over a restart."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from starlette.testclient import TestClient

from diskret.job.outcome import summary_of
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web.case import JOB, ORIGIN, PORT


def with_rules(**rules: object) -> dict[str, Any]:
    return deepcopy(JOB) | {"rules": rules}


def test_the_page_counts_what_a_job_would_mark(chosen: TestClient, bench: Workbench) -> None:
    content = {key: JOB[key] for key in ("data", "table", "classifications", "rules")}
    table = run_job(job_from(content, "test", bench.workspace.root), bench.workspace.root, write=False).tables[
        "turnover"
    ]
    shown = chosen.get("/api/draft/marks").json()["tables"]["turnover"]
    assert shown == summary_of(table)
    assert shown["rules"]["minimum count"] > 0


def test_each_rule_is_counted_as_it_changes(page: TestClient) -> None:
    counts = []
    for fewest in (1, 3, 6, 50):
        page.put("/api/draft", json=with_rules(min_count=fewest))
        counts.append(page.get("/api/draft/marks").json()["tables"]["turnover"]["rules"].get("minimum count", 0))
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] > counts[1] > 0


def test_every_step_can_be_undone_and_done_again(page: TestClient) -> None:
    steps = [with_rules(min_count=n) for n in (3, 4, 5)]
    for each in steps:
        page.put("/api/draft", json=each)
    assert page.post("/api/draft/undo").json()["content"] == steps[1]
    back = page.post("/api/draft/undo").json()
    assert (back["content"], back["undo"], back["redo"]) == (steps[0], True, True)
    assert page.post("/api/draft/redo").json()["content"] == steps[1]
    after = page.put("/api/draft", json=with_rules(min_count=9)).json()
    assert not after["redo"]
    assert page.post("/api/draft/undo").json()["content"] == steps[1]


def test_the_same_choice_twice_is_one_step(page: TestClient) -> None:
    page.put("/api/draft", json=with_rules(min_count=3))
    page.put("/api/draft", json=with_rules(min_count=3))
    back = page.post("/api/draft/undo").json()
    assert (back["content"], back["undo"], back["redo"]) == ({}, False, True)


def test_a_restart_finds_the_choice_again(chosen: TestClient, bench: Workbench) -> None:
    again = Workbench.at(bench.workspace.root, PORT, reading=Here())
    other = TestClient(make_app(again), base_url=ORIGIN, headers={"origin": ORIGIN})
    other.post("/api/session", json={"token": again.sessions.token})
    assert other.get("/api/draft").json()["content"] == JOB
    assert chosen.get("/api/state").status_code == 200
    stolen = {"cookie": f"{bench.place.cookie}={next(iter(bench.sessions.known))}"}
    assert TestClient(make_app(again), base_url=ORIGIN).get("/api/state", headers=stolen).status_code == 401


def test_a_mistake_is_named_with_what_to_do(page: TestClient) -> None:
    page.put("/api/draft", json=with_rules(min_count=0))
    said = page.get("/api/draft/marks").json()["error"]
    assert said["code"] == "J1"
    assert "rules.min_count" in said["what"]
    page.put(
        "/api/draft", json=deepcopy(JOB) | {"table": {"by": ["industry"], "value": ["turnovr"]}, "classifications": {}}
    )
    assert "did you mean 'turnover'?" in page.get("/api/draft/marks").json()["error"]["hint"]


def test_a_changed_file_is_read_again(chosen: TestClient, bench: Workbench) -> None:
    before = chosen.get("/api/draft/marks").json()["tables"]["turnover"]
    lines = (bench.workspace.root / "firms.csv").read_text(encoding="utf-8").splitlines()
    (bench.workspace.root / "firms.csv").write_text("\n".join([*lines, "F1,D,N1,5.00"]) + "\n", encoding="utf-8")
    after = chosen.get("/api/draft/marks").json()["tables"]["turnover"]
    assert after["cells"] > before["cells"]
