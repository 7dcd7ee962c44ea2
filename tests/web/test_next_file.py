"""The same settings for another file, asked of the page's server."""

from __future__ import annotations

from copy import deepcopy

from starlette.testclient import TestClient

from diskret.web.workbench import Workbench
from tests.web.case import JOB, ended


def test_the_page_says_what_differs_and_chooses_nothing_by_itself(page: TestClient, bench: Workbench) -> None:
    folder = bench.workspace.root
    (folder / "next.csv").write_text((folder / "firms.csv").read_text().replace(",C,", ",D,"))
    page.put("/api/draft", json=JOB)
    found = page.post("/api/next", json={"content": JOB, "file": "next.csv"}).json()
    assert found["content"] == deepcopy(JOB) | {"data": {"microdata": "next.csv"}}
    assert found["differences"] == [
        {"kind": "new codes", "name": "'industry'", "what": "'D'"},
        {"kind": "codes gone", "name": "'industry'", "what": "'C'"},
    ]
    assert found["previous"] == []
    assert page.get("/api/draft").json()["content"] == JOB


def test_a_finished_run_of_the_same_table_lends_its_pattern(page: TestClient, bench: Workbench) -> None:
    folder = bench.workspace.root
    (folder / "next.csv").write_text((folder / "firms.csv").read_text())
    page.put("/api/draft", json=JOB)
    run = page.post("/api/runs", json={"name": "last year"}).json()["id"]
    ended(page, run)
    found = page.post("/api/next", json={"content": JOB, "file": "next.csv"}).json()
    (lender,) = found["previous"]
    assert (lender["name"], lender["own"]) == ("last year", True)
    suppression = JOB["suppression"] | {"previous": lender["path"]}
    page.put("/api/draft", json=found["content"] | {"suppression": suppression})
    assert ended(page, page.post("/api/runs", json={"name": "this year"}).json()["id"])["state"] == "finished"


def test_a_file_without_a_needed_column_is_refused_with_its_cure(page: TestClient, bench: Workbench) -> None:
    (bench.workspace.root / "next.csv").write_text("industry,region,Turnover\nA,N1,5\n")
    error = page.post("/api/next", json={"content": JOB, "file": "next.csv"}).json()["error"]
    assert error["code"] == "T1"
    assert [(cure["path"], cure["value"]) for cure in error["cures"]] == [(["table", "value"], ["Turnover"])]


def test_no_file_outside_the_workspace_is_compared(page: TestClient) -> None:
    for file in ("../secret.csv", "/etc/passwd"):
        assert page.post("/api/next", json={"content": JOB, "file": file}).json()["error"]["code"] == "W2"
    away = deepcopy(JOB) | {"data": {"microdata": "/etc/passwd"}}
    assert page.post("/api/next", json={"content": away, "file": "firms.csv"}).json()["error"]["code"] == "W2"
    assert page.post("/api/next", json={"content": [], "file": 3}).status_code == 422
