"""Totals in columns that a table does not show, and among records, are told of: they double what is counted."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import diskret as dk
from diskret.microdata.columns import read_records
from diskret.model.errors import ProtectionWarning, TotalInData

ROWS = {"region": ["N", "S", "Insgesamt"] * 4, "size": ["1"] * 6 + ["2"] * 6, "x": [10, 20, 30] * 4}


def test_a_total_in_a_column_that_is_not_shown_is_told_of() -> None:
    with pytest.warns(ProtectionWarning, match="'region' calls 4 of its rows 'Insgesamt'"):
        dk.tabulate(ROWS, by="size", value="x")


def test_rows_that_are_left_out_as_totals_are_not_told_of() -> None:
    rows = {**ROWS, "again": ROWS["region"]}
    options = dk.TabulationOptions(totals={"region": "Insgesamt"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dk.tabulate(rows, by="region", value="x", options=options).value[-1] == 120


@pytest.mark.parametrize("word", ["all", "Total"])
def test_a_column_in_which_every_row_is_a_total_doubles_nothing(word: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dk.tabulate({"size": ["1", "2"], "sex": [word, word], "x": [1, 2]}, by="size", value="x")


def test_totals_among_records_are_told_of(tmp_path: Path) -> None:
    lines = [";".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
    (tmp_path / "records.csv").write_text("\n".join([";".join(ROWS), *lines, ""]))
    with pytest.warns(ProtectionWarning, match="rows 'Insgesamt'"):
        read_records(tmp_path / "records.csv", ["x"])


def test_a_last_line_without_a_code_that_is_the_sum_is_asked_about() -> None:
    rows = {"region": ["N", "S", "W", None], "x": [120, 35, 48, 203]}
    with pytest.raises(TotalInData, match="missing") as asked:
        dk.tabulate(rows, by="region", value="x")
    cure = asked.value.cures[0]
    assert (cure.key, cure.value) == ("classifications.region.without_code", "leave out")
    assert dk.tabulate({**rows, "x": [120, 35, 48, 180]}, by="region", value="x").value[-1] == 383
