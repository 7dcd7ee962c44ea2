"""An error of the data reaches the page with its cures; its rows only whoever looks at the internal view."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from starlette.testclient import TestClient

from diskret.web.workbench import Workbench
from tests.web.case import JOB

ROWS = "industry,region,turnover\nA,N1,987654.32\nB,S1,\nB,S1,5\n"


def broken(bench: Workbench) -> dict[str, Any]:
    (bench.workspace.root / "broken.csv").write_text(ROWS)
    return deepcopy(JOB) | {"data": {"microdata": "broken.csv"}}


def test_a_missing_number_is_said_with_buttons_that_cure_it(page: TestClient, bench: Workbench) -> None:
    content = broken(bench)
    page.put("/api/draft", json=content)
    error = page.get("/api/tables/draft").json()["error"]
    assert (error["code"], error["rows"]) == ("T3", [2])
    assert [(each["path"], each["value"]) for each in error["cures"]] == [
        (["table", "without_value"], "leave out"),
        (["table", "without_value"], "zero"),
    ]
    content["table"]["without_value"] = "leave out"
    page.put("/api/draft", json=content)
    assert page.get("/api/tables/draft").status_code == 200
    assert "1 of 3 rows are left out" in page.get("/api/draft/marks").json()["warnings"][0]
    page.post("/api/draft/undo")
    assert page.get("/api/tables/draft").json()["error"]["code"] == "T3"


def test_rows_are_shown_in_the_internal_view_only(page: TestClient, bench: Workbench) -> None:
    page.put("/api/draft", json=broken(bench))
    refused = page.get("/api/draft/rows?rows=1,2")
    assert refused.status_code == 422
    assert "987654" not in refused.text
    page.put("/api/view", json={"internal": True})
    assert page.get("/api/draft/rows?rows=2,1,99").json() == {
        "columns": ["industry", "region", "turnover"],
        "rows": [{"row": 1, "cells": ["A", "N1", "987654.32"]}, {"row": 2, "cells": ["B", "S1", None]}],
    }


def test_no_more_rows_are_shown_than_an_error_names(page: TestClient, bench: Workbench) -> None:
    content = broken(bench)
    (bench.workspace.root / "broken.csv").write_text("industry,region,turnover\n" + "A,N1,\n" * 300)
    page.put("/api/draft", json=content)
    page.put("/api/view", json={"internal": True})
    every = ",".join(map(str, range(1, 301)))
    assert len(page.get("/api/tables/draft").json()["error"]["rows"]) == 50
    assert len(page.get(f"/api/draft/rows?rows={every}").json()["rows"]) == 50
