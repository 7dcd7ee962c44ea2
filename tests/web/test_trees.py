"""Trees of codes on the page: opened from the data, changed, made, saved as files that are read back, and offered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from starlette.testclient import TestClient

from diskret import Hierarchy, read_hierarchy
from diskret.web.workbench import Workbench
from tests.web import case

REGIONS = ["N1", "N2", "S1", "S2", "S3"]


def opened(page: TestClient, **change: Any) -> dict[str, Any]:
    answer = page.post("/api/trees/open", json={"column": "region", "content": case.JOB | change})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def edited(page: TestClient, tree: dict[str, Any], **edit: Any) -> dict[str, Any]:
    answer = page.post("/api/trees/edit", json={"tree": tree, "edit": edit})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["tree"]
    return found


def parts(tree: dict[str, Any], code: str) -> list[str]:
    at = tree["codes"].index(code)
    return [c for c, p in zip(tree["codes"], tree["parents"], strict=True) if p == at]


def save(page: TestClient, tree: dict[str, Any], name: str, **said: Any) -> Any:
    return page.post(
        "/api/trees/save", json={"column": "region", "content": case.JOB, "tree": tree, "name": name} | said
    )


def test_the_editor_begins_with_the_codes_of_the_data_and_the_tree_they_have(page: TestClient) -> None:
    flat = opened(page, classifications={})
    assert flat["codes"] == REGIONS
    assert parts(flat["tree"], "Total") == REGIONS
    assert parts(opened(page)["tree"], "Total") == ["N", "S"]


def test_frequencies_are_shown_in_the_internal_view_only(page: TestClient) -> None:
    assert opened(page)["counts"] is None
    page.put("/api/view", json={"internal": True})
    counts = opened(page)["counts"]
    assert len(counts) == 5
    assert all(n > 0 for n in counts)


def test_a_broken_hierarchy_is_named_and_the_codes_are_there_all_the_same(bench: Workbench, page: TestClient) -> None:
    (bench.workspace.root / "r.hrc").write_text("@@x\n")
    found = opened(page, classifications={"region": {"hierarchy": "r.hrc"}})
    assert found["problem"]["code"].startswith("H")
    assert parts(found["tree"], "Total") == REGIONS
    assert opened(page, classifications={"region": {"hierarchy": "gone.hrc"}})["problem"]


def test_a_tree_is_grouped_saved_set_and_tabulated_by(bench: Workbench, page: TestClient) -> None:
    tree = opened(page, classifications={})["tree"]
    tree = edited(page, tree, do="group", codes=["N1", "S1"], name="west", label="Western part")
    tree = edited(page, tree, do="group", codes=["N2", "S2", "S3"], name="east")
    tree = edited(page, tree, do="rename", code="Total", to="all")
    answer = save(page, tree, "region.csv").json()
    assert answer == {"name": "region.csv", "classification": {"hierarchy": "region.csv"}}
    saved = read_hierarchy(bench.workspace.root / "region.csv")
    assert list(saved.codes) == tree["codes"]
    assert list(saved.labels) == tree["labels"]
    hrc = save(page, edited(page, tree, do="label", code="west", label=""), "region.hrc").json()
    assert hrc["classification"] == {"hierarchy": "region.hrc", "total": "all"}
    page.put("/api/draft", json=case.JOB | {"classifications": {"region": hrc["classification"]}})
    axes = page.get("/api/tables/draft").json()["axes"]
    assert axes[1]["codes"] == tree["codes"]
    again = opened(page, classifications={"region": hrc["classification"]})["tree"]
    assert (again["codes"], again["parents"]) == (tree["codes"], tree["parents"])


def test_a_tree_that_the_data_do_not_fit_is_saved_only_if_that_is_said(bench: Workbench, page: TestClient) -> None:
    tree = edited(page, opened(page)["tree"], do="remove", codes=["N"])
    refused = save(page, tree, "r.csv")
    assert refused.status_code == 422
    assert "N1" in refused.json()["error"]["what"]
    assert not (bench.workspace.root / "r.csv").exists()
    below = edited(page, opened(page)["tree"], do="move", codes=["N1"], under="N2")
    assert "sum in the tree" in save(page, below, "r.csv").json()["error"]["what"]
    assert save(page, tree, "r.csv", anyway=True).status_code == 201
    labelled = edited(page, opened(page)["tree"], do="label", code="N", label="north")
    assert "labels" in save(page, labelled, "r.hrc").json()["error"]["what"]


def test_no_file_is_overwritten_without_a_word(bench: Workbench, page: TestClient) -> None:
    tree, data = opened(page)["tree"], (bench.workspace.root / "firms.csv").read_bytes()
    assert save(page, tree, "firms.csv").status_code == 422
    assert "holds the data" in save(page, tree, "firms.csv", replace=True).json()["error"]["what"]
    assert (bench.workspace.root / "firms.csv").read_bytes() == data
    assert save(page, tree, "r.hrc").status_code == 201
    assert save(page, tree, "r.hrc").status_code == 422
    assert save(page, tree, "r.hrc", replace=True).status_code == 201
    for name in ("../r.csv", "r.toml", ".r.csv", ""):
        assert save(page, tree, name).status_code == 422


def test_trees_are_made_of_prefixes_tables_and_labels(bench: Workbench, page: TestClient) -> None:
    def make(how: dict[str, Any], codes: list[str] = REGIONS) -> dict[str, Any]:
        answer = page.post("/api/trees/make", json={"codes": codes, "how": how})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["tree"]
        return found

    with xlsxwriter.Workbook(bench.workspace.root / "parts.xlsx") as book:
        sheet = book.add_worksheet("parts")
        for number, row in enumerate([["id", "part", "name"], *([c, c[0], f"place {c}"] for c in REGIONS)]):
            sheet.write_row(number, 0, row)
    assert parts(make({"prefixes": [1]}), "S") == ["S1", "S2", "S3"]
    table = make({"file": "parts.xlsx", "code": "id", "levels": ["part"], "label": "name"})
    assert parts(table, "N") == ["N1", "N2"]
    assert table["labels"][0] == "place N1"
    assert parts(make({"separator": "/"}, ["a/x", "a/y", "b"]), "a") == ["a/x", "a/y"]
    for how in ({}, {"prefixes": [0]}, {"prefixes": "1"}, {"file": "../x.csv", "code": "a", "parent": "b"}):
        assert page.post("/api/trees/make", json={"codes": REGIONS, "how": how}).status_code == 422


@pytest.mark.parametrize("tree", [None, {}, {"codes": ["a"], "parents": [5], "labels": ["a"]}, {"codes": 1}])
def test_what_is_no_tree_is_refused(page: TestClient, tree: Any) -> None:
    for edit in ({"do": "single"}, {"do": "unknown"}, None, {"do": "group", "codes": [1], "name": 2}):
        assert page.post("/api/trees/edit", json={"tree": tree, "edit": edit}).status_code == 422


@pytest.mark.parametrize("edit", [{"do": []}, {"do": {}}, {"do": "group", "codes": ["N1"], "name": "N", "label": 5}])
def test_what_is_no_edit_is_refused(page: TestClient, edit: dict[str, Any]) -> None:
    tree = {"codes": ["N1", "Total"], "parents": [1, -1], "labels": ["N1", "Total"]}
    answer = page.post("/api/trees/edit", json={"tree": tree, "edit": edit})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "O1")


def test_as_many_codes_as_are_opened_can_be_changed(page: TestClient) -> None:
    codes = [f"{number:06d}" for number in range(40_000)]
    labels = [f"Kreis {code}" for code in codes]
    tree = {"codes": [*codes, "T"], "parents": [len(codes)] * len(codes) + [-1], "labels": [*labels, "T"]}
    answer = page.post("/api/trees/edit", json={"tree": tree, "edit": {"do": "label", "code": "000007", "label": "x"}})
    assert answer.status_code == 200, answer.text[:200]


def test_values_are_no_codes_outside_the_internal_view(page: TestClient) -> None:
    asked = {"column": "turnover", "content": case.JOB}
    assert page.post("/api/trees/open", json=asked).status_code == 422
    page.put("/api/view", json={"internal": True})
    assert page.post("/api/trees/open", json=asked).status_code == 200


def test_only_hierarchies_are_offered_as_such(bench: Workbench, page: TestClient) -> None:
    files = {
        "tree.hrc": "N\n@N1\n",
        "list.csv": "code;parent\nN1;N\n",
        "levels.tsv": "Code\tLevel\nN1\t1\nN\t2\n",
        "nested.json": json.dumps({"DE": {"N": ["N1"], "S": None}}),
        "data.csv": "code;turnover\nN1;3\n",
        "panel.csv": "code;level;x\nN1;1;2\nN1;2;3\n",
        "stat.json": json.dumps({"version": "2.0", "value": [1, 2]}),
        "cut.json": '{"a": ',
        "notes.txt": "code;parent\n",
    }
    for name, text in files.items():
        (bench.workspace.root / name).write_text(text)
    assert page.get("/api/hierarchies").json() == {"files": ["levels.tsv", "list.csv", "nested.json", "tree.hrc"]}


def test_a_file_is_looked_at_once_as_long_as_it_stays_as_it_is(
    bench: Workbench, page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def do(function: Callable[[Path], bool], path: Path, *, where: str) -> bool:
        asked.append(path)
        return function(path)

    monkeypatch.setattr(bench.reading, "do", do)
    for _ in range(3):
        assert page.get("/api/hierarchies").json() == {"files": []}
    assert len(asked) == 1
    (bench.workspace.root / "firms.csv").write_text("code;parent\na;T\n")
    assert page.get("/api/hierarchies").json() == {"files": ["firms.csv"]}


def test_records_may_carry_the_total_that_the_choice_names(bench: Workbench, page: TestClient) -> None:
    (bench.workspace.root / "firms.csv").write_text("region;turnover\nN1;1\nall;1\n")
    found = opened(page, classifications={"region": {"total": "all"}})
    assert (found["totals"], parts(found["tree"], "all")) == (["all"], ["N1"])
    said = {"content": case.JOB | {"classifications": {"region": {"total": "all"}}}}
    assert save(page, found["tree"], "r.csv", **said).json()["classification"] == {"hierarchy": "r.csv", "total": "all"}
    renamed = edited(page, found["tree"], do="rename", code="all", to="every region")
    assert "all" in save(page, renamed, "r2.csv", **said).json()["error"]["what"]


def test_cells_may_carry_sums_of_the_tree(bench: Workbench, page: TestClient) -> None:
    (bench.workspace.root / "cells.csv").write_text("region;x\nN1;1\nN2;2\nN;3\n")
    content = {"data": {"cells": "cells.csv"}, "table": {"by": ["region"], "value": ["x"]}}
    tree = {"codes": ["N1", "N2", "N"], "parents": [2, 2, -1], "labels": ["N1", "N2", "N"]}
    assert Hierarchy.restored(*tree.values())  # type: ignore[arg-type]
    asked = {"column": "region", "content": content, "tree": tree, "name": "r.csv"}
    assert page.post("/api/trees/save", json=asked).status_code == 201
