"""Files of statistical programs and of LibreOffice: codes stay codes, labels go with them, missing values are none."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from diskret import ProtectionWarning, TabulationOptions, tabulate
from diskret.model.errors import DiskretError, MissingExtra, NotFinite, TooLarge, UnreadableFile
from diskret.model.sheets import Workbook, sheet_names
from diskret.model.source import normalised, open_source

pyreadstat = pytest.importorskip("pyreadstat")

PERSONS = pd.DataFrame({
    "sex": [1.0, 2.0, 9.0, 2.0], "city": ["Köln", "Bonn", "", "Köln"], "income": [1.5, 2.0, 4.0, 8.0],
    "born": [dt.date(1990, 1, 2), dt.date(1980, 1, 3), None, dt.date(1970, 2, 2)],
})  # fmt: skip
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}}


def written(path: Path, **more: Any) -> Path:
    frame = PERSONS.assign(city=["Koeln", "Bonn", "", "Koeln"]) if path.suffix == ".por" else PERSONS
    name = {".dta": "write_dta", ".por": "write_por", ".xpt": "write_xport"}.get(path.suffix, "write_sav")
    labelled = {"variable_value_labels": LABELS} if path.suffix in (".dta", ".sav", ".zsav") else {}
    compressed = {"compress": True} if path.suffix == ".zsav" else {}
    getattr(pyreadstat, name)(frame, str(path), **labelled, **compressed, **more)
    return path


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav", ".por", ".xpt"])
def test_codes_numbers_and_dates_are_what_the_program_wrote(ending: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"persons{ending}")
    data = open_source(path)
    sex, _, income, born = data.columns
    assert data.types[born] == "DATE"
    table = tabulate(path, by={sex: None}, value=income)
    assert (table.by[sex].codes, table.value.tolist()) == (("1", "2", "9", "Total"), [1.5, 10.0, 4.0, 15.5])
    if ending in (".dta", ".sav", ".zsav"):
        assert table.by[sex].labels[:3] == ("male", "female", "refused")
        assert tabulate(normalised(path), by={sex: None}, value=income).by[sex].labels[0] == "male"


def test_a_value_that_the_file_calls_missing_is_a_code_and_no_number(tmp_path: Path) -> None:
    path = written(tmp_path / "p.sav", missing_ranges={"sex": [9], "income": [{"lo": 8, "hi": 9}]})
    assert tabulate(path, by={"sex": None}).by["sex"].codes == ("1", "2", "9", "Total")
    with pytest.raises(NotFinite, match="'income' has 1 missing"):
        tabulate(path, by={"sex": None}, value="income")
    ways: tuple[Literal["leave out", "zero"], ...] = ("leave out", "zero")
    for without in ways:
        with pytest.warns(ProtectionWarning):
            made = tabulate(path, by={"sex": None}, value="income", options=TabulationOptions(without_value=without))
        assert made.value[-1] == 7.5


def test_letters_that_stata_knows_as_missing_are_codes_and_no_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"r": [1.0, "a", 3.0], "x": [1.0, 2.0, "b"]})
    pyreadstat.write_dta(frame, str(tmp_path / "p.dta"), missing_user_values={"r": ["a"], "x": ["b"]})
    assert tabulate(tmp_path / "p.dta", by={"r": None}).by["r"].codes == ("1", "3", "a", "Total")
    with pytest.raises(NotFinite, match="'x' has 1 missing"):
        tabulate(tmp_path / "p.dta", by={"r": None}, value="x")


def test_a_damaged_file_and_a_missing_package_are_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "p.sav")
    path.write_bytes(path.read_bytes()[:300])
    for content in (path.read_bytes(), b"no such file at all"):
        path.write_bytes(content)
        with pytest.raises(UnreadableFile, match="damaged"):
            open_source(path)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match="'stats'"):
        open_source(path)


# --- LibreOffice -----------------------------------------------------------------------------------------------------

SPACES = " ".join(
    f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text", "style")
)


def ods(path: Path, rows: str, before: str = "", styles: str = "") -> Path:
    """An .ods file from the XML of the rows of its sheet."""
    body = f"{before}<table:table table:name='Firms'>{rows}</table:table>"
    styled = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    sheets = f"<office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("content.xml", f"<office:document-content {SPACES}>{styled}{sheets}</office:document-content>")
    return path


def cell(words: object, more: str = "") -> str:
    if isinstance(words, float):
        more += f" office:value-type='float' office:value='{words}'"
    return f"<table:table-cell {more}><text:p>{words}</text:p></table:table-cell>"


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


GAP = "<table:table-row table:number-rows-repeated='2'><table:table-cell/></table:table-row>"


def test_a_sheet_of_libreoffice_is_read_like_one_of_excel(tmp_path: Path) -> None:
    covered = "<table:covered-table-cell/>"
    rows = row(cell("Turnover", "table:number-columns-spanned='3'"), covered, covered) + GAP
    rows += row(cell("r"), cell("x"), cell("day"))
    rows += row(cell("05"), cell(0.1), "<table:table-cell office:value-type='date' office:date-value='2024-12-31'/>")
    rows += row(cell("06"), cell(2.0), more="table:number-rows-repeated='2'")
    rows += GAP + row(cell("Source: own survey")) + row(more="table:number-rows-repeated='1048500'")
    hidden = "<style:style style:name='h'><style:table-properties table:display='false'/></style:style>"
    path = ods(tmp_path / "f.ods", rows, "<table:table table:name='Old' table:style-name='h'/>", hidden)
    assert sheet_names(path) == ["Firms", "Old"]
    data = open_source(path)
    assert data.query("SELECT * FROM data") == [("05", "0.1", "2024-12-31"), ("06", "2", None), ("06", "2", None)]
    assert data.found == {"header": 4, "sheet": "Firms"}
    assert tabulate(Workbook(path=path, range="A4:B5"), by={"r": None}, value="x").value.tolist() == [0.1, 0.1]


def test_a_small_spreadsheet_made_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    repeated = cell("x", "table:number-columns-repeated='16000'")
    with pytest.raises(TooLarge):
        open_source(ods(tmp_path / "f.ods", row(repeated, more="table:number-rows-repeated='1000000'")))
    for rows in (row(cell("x", "table:number-columns-repeated='-1'")), "<table:table-row>", row(cell("r"), cell("x"))):
        with pytest.raises(DiskretError):
            open_source(ods(tmp_path / "g.ods", rows))
    (tmp_path / "h.ods").write_bytes(b"PK")
    with pytest.raises(UnreadableFile, match="OpenDocument"):
        open_source(tmp_path / "h.ods")


def test_missing_numbers_stay_missing(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"r": ["a", "b"], "x": [1.0, np.nan]}), str(tmp_path / "p.sav"))
    with pytest.raises(NotFinite):
        tabulate(tmp_path / "p.sav", by={"r": None}, value="x")
