"""Hierarchies from every notation: the same tree from each, and every broken one refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.model import errors

CODES = ("05111", "05112", "051", "05200", "05", "11", "DE")
PARENTS = {"05111": "051", "05112": "051", "051": "05", "05200": "05", "05": "DE", "11": "DE"}
NOTATIONS: dict[str, Callable[[], Hierarchy]] = {
    "pairs in a dict": lambda: Hierarchy.from_parents(PARENTS),
    "pairs in a list": lambda: Hierarchy.from_parents(list(PARENTS.items())),
    "levels": lambda: Hierarchy.from_levels(CODES, [1, 1, 2, 2, 3, 3, 4]),
    "hrc": lambda: Hierarchy.from_hrc("05\n@051\n@@05111\n@@05112\n@05200\n11\n", total="DE"),
    "hrc with quotes, under its total": lambda: Hierarchy.from_hrc(
        'DE\n@"05"\n@@051\n@@@05111\n@@@"05112"\n@@05200\n@11\n', total="DE"
    ),
    "hrc with a sum of itself": lambda: Hierarchy.from_hrc("05\n@051\n@@05111\n@@05112\n@05200\n11\n@11\n", total="DE"),
    "hrc with another lead and blank lines": lambda: Hierarchy.from_hrc(
        "05\n\n..051  \n....05111\n....05112\n..05200\n11", lead="..", total="DE"
    ),
    "nested": lambda: Hierarchy.from_nested({"DE": {"05": {"051": ["05111", "05112"], "05200": None}, "11": []}}),
}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_notation_gives_the_same_tree(notation: str) -> None:
    hierarchy = NOTATIONS[notation]()
    assert hierarchy.codes == CODES
    assert {c: hierarchy.codes[p] for c, p in zip(CODES, hierarchy.parents, strict=True) if p >= 0} == PARENTS
    assert hierarchy.total == "DE"
    assert hierarchy == Hierarchy.from_parents(PARENTS)


def test_several_tops_are_joined_under_a_named_total() -> None:
    hierarchy = Hierarchy.from_parents({"a": "A", "b": "A", "c": "B"}, total="All")
    assert hierarchy.codes == ("a", "b", "A", "c", "B", "All")
    assert Hierarchy.from_parents({"a": "All", "b": "B"}, total="All").parts("All") == ("a", "B")


def test_prefixes_are_sums_of_the_codes_they_begin() -> None:
    hierarchy = Hierarchy.from_prefixes(["0210", "0111", "0112", "9"], [1, 2], total="All")
    assert hierarchy.parts("01") == ("0111", "0112")
    assert hierarchy.parts("0") == ("01", "02")
    assert hierarchy.parts("All") == ("0", "9")
    assert hierarchy.is_leaf[hierarchy.index("9")]


def test_a_code_as_long_as_a_prefix_is_its_own_sum() -> None:
    assert Hierarchy.from_prefixes(["01", "0111"], [2]).parts("01") == ("0111",)


def test_flat_codes_keep_their_order_under_one_total() -> None:
    hierarchy = Hierarchy.flat(["w", "m"], total="both", labels={"w": "women"})
    assert hierarchy.codes == ("w", "m", "both")
    assert hierarchy.labels == ("women", "m", "both")
    assert hierarchy.parts("both") == ("w", "m")


def test_codes_are_text_whatever_they_were() -> None:
    assert Hierarchy.flat([1, 2]).codes == ("1", "2", "Total")  # type: ignore[list-item]
    assert Hierarchy.from_parents({1: 0, 2: 0}).codes == ("1", "2", "0")  # type: ignore[arg-type]
    assert Hierarchy.from_nested({"all": [1, 2]}).codes == ("1", "2", "all")  # type: ignore[list-item]


def test_a_hierarchy_of_only_a_total_is_one_cell() -> None:
    hierarchy = Hierarchy.flat([])
    assert (len(hierarchy), hierarchy.depth, hierarchy.is_leaf.tolist()) == (1, 1, [True])


def test_the_same_pair_twice_is_one_pair() -> None:
    assert Hierarchy.from_parents([("a", "T"), ("b", "T"), ("a", "T")]).codes == ("a", "b", "T")


REFUSED: dict[str, tuple[type[errors.DiskretError], Callable[[], Any], str]] = {
    "cycle": (errors.HierarchyCycle, lambda: Hierarchy.from_parents({"a": "b", "b": "c", "c": "a"}), "'a' -> 'b'"),
    "cycle beside a tree": (errors.HierarchyCycle, lambda: Hierarchy.from_parents({"x": "T", "a": "a"}), "'a' -> 'a'"),
    "two parents": (errors.TwoParents, lambda: Hierarchy.from_parents([("a", "A"), ("a", "B")]), "'A' and 'B'"),
    "several tops": (errors.BrokenLevels, lambda: Hierarchy.from_parents({"a": "A", "b": "B"}), "'A', 'B'"),
    "total inside": (errors.BadOption, lambda: Hierarchy.from_parents({"a": "A", "b": "B"}, total="a"), "'a'"),
    "no pairs": (errors.EmptyData, lambda: Hierarchy.from_parents({}), "no codes"),
    "level gap": (errors.BrokenLevels, lambda: Hierarchy.from_levels(["a", "T"], [1, 3]), "'a'"),
    "level zero": (errors.BrokenLevels, lambda: Hierarchy.from_levels(["a", "T"], [0, 1]), "'a'"),
    "sum before its parts": (errors.BrokenLevels, lambda: Hierarchy.from_levels(["T", "a"], [2, 1]), "'T', 'a'"),
    "two totals": (errors.BrokenLevels, lambda: Hierarchy.from_levels(["a", "T", "U"], [1, 2, 2]), "'T', 'U'"),
    "levels too few": (errors.BrokenLevels, lambda: Hierarchy.from_levels(["a", "T"], [1]), "2 codes but 1"),
    "same code in levels": (errors.DuplicateCode, lambda: Hierarchy.from_levels(["a", "a", "T"], [1, 1, 2]), "'a'"),
    "no levels": (errors.EmptyData, lambda: Hierarchy.from_levels([], []), "no codes"),
    "hrc too deep": (errors.BrokenLevels, lambda: Hierarchy.from_hrc("a\n@@b\n"), "line 2"),
    "hrc lead only": (errors.BrokenLevels, lambda: Hierarchy.from_hrc("a\n@\n"), "line 2"),
    "hrc same code": (errors.DuplicateCode, lambda: Hierarchy.from_hrc("a\n@b\n@b\n"), "line 3"),
    "hrc two sums": (errors.TwoParents, lambda: Hierarchy.from_hrc("a\n@b\n@c\nd\n@b\n@e\n"), "line 5"),
    "hrc part of the total too": (errors.TwoParents, lambda: Hierarchy.from_hrc("a\n@b\n@c\nb\n"), "line 4"),
    "hrc part of itself": (errors.HierarchyCycle, lambda: Hierarchy.from_hrc("a\n@a\n@b\n"), "line 2"),
    "hrc ring": (errors.TwoParents, lambda: Hierarchy.from_hrc("a\n@b\n@@a\n"), "line 3"),
    "hrc code like its total": (errors.DuplicateCode, lambda: Hierarchy.from_hrc("Total\n"), "'Total'"),
    "hrc total among others": (errors.DuplicateCode, lambda: Hierarchy.from_hrc("a\nTotal\n@b\n"), "line 2"),
    "hrc without lead": (errors.BadOption, lambda: Hierarchy.from_hrc("a\n", lead=""), "lead"),
    "hrc empty": (errors.EmptyData, lambda: Hierarchy.from_hrc("\n\n"), "no codes"),
    "prefixes descending": (errors.BadOption, lambda: Hierarchy.from_prefixes(["0111"], [3, 2]), "[3, 2]"),
    "prefix of nothing": (errors.BadOption, lambda: Hierarchy.from_prefixes(["0111"], [0]), "[0]"),
    "prefixes of no codes": (errors.EmptyData, lambda: Hierarchy.from_prefixes([], [2]), "no codes"),
    "total among the codes": (errors.DuplicateCode, lambda: Hierarchy.from_prefixes(["01"], [1], total="01"), "'01'"),
    "total among the prefixes": (
        errors.DuplicateCode,
        lambda: Hierarchy.from_prefixes(["0111"], [2], total="01"),
        "'01'",
    ),
    "nested tops": (errors.BrokenLevels, lambda: Hierarchy.from_nested({"A": ["a"], "B": ["b"]}), "2 outermost"),
    "nested twice": (errors.DuplicateCode, lambda: Hierarchy.from_nested({"T": {"A": ["a"], "B": ["a"]}}), "'a'"),
    "nested in itself": (errors.DuplicateCode, lambda: Hierarchy.from_nested({"T": {"A": ["T"]}}), "'T'"),
    "flat twice": (errors.DuplicateCode, lambda: Hierarchy.flat(["a", "a"]), "'a'"),
    "flat with its total": (errors.DuplicateCode, lambda: Hierarchy.flat(["Total"]), "'Total'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_broken_hierarchies_are_refused_by_name(case: str) -> None:
    kind, make, named = REFUSED[case]
    with pytest.raises(kind) as caught:
        make()
    message = str(caught.value)
    assert message.startswith(f"[{kind.code}]")
    assert named in message
    assert "what to do" in message


def test_unknown_code_suggests_the_nearest() -> None:
    with pytest.raises(errors.UnknownCode, match="did you mean '05112'"):
        Hierarchy.from_parents(PARENTS).index("o5112")


# --- any tree --------------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_sums_follow_their_parts_and_the_total_is_last(data: st.DataObject, trees: Any) -> None:
    pairs = data.draw(trees)
    hierarchy = Hierarchy.from_parents(pairs)
    assert set(hierarchy.codes) == {*pairs, *pairs.values()}
    assert hierarchy.total == "c0"
    assert all(hierarchy.index(child) < hierarchy.index(parent) for child, parent in pairs.items())
    for code in hierarchy.codes:
        assert hierarchy.parts(code) == tuple(c for c in pairs if pairs[c] == code)
        assert hierarchy.is_leaf[hierarchy.index(code)] == (code not in pairs.values())


@given(data=st.data())
def test_a_part_is_one_level_below_its_sum_and_the_deepest_code_is_level_one(data: st.DataObject, trees: Any) -> None:
    pairs = data.draw(trees)
    hierarchy = Hierarchy.from_parents(pairs)
    level = dict(zip(hierarchy.codes, hierarchy.levels.tolist(), strict=True))
    assert all(level[child] == level[parent] - 1 for child, parent in pairs.items())
    assert min(level.values()) == 1
    assert hierarchy.depth == level["c0"] == max(len(chain(c, pairs)) for c in hierarchy.codes)


@given(data=st.data())
def test_ancestors_are_the_chain_to_the_total(data: st.DataObject, trees: Any) -> None:
    pairs = data.draw(trees)
    hierarchy = Hierarchy.from_parents(pairs)
    chains, starts = hierarchy.ancestors
    for i, code in enumerate(hierarchy.codes):
        assert [hierarchy.codes[j] for j in chains[starts[i] : starts[i + 1]]] == chain(code, pairs)


def chain(code: str, pairs: dict[str, str]) -> list[str]:
    return [code, *chain(pairs[code], pairs)] if code in pairs else [code]


@given(data=st.data())
def test_codes_with_their_levels_give_the_tree_back(data: st.DataObject, trees: Any) -> None:
    hierarchy = Hierarchy.from_parents(data.draw(trees))
    assert Hierarchy.from_levels(hierarchy.codes, hierarchy.levels.tolist()) == hierarchy


@given(data=st.data())
def test_hrc_and_nested_notation_give_the_tree_back(data: st.DataObject, trees: Any) -> None:
    hierarchy = Hierarchy.from_parents(data.draw(trees))

    def lines(code: str, depth: int) -> list[str]:
        return ["@" * depth + code, *(line for part in hierarchy.parts(code) for line in lines(part, depth + 1))]

    def nest(code: str) -> Any:
        return {part: nest(part) for part in hierarchy.parts(code)} or None

    text = "\n".join(line for part in hierarchy.parts("c0") for line in lines(part, 0))
    assert Hierarchy.from_hrc(text, total="c0") == hierarchy
    assert Hierarchy.from_nested({"c0": nest("c0")}) == hierarchy


@given(data=st.data())
def test_its_description_gives_the_tree_back(data: st.DataObject, trees: Any) -> None:
    hierarchy = Hierarchy.from_parents(data.draw(trees), labels={"c1": "first"})
    told = hierarchy.describe()
    pairs = [(c, p) for c, p in zip(told["codes"], told["parents"], strict=True) if p is not None]
    labels = dict(zip(told["codes"], told["labels"], strict=True))
    assert Hierarchy.from_parents(pairs, labels=labels) == hierarchy
