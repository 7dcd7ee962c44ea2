"""Primary cells and levels beside the engine of tau-ARGUS itself, and beside what it published."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import diskret as dk
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from tests.present import present

SUITE = Path(__file__).parents[3] / "shared" / "data" / "tables" / "argus-suites" / "sweden"


@pytest.mark.parametrize("seed", range(25))
def test_the_engine_of_tau_argus_finds_the_same_primary_cells(seed: int) -> None:
    pytest.importorskip("pytauargus")
    from benchmarks.argus_rules import asked, differences, records

    rng = random.Random(1000 + seed)
    assert list(differences(records(rng), asked(rng))) == []


def judged(name: str, by: list[str], value: str, rules: dict[str, object]) -> dk.Table:
    content = {
        "data": {"microdata": f"{name}.CSV", "metadata": f"{name}.RDA"}, "table": {"by": by, "value": value},
        "rules": rules,
    }  # fmt: skip
    return run_job(job_from(content, name, SUITE, TableJob), SUITE).tables[value]


def published(name: str, axes: int) -> dict[tuple[str, ...], list[str]]:
    """Status and levels by the codes of a cell."""
    with (SUITE / f"{name}_Out_5_1.csv").open(encoding="latin-1") as file:
        rows = [[each.strip() for each in row] for row in csv.reader(file, delimiter=";")]
    return {tuple(row[:axes]): row[-3:] for row in rows}


@pytest.mark.skipif(not SUITE.is_dir(), reason="the suites are not here")
@pytest.mark.parametrize(
    ("name", "by", "value", "rules"),
    [
        ("Example1", ["Age", "Omk"], "Resp", {"p_percent": 20}),
        ("Example3", ["Region", "Age", "Sex"], "Count", {"min_count": {"n": 3, "margin": 30}, "min_level": 1}),
    ],
)
def test_levels_are_no_smaller_than_the_published_ones(
    name: str, by: list[str], value: str, rules: dict[str, object]
) -> None:
    table, theirs = judged(name, by, value, rules), published(name, len(by))
    primary = {table.codes(at): at for at in zip(*(each.tolist() for each in table.hidden.nonzero()), strict=True)}
    assert primary.keys() == {codes for codes, (status, _, _) in theirs.items() if status == "U"}
    for codes, at in primary.items():
        _, below, above = theirs[codes]
        assert present(table.below)[at] >= float(below) * (1 - 1e-9)
        assert present(table.above)[at] >= float(above) * (1 - 1e-9)
