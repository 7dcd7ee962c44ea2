"""[[apriori]]: what files say about single cells, in jobs of one table and of linked tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import DiskretError

CELLS = "region,size,x,n\n" + "".join(
    f"{r},{s},{x},{n}\n"
    for r, s, x, n in [
        ("a", "1", 10, 2), ("a", "2", 40, 6), ("a", "3", 30, 6), ("b", "1", 25, 5), ("b", "2", 60, 9),
        ("b", "3", 20, 9), ("c", "1", 35, 5), ("c", "2", 50, 9), ("c", "3", 45, 9),
    ]
)  # fmt: skip


def job(**sections: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "data": {"cells": "cells.csv"},
        "table": {"by": ["region", "size"], "value": "x", "count": "n"},
        "rules": {"min_count": 3},
    }
    return made | sections


def run(folder: Path, content: dict[str, Any]) -> Any:
    (folder / "cells.csv").write_text(CELLS, encoding="utf-8")
    return run_job(job_from(content, "job", folder), folder, write=False)


def status(table: dk.Table, *codes: str) -> str:
    return dk.Status(int(table.status[table.index(*codes)])).text


def test_the_file_is_set_after_the_rules(tmp_path: Path) -> None:
    (tmp_path / "own.hst").write_text("a;1;s\nb;2;u\n", encoding="utf-8")
    done = run(tmp_path, job(apriori=[{"file": "own.hst", "separator": ";"}]))
    assert any("1 sensitive cells are not protected because own.hst says so" in each for each in done.warnings)
    table = done.tables["x"]
    assert (status(table, "a", "1"), status(table, "b", "2")) == ("open", "primary")


def test_cells_set_unsafe_by_the_file_get_the_margin_of_given_cells(tmp_path: Path) -> None:
    (tmp_path / "own.hst").write_text("b;2;u\nc;2;u\nc;2;pl;1;2\n", encoding="utf-8")
    done = run(tmp_path, job(rules={"min_count": 3, "given": 10}, **_files("own.hst")))
    table = done.tables["x"]
    assert table.below is not None
    assert table.above is not None
    levels = [(table.below[at], table.above[at]) for at in (table.index("b", "2"), table.index("c", "2"))]
    assert levels == [(6.0, 6.0), (1.0, 2.0)]


def test_costs_of_the_file_are_paid_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "own.hst").write_text(
        "a;2;c;1\nb;2;c;1\nb;1;c;1\na;3;c;9000\nb;3;c;9000\nc;1;c;9000\n", encoding="utf-8"
    )
    asked = job(suppression={"method": "optimal", "cost": {"by": "value"}, "seconds": 5})
    hidden = {key: _secondary(run(tmp_path, asked | more)) for key, more in ((0, {}), (1, _files("own.hst")))}
    assert hidden[1] == {("a", "2"), ("b", "2"), ("b", "1")}
    assert hidden[0] != hidden[1]


def _files(*names: str) -> dict[str, Any]:
    return {"apriori": [{"file": name} for name in names]}


def _secondary(done: Any) -> set[tuple[str, ...]]:
    table = done.tables["x"]
    return {table.codes(at) for at, mark in table.marks() if mark == "S"}


def test_the_pattern_is_written_as_such_a_file(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    asked = job(suppression={}, output={"apriori": "pattern.hst"})
    done = run_job(job_from(asked, "job", tmp_path), tmp_path)
    assert tmp_path / "pattern.hst" in done.files
    back = run(tmp_path, job(rules={}, **_files("pattern.hst")))
    assert (back.tables["x"].status == done.tables["x"].status).all()
    with pytest.raises(DiskretError, match=r"output\.apriori: is about one value"):
        job_from(asked | {"table": asked["table"] | {"value": ["x", "n"]}}, "job", tmp_path)


def test_unknown_codes_are_refused_with_their_line_or_passed_over(tmp_path: Path) -> None:
    (tmp_path / "own.hst").write_text("b;2;u\nz;2;u\n", encoding="utf-8")
    with pytest.raises(DiskretError, match="code 'z' of 'region'") as caught:
        run(tmp_path, job(**_files("own.hst")))
    assert caught.value.where.endswith("own.hst, line 2")
    done = run(tmp_path, job(apriori=[{"file": "own.hst", "errors": "ignore"}]))
    assert any("1 lines of own.hst are passed over" in each for each in done.warnings)
    assert status(done.tables["x"], "b", "2") == "primary"


def test_a_file_that_is_not_there_is_named_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    with pytest.raises(DiskretError, match=r"apriori\.0\.file: there is no file 'own.hst'"):
        job_from(job(**_files("own.hst")), "job", tmp_path)


def test_each_table_of_a_pool_has_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "own.hst").write_text("b;u\nb;pl;5;5\nc;c;3\n", encoding="utf-8")
    content = job(
        table={"value": "x", "count": "n"},
        tables={"sizes": {"by": ["region", "size"]}, "regions": {"by": ["region"], "data": {"cells": "r.csv"},
                "value": "x", "count": "n"}},
        apriori=[{"file": "own.hst", "table": "regions"}],
        suppression={},
    )  # fmt: skip
    (tmp_path / "r.csv").write_text("region,x,n\na,80,14\nb,105,23\nc,130,23\n", encoding="utf-8")
    done = run(tmp_path, content)
    assert status(done.tables["regions"], "b") == "primary"
    assert status(done.tables["sizes"], "b", "Total") == "primary"  # the same cell
    pool = done.pools["x"]
    assert pool.weight is not None
    assert pool.weight[pool.cells_of["regions"][2]] == 3.0
    assert pool.weight[pool.cells_of["sizes"][0]] == 10.0


@pytest.mark.parametrize(("table", "words"), [(None, "apriori.0.table: missing"), ("odd", "no table 'odd'")])
def test_a_pool_asks_which_table_a_file_is_about(tmp_path: Path, table: str | None, words: str) -> None:
    (tmp_path / "own.hst").write_text("b;u\n", encoding="utf-8")
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    content = job(tables={"one": {"by": ["region", "size"]}, "two": {"by": ["size", "region"]}})
    content["apriori"] = [{"file": "own.hst"} | ({"table": table} if table else {})]
    with pytest.raises(DiskretError, match=words):
        job_from(content, "job", tmp_path)
