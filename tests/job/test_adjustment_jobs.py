"""Jobs with [adjustment]: one table, linked tables, what is written and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadJob

CELLS = """region,size,turnover,state,low,high
N,small,100,primary,10,10
N,large,80,open,0,0
S,small,90,open,0,0
S,large,60,open,0,0
"""
DATA: dict[str, Any] = {"cells": "cells.csv"}
TABLE = {"by": ["region", "size"], "value": "turnover", "status": "state"}
PROMISE = {"min_range": 19.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "sizes.csv").write_text("size,turnover\nsmall,190\nlarge,140\n")
    return tmp_path


def run(folder: Path, **content: Any) -> Any:
    return run_job(job_from({"data": DATA, "table": TABLE, "promise": PROMISE} | content, "test", folder), folder)


def test_a_job_publishes_the_adjusted_table_and_says_so(folder: Path) -> None:
    output = {"publish": ["out.csv"], "report": "report.html", "language": "de"}
    result = run(folder, adjustment={"attack": True}, output=output)
    direct = dk.adjust(
        dk.Table.from_cells(folder / "cells.csv", by=["region", "size"], value="turnover", status="state"),
        dk.Promise(min_range=19.0),
    )
    assert result.tables["turnover"].value.tolist() == direct.table.value.tolist()
    published = (folder / "out.csv").read_text()
    assert "adjusted" in published
    assert "110" in published
    facts = result.summary()["tables"]["turnover"]
    assert facts["perturbation"]["changed"] == 4
    assert facts["perturbation attack"]["found exactly"] == 0
    assert not result.exposed
    report = (folder / "report.html").read_text()
    assert "Werte aus Geheimhaltungsgründen verändert, Summen stimmen" in report
    assert "Darf veröffentlicht werden" in report


def test_given_directions_are_told_to_whoever_knows_the_method(folder: Path) -> None:
    assert run(folder, adjustment={"directions": "up", "attack": True}).exposed
    assert not run(folder, adjustment={"directions": "choose", "attack": True}).exposed


def test_linked_tables_are_adjusted_together(folder: Path) -> None:
    tables = {
        "both": {"data": DATA, "by": ["region", "size"], "value": "turnover", "status": "state"},
        "sizes": {
            "data": {"cells": "sizes.csv"},
            "by": ["size"],
            "value": "turnover",
            "output": {"publish": ["s.csv"]},
        },
    }  # fmt: skip
    plain = {"tables": tables, "promise": PROMISE, "adjustment": {}}
    result = run_job(job_from(plain, "test", folder), folder)
    both, sizes = result.tables["both"], result.tables["sizes"]
    assert both.altered == sizes.altered == "adjusted"
    assert np.array_equal(both.value[-1], sizes.value)
    assert sizes.protected
    assert (folder / "s.csv").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"adjustment": {}, "suppression": {}}, "choose one of them"),
        ({"adjustment": {}, "perturbation": {}}, "choose one of them"),
        ({"adjustment": {"distance": "L3"}}, "adjustment.distance"),
        ({"adjustment": {}, "output": {"publish": ["a.csv"], "intervals": True}}, r"combined with \[adjustment\]"),
    ],
)
def test_mistakes_are_named(folder: Path, content: dict[str, Any], words: str) -> None:
    with pytest.raises(BadJob, match=words):
        run(folder, **content)
