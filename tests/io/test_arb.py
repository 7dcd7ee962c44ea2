"""Batch files of tau-ARGUS as notation: what others write is read, and every mistake is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diskret.io.arb import READERS, read_batch
from diskret.io.arb_commands import (
    Apriori,
    Command,
    Logbook,
    OpenMicrodata,
    Other,
    ReadTable,
    Recode,
    Remark,
    SafetyRule,
    Solver,
    SpecifyTable,
    Suppress,
    WriteTable,
)
from diskret.model.errors import UnreadableFile


def commands(folder: Path, content: str | bytes) -> tuple[Command, ...]:
    path = folder / "job.arb"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_batch(path).commands


def only(folder: Path, line: str) -> Any:
    (command,) = commands(folder, line)
    return command


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\r\n", b"\r"])
def test_lines_end_as_on_any_system(end: bytes, tmp_path: Path) -> None:
    found = commands(tmp_path, end.join([b"// remark", b'<OPENMICRODATA> "a.asc"', b"<READMICRODATA>"]))
    assert [(type(each).__name__, each.line) for each in found] == [
        ("Remark", 1), ("OpenMicrodata", 2), ("ReadMicrodata", 3)
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_umlauts_are_read_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    (command,) = commands(tmp_path, '<OPENMICRODATA> "Größe.asc"'.encode(encoding))
    assert isinstance(command, OpenMicrodata)
    assert command.file == "Größe.asc"


@pytest.mark.parametrize("line", ["// <SUPPRESS>", "\\\\ old remark", "//"])
def test_a_remark_may_hold_anything(line: str, tmp_path: Path) -> None:
    assert isinstance(only(tmp_path, line), Remark)


@pytest.mark.parametrize("line", ["<suppress> gh(1,75)", "< Suppress >\tGH ( 1 , 75 , )", "<SUPPRESS>GH(1,75)//later"])
def test_capitals_blanks_trailing_commas_and_remarks_do_not_matter(line: str, tmp_path: Path) -> None:
    found = only(tmp_path, line)
    assert (found.method, found.table, found.numbers) == ("GH", 1, (75.0,))


@pytest.mark.parametrize(
    ("line", "file"),
    [
        (r'<LOGBOOK> "C:\Program Files (x86)\a, b\log.txt"', r"C:\Program Files (x86)\a, b\log.txt"),
        (r"<LOGBOOK>        \\house\net apps\job.LOG", r"\\house\net apps\job.LOG"),
        ("<LOGBOOK> “log.txt”", "log.txt"),
        ("<LOGBOOK> log.txt // here", "log.txt"),
    ],
)
def test_names_of_files_hold_blanks_commas_and_brackets(line: str, file: str, tmp_path: Path) -> None:
    found = only(tmp_path, line)
    assert isinstance(found, Logbook)
    assert found.file == file


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ('"Size""Region"|"Var2"||', (("Size", "Region"), "Var2", None, None, None)),
        ('"Size"|"Var2"', (("Size",), "Var2", None, None, None)),
        ('"Size"|<freq>|""|""', (("Size",), None, None, None, None)),
        ('"Size"|"<FREQ>"', (("Size",), None, None, None, None)),
        ('"Age""Omk"|"Resp"|"Shadow"|"Cost",0.5', (("Age", "Omk"), "Resp", "Shadow", "Cost", 0.5)),
        ('"A" "B"|Resp|Shadow|-2', (("A", "B"), "Resp", "Shadow", "-2", None)),
        ('"A"|"R"||"-1"|2', (("A",), "R", None, "-1", 2.0)),
    ],
)
def test_tables_are_read_with_as_many_parts_as_they_have(rest: str, expected: tuple[Any, ...], tmp_path: Path) -> None:
    found = only(tmp_path, f"<SPECIFYTABLE> {rest}")
    assert isinstance(found, SpecifyTable)
    assert (found.by, found.response, found.shadow, found.cost, found.power) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("P(20,1)", [("P", (20.0, 1.0))]),
        ("P(25,100,1)|P(0,100,0)|FREQ(3,30)|", [("P", (25, 100, 1)), ("P", (0, 100, 0)), ("FREQ", (3, 30))]),
        ("NK(3, 70) | Wgt(1)", [("NK", (3.0, 70.0)), ("WGT", (1.0,))]),
        ("", []),
        ("REQ(70,50,3,10)|MIS(0)", [("REQ", (70, 50, 3, 10)), ("MIS", (0,))]),
        ("ZERO(2.5)|MAN(20)", [("ZERO", (2.5,)), ("MAN", (20,))]),
    ],
)  # fmt: skip
def test_rules_are_read_whatever_joins_them(rest: str, expected: list[Any], tmp_path: Path) -> None:
    found = only(tmp_path, f"<SAFETYRULE> {rest}")
    assert isinstance(found, SafetyRule)
    assert [(rule.name, rule.numbers) for rule in found.rules] == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [("", (0, False)), ("1", (1, False)), ("2T", (2, True)), (" 1F", (1, False)), ("1 t", (1, True))],
)
def test_how_sums_are_read(rest: str, expected: tuple[int, bool], tmp_path: Path) -> None:
    found = only(tmp_path, f"<READTABLE> {rest}")
    assert isinstance(found, ReadTable)
    assert (found.sums, found.keep_status) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ('"a.hst",1,";"', (1, ";", True, False)),
        ('"a.hst", 2, ",", 0, 1', (2, ",", False, True)),
        ('"a.hst",1,"\t",0', (1, "\t", False, False)),
        ('"a.hst",1,";",,1', (1, ";", True, True)),
        ('"a.hst",1," "', (1, " ", True, False)),
    ],
)
def test_files_of_single_cells_are_read_with_their_separator(
    rest: str, expected: tuple[Any, ...], tmp_path: Path
) -> None:
    for keyword in ("APRIORI", "APRIORY"):
        found = only(tmp_path, f"<{keyword}> {rest}")
        assert isinstance(found, Apriori)
        assert found.file == "a.hst"
        assert (found.table, found.separator, found.ignore_errors, found.expand) == expected


def test_a_recoding_is_a_file_or_a_level(tmp_path: Path) -> None:
    by_file, by_level = only(tmp_path, '<RECODE> 1, Size, "GK.grc"'), only(tmp_path, '<RECODE> 2,"Region",2')
    assert isinstance(by_file, Recode)
    assert (by_file.variable, by_file.file, by_file.level) == ("Size", "GK.grc", None)
    assert isinstance(by_level, Recode)
    assert (by_level.table, by_level.file, by_level.level) == (2, None, 2)


@pytest.mark.parametrize(
    ("rest", "method", "table", "numbers"),
    [
        ("MOD(0,5,1,1,0)", "MOD", 0, (5, 1, 1, 0)),
        ("MOD(1, 5, , 1)", "MOD", 1, (5, None, 1)),
        ("OPT(1,2)", "OPT", 1, (2,)),
        ("NET(1)", "NET", 1, ()),
        ("RND(1,5,0,10,0,2,1)", "RND", 1, (5, 0, 10, 0, 2, 1)),
        ("CTA(2)", "CTA", 2, ()),
    ],
)
def test_methods_are_read_with_the_numbers_they_have(
    rest: str, method: str, table: int, numbers: tuple[float | None, ...], tmp_path: Path
) -> None:
    found = only(tmp_path, f"<SUPPRESS> {rest}")
    assert isinstance(found, Suppress)
    assert (found.method, found.table, found.numbers) == (method, table, numbers)


@pytest.mark.parametrize(
    ("rest", "files", "extra"),
    [
        ("", (), None),
        ('"p.txt"', ("p.txt",), None),
        ('"c.txt" | "s.txt" | 2.7', ("c.txt", "s.txt"), 2.7),
        ('| "s.txt" | 2.7', ("", "s.txt"), 2.7),
        ('"c.txt"||', ("c.txt", ""), None),
        ("||2.7", (), 2.7),
    ],
)
def test_perturbation_tables_stand_behind_the_cell_key_method(
    rest: str, files: tuple[str, ...], extra: float | None, tmp_path: Path
) -> None:
    found = only(tmp_path, f"<SUPPRESS> CKM(1) {rest}")
    assert isinstance(found, Suppress)
    assert (found.files, found.extra) == (files, extra)


@pytest.mark.parametrize(
    ("rest", "kind", "options"),
    [
        ('(1, 3, AS+FL-, "a (1).txt")', 3, {"AS": True, "FL": False}),
        ('(1,2,,"a (1).txt")', 2, {}),
        ('(1,2,"a (1).txt")', 2, {}),
        ('(1,2,"as+","a (1).txt")', 2, {"AS": True}),
        ('(1,5,1,"a (1).txt")', 5, {}),
        ('(1,5,0,"a (1).txt")', 5, {"SO": True}),
        ('(1,3,3,"a (1).txt")', 3, {"AS": True, "SE": True}),
    ],
)
def test_files_to_write_are_read_with_letters_or_the_digit_of_older_batches(
    rest: str, kind: int, options: dict[str, bool], tmp_path: Path
) -> None:
    found = only(tmp_path, f"<WRITETABLE> {rest}")
    assert isinstance(found, WriteTable)
    assert found.file == "a (1).txt"
    assert (found.kind, dict(found.options)) == (kind, options)


def test_solvers_and_switches_are_read(tmp_path: Path) -> None:
    found = commands(
        tmp_path, '<SILENT>\n<SOLVER> cplex, "C:\\lic.ilm"\n<ANCO>\n<JJ>\n<CLEAR>\n<COVER>\n<GOINTERACTIVE>'
    )
    assert isinstance(found[1], Solver)
    assert (found[1].name, found[1].licence) == ("CPLEX", "C:\\lic.ilm")
    assert [each.keyword for each in found if isinstance(each, Other)] == ["SILENT", "ANCO", "JJ"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("<SUPRESS> GH(1)", "there is no keyword <SUPRESS>"),
        ("SUPPRESS GH(1)", "a line begins without a keyword"),
        ("<OPENMICRODATA>", "no file is named"),
        ('<OPENMICRODATA> "a.asc', "a quote is not closed"),
        ("<SPECIFYTABLE> |X", "the table has no explanatory variable"),
        ('<SPECIFYTABLE> "A"', "a '|' is expected, but the line ends there"),
        ('<SPECIFYTABLE> "A"|', "the table has no response"),
        ('<SPECIFYTABLE> "A"|"R"|||x', "'x' is not a number"),
        ("<SAFETYRULE> PQ(1,2)", "there is no safety rule 'PQ'"),
        ("<SAFETYRULE> FREQ(3)", "the safety rule FREQ has 1 numbers"),
        ("<SAFETYRULE> REQ(70,50,20)", "the safety rule REQ has 3 numbers"),
        ("<SAFETYRULE> P(,1)", "a number of the safety rule P is missing"),
        ("<SAFETYRULE> WGT(2)", "the safety rule WGT is neither 0 nor 1"),
        ("<READTABLE> 3", "<READTABLE> has an option that is not known"),
        ('<APRIORI> "a.hst",1', "the a-priori file has no separator"),
        ("<APRIORI> \"a.hst\",1,';'", "the separator of the a-priori file is not one character"),
        ('<APRIORI> "a.hst",1,";",2', "'2' is neither 0 nor 1"),
        ("<RECODE> 1,,a.grc", "no variable to recode"),
        ("<RECODE> 1.5,A,a.grc", "the number of the table is missing"),
        ("<SUPPRESS> HITAS(1)", "there is no method of protection 'HITAS'"),
        ("<SUPPRESS> GH()", "GH names no table"),
        ("<SUPPRESS> OPT(1,2,3)", "OPT has 3 numbers"),
        ("<WRITETABLE> (1,8,,a)", "there is no type of file 8"),
        ("<WRITETABLE> (1,2,AS,a)", "the options of a file are not known"),
        ("<WRITETABLE> (1,2,XX+,a)", "there is no option of a file 'XX'"),
        ("<WRITETABLE> (1,2,AS+,a) b", "'b' stands after the end of the command"),
        ("<SOLVER> MOSEK", "there is no solver 'MOSEK'"),
        ("<SUPPRESS> GH(1e999)", "'1e999' is not a number"),
    ],
)
def test_a_mistake_is_told_with_file_and_line_and_what_to_do(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as refusal:
        commands(tmp_path, f"// first\n\n{line}\n<CLEAR>")
    assert refusal.value.what.startswith(words)
    assert refusal.value.where == f"{tmp_path / 'job.arb'}, line 3"
    assert refusal.value.hint


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as refusal:
        commands(tmp_path, "<FIRST>\n<CLEAR>\n<SOLVER> X")
    assert refusal.value.what.splitlines()[0] == "2 mistakes in the batch file"
    assert "line 1: there is no keyword <FIRST>" in refusal.value.what
    assert "line 3: there is no solver 'X' (there are FREE, CPLEX, XPRESS)" in refusal.value.what
    assert refusal.value.where.endswith("job.arb, lines 1, 3")


def test_every_keyword_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "argus.md").read_text(encoding="utf-8")
    assert [keyword for keyword in READERS if f"`{keyword}`" not in page] == []


def test_a_file_of_something_else_is_no_batch(tmp_path: Path) -> None:
    (tmp_path / "firms.asc").write_text("84 34100 8\n" * 5000)
    with pytest.raises(UnreadableFile, match="not a batch of tau-ARGUS") as refusal:
        read_batch(tmp_path / "firms.asc")
    assert len(str(refusal.value)) < 500


def test_of_very_many_mistakes_forty_are_named(tmp_path: Path) -> None:
    (tmp_path / "job.arb").write_text("<SUPPRESS> XX(1)\n" * 300)
    with pytest.raises(UnreadableFile, match="300 mistakes in the batch file, the first 40 of them") as refusal:
        read_batch(tmp_path / "job.arb")
    assert "line 40:" in str(refusal.value)
    assert "line 41:" not in str(refusal.value)
