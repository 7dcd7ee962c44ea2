"""Excel files come in through the same door as all other data, and what is no table is refused with its place."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from diskret import Table, tabulate
from diskret.cli import app
from diskret.model.errors import BadOption, DiskretError, EmptyData, NotANumber, TooLarge, UnreadableFile
from diskret.model.sheets import Workbook, sheet_names
from diskret.model.source import open_source
from diskret.publication.working import load_working
from tests.publication.leaving import publish

NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(place: str, inner: str, **attributes: Any) -> str:
    return f'<c r="{place}"' + "".join(f' {k}="{v}"' for k, v in attributes.items()) + f">{inner}</c>"


def text(place: str, words: str) -> str:
    return cell(place, f"<is><t>{words}</t></is>", t="inlineStr")


def number(place: str, value: object, **attributes: Any) -> str:
    return cell(place, f"<v>{value}</v>", **attributes)


def book(path: Path, sheets: dict[str, str], strings: str = "", styles: str = "", properties: str = "") -> Path:
    """An Excel file from the XML of its sheets' rows."""
    listing = "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1))
    kinds = "".join(
        f'<Relationship Id="r{i}" Type="{REL}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "xl/workbook.xml", f'<workbook {NS} xmlns:r="{REL}">{properties}<sheets>{listing}</sheets></workbook>'
        )
        file.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{kinds}</Relationships>")
        for i, rows in enumerate(sheets.values(), 1):
            file.writestr(f"xl/worksheets/s{i}.xml", rows if "<!" in rows else f"<worksheet {NS}>{rows}</worksheet>")
        if strings:
            file.writestr("xl/sharedStrings.xml", f"<sst {NS}>{strings}</sst>")
        if styles:
            file.writestr("xl/styles.xml", f"<styleSheet {NS}>{styles}</styleSheet>")
    return path


def data(*rows: str, after: str = "") -> str:
    return "<sheetData>" + "".join(f"<row>{r}</row>" for r in rows) + f"</sheetData>{after}"


def columns(source: object) -> dict[str, list[Any]]:
    relation = open_source(source)
    return {n: [row[0] for row in relation.query(f'SELECT "{n}" FROM data')] for n in relation.columns}


FIRMS = data(
    text("A1", "region") + text("B1", "turnover"),
    cell("A2", "<v>0</v>", t="s") + number("B2", "0.10000000000000001"),
    cell("A3", "<v>1</v>", t="s") + number("B3", "1250"),
)
STRINGS = "<si><t>05111</t></si><si><r><t>06</t></r><r><t>112</t></r><rPh><t>reading aid</t></rPh></si>"


def test_codes_keep_their_zeros_and_numbers_their_value(tmp_path: Path) -> None:
    path = book(tmp_path / "firms.xlsx", {"Firms": FIRMS}, STRINGS)
    assert columns(path) == {"region": ["05111", "06112"], "turnover": ["0.1", "1250"]}
    assert tabulate(path, by={"region": None}, value="turnover").value.tolist() == [0.1, 1250.0, 1250.1]


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = book(tmp_path / "two.xlsx", {"Notes": data(text("A1", "nothing")), "Firms": FIRMS}, STRINGS)
    assert sheet_names(path) == ["Notes", "Firms"]
    assert list(columns(Workbook(path=path, sheet="Firms"))) == ["region", "turnover"]
    with pytest.raises(BadOption, match="'Notes', 'Firms'") as refusal:
        open_source(Workbook(path=path, sheet="firms"))
    assert "'firms'" in refusal.value.what


def test_dates_truths_and_cached_formulas_are_read(tmp_path: Path) -> None:
    styles = '<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/></numFmts>'
    styles += '<cellXfs><xf/><xf numFmtId="164"/></cellXfs>'
    rows = data(
        text("A1", "day") + text("B1", "own") + text("C1", "sum"),
        number("A2", 45657, s=1) + number("B2", 1, t="b") + cell("C2", "<f>A1+1</f><v>3.5</v>"),
    )
    assert columns(book(tmp_path / "d.xlsx", {"S": rows}, styles=styles)) == {
        "day": ["2024-12-31"], "own": ["true"], "sum": ["3.5"],
    }  # fmt: skip
    mac = book(tmp_path / "m.xlsx", {"S": rows}, styles=styles, properties='<workbookPr date1904="1"/>')
    assert columns(mac)["day"] == ["2029-01-01"]


def test_blank_rows_and_cells_are_no_records(tmp_path: Path) -> None:
    rows = data("", text("B2", "r") + text("C2", "x"), number("C3", 1), "", text("B5", "a") + cell("C5", ""))
    assert columns(book(tmp_path / "b.xlsx", {"S": rows})) == {"r": [None, "a"], "x": ["1", None]}


HEAD = text("A1", "r") + text("B1", "x")


@pytest.mark.parametrize(
    ("rows", "kind", "words"),
    [
        (data(HEAD, text("A2", "a") + cell("B2", "<f>SUM(A1)</f>")), UnreadableFile, "no computed value.*B2"),
        (data(HEAD, text("A2", "a") + number("B2", "#N/A", t="e")), UnreadableFile, "an error.*B2"),
        (data(HEAD, HEAD, after='<mergeCells><mergeCell ref="A2:B2"/></mergeCells>'), UnreadableFile, "merged.*A2:B2"),
        (data(HEAD, text("A2", "a"), HEAD), UnreadableFile, "repeated.*rows 3"),
        (data(HEAD), EmptyData, "no rows"),
        (data(), EmptyData, "sheet is empty"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>', UnreadableFile, "not as spreadsheet programs write"),
        ("<!-- cut off --><worksheet><sheetData>", UnreadableFile, "not complete"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(
    rows: str, kind: type[DiskretError], words: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as refusal:
        open_source(book(tmp_path / "bad.xlsx", {"S": rows}))
    said = " ".join(str(refusal.value).split())
    assert re.search(words, said)
    assert "bad.xlsx" in said


def test_no_excel_file_at_all_is_refused(tmp_path: Path) -> None:
    for name, content in (("old.xlsx", b"\xd0\xcf\x11\xe0rest"), ("cut.xlsx", b"PK\x03\x04"), ("none.xlsx", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DiskretError):
            open_source(tmp_path / name)
    with pytest.raises(UnreadableFile, match="no such file"):
        open_source(tmp_path / "missing.xlsx")


def test_text_in_a_column_of_numbers_is_refused_without_quoting_it(tmp_path: Path) -> None:
    rows = data(HEAD, text("A2", "a") + text("B2", "12;5"))
    with pytest.raises(NotANumber) as refusal:
        tabulate(book(tmp_path / "t.xlsx", {"S": rows}), by={"r": None}, value="x")
    assert "12;5" not in str(refusal.value)


def test_an_open_table_published_as_excel_is_read_again(tmp_path: Path) -> None:
    table = Table.from_cells({"r": ["05", "06"], "x": [1.25, 2]}, by={"r": None}, value="x")
    publish(table, tmp_path / "x.xlsx", title="T")
    assert "T" not in columns(tmp_path / "x.xlsx")  # the title above the names


def test_commands_take_excel_files(tmp_path: Path) -> None:
    path = book(tmp_path / "firms.xlsx", {"Notes": data(text("A1", "nothing")), "Firms": FIRMS}, STRINGS)
    only = book(tmp_path / "one.xlsx", {"Firms": FIRMS}, STRINGS)
    out = tmp_path / "w.parquet"
    asked = ["tabulate", str(only), "--by", "region", "--value", "turnover", "--out", str(out), "--quiet"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert load_working(out)["turnover"].value.tolist() == [0.1, 1250.0, 1250.1]
    job = tmp_path / "job.toml"
    made = CliRunner().invoke(app, ["init", str(path), "--sheet", "Firms", "--out", str(job)])
    assert made.exit_code == 0, made.output
    assert 'sheet = "Firms"' in job.read_text(encoding="utf-8")


def squeezed(path: Path) -> Path:
    """The same file, packed as a spreadsheet program packs it."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


CRAFTED = {
    "a column beyond all": (data(text("A1", "x") + text("ZZZZZZZ1", "y")), "columns; the limit 'columns'"),
    "a place of a million letters": (data('<c r="' + "A" * 3_000_000 + '1"/>'), "a tag has .* the limit 'text'"),
    "more cells than fit": ("<row>" + "<c/>" * 20_000 + "</row>", "20,000|16,385 columns"),
    "names far apart and many rows": (
        "<row>" + "<c t='str'><v>x</v></c>" * 16_000 + "</row>" + "<row><c><v>1</v></c></row>" * 5_000,
        "blank ones included",
    ),
    "the same over and over": ("<row/>" * 900_000, "unpacks to many times its size"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_small_workbook_made_to_fill_the_memory_is_refused(kind: str, tmp_path: Path) -> None:
    rows, said = CRAFTED[kind]
    path = squeezed(book(tmp_path / "small.xlsx", {"S": f"<sheetData>{rows}</sheetData>"}))
    assert path.stat().st_size < 50_000
    with pytest.raises(TooLarge, match=said):
        columns(path)


def test_a_long_text_that_many_cells_show_is_as_long_as_all_of_them(tmp_path: Path) -> None:
    rows = text("A1", "x"), *[cell("", "<v>0</v>", t="s").replace(' r=""', "")] * 100
    path = squeezed(book(tmp_path / "small.xlsx", {"S": data(*rows)}, f"<si><t>{'y' * 100_000}</t></si>"))
    with pytest.raises(TooLarge, match="unpacks to many times its size"):
        columns(path)


def test_whoever_has_such_a_workbook_raises_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "far.xlsx", {"S": data(text("A1", "x") + text("XFE1", "y"), number("A2", 1))})
    with pytest.raises(TooLarge, match="DISKRET_LIMITS=columns=NUMBER"):
        columns(path)
    monkeypatch.setenv("DISKRET_LIMITS", "columns=20000")
    assert columns(path) == {"x": ["1"], "y": [None]}


DAMAGED = {
    "a row without end": '<row r="' + "9" * 5000 + '"/>',
    "a text without end": data(cell("A1", "<v>" + "9" * 5000 + "</v>", t="s")),
    "a text before the first": data(text("A1", "x"), cell("A2", "<v>-1</v>", t="s")),
    "a place that is none": data(cell("1A", "<v>1</v>")),
    "a style that is none": data(cell("A1", "<v>1</v>", s="x")),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_workbook_is_refused_in_words(kind: str, tmp_path: Path) -> None:
    path = book(tmp_path / "damaged.xlsx", {"S": DAMAGED[kind]}, STRINGS)
    with pytest.raises(UnreadableFile, match=r"not an Excel file, or not complete|does not hold") as caught:
        columns(path)
    assert "damaged.xlsx" in caught.value.where


def test_the_last_day_since_1904_is_a_day(tmp_path: Path) -> None:
    sheet = data(text("A1", "d"), number("A2", 2_957_003, s=0), number("A3", 2_957_004, s=0))
    styles = '<cellXfs><xf numFmtId="14"/></cellXfs>'
    path = book(tmp_path / "d.xlsx", {"S": sheet}, styles=styles, properties='<workbookPr date1904="1"/>')
    assert columns(path) == {"d": ["9999-12-31", "2957004"]}
