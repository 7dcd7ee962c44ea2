"""Changing trees by hand: whatever is done, a hierarchy comes out, and no code is lost that was not taken out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, tree_edits
from diskret.model.errors import BadOption, BrokenLevels, DiskretError, DuplicateCode

REGION = Hierarchy.from_nested(
    {"DE": {"N": ["n1", "n2"], "S": {"SO": ["o1", "o2"], "s1": None}}}, labels={"N": "north"}
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """A tree in which every new code hangs below any earlier one."""
    size = draw(st.integers(2, 12))
    return Hierarchy.from_parents([(f"c{i}", f"c{draw(st.integers(0, i - 1))}") for i in range(1, size)])


def leaves(tree: Hierarchy) -> set[str]:
    return {code for code in tree.codes if not tree.parts(code)}


@settings(max_examples=60)
@given(trees(), st.data())
def test_moving_keeps_every_code_and_what_stands_below_it(tree: Hierarchy, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.sampled_from([*tree.codes[:-1], "new"]), min_size=1, unique=True))
    under, before = data.draw(st.sampled_from(tree.codes)), data.draw(st.sampled_from([None, *tree.codes]))
    if any(under in _all_below(tree, code) for code in codes if code in tree):
        with pytest.raises(BadOption, match="part of itself"):
            tree_edits.place(tree, codes, under, before)
        return
    moved = tree_edits.place(tree, codes, under, before)
    assert set(moved.codes) == {*tree.codes, *codes}
    assert moved == Hierarchy.restored(moved.codes, moved.parents, moved.labels)
    # what is chosen together with a sum above it stays where it is below that sum
    taken = {c for c in codes if not any(c in _all_below(tree, sum_) - {sum_} for sum_ in codes if sum_ in tree)}
    stays = set(tree.codes) - {under} - taken
    for code in stays:
        assert moved.parts(code) == tuple(part for part in tree.parts(code) if part not in taken)


@settings(max_examples=60)
@given(trees(), st.data())
def test_a_group_is_dissolved_again_into_the_tree_of_before(tree: Hierarchy, data: st.DataObject) -> None:
    up = data.draw(st.sampled_from([code for code in tree.codes if tree.parts(code)]))
    first = data.draw(st.integers(0, len(tree.parts(up)) - 1))
    codes = tree.parts(up)[first : first + data.draw(st.integers(1, 3))]
    grouped = tree_edits.group(tree, codes, "new", "label of it")
    assert grouped.parts("new") == codes
    assert grouped.labels[grouped.index("new")] == "label of it"
    assert tree_edits.dissolve(grouped, ["new"]) == tree


@settings(max_examples=60)
@given(trees())
def test_levels_of_one_code_are_left_out_and_nothing_else(tree: Hierarchy) -> None:
    short = tree.without_single_children()
    assert leaves(short) == leaves(tree)
    assert short.total == tree.total
    assert all(len(short.parts(code)) != 1 for code in short.codes if len(leaves(tree)) > 1)
    made = {frozenset(_below(tree, code)) for code in tree.codes}
    assert {frozenset(_below(short, code)) for code in short.codes} == made
    assert short.without_single_children() == short


def _all_below(tree: Hierarchy, code: str) -> set[str]:
    return {code}.union(*(_all_below(tree, part) for part in tree.parts(code)))


def _below(tree: Hierarchy, code: str) -> set[str]:
    parts = tree.parts(code)
    return {code} if not parts else set().union(*(_below(tree, part) for part in parts))


def test_sums_are_merged_renamed_and_removed() -> None:
    merged = tree_edits.merge(REGION, ["N", "SO"])
    assert merged.parts("N") == ("n1", "n2", "o1", "o2")
    assert merged.parts("S") == ("s1",)
    renamed = tree_edits.rename(REGION, "N", "north of it")
    assert renamed.parts("DE") == ("north of it", "S")
    assert renamed.labels[renamed.index("north of it")] == "north"
    assert tree_edits.remove(REGION, ["S"]).codes == ("n1", "n2", "N", "DE")
    assert tree_edits.relabel(REGION, {"N": "  a \n b ", "S": ""}).labels[2] == "a b"


REFUSED: dict[str, tuple[type[DiskretError], Callable[[], object]]] = {
    "a sum below itself": (BadOption, lambda: tree_edits.place(REGION, ["S"], "SO")),
    "the total moved": (BadOption, lambda: tree_edits.place(REGION, ["DE"], "S")),
    "a group with a name that is used": (DuplicateCode, lambda: tree_edits.group(REGION, ["n1"], "S")),
    "a group of nothing": (BadOption, lambda: tree_edits.group(REGION, [], "new")),
    "a name of two lines": (BadOption, lambda: tree_edits.rename(REGION, "S", "a\nb")),
    "a code renamed to another": (DuplicateCode, lambda: tree_edits.rename(REGION, "n1", "n2")),
    "a code dissolved": (BadOption, lambda: tree_edits.dissolve(REGION, ["n1"])),
    "the total dissolved": (BadOption, lambda: tree_edits.dissolve(REGION, ["DE"])),
    "a sum merged with its part": (BadOption, lambda: tree_edits.merge(REGION, ["S", "SO"])),
    "everything removed": (DiskretError, lambda: tree_edits.remove(REGION, ["N", "S"])),
    "labels between two levels": (BrokenLevels, lambda: Hierarchy.from_labels({"a": "a", "b": "    b", "c": "  c"})),
    "a sum with the name of a code": (
        DuplicateCode,
        lambda: Hierarchy.from_labels({"A": "z", "y": "A: q"}, separator=":"),
    ),
    "a code without a label": (BadOption, lambda: Hierarchy.from_labels({"a": " : "}, separator=":")),
    "labels without a separator": (BadOption, lambda: Hierarchy.from_labels({"a": "b"}, separator=" ")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_be_no_tree_is_refused(what: str) -> None:
    kind, edit = REFUSED[what]
    with pytest.raises(kind):
        edit()


def test_labels_name_the_sums_of_codes() -> None:
    paths = {"09": "Bayern", "09162": "Bayern: München", "11": "Berlin", "05111": "NRW: West: Köln"}
    tree = Hierarchy.from_labels(paths, separator=": ", total="DE")
    assert tree.parts("DE") == ("09", "11", "NRW")
    assert tree.parts("09") == ("09162",)
    assert tree.parts("NRW: West") == ("05111",)
    assert dict(zip(tree.codes, tree.labels, strict=True))["NRW: West"] == "West"
    indented = Hierarchy.from_labels({"1": "food", "11": "\u00a0 bread", "12": "\u00a0 milk", "2": "rent"})
    assert indented.parts("1") == ("11", "12")
    assert indented.labels[0] == "bread"


def test_a_tree_is_compared_with_the_codes_of_the_data() -> None:
    found = tree_edits.fit(REGION, ["n1", "n2", "o1", "s1", "S", "x"])
    assert (found.missing, found.without_data, found.sums) == (("x",), ("o2",), ("S",))
