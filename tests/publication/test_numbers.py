"""Numbers leave with the decimals the data have, in every format; sums stand where the reader wants them."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.job.read import job_from, read_job
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from diskret.job.write import job_as_text
from diskret.model.errors import BadOption
from diskret.publication.text import table_text
from tests.publication.conftest import FORMATS, example_table, expected
from tests.publication.leaving import publish


def cells(values: list[float]) -> dk.Table:
    return dk.Table.from_cells({"s": [*"abcdef"[: len(values)]], "x": values}, by={"s": None}, value="x")


NOISY = [10256319.389999999, 0.1 + 0.2, 4460033.789999995]


def test_what_binary_fractions_add_does_not_leave(tools: Any, tmp_path: Path) -> None:
    table = cells(NOISY)
    assert table.decimals is None
    for ending in FORMATS:
        publish(table, tmp_path / f"t{ending}")
        found = [*tools.read(tmp_path / f"t{ending}", table).values()]
        assert found == [10256319.39, 0.3, 4460033.79, 14716353.48], ending
    assert "10256319.39\n" in (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert "10256319.39" in table_text(table)


@pytest.mark.parametrize("values", [[1 / 3, 2.0], [1e-7, 3e22], [0.1234567890123, 5.0], [1234.00000001, 7.0], [-0.0]])
def test_other_numbers_come_back_to_the_last_bit_and_without_an_exponent(values: list[float], tmp_path: Path) -> None:
    publish(cells(values), tmp_path / "t.csv")
    words = [line.split(",")[1] for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]
    assert [float(word) for word in words] == [*cells(values).value.tolist()]
    assert not [word for word in words if "e" in word or word.startswith("-0")]


def test_a_measurement_close_to_a_decimal_is_not_taken_for_one(tmp_path: Path) -> None:
    publish(cells([1234.5600001, 2.0]), tmp_path / "t.csv")
    assert "1234.5600001\n" in (tmp_path / "t.csv").read_text()


def test_a_decimal_comma_comes_with_semicolons(tmp_path: Path) -> None:
    region = dk.Hierarchy.flat(["a;b", "c,d"])
    table = dk.Table({"r": region}, "x", np.array([1.5, -2.25, -0.75]), np.array([0, 0, 0], dtype=np.uint8))
    publish(table, tmp_path / "t.csv", decimal=",", formulas="keep")
    assert (tmp_path / "t.csv").read_text().splitlines() == ["r;x", '"a;b";1,50', "c,d;-2,25", "Total;-0,75"]
    with pytest.raises(BadOption, match="decimal cannot be"):
        publish(table, tmp_path / "t.csv", decimal=";")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_takes_sums_before_their_parts(tools: Any, ending: str, tmp_path: Path) -> None:
    table = example_table()
    publish(table, tmp_path / f"t{ending}", sums="before")
    assert tools.read(tmp_path / f"t{ending}", table) == expected(table)


def test_sums_stand_before_their_parts_in_files_and_text(tmp_path: Path) -> None:
    region = dk.Hierarchy.from_prefixes(["N1", "N2", "S1"], [1])
    table = dk.Table({"r": region}, "x", np.array([1.0, 2, 3, 4, 4, 7]), np.zeros(6, dtype=np.uint8), decimals=0)
    publish(table, tmp_path / "t.csv", sums="before")
    assert (tmp_path / "t.csv").read_text().split() == ["r,x", "Total,7", "N,3", "N1,1", "N2,2", "S,4", "S1,4"]
    lines = table_text(table, sums="before", rows=3, language="de").splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["Insgesamt", "N", "N1", "…", "weggelassen:"]
    publish(table, tmp_path / "t.px", sums="before", language="de")
    px = (tmp_path / "t.px").read_text(encoding="utf-8")
    assert 'ELIMINATION("r")="Insgesamt"' in px
    assert 'CODES("r")="Total"' in px


def test_excel_prints_on_landscape_paper_with_titles_on_every_page(tmp_path: Path) -> None:
    publish(example_table(), tmp_path / "t.xlsx", language="de", title="R & D")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        sheet, names = (book.read(f"xl/{n}.xml").decode() for n in ("worksheets/sheet1", "workbook"))
    setup = re.findall(r"<pageSetup[^>]*>", sheet)[0]
    assert all(part in setup for part in ('paperSize="9"', 'orientation="landscape"', 'fitToHeight="0"'))
    assert "fitToPage" in sheet
    assert "&amp;L&amp;8 x = Zahlenwert geheim zu halten&amp;R&amp;8 Seite &amp;P von &amp;N" in sheet
    assert "_xlnm.Print_Titles" in names
    assert "turnover!$A:$B,turnover!$1:$5" in names
    assert re.search(r'_xlnm.Print_Area"[^>]*>turnover!\$A\$1:\$G\$\d+<', names)


def test_a_job_says_where_sums_stand_and_when_the_release_is(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("s,x\na,1.5\nb,2\n")
    output = {
        "publish": ["t.csv", "t.json"],
        "sums": "before",
        "decimal": ",",
        "date": "2026-03-31",
        "unprotected": True,
    }
    said = {"data": {"cells": "cells.csv"}, "table": {"by": ["s"], "value": "x"}, "output": output}
    (tmp_path / "job.toml").write_text(job_as_text(job_from(said, "here", tmp_path)))
    assert "date = 2026-03-31" in (tmp_path / "job.toml").read_text()
    job = read_job(tmp_path / "job.toml")
    assert isinstance(job, TableJob)
    run_job(job, tmp_path)
    assert (tmp_path / "t.csv").read_text().split() == ["s;x", "Total;3,5", "a;1,5", "b;2,0"]
    assert '"updated":"2026-03-31"' in (tmp_path / "t.json").read_text()
