"""Every interval the golden files give for a whole table, and the leaks printed on the slides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Promise, Status, Table, audit, suppress
from tests.printed import ReadPrinted

Golden = Callable[[str], Any]


def hidden(table: Table, cells: Any) -> Table:
    return table.with_status(Status.SECONDARY, [[str(c) for c in codes] for codes in cells])


def name_of(table: Table, codes: Any) -> str:
    return ", ".join(f"{n}={c}" for n, c in zip(table.names, codes, strict=True))


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("ch3-fig3.5-base-table", "lp_intervals_whole_table_positive_only"),
        ("ch3-fig3.0-span125-zero-partners", "lp_intervals_whole_table"),
    ],
)
def test_intervals_over_whole_tables_of_chapter_3(printed: ReadPrinted, file: str, said: str) -> None:
    p = printed(file)
    report = audit(
        hidden(p.table, p.expected("secondary")), Promise(knowledge=Knowledge.positive()), intervals="hidden"
    )
    expected = p.content["computed_not_in_source"][said]
    assert len(expected) == len(report.intervals)
    for each in expected:
        assert report.intervals[name_of(p.table, each["coord"])] == pytest.approx((each["lower"], each["upper"]))


@pytest.mark.parametrize(
    ("said", "pattern", "times"),
    [
        ("non_negative_pattern_non_negative_user", "secondary_non_negative", np.inf),
        ("estimate_error_400_pattern_non_negative_user", "secondary_estimate_error_400", np.inf),
        ("estimate_error_400_pattern_user_with_upper_bound_5x", "secondary_estimate_error_400", 5.0),
    ],
)
def test_intervals_of_users_of_appendix_a_3(printed: ReadPrinted, said: str, pattern: str, times: float) -> None:
    p = printed("appA-3-example-table-q299")
    value = p.table.value
    most = np.full(value.shape, np.inf) if np.isinf(times) else times * value
    table = replace(hidden(p.table, p.expected(pattern)), lower=np.zeros(value.shape), upper=most)
    report = audit(table, Promise(knowledge=Knowledge.intervals()), intervals="primary")
    expected = p.content["expected"]["derived_attacker_intervals"][said]
    assert len(expected) == len(report.intervals)
    for each in expected:
        low, high = (np.inf if end is None else end for end in each["interval"])
        assert report.intervals[name_of(p.table, each["coord"])] == pytest.approx((low, high), abs=1e-4)


def frequency(content: Any) -> Table:
    rows, columns = content["rows"], content["columns"]
    cells = {"row": [r for r in rows for _ in columns], "col": columns * len(rows)}
    cells["n"] = [n for line in content["values"] for n in line]
    by = {"row": Hierarchy.flat(rows), "col": Hierarchy.flat(columns)}
    return Table.from_cells(cells, by=by, value="n", frequency=True)


@pytest.mark.parametrize("file", ["frequency_case1_margin_two", "frequency_case2_one_category"])
def test_ranges_of_the_frequency_cases(golden: Golden, file: str) -> None:
    content = golden(f"rules/{file}")
    table = frequency(content).with_status(Status.PRIMARY, content["expected"]["primary_cells"])
    alone = audit(table, Promise(guard="public"), intervals="primary")
    for each in content["expected"]["ranges_with_primary_only"]:
        assert alone.intervals[name_of(table, each["cell"])] == tuple(each["range"])
    assert {e.index for e in alone.exposed} == set(map(tuple, np.argwhere(table.hidden).tolist()))
    for key in ("one_sufficient_pattern_against_exact_recovery", "pattern_analogous_to_slide_example_2"):
        pattern = content["expected"].get(key)
        if pattern is None:
            continue
        others = [c for c in pattern["suppressed"] if c not in content["expected"]["primary_cells"]]
        report = audit(hidden(table, others), Promise(guard="public"), intervals="hidden")
        assert not report.exposed
        assert len(pattern["ranges"]) == len(report.intervals)
        for each in pattern["ranges"]:
            assert report.intervals[name_of(table, each["cell"])] == tuple(each["range"])


def test_ranges_of_the_magnitude_example(golden: Golden) -> None:
    """Turnover; the printed investment total is 500 off its rows, which is another matter."""
    content = golden("rules/example1_magnitude_table")
    cells = {"wz": content["rows"], "turnover": content["turnover"], "n": content["establishments"]}
    table = Table.from_cells(cells, by={"wz": Hierarchy.flat(content["rows"])}, value="turnover", count="n")
    primary = table.with_status(Status.PRIMARY, [["Mining"]])
    (found,) = audit(primary).exposed
    assert found.lower == found.upper == content["expected"]["recovered_if_primary_only"]["turnover"]
    report = audit(hidden(primary, [["Energy"]]), intervals="hidden")
    assert set(report.intervals.values()) == {tuple(content["expected"]["ranges_after_secondary"]["turnover"])}
    assert report.safe


def test_three_dimensional_table_of_figure_3_5(printed: ReadPrinted) -> None:
    """The wider cuboid leaves [0, 139] to both primaries; star sums are not published."""
    p = printed("ch3-fig3.5-3d-complete-table")
    said = p.content["expected"]["cuboid_A"]
    base = printed("ch3-fig3.5-base-table")
    # the raised table says no more than the table with subtotals: position 1, 2, S of group L, R
    column = {("1", "L"): "1", ("2", "L"): "2", ("S", "L"): "3", ("1", "R"): "4", ("2", "R"): "5", ("S", "R"): "6"}
    cells = [(str(c["coord"][0]), column[c["coord"][1], c["coord"][2]]) for c in said["intervals"]]
    others = [c for c in cells if base.table.status[base.table.index(*c)] != Status.PRIMARY]
    report = audit(hidden(base.table, others), Promise(knowledge=Knowledge.positive()), intervals="primary")
    assert set(report.intervals.values()) == {tuple(said["interval_of_both_primaries"])}


# --- linked tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("berlin", [1, 700_000, 88_000_000])
def test_the_state_that_the_federal_total_gives_away(golden: Golden, berlin: int) -> None:
    """Scenario 1: each state's table is safe on its own; what the slide leaves out is chosen here."""
    content = golden("rules/linked_scenario1")
    *states, germany = content["table"]
    shown = sum(s["investment"] or 0 for s in states)
    enterprises = sum(s["enterprises"] or 0 for s in states)
    cells = {
        "state": [s["unit"] for s in states],
        "n": [s["enterprises"] or germany["enterprises"] - enterprises for s in states],
        "x": [
            berlin if not s.get("not_shown") and s["investment"] is None
            else s["investment"] or germany["investment"] - shown - berlin
            for s in states
        ],
    }  # fmt: skip
    table = Table.from_cells(cells, by={"state": Hierarchy.flat(cells["state"])}, value="x", count="n")
    assert table.value[-1] == germany["investment"]
    primary = table.with_status(Status.PRIMARY, [[content["expected"]["primary"][0][0]]])
    assert [(e.lower, e.upper, e.exact) for e in audit(primary).exposed] == [(berlin, berlin, True)]
    result = suppress(primary)
    assert result.audit is not None
    assert result.audit.safe
    parts = result.table.hidden[:-1].sum()
    assert result.table.hidden[-1] or parts >= content["expected"]["minimum_suppressed_parts_if_total_published"]


def test_hiding_only_the_total_of_the_sub_table_does_not_help(golden: Golden) -> None:
    """Scenario 2, as its note says: while all five regions stay visible the total follows."""
    content = golden("rules/linked_scenario2")
    expected = content["expected"]
    tree = Hierarchy.from_nested(
        {"all": {"4521": None, "4522": None, "4523": list(content["subtable"]), "4524": None, "4525": None}}
    )
    values = {"4522": expected["value_4522_recovered"], **content["subtable"]}
    values |= {k: v for k, v in content["table"].items() if v is not None}
    table = Table.from_cells({"wz": list(values), "x": list(values.values())}, by={"wz": tree}, value="x")
    leaking = table.with_status(Status.PRIMARY, [["4522"]]).with_status(Status.SECONDARY, [["4523"]])
    (found,) = audit(leaking).exposed
    assert (found.lower, found.exact) == (expected["value_4522_recovered"], expected["leak"])
    for region in content["subtable"]:
        assert audit(hidden(leaking, [[region]])).safe
