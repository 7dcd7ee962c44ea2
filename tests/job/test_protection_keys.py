"""Promise and method of a job are those of Python, key by key; older keys of [suppression] mean what they meant."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.models import job_of
from diskret.job.protection_sections import METHODS, PromiseSection
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.job.suppression import promise_of
from diskret.job.table_job import TableJob
from diskret.model.errors import BadJob
from diskret.suppression.methods import AnyMethod, Complete, Cuboids, Moves, Optimal

CELLS = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
BASE: dict[str, Any] = {
    "data": {"cells": "cells.csv"},
    "table": {"by": ["s"], "value": "x", "status": "status"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = zip(*CELLS.values(), strict=True)
    (tmp_path / "cells.csv").write_text("s,x,status\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return tmp_path


def asked(**content: Any) -> tuple[dk.Promise, AnyMethod]:
    """What a job promises, and how."""
    job = job_of(BASE | content)
    assert isinstance(job, TableJob)
    assert job.suppression is not None
    table = dk.Table.from_cells(CELLS, by={"s": None}, value="x", status="status")
    return promise_of(job, table), job.suppression.made()


@pytest.mark.parametrize("method", [Moves(), Cuboids(), Complete(), Optimal()], ids=lambda m: type(m).__name__)
def test_with_nothing_said_a_job_means_what_python_means(method: AnyMethod) -> None:
    assert asked(suppression={"method": type(method).__name__.lower()}) == (dk.Promise(), method)
    assert asked(suppression={}) == (dk.Promise(), Moves())


def test_every_field_is_a_key_with_its_description() -> None:
    pairs: list[tuple[Any, Any]] = [(dk.Promise, PromiseSection), *((m.options, m) for m in METHODS.values())]
    for options, section in pairs:
        for field in fields(options):
            assert section.model_fields[field.name].description == field.metadata["description"]


@pytest.mark.parametrize(
    ("older", "promise", "method"),
    [
        ({}, dk.Promise(), Moves()),
        ({"guarantee": "audit", "effort": "quick", "carry": "always"}, dk.Promise(), Moves(effort="quick")),
        ({"guarantee": "subtables"}, dk.Promise(levels=False), Cuboids()),
        ({"guarantee": "subtables", "levels": True, "carry": "once"}, dk.Promise(), Cuboids(carry="once")),
        ({"guarantee": "complete", "deformations": 2, "effort": "quick"}, dk.Promise(), Complete(deformations=2)),
        ({"single_contributors": False}, dk.Promise(guard="public"), Moves()),
        ({"largest_contributors": True}, dk.Promise(guard="largest"), Moves()),
        ({"min_relative_range": 0.5, "min_range": 2}, dk.Promise(min_relative_range=0.5, min_range=2), Moves()),
        ({"levels": True, "sliding": True}, dk.Promise(sliding=True), Moves()),
        ({"knowledge": {"relative": 0.5}}, dk.Promise(knowledge=dk.Knowledge.relative(0.5)), Moves()),
        ({"coalitions": [[{"s": "a"}, {}]]}, dk.Promise(coalitions=((("a",), ("Total",)),)), Moves()),
        ({"guarantee": "subtables", "distance": {"s": 2}}, dk.Promise(levels=False),
         Cuboids(cost=dk.Cost("value", distance={"s": 2}))),
        ({"cost": "log"}, dk.Promise(), Moves(cost=dk.Cost("log"))),
    ],
)  # fmt: skip
def test_older_keys_mean_what_they_meant(older: dict[str, Any], promise: dk.Promise, method: AnyMethod) -> None:
    assert asked(suppression=older) == (promise, method)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"suppression": {"guarantee": "all"}}, "suppression.guarantee: is not a method (one of moves, cuboids"),
        ({"suppression": {"min_relative_range": -1}}, "suppression.min_relative_range: should be greater than or"),
        ({"promise": {"min_relative_range": -1}}, "promise.min_relative_range: should be greater than or equal"),
        ({"promise": {"gaurd": "single"}}, "promise.gaurd: unknown key (did you mean 'guard'?)"),
        ({"promise": {"levels": False, "sliding": True}}, "promise.sliding: needs levels = true"),
        ({"suppression": {"method": "moves", "carry": "once"}}, "carry: belongs to the method 'cuboids'"),
        ({"suppression": {"method": "complete", "deformations": 9}}, "suppression.deformations: should be less than"),
        ({"suppression": {"method": "cuboids", "barriers": {"t": 1}}}, "suppression.barriers: no classification 't'"),
        ({"suppression": {"method": "thin", "previous": "cells.csv"}}, "previous: cannot be combined with method"),
        ({"output": {"certificate": "c.json"}, "suppression": {"method": "cuboids"}}, "there is no audit to certify"),
    ],
)
def test_mistakes_are_named_under_the_key_that_was_written(folder: Path, content: dict[str, Any], said: str) -> None:
    with pytest.raises(BadJob) as caught:
        job_from(BASE | content, "here", folder)
    assert said in str(caught.value)


def test_a_pattern_from_elsewhere_is_thinned_as_python_thins_it(folder: Path) -> None:
    text = (folder / "cells.csv").read_text().replace("open", "secondary")
    (folder / "cells.csv").write_text(text)
    job = job_from(BASE | {"suppression": {"method": "thin"}}, "here", folder)
    done = run_job(job, folder)
    table = dk.Table.from_cells(folder / "cells.csv", by={"s": None}, value="x", status="status")
    assert done.tables["x"].status.tolist() == dk.thin(table).table.status.tolist() == [1, 2, 0, 0]


def test_the_risk_of_a_file_is_that_of_python(folder: Path) -> None:
    lines = [f"{i % 3},{i % 2},{i % 5}\n" for i in range(40)]
    (folder / "people.csv").write_text("age,sex,illness\n" + "".join(lines))
    content = {
        "data": {"microdata": "people.csv"},
        "risk": {"keys": ["age", "sex"], "sensitive": "illness", "population": 4000},
        "output": {"report": "risk.html", "language": "de"},
    }
    done = run_job(job_from(content, "here", folder), folder)
    assert done.anonymity is not None
    assert done.risk is not None
    assert done.anonymity.k == dk.measure_anonymity(folder / "people.csv", keys=["age", "sex"]).k
    assert done.risk.alone == dk.measure_risk(folder / "people.csv", keys=["age", "sex"], population=4000).alone
    assert [f.name for f in done.files] == ["risk.html"]
    assert "Risiko der Datei" in (folder / "risk.html").read_text(encoding="utf-8")
    assert done.summary()["anonymity"]["k"] == done.anonymity.k
