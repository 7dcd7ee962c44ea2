"""Options of the commands are the keys of a job, which are the fields of Python's dataclasses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.publication.working import load_working, save_working
from diskret.suppression.methods import Complete, Cuboids, Moves, Optimal

Call = Callable[..., Any]
UNSAID = {"coalitions", "distance"}
"""What cannot be said in a word on the command line."""


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cells = {"s": ["a", "b", "c", "d"], "x": [10, 20, 30, 70], "st": ["primary", "secondary", "secondary", "secondary"]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", status="st")
    save_working({"x": table}, tmp_path / "w.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "options"),
    [("suppress", (dk.Promise, Moves, Cuboids, Complete, Optimal)), ("thin", (dk.Promise, Moves)),
     ("audit", (dk.Promise,)), ("verify", (dk.Promise,))],
)  # fmt: skip
def test_every_field_is_an_option(
    typed: Call, command: str, options: tuple[type, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said = typed(command, "--help").out.replace("\n", " ")
    for field in (f for each in options for f in fields(each) if f.name not in UNSAID):
        assert f"--{field.name.replace('_', '-')} " in said.replace("/", " "), field.name


def test_a_pattern_from_elsewhere_is_thinned(typed: Call, marked: Path) -> None:
    done = typed("thin", "w.parquet", "--out", "thin.parquet", "--guard", "public")
    assert done.code == 0, done.err
    before, after = load_working(marked / "w.parquet")["x"], load_working(marked / "thin.parquet")["x"]
    assert after.status.tolist() == dk.thin(before, dk.Promise(guard="public")).table.status.tolist()


def test_a_method_takes_its_own_options_and_no_others(typed: Call, marked: Path) -> None:
    assert typed("suppress", "w.parquet", "--out", "o.parquet", "--method", "cuboids", "--carry", "once").code == 0
    wrong = typed("suppress", "w.parquet", "--out", "o.parquet", "--carry", "once")
    assert wrong.code == 2
    assert "suppression.carry: belongs to the method 'cuboids'" in wrong.err


def test_older_options_keep_working(typed: Call, marked: Path) -> None:
    assert typed("suppress", "w.parquet", "--out", "o.parquet", "--guarantee", "subtables").code == 0
    assert typed("audit", "o.parquet", "--insiders", "none", "--quiet").code in (0, 1)


def test_a_certificate_must_prove_what_is_asked_for(typed: Call, marked: Path) -> None:
    typed("suppress", "w.parquet", "--out", "o.parquet")
    assert typed("audit", "o.parquet", "--guard", "public", "--certificate", "c.json").code == 0
    assert typed("verify", "o.parquet", "c.json").code == 0
    assert typed("verify", "o.parquet", "c.json", "--guard", "public").code == 0
    assert typed("verify", "o.parquet", "c.json", "--min-relative-range", "5").code == 1


def test_the_risk_of_a_file(typed: Call, marked: Path) -> None:
    (marked / "people.csv").write_text("age,sex\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(40)))
    done = typed("risk", "people.csv", "--key", "age", "--key", "sex", "--population", "4000", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["anonymity"]["k"] == 6
    assert "risk.keys" in typed("risk", "people.csv").err
