"""A wide file is read as the long one that it means, and its column of totals is asked about like any total."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.pivots import pivot_of
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.job.template import job_text
from diskret.model.errors import BadOption, MissingColumn, NotFinite, TotalInData
from diskret.model.source import normalised, open_source
from diskret.tabulation.options import TabulationOptions

SIZES = ["1-9", "10-49", "50 und mehr"]
WIDE: dict[str, list[Any]] = {
    "region": ["N", "S", "W"], "1-9": [12, 20, 7], "10-49": [345, 41, 0], "50 und mehr": [51, 6, 3],
}  # fmt: skip
TOTAL = {"Insgesamt": [408, 67, 10]}
LONG = {
    "region": [r for r in WIDE["region"] for _ in SIZES],
    "size": SIZES * 3,
    "x": [WIDE[s][i] for i in range(3) for s in SIZES],
}
BY = {"region": None, "size": None}


def test_columns_become_rows_with_their_names_as_codes() -> None:
    made = dk.Table.from_cells(dk.unpivoted(WIDE, SIZES, into="size", value="x"), by=BY, value="x")
    assert made.value.tolist() == dk.Table.from_cells(LONG, by=BY, value="x").value.tolist()


def test_a_column_of_totals_is_asked_about_and_checked() -> None:
    wide = dk.unpivoted(WIDE | TOTAL, [*SIZES, "Insgesamt"], into="size", value="x")
    with pytest.raises(TotalInData, match="the 3 others in 3 of 3 combinations"):
        dk.tabulate(wide, by=BY, value="x")
    answered = dk.Table.from_cells(wide, by=BY, value="x", totals={"size": "Insgesamt"})
    assert answered.value.tolist() == dk.Table.from_cells(LONG, by=BY, value="x").value.tolist()


def test_blank_entries_are_told_and_columns_must_be_there_and_free() -> None:
    gaps = WIDE | {"1-9": [12, None, 7]}
    with pytest.raises(NotFinite):
        dk.Table.from_cells(dk.unpivoted(gaps, SIZES, into="size", value="x"), by=BY, value="x")
    with pytest.raises(MissingColumn):
        open_source(dk.unpivoted(WIDE, [*SIZES, "999"], into="size", value="x"))
    with pytest.raises(BadOption, match="a second column 'region'"):
        open_source(dk.unpivoted(WIDE, SIZES, into="Region", value="x"))


def test_texts_and_numbers_in_one_pivot_keep_what_they_say() -> None:
    mixed = {"r": ["N"], "a": ["05"], "b": [1.5], "c": [10**17 + 1]}
    data = open_source(normalised(dk.unpivoted(mixed, ["a", "b", "c"], into="code", value="x")))
    assert data.query(f"SELECT code, x FROM {data.view}") == [("a", "05"), ("b", "1.5"), ("c", str(10**17 + 1))]


@pytest.mark.spark
def test_the_same_rows_come_from_spark(spark: Any) -> None:
    wide = dk.unpivoted(WIDE, SIZES, into="size", value="x")
    options = TabulationOptions(engine=spark)
    assert dk.tabulate(wide, by=BY, value="x", options=options).value.tolist() == (
        dk.Table.from_cells(LONG, by=BY, value="x").value.tolist()
    )


@pytest.mark.parametrize(
    ("columns", "into"),
    [
        (["2022", "2023", "2024"], "year"), (["Jan", "Feb", "Mrz"], "month"), (["Q1", "Q2", "Q3", "Q4"], "quarter"),
        (["unter 10", "10 bis 49", "50 und mehr"], "size"), (["0-9", "10-49", "50+"], "size"),
    ],
)  # fmt: skip
def test_names_of_columns_that_are_codes_are_recognised(columns: list[str], into: str) -> None:
    found = pivot_of(open_source({"region": ["N", "S"]} | {c: [i + 1, 7] for i, c in enumerate(columns)}), [])
    assert found is not None
    assert found.sure
    assert (list(found.columns), found.into) == (columns, into)


def test_measures_are_no_pivot_and_what_only_adds_up_is_offered_not_done() -> None:
    firms = {"r": ["N", "S"], "turnover": [1, 2], "wages": [3, 4], "staff": [5, 6]}
    assert pivot_of(open_source(firms), ["turnover", "wages", "staff"]) is None
    costs = {"r": list("NSW"), "wages": [12345, 23456, 345], "rent": [5432, 654, 7654], "costs": [17777, 24110, 7999]}
    found = pivot_of(open_source(costs), ["wages", "rent", "costs"])
    assert found is not None
    assert (found.total, found.sure) == ("costs", False)


def test_init_writes_what_it_finds_and_the_job_runs_without_doubling(tmp_path: Path) -> None:
    rows = ["Region;" + ";".join([*SIZES, "Insgesamt"])]
    rows += [f"{r};{12 + i},5;{345 * i + 41};{51};{12 + i + 345 * i + 41 + 51},5" for i, r in enumerate("NSW")]
    rows += ["Insgesamt;40,5;1158;153;1351,5"]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = job_text(tmp_path / "wide.csv", tmp_path)
    job = tomllib.loads(text)
    assert job["data"]["unpivot"] == {"columns": [*SIZES, "Insgesamt"], "into": "size", "value": "value"}
    assert [job["classifications"][n]["total"] for n in ("Region", "size")] == ["Insgesamt", "Insgesamt"]
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    read = read_job(tmp_path / "job.toml")
    table = next(iter(run_job(read, tmp_path, write=False).tables.values()))
    assert table.shape == (4, 4)
    assert table.value[-1, -1] == 1351.5


def test_init_asks_where_only_the_numbers_tell(tmp_path: Path) -> None:
    lines = ["region,size,x", "N,1,123456", "N,2,234567", "S,1,432100", "S,2,543234", "X,1,555556", "X,2,777801"]
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = job_text(tmp_path / "cells.csv", tmp_path)
    assert '# "X" equals the sum of the 2 others in 2 of 2 combinations\n# total = "X"' in text
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TotalInData):
        run_job(read_job(tmp_path / "job.toml"), tmp_path, write=False)
