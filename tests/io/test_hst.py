"""A-priori files of tau-ARGUS: what they say, to which cells, and what the rules have to say afterwards."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.io.hst import Apriori
from diskret.model.errors import BadOption, EmptyData, UnreadableFile

REGION = dk.Hierarchy.from_nested({"DE": {"05": ["051", "052"], "11": ["110"], "12": {"12x": ["121"]}}})
LEAVES = ("051", "052", "110", "121")


def table(**columns: Any) -> dk.Table:
    """Four regions, three of them alone in their sum, by two branches."""
    cells: dict[str, list[Any]] = {
        "region": [r for r in LEAVES for _ in "CD"],
        "branch": list("CD") * 4,
        "x": [95, 80, 60, 40, 30, 20, 10, 7],
        "n": [4, 5, 3, 6, 5, 5, 4, 3],
        "x1": [90, 20, 20, 10, 10, 10, 4, 3],
        "x2": [4, 20, 20, 10, 10, 5, 4, 3],
    }
    cells |= {name: values for name, values in columns.items() if isinstance(values, list)}
    named = {"count": "n", "largest": ["x1", "x2"]} | {n: n for n in columns if n in ("status", "weight")}
    return dk.Table.from_cells(cells, by={"region": REGION, "branch": None}, value="x", **named)


def said(folder: Path, text: str, **how: Any) -> Apriori:
    (folder / "own.hst").write_bytes(text.encode("latin-1"))
    return dk.read_apriori(folder / "own.hst", **how)


def statuses(marked: dk.Table, *cells: tuple[str, str]) -> list[str]:
    return [dk.Status(marked.status[marked.index(*cell)]).text for cell in cells]


# --- reading ---------------------------------------------------------------------------------------------------------


def test_every_statement_of_tau_argus_is_read(tmp_path: Path) -> None:
    found = said(tmp_path, '// by hand\r\n\r\n"051" ; "C" ; U\n051;D;s;\n;C;p\n"";"";ML\n110;C;w;0\n110;C;PL;1,5;2\n')
    assert found.words == ("u", "s", "p", "m", "c", "pl")
    assert found.codes[0] == ("051", "051", "", "", "110", "110")
    assert found.lines.tolist() == [3, 4, 5, 6, 7, 8]
    assert found.first[4:].tolist() == [1.0, 1.5]  # a cost of 0 counts as 1, as in tau-ARGUS
    assert found.second[5] == 2.0


@pytest.mark.parametrize("separator", [";", ",", "|", "\t"])
def test_the_separator_is_found_in_the_first_line(tmp_path: Path, separator: str) -> None:
    found = said(tmp_path, separator.join(["a", "b", "c", "5"]) + "\r\r\n" + separator.join(["s", "u", "p"]))
    assert (found.words, found.codes, found.lines.tolist()) == (("c", "p"), (("a", "s"), ("b", "u")), [1, 2])


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("a;b;u\na;b;x\na;b;y\n", UnreadableFile, ["'x' is not a statement", "lines 2, 3"]),
        ("a;b;u\na;u\n", UnreadableFile, ["a line has 2 fields", "line 2"]),
        ("a;b;c;1\na;b;c;much\n", UnreadableFile, ["'c' needs a number", "line 2"]),
        ("a;b;pl;1;2\na;b;pl;1\n", UnreadableFile, ["'pl' needs 2 numbers", "line 2"]),
        ("a;b;u\na;b;c;-1\n", UnreadableFile, ["negative", "line 2"]),
        ("a;b;u\na;b;ab;1;2\n", UnreadableFile, ["(ab)", "line 2"]),
        ('a;b;u\na;"b;u\n', UnreadableFile, ["a quotation mark is not closed", "line 2"]),
        ("a b u\n", UnreadableFile, ["it is not clear what separates the fields"]),
        ("// nothing\n", EmptyData, ["says nothing"]),
    ],
)
def test_lines_that_say_nothing_are_refused_with_their_numbers(
    tmp_path: Path, text: str, error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        said(tmp_path, text)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_blank_codes_before_a_tab_are_totals(tmp_path: Path) -> None:
    found = said(tmp_path, "05\tC\tu\n\tC\tp\n\t\tp\n \t\n", separator="\t", classifications=2)
    assert found.codes == (("05", "", ""), ("C", "C", ""))


def test_a_separator_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="separator '\\|'"):
        said(tmp_path, "a;b;u\n", separator="|")


# --- setting ---------------------------------------------------------------------------------------------------------


def test_statements_set_status_levels_and_prices_one_after_the_other(tmp_path: Path) -> None:
    found = said(tmp_path, "051;C;u\n051;C;pl;2;3\n052;C;p\n052;C;s\n052;C;m\n110;D;p\nde;;c;7\n")
    marked = dk.apply_apriori(table(), found)
    cells = [("051", "C"), ("052", "C"), ("110", "D")]
    assert statuses(marked, *cells) == ["primary", "secondary", "never"]
    assert marked.below is not None
    assert marked.above is not None
    assert (marked.below[marked.index(*cells[0])], marked.above[marked.index(*cells[0])]) == (2.0, 3.0)
    assert marked.weight is not None
    assert marked.weight[marked.index("DE", "Total")] == 7.0
    assert marked.weight[marked.index("051", "C")] == 95.0  # the others cost what they did


def test_the_file_overrules_the_rules_and_the_number_of_opened_cells_is_told(tmp_path: Path) -> None:
    marked = dk.mark(table(), dk.rules.PPercent(10))
    assert statuses(marked, ("051", "C")) == ["primary"]
    with pytest.warns(dk.ProtectionWarning, match="1 sensitive cells are not protected because own.hst says so"):
        opened = dk.apply_apriori(marked, said(tmp_path, "051;C;s\n"))
    assert statuses(opened, ("051", "C")) == ["open"]
    assert opened.rules_of(opened.index("051", "C")) == ()
    assert opened.sealed().protected  # it may leave: that is what the file says


def test_smaller_levels_than_the_rules_demand_are_told(tmp_path: Path) -> None:
    marked = dk.mark(table(), dk.rules.PPercent(10))
    with pytest.warns(dk.ProtectionWarning, match="1 sensitive cells get smaller protection levels from own.hst"):
        changed = dk.apply_apriori(marked, said(tmp_path, "051;C;pl;0;1\n"))
    assert changed.above is not None
    assert changed.above[changed.index("051", "C")] == 1.0


def test_a_cell_set_unsafe_by_hand_stays_so_when_rules_are_changed(tmp_path: Path) -> None:
    marked = dk.apply_apriori(dk.mark(table(), dk.rules.PPercent(10)), said(tmp_path, "052;D;u\n"))
    assert marked.rules_of(marked.index("052", "D")) == ("given",)
    again = dk.mark(marked, dk.rules.MinCount(2))
    assert statuses(again, ("052", "D"), ("051", "C")) == ["primary", "open"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("051;C;p", "'p' does not fit the primary cell"),
        ("051;C;m", "'m' does not fit the primary cell"),
        ("052;C;u", "'u' does not fit the never cell"),
        ("052;C;pl;1;1", "protection levels belong to unsafe cells"),
        ("999;C;u", "code '999' of 'region' is not in the table"),
        ("051;E;u", "code 'E' of 'branch' is not in the table"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line_or_counted(tmp_path: Path, line: str, words: str) -> None:
    given = table(status=["primary", "open", "never", *["open"] * 5])
    with pytest.raises(BadOption) as caught:
        dk.apply_apriori(given, said(tmp_path, f"110;C;u\n{line}\n"))
    assert words in str(caught.value)
    assert "own.hst, line 2" in str(caught.value)
    with pytest.warns(dk.ProtectionWarning, match=r"1 lines of own.hst are passed over \(line 2\)") as told:
        marked = dk.apply_apriori(given, said(tmp_path, f"110;C;u\n{line}\n"), errors="ignore")
    assert words in str(told[0].message)
    assert statuses(marked, ("110", "C")) == ["primary"]


def test_unreadable_lines_that_were_passed_over_are_told_with_the_others(tmp_path: Path) -> None:
    found = said(tmp_path, "110;C;u\n110;C;x\n999;C;u\n", errors="ignore")
    with pytest.raises(BadOption, match="'x' is not a statement"):
        dk.apply_apriori(table(), found)
    with pytest.warns(dk.ProtectionWarning, match="2 lines of own.hst are passed over .lines 2, 3."):
        dk.apply_apriori(table(), found, errors="ignore")


def test_nothing_is_hidden_where_nobody_contributes(tmp_path: Path) -> None:
    empty = table(x=[0, *[50] * 7], n=[0, *[5] * 7], x1=[0, *[20] * 7], x2=[0, *[10] * 7])
    with pytest.raises(BadOption, match="nobody contributes to the cell region=051, branch=C"):
        dk.apply_apriori(empty, said(tmp_path, "051;C;u\n"))


def test_codes_that_are_the_same_cell_are_set_together_if_asked(tmp_path: Path) -> None:
    chain = [("12", "C"), ("12x", "C"), ("121", "C")]
    alone = dk.apply_apriori(table(), said(tmp_path, "12x;C;u\n"))
    assert statuses(alone, *chain) == ["open", "primary", "open"]
    with pytest.warns(dk.ProtectionWarning, match="1 lines of own.hst hold for all cells that are the same"):
        marked = dk.apply_apriori(table(), said(tmp_path, "12x;C;u\n051;C;u\n"), expand=True)
    assert statuses(marked, *chain, ("051", "C"), ("05", "C")) == ["primary"] * 4 + ["open"]


def test_expansion_runs_along_all_classifications(tmp_path: Path) -> None:
    cells = {"r": ["a1", "b1", "b2"], "s": ["x"] * 3, "v": [1, 2, 3]}
    region = dk.Hierarchy.from_nested({"T": {"A": ["a1"], "B": ["b1", "b2"]}})
    one = dk.Table.from_cells(cells, by={"r": region, "s": None}, value="v")
    with pytest.warns(dk.ProtectionWarning, match="r=a1, s=x.*r=A, s=Total"):
        marked = dk.apply_apriori(one, said(tmp_path, "A;x;u\n"), expand=True)
    found = {marked.codes(marked.place(int(c))) for c in np.flatnonzero(marked.status == dk.Status.PRIMARY)}
    assert found == {(r, s) for r in ("a1", "A") for s in ("x", "Total")}


def test_a_file_for_other_classifications_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="has 1 codes in a line, the table 2 classifications"):
        dk.apply_apriori(table(), said(tmp_path, "051;u\n"))


def test_many_statements_are_set_at_once(tmp_path: Path) -> None:
    codes = [f"{i:04}" for i in range(200)]
    cells = {"a": np.repeat(codes, 100).tolist(), "b": codes[:100] * 200, "v": [1.0] * 20_000}
    wide = dk.Table.from_cells(cells, by={"a": None, "b": None}, value="v")
    found = said(tmp_path, "".join(f"{a};{b};u\n" for a, b in zip(cells["a"], cells["b"], strict=True)))
    marked = dk.apply_apriori(wide, found)
    assert int((marked.status == dk.Status.PRIMARY).sum()) == 20_000


# --- writing ---------------------------------------------------------------------------------------------------------


def test_a_pattern_is_written_and_read_back(tmp_path: Path) -> None:
    marked = dk.mark(table(status=["open"] * 7 + ["never"]), dk.rules.PPercent(10))
    done = dk.suppress(marked)
    dk.write_apriori(done, tmp_path / "pattern.hst", separator=",")
    text = (tmp_path / "pattern.hst").read_text(encoding="utf-8")
    assert '"051","C",u\n"051","C",pl,' in text
    assert ",m\n" in text
    assert (tmp_path / "pattern.hst").stat().st_mode & 0o077 == 0  # it tells primary from secondary
    back = dk.apply_apriori(table(), dk.read_apriori(tmp_path / "pattern.hst"))
    assert (back.status == done.table.status).all()
    assert back.below is not None
    assert done.table.below is not None
    assert back.below.tolist() == done.table.below.tolist()


def test_codes_that_would_not_be_read_back_are_not_written(tmp_path: Path) -> None:
    one = dk.Table.from_cells({"s": ["a;b"], "x": [1]}, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="'a;b' of 's' cannot be written"):
        dk.write_apriori(one, tmp_path / "x.hst")
    dk.write_apriori(one, tmp_path / "x.hst", separator=",")
    assert not any(tmp_path.glob("*.part"))


def test_mutated_files_end_in_a_result_or_a_message(tmp_path: Path) -> None:
    whole = '// own\n"051";"C";u\n051;C;pl;2;3\n052;C;p\n110;D;c;12\n;;m\n'
    random, one = Random(18), table()
    for _ in range(200):
        text = list(whole)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(text))
            text[at : at + random.randint(0, 2)] = random.choice(["", ";", '"', "\n", "9", "x", "pl", "\r", " ", "ü"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _outcome(one, tmp_path, "".join(text))
        assert found is None or "own.hst" in found.where


def _outcome(one: dk.Table, folder: Path, text: str) -> dk.DiskretError | None:
    try:
        dk.apply_apriori(one, said(folder, text))
    except dk.DiskretError as e:
        return e
    return None
