"""The page is asked about totals in the data: the server gives the question with its answers, for two buttons."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from diskret.web.workbench import Workbench

CELLS = "region,size,x\nN,1,12\nN,2,23\nS,1,43\nS,2,54\nInsgesamt,1,55\nInsgesamt,2,77\n"
ANSWERS = [("total", "Insgesamt"), ("categories", ["Insgesamt"])]


def put(bench: Workbench, name: str, text: str) -> Path:
    place = bench.workspace.root / name
    place.write_text(text, encoding="utf-8")
    return place


def test_recognising_a_file_brings_the_question_about_its_totals(page: TestClient, bench: Workbench) -> None:
    put(bench, "cells.csv", CELLS)
    found = page.get("/api/recognise", params={"file": "cells.csv"}).json()
    assert found["question"]["code"] == "H8"
    assert [(c["path"][-1], c["value"]) for c in found["question"]["cures"]] == ANSWERS
    assert page.get("/api/recognise", params={"file": "firms.csv"}).json()["question"] is None


def test_a_table_is_not_shown_before_the_answer_and_right_after_it(page: TestClient, bench: Workbench) -> None:
    put(bench, "cells.csv", CELLS)
    content = page.get("/api/recognise", params={"file": "cells.csv"}).json()["content"]
    assert page.put("/api/draft", json=content).status_code == 200
    refused = page.get("/api/draft/marks")
    assert refused.status_code == 422
    cures = refused.json()["error"]["cures"]
    assert [(c["path"][-1], c["value"]) for c in cures] == ANSWERS
    section, name, key = cures[0]["path"]
    answered = content | {section: {name: {key: cures[0]["value"]}}}
    assert page.put("/api/draft", json=answered).status_code == 200
    shown = page.get("/api/draft/marks")
    assert shown.status_code == 200, shown.text


def test_a_wide_file_is_offered_as_a_long_one(page: TestClient, bench: Workbench) -> None:
    put(bench, "wide.csv", "region,2023,2024,2025\nN,1,2,3\nS,4,5,6\n")
    offered = page.get("/api/recognise", params={"file": "wide.csv"}).json()["unpivot"]
    assert {key: offered[key] for key in ("columns", "into", "value", "sure")} == {
        "columns": ["2023", "2024", "2025"], "into": "year", "value": "value", "sure": True,
    }  # fmt: skip
    unpivot = {key: offered[key] for key in ("columns", "into", "value")}
    draft = {"data": {"cells": "wide.csv", "unpivot": unpivot}, "table": {"by": ["region"]}}
    assert page.put("/api/draft", json=draft).status_code == 200
    found = page.get("/api/recognise", params={"file": "wide.csv"}).json()
    assert (found["content"]["table"]["by"], found["content"]["data"]["unpivot"]) == (["region", "year"], unpivot)
