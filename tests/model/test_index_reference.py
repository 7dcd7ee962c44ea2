"""Position and elementary indices: golden tables of the Quaderverfahren, and what makes them useful."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy

Golden = Callable[[str], Any]


@pytest.fixture
def user_index(golden: Golden) -> tuple[Hierarchy, Any]:
    file = golden("quader/ch7-abb71-73-index-reference-table")
    table = file["table"]
    return Hierarchy.from_levels(table["user_index"], table["aggregation_index"]), file


def test_position_indices_number_the_segments_of_a_level(user_index: tuple[Hierarchy, Any]) -> None:
    hierarchy, file = user_index
    assert hierarchy.levels.tolist() == file["table"]["aggregation_index"]
    assert hierarchy.position_indices.tolist() == file["table"]["position_index"]


def test_elementary_indices_reproduce_the_printed_reference_table(user_index: tuple[Hierarchy, Any]) -> None:
    hierarchy, file = user_index
    expected = file["expected"]
    assert hierarchy.elementary_indices().tolist() == [expected[f"E{a}"] for a in (1, 2, 3)]
    for a, row in enumerate(hierarchy.elementary_indices(), start=1):
        assert sorted(set(row.tolist())) == expected["elementary_ranges_including_margin"][f"E{a}"]


def test_segments_are_the_parts_of_one_sum(user_index: tuple[Hierarchy, Any]) -> None:
    hierarchy, file = user_index
    found: dict[str, list[list[int]]] = {f"level{hierarchy.depth}": [[int(hierarchy.total)]]}
    for parts in hierarchy.part_index:
        if parts.size:
            level = int(hierarchy.levels[parts[0]])
            found.setdefault(f"level{level}", []).append([int(hierarchy.codes[i]) for i in parts])
    assert found == file["expected"]["segments"]


def test_columns_of_the_raised_example_table_without_its_dummies(golden: Golden) -> None:
    file = golden("quader/ch7-abb68-column-elementary-indices")
    levels = {1: 3, 2: 2, 3: 1}
    real = [(c, i) for i, c in enumerate(file["table"]["user_index"]) if c not in ("D", "SD")]
    hierarchy = Hierarchy.from_levels([c for c, _ in real], [levels[len(c)] for c, _ in real])
    wanted = [[file["expected"][row][i] for _, i in real] for row in ("E1", "E2")]
    assert hierarchy.elementary_indices().tolist() == wanted


def test_elementary_dimension_is_levels_less_one_per_classification(golden: Golden) -> None:
    file = golden("quader/ch6-elementary-dimension")
    for case, n in zip(file["table"]["cases"], file["expected"]["n"], strict=True):
        chains = [
            Hierarchy.from_levels([str(i) for i in range(depth)], range(1, depth + 1)) for depth in case["levels"]
        ]
        assert sum(h.elementary_indices().shape[0] for h in chains) == n, case["name"]


@pytest.mark.parametrize("side", ["row", "column"])
def test_subtables_are_addressed_by_level_and_position(golden: Golden, side: str) -> None:
    file = golden("quader/ch1-subtable-addressing")
    sequence, level = file["table"]["sequences"][f"{side}s"], file["table"]["levels"][f"{side}s"]
    hierarchy = Hierarchy.from_levels(sequence, [level[c] for c in sequence])
    found = {}
    for at, parts in enumerate(hierarchy.part_index):
        if parts.size:
            address = int(hierarchy.levels[parts[0]]), int(hierarchy.position_indices[parts[0]])
            found[address] = ([hierarchy.codes[i] for i in parts], hierarchy.codes[at])
    wanted = {
        (s["aggregation_index"], s["position_index"]): (s["members"], s["total"])
        for s in file["expected"]["derived"][f"{side}_segments"]
    }
    assert found == wanted


def test_number_of_subtables_is_the_product_of_sums(golden: Golden) -> None:
    file = golden("quader/ch1-subtable-addressing")
    counts = []
    for side in ("rows", "columns"):
        sequence, level = file["table"]["sequences"][side], file["table"]["levels"][side]
        hierarchy = Hierarchy.from_levels(sequence, [level[c] for c in sequence])
        counts.append(sum(1 for parts in hierarchy.part_index if parts.size))
    assert np.prod(counts) == file["expected"]["derived"]["subtable_count"]


@given(data=st.data())
def test_no_two_codes_share_their_elementary_indices(data: st.DataObject, trees: Any) -> None:
    hierarchy = Hierarchy.from_parents(data.draw(trees))
    rows = hierarchy.elementary_indices()
    assert len({tuple(column) for column in rows.T.tolist()}) == len(hierarchy)


@given(data=st.data())
def test_parts_differ_from_their_sum_in_one_elementary_index_only(data: st.DataObject, trees: Any) -> None:
    """Which is why the raised table has no subtotals: every sum is a margin in exactly one dimension."""
    hierarchy = Hierarchy.from_parents(data.draw(trees))
    rows = hierarchy.elementary_indices()
    for at, parts in enumerate(hierarchy.part_index):
        for part in parts:
            level = hierarchy.levels[part]
            differs = np.flatnonzero(rows[:, part] != rows[:, at]) + 1
            assert differs.tolist() == [level]
            assert rows[level - 1, at] == rows[level - 1].max() == rows[level - 1, -1]


@given(data=st.data())
def test_position_indices_follow_from_levels_in_sort_order(data: st.DataObject, trees: Any) -> None:
    hierarchy = Hierarchy.from_parents(data.draw(trees))
    seen: dict[int, list[int]] = {}
    for i, level in enumerate(hierarchy.levels.tolist()):
        parent = hierarchy.parents[i]
        sums = seen.setdefault(level, [])
        if parent not in sums:
            sums.append(parent)
        assert hierarchy.position_indices[i] == sums.index(parent) + 1
