"""The worked examples of the SAFE description, number by number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.safe.control import Control, control_tables, weight_classes
from tests.safe.readable_step import Variant, changes, decide, penalty, variants

Golden = Callable[[str], Any]
MISPRINTS = [2, 33, 34, 35, 36, 37, 38, 39, 40, 45, 46, 47, 48]


@pytest.fixture(scope="module")
def printed_table(golden: Golden) -> tuple[dict[str, Any], list[Variant]]:
    given = golden("safe/decision_table_48")
    names = {"district": "BZ", "city_half": "ST"}
    deviations = {
        f"{names.get(level, level)}:{code}": f
        for level, cells in given["input"]["deviations_before"].items()
        for code, f in cells.items()
    }
    cells = list(given["input"]["cells_of_record"].values())
    frequencies = [row["count"] for row in given["input"]["group"]]
    return given, variants(frequencies, cells, deviations, dict.fromkeys(deviations, given["input"]["bound"]))


def test_the_decision_table_is_reproduced_row_by_row(printed_table: tuple[dict[str, Any], list[Variant]]) -> None:
    given, found = printed_table
    assert len(found) == len(given["rows"]) == 48
    for row, variant in zip(given["rows"], found, strict=True):
        computed = row["computed"]
        assert list(variant.change) == row["change"]
        assert bool(variant.exceeds) == computed["exceeds_bound"]
        assert set(variant.exceeds) == set(computed["cells_over_bound"])
        assert variant.cases == computed["zf2"]
        if not variant.exceeds:  # the description computes no further goals of a variant it drops
            assert variant.penalty == computed["penalty_S_delta"]
            assert variant.deviation == computed["zf4"]


def test_the_thirteen_misprints_are_in_zf4_and_break_its_parity(
    printed_table: tuple[dict[str, Any], list[Variant]],
) -> None:
    """Every row lies in five touched cells, so ZF4 must have the parity of the sum of the changes."""
    given, found = printed_table
    wrong = []
    for row, variant in zip(given["rows"], found, strict=True):
        printed = row["printed"]["zf4"]
        if printed is None:
            continue
        assert (printed - sum(variant.change)) % 2 == (printed != variant.deviation)
        if printed != variant.deviation:
            assert printed == variant.deviation - 1
            wrong.append(row["variant"])
    assert wrong == MISPRINTS


def test_the_step_carries_out_what_the_description_chooses(
    printed_table: tuple[dict[str, Any], list[Variant]],
) -> None:
    given, found = printed_table
    chosen = decide(found)
    assert chosen is not None
    assert chosen.change == (-3, -1, 2)
    assert [found.index(chosen) + 1] == given["expected"]["best_on_zf2_then_penalty_S"]
    fewest = min(v.cases for v in found if not v.exceeds)
    assert [i + 1 for i, v in enumerate(found) if not v.exceeds and v.cases == fewest] == given["expected"][
        "best_on_zf2"
    ]
    assert sum(chosen.change) == -2  # the printed step does not keep the number of objects


def test_change_sets(golden: Golden) -> None:
    given = golden("safe/change_sets")
    for row in given["expected"]:
        assert changes(row["x"]) == row["phase1"]
        if row["phase2"] is not None:
            assert changes(row["x"], phase=2) == row["phase2"]
    for rows, key in ((3, "three"), (4, "four")):
        options = [len(changes(1))] + [len(changes(1)) + 1] * (rows - 1)
        assert np.prod(options) == given["combinations"][f"{key}_records_all_with_three_options"]


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_change_sets_of_any_k_lead_out_of_every_case_in_one_step(k: int) -> None:
    for x in range(3 * k):
        reached = {x + d for d in changes(x, k)}
        assert min(reached) >= 0
        if 0 < x < k:
            assert {0, k} <= reached
        assert all(y == 0 or y >= k for y in (x + d for d in changes(x, k, phase=2)))
    assert k in changes(0, k)
    assert -k in changes(k, k)


def test_penalties(golden: Golden) -> None:
    for row in golden("safe/penalties")["expected"]:
        assert penalty(row["abs_deviation"], row["limit"]) == row["s"]
        assert penalty(-row["abs_deviation"], row["limit"], phase=2) == row["s_K"]


def test_weights(golden: Golden) -> None:
    given = golden("safe/weights")
    counts = np.array([row["t"] for row in given["expected"]])
    for variant in (1, 2):
        assert weight_classes(counts, variant).tolist() == [row[f"variant{variant}"] for row in given["expected"]]
        for each in given[f"variant{variant}"]:
            ends = [each["from"], *([each["to"]] if each["to"] else [])]
            assert set(weight_classes(np.array(ends), variant).tolist()) == {each["g"]}


def test_two_is_the_smallest_deviation_where_three_neighbours_stand_alone(golden: Golden) -> None:
    """Exhaustively: one establishment in each of three groups, groups and division controlled."""
    given = golden("safe/infeasible_d10")
    best: dict[int, list[tuple[int, ...]]] = {}
    for counts in product([0, *range(3, 10)], repeat=3):
        worst = max(*(abs(c - 1) for c in counts), abs(sum(counts) - 3))
        best.setdefault(worst, []).append(counts)
    least = min(best)
    assert least == given["expected"]["minimal_max_absolute_deviation"]
    assert [list(c) for c in best[least]] == given["expected"]["optimal_counts"]


def test_control_tables_are_generated_as_described(golden: Golden) -> None:
    given = golden("safe/control_table_generation")
    industry = dk.Hierarchy.from_nested(
        {"all": {"DA": {"DA1": ["DA191", "DA197"], "DA2": ["DA200"]}, "DB": {"DB1": ["DB100", "DB101"]}}}
    )
    region = dk.Hierarchy.from_nested({"city": {"Ost": ["03", "04"], "West": ["05", "06"]}})
    names = {"WZ": "WZ5", "WZ:2": "WZ3", "WZ:3": "WZ2", "Region": "district", "Region:2": "city_half"}
    found = control_tables(Control(up_to=2), {"WZ": industry, "Region": region})
    shown = {tuple(names[str(level)] for level in table.levels) for table in found}
    assert shown == {tuple(table) for table in given["expected"]["tables"]}
    assert len(found) == len(given["expected"]["tables"])


@pytest.mark.parametrize("number", range(4))
def test_number_of_control_tables(golden: Golden, number: int) -> None:
    each = golden("safe/control_table_generation")["expected"]["further_counts"][number]
    attributes = {f"a{i}": nested(depth) for i, depth in enumerate(each["levels"])}
    assert len(control_tables(Control(up_to=each["d"]), attributes)) == each["tables"]


def nested(levels: int) -> dk.Hierarchy:
    """A hierarchy with so many key levels, two parts to every sum."""
    codes = [f"{i:0{levels}b}" for i in range(2**levels)]
    return dk.Hierarchy.from_prefixes(codes, list(range(1, levels)))
