"""A job that works a few columns at a time writes the file of the job that has all of it in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.cli import main
from diskret.job.microdata import seed_of
from diskret.job.read import job_from
from diskret.job.record_sections import MicrodataSection
from diskret.job.run import run_job
from diskret.microdata.by_column import Part, protect_by_column
from diskret.microdata.columns import Records
from diskret.microdata.microaggregation import microaggregate
from diskret.microdata.pram import post_randomise
from diskret.model.errors import BadJob, MissingColumn
from diskret.publication.microdata_files import write_records

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
Call = Callable[..., Any]

STEPS: list[dict[str, Any]] = [
    {"do": "drop", "columns": ["name"]},
    {"do": "recode", "column": "branch", "mapping": {"a": "A", "b": "A", "c": "B", "d": "B"}},
    {"do": "microaggregate", "columns": ["sales", "staff"], "m": 4},
    {"do": "swap", "regions": ["land", "county"], "risk": ["branch"], "similar": [["wave"]], "k": 6, "rate": 0.1},
    {"do": "pram", "columns": ["branch", "sex"], "keep": 0.8, "within": ["wave"]},
    {"do": "noise", "columns": ["wages", "tax"], "sd": 0.1, "pairing": "blocks"},
]


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """A panel with gaps, codes of several types, text that looks like numbers, and columns nobody touches."""
    random = np.random.default_rng(3)
    n = 400
    values: dict[str, Any] = {
        name: np.exp(random.normal(6, 1, n)).round(2) for name in ("sales", "wages", "tax", "rent")
    }
    values["staff"] = random.integers(0, 90, n)
    values["sales"][::9] = np.nan
    county = random.integers(0, 12, n)
    grade = random.integers(1, 4, n).astype(object)
    grade[::13] = None
    codes = {
        "name": [f"firm {i}" for i in range(n)], "land": county // 4, "county": county,
        "branch": random.choice(list("abcd"), n),
        "sex": random.choice(["f", "m"], n), "grade": grade,
        "ags": np.array([f"0{c:02d}" for c in county], dtype=object),
    }  # fmt: skip
    panel = {"unit": np.arange(n) // 2 + 50, "wave": np.arange(n) % 2 + 2025}
    frame = {name: np.asarray(column) for name, column in {**panel, **codes, **values}.items()}
    frame |= {name: frame[name].astype(object) for name in ("name", "branch", "sex")}
    write_records(Records(columns=frame), tmp_path / "firms.parquet")
    write_records(Records(columns=frame), tmp_path / "firms.csv")
    return tmp_path


def document(source: str, target: str, **more: Any) -> dict[str, Any]:
    microdata = {"values": ["sales", "wages", "tax", "staff", "rent"], "unit": "unit", "wave": "wave", "seed": 4711}
    return {
        "data": {"microdata": source},
        "microdata": {**microdata, "steps": STEPS, **more},
        "output": {"records": target},
    }


@pytest.mark.parametrize("form", [".parquet", ".csv"])
@pytest.mark.parametrize("renumber", [True, False])
def test_the_bytes_are_those_of_the_job_in_memory(firms: Path, form: str, renumber: bool) -> None:
    for name, by_column in (("whole", False), ("apart", True)):
        asked = document(f"firms{form}", f"{name}{form}", by_column=by_column, renumber=renumber)
        run_job(job_from(asked, "job.toml", firms), firms)
    assert (firms / f"apart{form}").read_bytes() == (firms / f"whole{form}").read_bytes()


def test_units_that_are_records_leave_in_the_same_random_order(firms: Path) -> None:
    for name, by_column in (("whole", False), ("apart", True)):
        asked = document("firms.parquet", f"{name}.csv", by_column=by_column, unit=None, wave=None)
        asked["microdata"]["steps"] = STEPS[2:3]
        run_job(job_from(asked, "job.toml", firms), firms)
    assert (firms / "apart.csv").read_bytes() == (firms / "whole.csv").read_bytes()


def test_python_and_the_command_line_write_the_same_bytes(firms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = document("firms.parquet", "job.parquet", by_column=True, renumber=False)
    asked["microdata"]["steps"] = STEPS[2:3] + STEPS[4:5]
    (firms / "job.json").write_text(json.dumps(asked), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["diskret", "run", str(firms / "job.json"), "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    seed = seed_of(MicrodataSection.model_validate(asked["microdata"]), 1)
    parts = [
        Part(columns=[name], beside=["wave"], protect=partial(microaggregate, columns=[name], m=4, wave="wave"))
        for name in ("sales", "staff")
    ]
    changing = partial(post_randomise, columns=["branch", "sex"], keep=0.8, within=["wave"], seed=seed)
    parts.append(Part(columns=["branch", "sex"], beside=["wave"], numbers=False, protect=changing))
    numbers = ["wages", "tax", "rent"]
    protect_by_column(firms / "firms.parquet", firms / "python.parquet", parts, numbers=numbers)
    assert (firms / "python.parquet").read_bytes() == (firms / "job.parquet").read_bytes()


def test_what_needs_whole_records_is_refused_at_once(firms: Path) -> None:
    asked = document("firms.parquet", "suf.csv", by_column=True, classes=["sex"])
    asked["microdata"]["steps"] = [{"do": "release", "where": "staff < 50"}, *STEPS[2:3]]
    asked["output"] |= {"internal_report": "report.html"}
    asked["attack"] = {"keys": ["land"]}
    with pytest.raises(BadJob) as caught:
        job_from(asked, "job.toml", firms)
    for key in ("microdata.classes", "microdata.steps.0", "attack", "output.internal_report"):
        assert key in str(caught.value)


def test_a_column_that_was_dropped_is_not_changed(firms: Path) -> None:
    asked = document("firms.parquet", "suf.csv", by_column=True)
    asked["microdata"]["steps"] = [{"do": "drop", "columns": ["sales"]}, {"do": "microaggregate", "columns": ["sales"]}]
    with pytest.raises(MissingColumn, match="sales"):
        run_job(job_from(asked, "job.toml", firms), firms)
    assert not (firms / "suf.csv").exists()
