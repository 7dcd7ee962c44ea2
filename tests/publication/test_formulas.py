"""Nothing is computed when a spreadsheet opens a file of ours, and codes that are plain numbers stay."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.microdata.columns import Records
from diskret.model.errors import BadOption
from diskret.publication.formulas import escaped
from diskret.publication.microdata_files import write_records
from diskret.publication.report_head import ReportHead
from diskret.publication.report_html import report_text
from diskret.publication.sections import ReportSection, ReportTable
from tests.publication.leaving import publish

CALC = "=cmd|' /C calc'!A0"
HOSTILE = [CALC, "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "a;=1+1;b", "a\n=1+1", "＝1+1", "'=1", "--1", " =1"]
HOSTILE += ["\ufeff=1+1", "\u00a0=1+1", "\u200b@x", "\x0b=1", "\u3000-2+3", "\ufeffa", 'a;"=1+1;', '"=1+1"', 'a;" =1']
PLAIN = ["-9", "+49", "-1.5", "-", "<5", "0-9", "a=b", "a-b", "me@home", "", "-9;-8"]


def cells_of(text: str, separator: str) -> list[str]:
    """What a spreadsheet with this separator puts into cells; quotation marks count at the beginning of one only."""
    return [
        cell.strip("\t\r\n ") for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row
    ]


def computed(cell: str) -> bool:
    """Whether a spreadsheet computes a cell, and not only reads a number."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return len(cell) > 1 and cell[0] in "=+-@＝＋－＠"
    return False


@pytest.mark.parametrize("text", HOSTILE)
def test_what_would_be_computed_gets_an_apostrophe(text: str) -> None:
    assert escaped(text) != text
    assert "'" in escaped(text)
    assert not any(computed(cell) for cell in cells_of(escaped(text), ";"))


@pytest.mark.parametrize("text", PLAIN)
def test_plain_numbers_and_lone_signs_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text


@given(st.lists(st.text("=+-@'\t\r\n;,\"19a ＝", max_size=8), unique=True, max_size=20))
def test_no_two_texts_become_one_and_none_is_computed(texts: list[str]) -> None:
    made = [escaped(text) for text in texts]
    assert len({*made}) == len(made)
    assert not any(computed(piece.strip(' "')) for text in made for piece in re.split("[;\t\r\n]", text))


def hostile_table() -> dk.Table:
    codes = [CALC, "-9", "+49", "a;=1+1;b"]
    cells = {"=by": codes, "@x": [-5.0, 2.0, 3.0, 0.0], "status": ["open", "primary", "secondary", "open"]}
    return dk.Table.from_cells(cells, by={"=by": None}, value="@x", status="status")


def test_a_published_csv_holds_no_formula_under_any_separator(tmp_path: Path) -> None:
    publish(hostile_table(), tmp_path / "t.csv", zero="-")
    text = (tmp_path / "t.csv").read_bytes().decode()
    assert not any(computed(cell) for cell in cells_of(text, ","))
    # with another separator a whole line is one cell; one that begins with a plain number is no formula either
    others = [cell for separator in ";\t" for cell in cells_of(text, separator) if computed(cell)]
    assert {*others} == {"-9,x", "+49,x"}
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["'=by", "'@x"]
    # values are never touched, nor codes that are plain numbers, nor the dash for nothing
    assert dict(map(tuple, rows[1:])) == {  # type: ignore[arg-type]
        "'" + CALC: "-5", "-9": "x", "+49": "x", "a;'=1+1;b": "-", "Total": "-",
    }  # fmt: skip


def test_for_programs_texts_are_kept_and_read_again(tmp_path: Path) -> None:
    publish(hostile_table(), tmp_path / "t.csv", formulas="keep")
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_bytes().decode())))
    assert {row[0] for row in rows} == {"=by", CALC, "-9", "+49", "a;=1+1;b", "Total"}


def test_other_formats_keep_texts_and_excel_keeps_them_as_text(tmp_path: Path, tools: Any) -> None:
    publish(hostile_table(), tmp_path / "t.xlsx", title="=1+1", source="@s", unit="+u", mark="=x")
    (rows,) = tools.sheets(tmp_path / "t.xlsx").values()
    texts = {text: kind for row in rows for kind, text, _ in row.values()}
    assert {CALC, "=by", "=1+1", "=x"} <= texts.keys()
    assert {texts[text] for text in texts if computed(text)} == {"inlineStr"}
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        inside = b"".join(book.read(name) for name in book.namelist())
    assert b"<f>" not in inside
    assert b"<hyperlink " not in inside


def test_records_are_for_programs_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    records = Records(columns={"=r": np.array([CALC, "-9", None], dtype=object), "x": np.array([-1.5, 2.0, np.nan])})
    write_records(records, tmp_path / "keep.csv")
    write_records(records, tmp_path / "escape.csv", formulas="escape")
    assert (tmp_path / "keep.csv").read_text() == f"=r,x\n{CALC},-1.5\n-9,2.0\n,\n"
    assert (tmp_path / "escape.csv").read_text() == f"'=r,x\n'{CALC},-1.5\n-9,2.0\n,\n"
    for formulas in ("keep", "escape"):
        write_records(records, tmp_path / f"{formulas}.parquet", formulas=formulas)
    assert (tmp_path / "keep.parquet").read_bytes() == (tmp_path / "escape.parquet").read_bytes()


def test_other_choices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="formulas"):
        publish(hostile_table(), tmp_path / "t.csv", formulas="no")
    with pytest.raises(BadOption, match="formulas"):
        write_records(Records(columns={"x": np.array([1.0])}), tmp_path / "r.csv", formulas="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("formulas", [None, "escape", "keep"])
def test_job_and_python_write_the_same_bytes(tmp_path: Path, formulas: str | None) -> None:
    said = {} if formulas is None else {"formulas": formulas}
    (tmp_path / "c.csv").write_text("r,x\n=A,1\n-9,2\n")
    content = {
        "data": {"cells": "c.csv"}, "table": {"by": ["r"], "value": "x"},
        "output": {"publish": ["job.csv"], "unprotected": True, **said},
    }  # fmt: skip
    done = run_job(job_from(content, "here", tmp_path), tmp_path)
    dk.publish(done.tables["x"], tmp_path / "python.csv", unprotected=True, **said)
    assert (tmp_path / "job.csv").read_bytes() == (tmp_path / "python.csv").read_bytes()
    assert ("'=A" in (tmp_path / "job.csv").read_text()) == (formulas != "keep")


def test_a_page_shows_markup_in_codes_and_labels_as_text() -> None:
    bad = "<script>alert(1)</script><a href='javascript:x'>\"'&"
    table = ReportTable(head=(bad, "x"), rows=((bad, 1),), caption=bad)
    head = ReportHead(note=bad, verdict=bad, about=((bad, bad),))
    text = report_text(bad, [ReportSection(title=bad, text=(bad,), tables=(table,))], head=head)
    assert "<script" not in text
    assert "<a href='javascript" not in text
