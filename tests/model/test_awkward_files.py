"""Files as offices write them are read rightly, or asked about; never silently wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from diskret import tabulate
from diskret.model.encoding import CHUNK
from diskret.model.errors import NotANumber, TooLarge, UnclearFile, UnreadableFile
from diskret.model.sheets import Workbook
from diskret.model.source import Delimited, open_source


def read(source: object) -> dict[str, list[Any]]:
    relation = open_source(source)
    return {n: [row[0] for row in relation.query(f"SELECT {relation.column(n)} FROM data")] for n in relation.columns}


def total(source: object, value: str = "x") -> float:
    made = tabulate(source, by={"r": None}, value=value)
    return float(made.value[-1])


def book(path: Path, rows: dict[str, Any], merged: dict[str, str] | None = None, hidden: bool = False) -> Path:
    """A workbook from what stands at which place; merged cells by their range."""
    with xlsxwriter.Workbook(path) as file:
        if hidden:
            file.add_worksheet("Old").hide()
        sheet = file.add_worksheet("Firms")
        sheet.activate()
        sheet.set_first_sheet()
        for place, content in rows.items():
            sheet.write(place, content)
        for place, content in (merged or {}).items():
            sheet.merge_range(place, content)
    return path


# --- sheets ----------------------------------------------------------------------------------------------------------


def test_titles_above_and_notes_below_a_table_are_not_part_of_it(tmp_path: Path) -> None:
    rows = {"B1": "Turnover of firms", "B2": "in 1000 EUR", "B4": "r", "C4": "x", "B5": "N", "C5": 1.5, "B6": "S"}
    rows |= {"C6": 2, "B8": "1) preliminary", "B9": "Source: own survey"}
    path = book(tmp_path / "f.xlsx", rows, hidden=True)
    assert read(path) == {"r": ["N", "S"], "x": ["1.5", "2"]}
    assert open_source(path).found == {"header": 4, "sheet": "Firms"}


def test_names_over_merged_cells_are_joined(tmp_path: Path) -> None:
    merged = {"A1:D1": "Betriebe und Umsatz", "A3:A4": "Region", "B3:C3": "Umsatz", "D3:D4": "Betriebe"}
    path = book(tmp_path / "f.xlsx", {"B4": 2024, "C4": 2025, "A5": "N", "B5": 1, "C5": 2, "D5": 3}, merged)
    assert list(read(path)) == ["Region", "Umsatz 2024", "Umsatz 2025", "Betriebe"]
    assert open_source(path).found == {"header": [3, 4]}


def test_names_may_all_be_merged_over_two_rows(tmp_path: Path) -> None:
    path = book(tmp_path / "f.xlsx", {"A3": "N", "B3": 5}, {"A1:A2": "r", "B1:B2": "x"})
    assert read(path) == {"r": ["N"], "x": ["5"]}
    assert read(Workbook(path=path, header=(1, 2))) == {"r": ["N"], "x": ["5"]}


@pytest.mark.parametrize(
    ("rows", "guess"),
    [
        ({"A1": "Firms", "C1": "2024", "A2": "r", "B2": "s", "C2": "x", "A3": "N", "B3": "1", "C3": 5}, 2),
        ({"A1": "r", "B1": "x", "A2": "code", "B2": "EUR", "A3": "N", "B3": 5, "A4": "S", "B4": 6}, 2),
        ({"A1": "05111", "B1": 12.5, "A2": "05112", "B2": 13.5}, 1),
    ],
)
def test_a_row_that_may_not_hold_the_names_is_asked_about(rows: dict[str, Any], guess: int, tmp_path: Path) -> None:
    with pytest.raises(UnclearFile) as caught:
        open_source(book(tmp_path / "f.xlsx", rows))
    assert (caught.value.cures[0].key, caught.value.cures[0].value) == ("data.header", guess)
    assert "12" not in str(caught.value)


def test_the_user_says_where_the_table_lies(tmp_path: Path) -> None:
    rows = {"A1": "Firms", "C1": "2024", "A2": "r", "B2": "x", "A3": "N", "B3": 5, "A4": "S", "B4": 6, "C4": "note"}
    path = book(tmp_path / "f.xlsx", rows)
    assert read(Workbook(path=path, range="A2:B3")) == {"r": ["N"], "x": ["5"]}
    assert list(read(Workbook(path=path, header=(2,)))) == ["r", "x", "column2"]


def test_numbers_kept_as_text_beside_numbers_mean_what_the_text_says(tmp_path: Path) -> None:
    path = book(tmp_path / "f.xlsx", {"A1": "r", "B1": "x", "A2": "N", "B2": 2.5, "A3": "S", "B3": "1.234,5"})
    assert total(path) == 1237.0
    path = book(tmp_path / "g.xlsx", {"A1": "r", "B1": "x", "A2": "N", "B2": 2.5, "A3": "S", "B3": "1.234"})
    with pytest.raises(UnclearFile, match="look like"):  # 2.5 is a number of the sheet, and says nothing about texts
        total(path)
    assert total(Workbook(path=path, decimal=",")) == 1236.5


# --- texts -----------------------------------------------------------------------------------------------------------

GENESIS = """Tabelle: 42111-0001
Umsatz, nach Bundesländern
;
r;x
Köln;1.234,5
Bonn;2,0
__________
Quelle: Statistisches Bundesamt;
© 2024; alle Rechte
"""


def test_an_export_with_titles_and_notes_is_read_between_them(tmp_path: Path) -> None:
    path = tmp_path / "genesis.csv"
    path.write_bytes(GENESIS.replace("\n", "\r\n").encode("latin-1"))
    assert read(path) == {"r": ["Köln", "Bonn"], "x": ["1.234,5", "2,0"]}
    assert open_source(path).found == {"encoding": "latin-1", "header": 4}
    assert total(path) == 1236.5


@pytest.mark.parametrize("sign", ["-", ".", "/", "x", "..."])
def test_signs_that_stand_for_numbers_are_no_zeros(sign: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"r;x\nN;{sign}\nS;2\n")
    with pytest.raises(NotANumber) as caught:
        total(tmp_path / "f.csv")
    assert f"{sign!r} stands for" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        ("Köln Straße", "utf-8-sig", {}),
        ("Köln Straße", "utf-16", {"encoding": "utf-16"}),
        ("Köln Straße", "utf-16-be", {"encoding": "utf-16"}),
        ("Köln Straße", "latin-1", {"encoding": "latin-1"}),
        ("Köln – 5 €", "cp1252", {"encoding": "windows-1252"}),
        ("„Köln“", "cp1252", {"encoding": "windows-1252"}),
        ("Köln Straße über", "cp850", {"encoding": "cp850"}),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str, found: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(f"r;x\n{text};1\n".encode(encoding))
    data = open_source(tmp_path / "f.csv")
    assert (data.found, data.query("SELECT r FROM data")) == (found, [(text,)])
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(f"r;x\n{text};1\n".encode(encoding)))
    assert read(tmp_path / "f.csv.gz")["r"] == [text]


@pytest.mark.parametrize(
    "content",
    [
        "r;x\nKöln;1\n".encode() + "Köln;2\n".encode("latin-1"),
        "r;x\nStraße;1\n".encode("cp850"),  # or Straáe
        b"r;x\nK\x9aln;1\n",  # of a Macintosh
        "r;x\n\x84hnlich;1\n".encode("latin-1"),
    ],
)
def test_an_encoding_that_is_not_certain_is_asked_for(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    with pytest.raises(UnclearFile, match="encoding") as caught:
        open_source(tmp_path / "f.csv")
    assert {cure.key for cure in caught.value.cures} == {"data.encoding"}
    said = Delimited(path=tmp_path / "f.csv", encoding="cp850")
    assert len(read(said)["r"]) == content.count(b";") - 1


def test_a_text_that_is_not_as_is_said_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(b"r;x\nK\x81ln;1\n")
    for encoding in ("windows-1252", "latin-1", "utf-8"):
        with pytest.raises(UnreadableFile, match="text"):
            read(Delimited(path=tmp_path / "f.csv", encoding=encoding))


@pytest.mark.parametrize(
    "content", [b'r;x\r\n"N\nE";1\r\nS;2\r\n', b'r;x\n"N\r\nE";1\r\nS;2\n', b'"r\n";x\r\nN;1\r\nS;2\r\n']
)
def test_line_breaks_may_differ_in_quotes_and_at_the_ends_of_lines(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    assert total(tmp_path / "f.csv") == 3.0


@pytest.mark.parametrize("sign", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "windows-1252", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_blank_rows_that_a_spreadsheet_wrote_as_delimiters_are_no_records(
    sign: str, encoding: str, line: str, tmp_path: Path
) -> None:
    lines = ["r;n;x", "Köln;1;2", ";;", " ;;", "N;;3", ";2;4", ";;"]
    content = line.join(lines).replace(";", sign) + line
    (tmp_path / "f.csv").write_bytes(content.encode(encoding))
    found = open_source(Delimited(path=tmp_path / "f.csv", encoding=encoding.removesuffix("-be")))
    assert found.query("SELECT * FROM data") == [("Köln", "1", "2"), ("N", None, "3"), (None, "2", "4")]


def test_a_blank_row_far_down_between_two_looks_at_the_file_is_found(tmp_path: Path) -> None:
    head = b"r;x\n" + b"N;1\n" * 60_000
    for more in range(CHUNK - len(head) - 2, CHUNK - len(head) + 3):
        path = tmp_path / f"{more}.csv"
        path.write_bytes(head + b"S" * (more - 3) + b";1\n;\nN;1\n")
        assert open_source(path).query("SELECT count(*) FROM data") == [(60_002,)]


def test_a_packed_text_unpacks_to_no_more_than_it_can_be_worth(tmp_path: Path) -> None:
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"r;x\n" + b"N;1\n" * 1_500_000))
    with pytest.raises(TooLarge, match="many times its size"):
        open_source(tmp_path / "f.csv.gz")
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress(b"r;x\nN;1\n")[:-9])
    with pytest.raises(UnreadableFile, match="damaged"):
        open_source(tmp_path / "g.csv.gz")


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "sum_of_them"),
    [
        (["1.5", "2"], 3.5), (["1,5", "2"], 3.5), (["1.234,5", "2"], 1236.5), (["1,234.5", "2"], 1236.5),
        (["1.234", "2,5"], 1236.5), (["1.234", "0.500"], 1.734), (["1.234.567", "1.234"], 1235801.0),
        (["1 234,5", "2"], 1236.5), (["1\u202f234", "2"], 1236.0), (["1'234.5", "-2"], 1232.5), (["1e3", "2"], 1002.0),
    ],
)  # fmt: skip
def test_signs_in_numbers_are_found_by_the_whole_column(numbers: list[str], sum_of_them: float, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("r;x\n" + "".join(f"N{i};{n}\n" for i, n in enumerate(numbers)), encoding="utf-8")
    assert total(tmp_path / "f.csv") == pytest.approx(sum_of_them, abs=1e-9)


@pytest.mark.parametrize(
    "others",
    [
        ["10.1", "10.2"],
        ["a", "b"],
        ["2024.12", "2024.11"],
        ["1,2", "2,3"],
        ["1,5", "1,2,3"],
        ["123.456.789", "123.456.780"],
    ],
)
def test_numbers_that_mean_two_things_are_asked_about(others: list[str], tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"r;x\n{others[0]};1.234\n{others[1]};5.678\n")
    with pytest.raises(UnclearFile) as caught:
        total(tmp_path / "f.csv")
    assert [cure.value for cure in caught.value.cures] == [".", ","]
    assert total(Delimited(path=tmp_path / "f.csv", decimal=",")) == 6912.0
    assert total(Delimited(path=tmp_path / "f.csv", decimal=".")) == pytest.approx(6.912)


def test_another_column_decides_what_a_point_means(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("r;x;y\nN;1.234;0,5\nS;5.678;1,5\n")
    assert total(tmp_path / "f.csv") == 6912.0
    (tmp_path / "f.csv").write_text("r;x;y\nN;1.234;12345.75\nS;5.678;1\n")
    assert total(tmp_path / "f.csv") == pytest.approx(6.912)


@pytest.mark.parametrize("number", ["1_000", "12 €", "5%", "12-", "(12)", "1.23.4", "1,23,456", "0.123.456"])
def test_what_is_no_number_by_a_sign_is_refused(number: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(f"r;x\nN;{number}\nS;2\n", encoding="utf-8")
    with pytest.raises(NotANumber):
        total(tmp_path / "f.csv")


def test_both_decimal_signs_in_one_column_are_a_question(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("r;x\nN;1.5\nS;2,5\n")
    with pytest.raises(UnclearFile, match="points and numbers with decimal commas"):
        total(tmp_path / "f.csv")
