"""Requests, outputs and the ledger, asked of the page's server: nothing hidden leaves, nothing outside is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.job.request_file import answer_file
from diskret.ledger.ledger import open_ledger
from diskret.web.workbench import Workbench
from tests.houses import HOUSE, OUTPUTS, house_in


@pytest.fixture
def desk(page: TestClient, bench: Workbench) -> TestClient:
    """The page on a workspace with a house."""
    house_in(bench.workspace.root)
    return page


def ask(page: TestClient, request: dict[str, Any]) -> Any:
    return page.post("/api/request/answer", json={"house": "house.toml", "request": request}).json()


def test_the_page_says_what_may_be_asked(desk: TestClient) -> None:
    found = desk.get("/api/request").json()
    assert (found["houses"], found["outputs"]) == (["house.toml"], ["outputs.toml"])
    house = desk.post("/api/request/house", json={"house": "house.toml"}).json()
    assert [each["name"] for each in house["columns"]] == ["region", "sector", "employees"]
    assert house["columns"][0]["codes"] == ["N1", "N2", "N", "S1", "S2", "S"]
    # numbers of employees are filtered by thresholds: the page does not list them
    assert house["columns"][2] == {"name": "employees", "codes": [], "numbers": True, "levels": 1}


def test_the_answer_is_that_of_the_command_and_is_given_again(desk: TestClient, bench: Workbench) -> None:
    request = {"by": ["region", "sector"], "value": "turnover", "who": "project 12"}
    first = ask(desk, request)
    saved = desk.post("/api/request/save", json={"house": "house.toml", "request": request, "name": "twelve"})
    assert saved.status_code == 201
    done, _ = answer_file(bench.workspace.root / "twelve.toml")
    assert done.earlier == "request 1"
    assert done.kind == first["answer"]
    assert done.table is not None
    shown = [None if hidden else value for hidden, value in zip(
        done.table.hidden.reshape(-1), done.table.value.reshape(-1).tolist(), strict=True)]  # fmt: skip
    assert first["table"]["values"] == shown
    file = desk.post("/api/request/answer.csv", json={"house": "house.toml", "request": request})
    assert file.status_code == 200
    answer_file(bench.workspace.root / "twelve.toml", bench.workspace.root / "twelve.csv")
    assert file.content == (bench.workspace.root / "twelve.csv").read_bytes()


def test_no_hidden_value_and_no_reason_leaves_unless_internal(desk: TestClient, bench: Workbench) -> None:
    told = b""
    for request in (
        {"by": ["region", "sector"], "value": "turnover"},
        {"by": ["region"], "value": "turnover"},
        {"by": ["region"], "value": "turnover", "at_most": {"employees": 55}},
        {"value": "turnover", "at_least": {"employees": 3}},
    ):
        answer = desk.post("/api/request/answer", json={"house": "house.toml", "request": request})
        assert "reasons" not in answer.json()
        told += answer.content
    told += desk.post("/api/ledger", json={"folder": "ledger"}).content
    entries = desk.post("/api/ledger", json={"folder": "ledger"}).json()["entries"]
    for entry in entries:
        seen = desk.post("/api/ledger/entry", json={"folder": "ledger", "number": entry["number"]})
        assert seen.json()["cells"] == entry["cells"]
        told += seen.content
    ledger = open_ledger(bench.workspace.root / "ledger")
    hidden = 0
    public = {f"{v:.0f}" for e in ledger.entries for v in ledger.cells(e).shown[~ledger.cells(e).hidden]}
    for entry in ledger.entries:
        cells = ledger.cells(entry)
        for value in cells.value[cells.hidden]:
            hidden += 1
            assert f"{value:.0f}" in public or f"{value:.0f}".encode() not in told
    assert hidden > 3
    assert b"differs" not in told
    assert b"13.37" not in told
    desk.put("/api/view", json={"internal": True})
    again = ask(desk, {"by": ["region"], "value": "turnover", "at_most": {"employees": 55}})
    assert again["reasons"]["warnings"]
    assert "reasons" in desk.post("/api/ledger", json={"folder": "ledger"}).json()["requests"][0]


def test_outputs_are_judged_as_by_the_command(desk: TestClient) -> None:
    found = desk.post("/api/request/check", json={"file": "outputs.toml", "remember": True}).json()
    assert [each["verdict"] for each in found["outputs"]] == ["change", "accept", "change"]
    german = desk.post("/api/request/check", json={"file": "outputs.toml"}, headers={"x-diskret-language": "de"}).json()
    assert german["outputs"][2]["reasons"]["warnings"] == ["es ist der Wert zu weniger Einheiten"]
    ledger = desk.post("/api/ledger", json={"folder": "ledger"}).json()
    assert [each["kind"] for each in ledger["requests"]] == ["outputs"]


def test_nothing_outside_the_workspace_is_read_or_written(desk: TestClient, bench: Workbench, tmp_path: Path) -> None:
    root = bench.workspace.root
    (tmp_path / "secret.csv").write_text("region,sector,employees,turnover\nN1,A,1,5\n", encoding="utf-8")
    for text in (
        HOUSE.replace('"people.csv"', '"../secret.csv"'),
        HOUSE.replace('ledger = "ledger"', 'ledger = "../ledger"'),
        HOUSE.replace("prefixes = [1]", 'hierarchy = "/etc/passwd"'),
    ):
        (root / "away.toml").write_text(text, encoding="utf-8")
        error = desk.post("/api/request/house", json={"house": "away.toml"}).json()["error"]
        assert error["code"] == "W2", error
    assert not (tmp_path / "ledger").exists()
    (root / "away.toml").write_text(OUTPUTS.replace('"table1.csv"', '"../secret.csv"'), encoding="utf-8")
    assert desk.post("/api/request/check", json={"file": "away.toml"}).json()["error"]["code"] == "W2"
    (root / "away.toml").write_text(OUTPUTS.replace('"house.toml"', '"../house.toml"'), encoding="utf-8")
    assert desk.post("/api/request/check", json={"file": "away.toml"}).json()["error"]["code"] == "W2"
    for folder in ("..", "../ledger", "/etc"):
        assert desk.post("/api/ledger", json={"folder": folder}).json()["error"]["code"] == "W2"


def test_what_makes_no_sense_is_a_message(desk: TestClient) -> None:
    for path, said in (
        ("/api/request/answer", {"house": "house.toml", "request": 3}),
        ("/api/request/answer", {"house": "house.toml", "request": {"by": ["colour"]}}),
        ("/api/request/answer", {"house": "house.toml", "request": {"by": ["region"], "colour": 1}}),
        ("/api/request/answer", {"request": {}}),
        ("/api/request/house", {"house": "people.csv"}),
        ("/api/request/check", {"file": "house.toml"}),
        ("/api/ledger", {"folder": "nothing"}),
        ("/api/ledger/entry", {"folder": "ledger", "number": "one"}),
        ("/api/request/answer.exe", {"house": "house.toml", "request": {"by": ["region"]}}),
    ):
        answer = desk.post(path, json=said)
        assert answer.status_code == 422, (path, said)
        assert answer.json()["error"]["hint"]


def test_a_damaged_ledger_is_shown_with_what_is_lost(desk: TestClient, bench: Workbench) -> None:
    ask(desk, {"by": ["region"], "value": "turnover"})
    ask(desk, {"by": ["sector"], "value": "turnover"})
    (bench.workspace.root / "ledger" / "entries" / "000001.parquet").unlink()
    found = desk.post("/api/ledger", json={"folder": "ledger"}).json()
    assert found["flaws"]
    refused = desk.post("/api/request/answer", json={"house": "house.toml", "request": {"value": "turnover"}}).json()
    assert "error" in refused
    assert json.dumps(found)
