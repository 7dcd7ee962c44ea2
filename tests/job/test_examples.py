"""Every job in examples/ runs as it stands there, and gives what stands in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from diskret import Status
from diskret.job.form import Writes, named_files
from diskret.job.outcome import JobResult
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model import rollup

EXAMPLES = Path(__file__).parents[2] / "examples"
JOBS = sorted(p.name for p in EXAMPLES.glob("*.toml"))


def run_example(name: str, tmp_path: Path) -> tuple[JobResult, Path]:
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("out"))
    return run_job(read_job(folder / name), folder), folder


def test_there_are_examples() -> None:
    assert {"care.toml", "diagnoses.toml", "turnover.toml"} <= set(JOBS)


@pytest.mark.parametrize("name", JOBS)
def test_the_example_runs_and_writes_what_it_promises(name: str, tmp_path: Path) -> None:
    result, folder = run_example(name, tmp_path)
    job = read_job(folder / name)
    promised = {folder / file for _, file, mark in named_files(job) if isinstance(mark, Writes)}
    assert promised == set(result.files)
    assert all(file.stat().st_size > 0 for file in result.files)
    for table in result.tables.values():
        assert table.hidden.any()
        again = np.where(rollup.inner_cells(table.hierarchies), table.value, 0.0)
        rollup.add_up(again, table.hierarchies)
        assert np.allclose(again, table.value)


def test_the_example_of_turnover_counts_owners_not_firms(tmp_path: Path) -> None:
    result, _ = run_example("turnover.toml", tmp_path)
    for table in result.tables.values():
        assert table.holdings is not None
        assert (table.holdings.count <= table.count).all()
        few = (table.holdings.count > 0) & (table.holdings.count < 3) & (table.value > 0)
        assert table.hidden[few].all()
        assert table.by["region"].codes.count("Total") + table.by["region"].codes.count("ML") == 1


def test_the_example_of_diagnoses_looks_only_along_the_sensitive_classification(tmp_path: Path) -> None:
    result, _ = run_example("diagnoses.toml", tmp_path)
    (table,) = result.tables.values()
    lines = {table.codes(tuple(at))[0] for at in np.argwhere(table.status == Status.PRIMARY).tolist()}
    margins = {code: table.value[table.index(code, "Total")] for code in table.by["nationality"].codes}
    occupied = {c: (table.value[table.by["nationality"].index(c), :-1] > 0).sum() for c in margins}
    assert lines == {code for code in margins if 0 < margins[code] <= 2 or occupied[code] == 1}


def test_the_example_of_care_is_anonymous_and_its_records_find_their_cost_again(tmp_path: Path) -> None:
    result, folder = run_example("care.toml", tmp_path)
    assert result.anonymisation is not None
    columns = "region, age, sex, level, kind"
    public = duckdb.sql(
        f"SELECT {columns}, count(*) FROM read_csv('{folder}/out/care.csv', all_varchar = true) GROUP BY ALL"
    ).fetchall()
    assert min(row[-1] for row in public) >= 3
    assert sum(row[-1] for row in public) == 600
    internal = f"'{folder}/out/care-internal.parquet'"
    given = f"read_csv('{folder}/care.csv', all_varchar = true)"
    same = f"SELECT count(*) FROM {internal} i JOIN {given} g USING (person) WHERE i.cost = g.cost"
    assert duckdb.sql(same).fetchall() == [(600,)]
    again = duckdb.sql(f"SELECT {columns}, count(*) FROM {internal} GROUP BY ALL").fetchall()
    assert sorted(again) == sorted(public)
    report = (folder / "out/care-quality.txt").read_text(encoding="utf-8")
    assert "600 objects, k = 3" in report
