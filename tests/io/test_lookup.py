"""Lookup tables, and hierarchies written to be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret import Hierarchy, Lookup, read_hierarchy, write_hierarchy
from diskret.io.hierarchy_writer import hierarchy_text
from diskret.model.errors import BadOption, DiskretError, DuplicateCode, MissingCode, MissingColumn, TwoParents

PLACES = [
    ["Kreis", "Name", "Land", "Teil"],
    ["09162", "München", "BY", "Süd"],
    ["09163", "Rosenheim", "BY", "Süd"],
    ["11", "Berlin", "11", ""],
    ["05111", "Düsseldorf", "NW", "West"],
]


def book(path: Path, rows: list[list[str]]) -> Path:
    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet("places")
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, [cell or None for cell in row])
    return path


def test_levels_of_an_excel_table_become_sums(tmp_path: Path) -> None:
    path = book(tmp_path / "places.xlsx", PLACES)
    lookup = Lookup(code="Kreis", levels=("Teil", "Land"), label="Name", sheet="places")
    tree = read_hierarchy(path, lookup=lookup, total="DE")
    assert tree.parts("DE") == ("Süd", "11", "West")
    assert tree.parts("BY") == ("09162", "09163")
    assert tree.parts("11") == ()
    assert tree.labels[tree.index("11")] == "Berlin"
    assert tree.without_single_children().parts("DE") == ("BY", "11", "05111")


def test_a_sum_of_all_rows_is_the_total(tmp_path: Path) -> None:
    path = book(tmp_path / "p.xlsx", [["a", "b", "all"], ["1", "x", "DE"], ["2", "y", "DE"]])
    assert read_hierarchy(path, lookup=Lookup(code="a", levels=("all", "b"))).codes == ("1", "x", "2", "y", "DE")


def test_labels_of_a_table_name_sums(tmp_path: Path) -> None:
    path = tmp_path / "goods.csv"
    path.write_text("nr;name\n1;food\n11;  bread\n12;  milk\n2;rent\n", encoding="utf-8")
    assert read_hierarchy(path, lookup=Lookup(code="nr", label="name")).parts("1") == ("11", "12")


def test_an_excel_file_with_codes_and_parents_is_a_hierarchy(tmp_path: Path) -> None:
    path = book(
        tmp_path / "r.xlsx", [["Code", "Parent", "Label"], ["05", "DE", "NRW"], ["11", "DE", ""], ["DE", "", ""]]
    )
    assert read_hierarchy(path) == Hierarchy.flat(["05", "11"], total="DE", labels={"05": "NRW"})
    with pytest.raises(MissingColumn):
        read_hierarchy(book(tmp_path / "places.xlsx", PLACES))


@pytest.mark.parametrize(
    ("rows", "lookup", "error"),
    [
        ([["1", "x"], ["1", "y"]], Lookup(code="a", levels=("b",)), TwoParents),
        ([["1", "x"], ["", "y"]], Lookup(code="a", parent="b"), MissingCode),
        ([["1", "x"], ["1", "y"]], Lookup(code="a", label="b", separator=":"), DuplicateCode),
        ([["1", "x"]], Lookup(code="a", parent="nowhere"), MissingColumn),
        ([["x", "y"], ["y", "x"]], Lookup(code="a", parent="b"), DiskretError),
    ],
)
def test_tables_that_make_no_tree_are_refused(
    tmp_path: Path, rows: list[list[str]], lookup: Lookup, error: type[DiskretError]
) -> None:
    with pytest.raises(error) as refused:
        read_hierarchy(book(tmp_path / "t.xlsx", [["a", "b"], *rows]), lookup=lookup)
    assert "t.xlsx" in refused.value.where


def test_a_lookup_says_what_stands_above_a_code() -> None:
    for wrong in ({}, {"parent": "b", "levels": ("c",)}):
        with pytest.raises(BadOption):
            Lookup(code="a", **wrong)  # type: ignore[arg-type]


TEXTS = st.text(st.sampled_from("ab1 @;\"'=\n\u2028\ufeff\u00a0ä#,"), min_size=1, max_size=4)


@st.composite
def labelled(draw: st.DrawFn) -> Hierarchy:
    names = draw(st.lists(TEXTS, min_size=2, max_size=8, unique=True))
    pairs = [(names[i], names[draw(st.integers(0, i - 1))]) for i in range(1, len(names))]
    return Hierarchy.from_parents(pairs, labels=draw(st.dictionaries(st.sampled_from(names), TEXTS)))


def _is_odd(text: str) -> bool:
    """Whether a text has blanks outside, line ends, or begins with what marks the beginning of a file."""
    return text != text.strip() or "\n" in text or "\u2028" in text or text.startswith("\ufeff")


@settings(max_examples=150)
@given(labelled(), st.sampled_from([".csv", ".hrc"]))
def test_what_is_written_is_read_back_as_the_same_tree_or_refused(
    tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, ending: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"written{ending}"
    texts = [*tree.codes[: None if ending == ".csv" else -1], *(tree.labels if ending == ".csv" else ())]
    if any(_is_odd(text) or (ending == ".hrc" and text.startswith("@")) for text in texts):
        with pytest.raises(BadOption, match="cannot be written"):
            write_hierarchy(tree, path)
        return
    write_hierarchy(tree, path)
    if ending == ".hrc":
        tree = dk.tree_edits.relabel(tree, dict.fromkeys(tree.codes, ""))
    assert read_hierarchy(path, total=tree.total) == tree
    if ending == ".csv":
        assert read_hierarchy(path) == tree


def test_other_endings_are_not_written() -> None:
    with pytest.raises(BadOption):
        hierarchy_text(Hierarchy.flat(["a"]), ".json")
