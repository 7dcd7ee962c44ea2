"""Tables for tau-ARGUS and from it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diskret.io.cell_list import read_cell_list
from diskret.model.errors import (
    BadOption,
    DiskretError,
    EmptyData,
    MissingColumn,
    NegativeValue,
    NotANumber,
    NotFinite,
    ProtectionWarning,
    UnknownCode,
    UnreadableFile,
    WrongSum,
)
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.argus.write import write_safe_file

METADATA = """\
   <SEPARATOR> ";"
Region "99"
    <RECODEABLE>
    <TOTCODE> "Total"
    <HIERCODELIST> "region.hrc"
    <HIERLEADSTRING> "@"
X
    <NUMERIC>
Freq
    <FREQUENCY>
Cost
    <NUMERIC> <COSTVAR>
Top1
    <MAXSCORE>
Top2
    <MAXSCORE>
Status
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
High
    <NUMERIC> <UPPERPL>
"""
CELLS = """\
"TOTAL";12,50;6;12,5;6,00;2,0;S;0,01;0,01
"Nr";12,50;6;12,5;6,00;2,0;p;0,01;0,01
" 1";10,50;5;10,5;6,00;2,0;U;0,75;1,50
" 2";2,00;1;2,0;2,00;-;m;-;
"99";0,00;0;0,0;0,00;0,0;E;0,00;0,00
"3";-;0;0,0;0,00;0,0;E;0,00;0,00
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "region.hrc").write_text("Nr\n@ 1\n@ 2\nZd\n@ 3\n")
    (tmp_path / "t.rda").write_text(METADATA)
    (tmp_path / "t.tab").write_text(CELLS)
    return tmp_path / "t.tab", tmp_path / "t.rda"


def test_a_table_of_tau_argus_is_read_with_everything_it_says(files: tuple[Path, Path]) -> None:
    table = read_cell_list(*files)
    assert table.by["Region"].codes == ("1", "2", "Nr", "3", "Zd", "99", "Total")
    assert table.value.tolist() == [10.5, 2.0, 12.5, 0.0, 0.0, 0.0, 12.5]
    assert table.count.tolist() == [5, 1, 6, 0, 0, 0, 6]
    assert table.largest is not None
    assert table.largest[:2].tolist() == [[6.0, 2.0], [2.0, 0.0]]
    assert [Status(s) for s in table.status] == [
        Status.PRIMARY, Status.SECONDARY, Status.NEVER, Status.OPEN, Status.OPEN, Status.OPEN, Status.OPEN,
    ]  # fmt: skip
    assert table.below is not None
    assert table.above is not None
    assert table.below.tolist() == [0.75, 0, 0, 0, 0, 0, 0]
    assert table.above.tolist() == [1.5, 0, 0, 0, 0, 0, 0]
    assert table.weight is not None
    assert table.weight[0] == 10.5


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('" 2"', '" 7"', UnknownCode),
        ('" 2";2,00', '" 2";2,01', WrongSum),
        ('" 2";2,00', '" 2";two', NotANumber),
        ('" 2";2,00', '" 2";2.00', NotANumber),
        (";m;", ";Q;", BadOption),
        ('"99";0,00;0', '"99";0,50;0', BadOption),
        (";U;0,75;", ";U;x;", NotANumber),
        (";U;0,75;", ";U;-1;", NegativeValue),
        ("2,00;-;m;-;", "2,00;-;m;-", UnreadableFile),
        (";5;", ";5,5;", NegativeValue),
        (";5;", ";" + "9" * 30 + ";", NegativeValue),
    ],
)
def test_what_is_wrong_in_a_list_of_cells_is_refused_with_its_file(
    files: tuple[Path, Path], old: str, new: str, error: type[DiskretError]
) -> None:
    files[0].write_text(CELLS.replace(old, new))
    with pytest.raises(error) as caught:
        read_cell_list(*files)
    assert str(files[0]) in caught.value.where
    assert "10,5" not in str(caught.value)


def test_small_differences_of_sums_are_corrected_with_a_warning(files: tuple[Path, Path]) -> None:
    files[0].write_text(CELLS.replace('" 2";2,00', '" 2";1,99'))
    with pytest.warns(ProtectionWarning):
        assert read_cell_list(*files, tolerance=0.01).value[-1] == 12.49


def test_the_response_must_be_clear(files: tuple[Path, Path]) -> None:
    data, metadata = files
    with pytest.raises(MissingColumn):
        read_cell_list(data, metadata, value="Y")
    metadata.write_text(METADATA.replace("<NUMERIC> <COSTVAR>", "<NUMERIC>"))
    with pytest.raises(BadOption, match="several responses"):
        read_cell_list(data, metadata)
    assert read_cell_list(data, metadata, value="cost").response == "Cost"
    metadata.write_text("A\n<NUMERIC>\n")
    with pytest.raises(BadOption, match="explanatory"):
        read_cell_list(data, metadata)
    metadata.write_text("A\n<RECODEABLE>\n")
    with pytest.raises(BadOption, match="no response"):
        read_cell_list(data, metadata)


def test_a_file_of_blanks_is_empty(tmp_path: Path) -> None:
    (tmp_path / "t.rda").write_text("A\n<RECODEABLE>\nN\n<FREQUENCY>\n")
    (tmp_path / "t.tab").write_text("a;-\n")
    with pytest.raises(EmptyData):
        read_cell_list(tmp_path / "t.tab", tmp_path / "t.rda")


def test_a_blank_code_is_the_total_as_in_tau_argus(files: tuple[Path, Path]) -> None:
    files[0].write_text(CELLS.replace('"TOTAL"', '" "'))
    assert read_cell_list(*files).value[-1] == 12.5


@pytest.mark.parametrize("form", ["{:,.2f}", "{:,.2f} comma"])
def test_signs_between_thousands_are_found_as_in_every_other_file(form: str, tmp_path: Path) -> None:
    """1.234,50 and 1,234.50."""
    texts = [form.removesuffix(" comma").format(x) for x in (1234567.5, 1000.25, 1235567.75)]
    if form.endswith("comma"):
        texts = [t.translate(str.maketrans(",.", ".,")) for t in texts]
    (tmp_path / "t.rda").write_text("A\n<RECODEABLE>\nX\n<NUMERIC>\n")
    rows = [f"{code};{text}\n" for code, text in zip("abT", texts, strict=True)]
    (tmp_path / "t.tab").write_text("".join(rows).replace("T;", "Total;"))
    assert read_cell_list(tmp_path / "t.tab", tmp_path / "t.rda").value.tolist() == [1234567.5, 1000.25, 1235567.75]


def test_three_decimals_are_decimals_in_a_file_of_tau_argus(tmp_path: Path) -> None:
    (tmp_path / "t.rda").write_text("A\n<RECODEABLE>\nX\n<NUMERIC>\n<DECIMALS> 3\n")
    (tmp_path / "t.tab").write_text("a;1,234\nb;2,345\n")
    assert read_cell_list(tmp_path / "t.tab", tmp_path / "t.rda").value[-1] == 3.579


INTERMEDIATE = """\
"Total";"Total"; 100; 9; 100; 100; 40; 30; S; 1; 1\r
"Total";"           1"; 60; 5; 60; 60; 40; 10; S; 1; 1\r
"Total";"           2"; 40; 4; 40; 40; 30; 5; S; 1; 1\r
"a";"Total"; 55; 4; 55; 55; 40; 10; S; 1; 1\r
"a";"           1"; 50; 3; 50; 50; 40; 10; U; 5; 6\r
"a";"           2"; 5; 1; 5; 5; 5; 0; M; 0; 0\r
"b";"Total"; 45; 5; 45; 45; 30; 6; S; 1; 1\r
"b";"           1"; 10; 2; 10; 10; 6; 4; M; 0; 0\r
"b";"           2"; 35; 3; 35; 35; 30; 5; M; 0; 0\r
"""
OF_INTERMEDIATE = """\
<SEPARATOR>  ";"\r
Region\r
    <RECODEABLE>\r
    <TOTCODE> Total\r
Size\r
    <RECODEABLE>\r
    <TOTCODE> Total\r
Resp\r
    <NUMERIC>\r
FreqVar\r
    <FREQUENCY>\r
Resp_Shadow\r
    <NUMERIC> <SHADOW>\r
Resp_Cost\r
    <NUMERIC> <COSTVAR>\r
Top1\r
    <MAXSCORE>\r
Top2\r
    <MAXSCORE>\r
StatusVar\r
    <STATUS>\r
LowerProtLevel\r
    <NUMERIC> <LOWERPL>\r
UpperProtLevel\r
    <NUMERIC> <UPPERPL>\r
"""


@pytest.mark.parametrize("audit", ["", "; 40,0; 60,0; 20; 20.00; 20.00; 40.00"])
def test_an_intermediate_file_with_secondary_cells_is_read_back(audit: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(INTERMEDIATE.replace("\r\n", f"{audit}\r\n").encode())
    (tmp_path / "t.rda").write_bytes(OF_INTERMEDIATE.encode())
    warned = pytest.warns(ProtectionWarning, match="6 columns after") if audit else contextlib.nullcontext()
    with warned:
        table = read_cell_list(tmp_path / "t.csv", tmp_path / "t.rda")
    assert table.by["Size"].codes == ("1", "2", "Total")
    assert table.status.tolist() == [[1, 2, 0], [2, 2, 0], [0, 0, 0]]
    assert table.below is not None
    assert table.above is not None
    assert (table.below.sum(), table.above.sum()) == (5, 6)


def example(**columns: object) -> Table:
    region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}, labels={"05": "NRW, west"})
    cells = {
        "region": ["05111", "05112", "11"] * 2,
        "size class": ["s"] * 3 + ["l"] * 3,
        "turn over": [1.25, 0.1, 2e-7, 1e7, 0.0, -3.0],
        "n": [1, 2, 3, 4, 0, 6],
        "x1": [1.0, 0.1, 2e-7, 1e7, 0.0, 2.0],
    }
    by = {"region": region, "size class": None}
    return Table.from_cells(cells, by=by, value="turn over", count="n", largest=["x1"], **columns)


def test_a_written_table_reads_back_the_same(tmp_path: Path) -> None:
    table = example().with_status(Status.PRIMARY, [("05111", "s")]).with_status(Status.SECONDARY, [("05112", "s")])
    table = table.with_status(Status.NEVER, [("DE", "Total")])
    level = np.where(table.status == Status.PRIMARY, 0.1, 0.0)
    table = replace(table, below=level, above=2 * level, weight=np.abs(table.value) + 1)
    names = [p.name for p in write_safe_file(table, tmp_path / "turn_over.tab", report=False)]
    assert names == ["turn_over.tab", "turn_over.rda", "turn_over_1.hrc", "turn_over_1.cdl"]
    again = read_cell_list(tmp_path / names[0], tmp_path / names[1])
    assert (again.by, again.response, again.decimals) == (table.by, table.response, table.decimals)
    for name in ("value", "status", "count", "largest", "below", "above", "weight"):
        assert np.array_equal(getattr(again, name), getattr(table, name)), name
    assert "e" not in (tmp_path / names[0]).read_text().replace('"DE"', "").lower().replace(";e", ";")


def test_counts_alone_make_a_frequency_table(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["m", "w"], "people": [3, 4]}, by={"s": None}, value="people", frequency=True)
    cells, metadata = write_safe_file(table, tmp_path / "census.tab", report=False)
    again = read_cell_list(cells, metadata)
    assert again.frequency
    assert again.value.tolist() == [3, 4, 7]


def test_statuses_tau_argus_does_not_know_become_the_nearest_ones(tmp_path: Path) -> None:
    cells = {"s": ["a", "b", "c", "d"], "x": [0, 0, 1, 1], "n": [0, 1, 1, 1]}
    table = Table.from_cells(cells, by={"s": None}, value="x", count="n")
    table = table.with_status(Status.ZERO, [("a",), ("b",)]).with_status(Status.PUBLISHED, [("c",)])
    path, _ = write_safe_file(table, tmp_path / "t.tab", report=False)
    assert [line.split(";")[-3] for line in path.read_text().splitlines()] == ["S", "E", "S", "P", "S"]


@pytest.mark.parametrize("code", ["a;b", 'a"b', "total", " a", "a\nb"])
def test_codes_tau_argus_would_misread_are_not_written(tmp_path: Path, code: str) -> None:
    table = Table.from_cells({"s": ["c"], "x": [1]}, by={"s": None}, value="x")
    table = replace(table, by={"s": Hierarchy.flat([code])})
    with pytest.raises(BadOption):
        write_safe_file(table, tmp_path / "t.tab")
    assert not list(tmp_path.iterdir())


def test_numbers_tau_argus_cannot_read_are_not_written(tmp_path: Path) -> None:
    table = example()
    with pytest.raises(NotFinite):
        write_safe_file(replace(table, above=np.full(table.shape, np.inf)), tmp_path / "t.tab")
    assert not list(tmp_path.iterdir())


def test_another_lead_string_is_taken_where_codes_start_with_it(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents({"@a": "A", "b": "A", "A": "T"})
    table = Table.from_cells({"s": ["@a", "b"], "x": [1, 2]}, by={"s": tree}, value="x")
    cells, metadata, _ = write_safe_file(table, tmp_path / "t.tab", report=False)
    assert read_cell_list(cells, metadata).by["s"] == tree
