"""Marking: who caught a cell and what it needs; what must be shown is named; nothing is changed in the input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import (
    PQ,
    Dominance,
    Hierarchy,
    MinCount,
    OneCategory,
    Pool,
    PPercent,
    ProtectionWarning,
    SmallCells,
    SmallMargin,
    Status,
    Table,
    compare_rules,
    mark,
)
from diskret.model import errors
from diskret.rules.rule import largest_needed
from tests.present import present

CELLS = [[90, 4, 1], [30, 20, 20, 10], [50, 10], [0, 0], [34, 33, 33]]


def test_every_primary_cell_knows_its_rules_and_its_protection(cells_of: Any) -> None:
    marked = mark(cells_of(CELLS), MinCount(3) | PPercent(10) | Dominance(1, 85))
    told = {
        marked.codes(at)[0]: (marked.rules_of(at), present(marked.above)[at], present(marked.below)[at])
        for at, _ in marked.marks()
    }
    assert told == {
        # p%: 10 % of 90 less the remainder of 1; dominance: 90 / 0.85 less 95
        "c0": (("p%", "(1,k) dominance"), pytest.approx(90 / 0.85 - 95), pytest.approx(90 / 0.85 - 95)),
        "c2": (("minimum count", "p%"), 5.0, 5.0),
    }
    assert marked.rules_of((1,)) == ()
    assert not present(marked.above)[~marked.hidden].any()


def test_joined_rules_catch_what_any_of_them_catches(cells_of: Any) -> None:
    table = cells_of(CELLS)
    rules: list[Any] = [MinCount(3), PPercent(3), Dominance(2, 65)]
    alone = [mark(table, rule).hidden for rule in rules]
    together = mark(table, rules[0] | rules[1] | rules[2])
    assert np.array_equal(together.hidden, np.any(alone, axis=0))
    for bit, hidden in enumerate(alone, start=1):
        assert np.array_equal((present(together.rule) >> bit & 1).astype(bool), hidden)


def test_a_marked_table_knows_its_judges(cells_of: Any) -> None:
    marked = mark(cells_of(CELLS), MinCount(3) | PPercent(10))
    assert marked.judges == (MinCount(3), PPercent(10))
    assert mark(marked, PPercent(5)).judges == (PPercent(5),)
    assert "10" not in repr(marked)


def test_a_pool_has_the_judges_of_all_its_tables(cells_of: Any) -> None:
    one, two = (mark(cells_of(CELLS), rules) for rules in (MinCount(3) | PPercent(10), PPercent(10) | Dominance(1, 85)))
    assert Pool.of({"one": one, "two": two}).judges == (MinCount(3), PPercent(10), Dominance(1, 85))


def test_marking_changes_nothing_in_its_input(cells_of: Any) -> None:
    table = cells_of(CELLS).with_status(Status.PRIMARY, [("c1",)])
    before = copy.deepcopy(table)
    marked = mark(table, MinCount(3) | PPercent(10))
    marked.status[:] = 9
    present(marked.above)[:] = 9
    for name in ("value", "status"):
        assert np.array_equal(getattr(table, name), getattr(before, name))
    assert np.array_equal(table.largest, before.largest)
    assert (table.rule, table.above, table.rules) == (None, None, ())


def test_cells_marked_before_stay_primary_and_say_so(cells_of: Any) -> None:
    table = cells_of(CELLS).with_status(Status.PRIMARY, [("c1",), ("c2",)])
    marked = mark(table, MinCount(3))
    assert marked.rules_of((1,)) == ("given",)
    assert marked.rules_of((2,)) == ("given", "minimum count")
    assert marked.status.tolist() == [0, 1, 1, 0, 0, 0]


def test_marking_again_replaces_the_marks_of_the_rules_but_not_those_made_by_hand(cells_of: Any) -> None:
    table = cells_of(CELLS).with_status(Status.PRIMARY, [("c4",)])
    again, fresh = mark(mark(table, PPercent(50) | MinCount(5)), PPercent(10)), mark(table, PPercent(10))
    assert again.rules == fresh.rules
    for name in ("status", "rule"):
        assert np.array_equal(getattr(again, name), getattr(fresh, name))
    by_rule = present(again.rule) & 1 == 0
    assert np.array_equal(present(again.above)[by_rule], present(fresh.above)[by_rule])
    assert again.rules_of((4,)) == ("given",)


@pytest.mark.parametrize("status", [Status.NEVER, Status.PUBLISHED])
def test_a_sensitive_cell_that_must_be_shown_is_named(status: Status, cells_of: Any) -> None:
    table = cells_of(CELLS).with_status(status, [("c0",), ("c1",)])
    with pytest.warns(ProtectionWarning, match=r"1 sensitive cell must be published.*cell=c0") as caught:
        marked = mark(table, PPercent(10))
    assert "cell=c1" not in str(caught[0].message)
    assert marked.status.tolist() == [status, status, Status.PRIMARY, 0, 0, 0]
    assert marked.rules_of((0,)) == ("p%",)


def test_the_same_rule_twice_gets_a_number_not_its_parameter(cells_of: Any) -> None:
    marked = mark(cells_of(CELLS), PPercent(77) | PPercent(10) | PPercent(55))
    assert marked.rules == ("given", "p%", "p% [2]", "p% [3]")


@given(st.integers(11, 99), st.integers(11, 99))
def test_parameters_are_never_in_the_name_of_a_rule(a: int, b: int) -> None:
    made: list[Callable[[int], Any]] = [
        MinCount,
        lambda k: Dominance(1, k),
        lambda k: Dominance(2, k, counted_by="holding"),
        PPercent,
        lambda p: PQ(p, 50),
        lambda q: PQ(5, q),
        SmallCells,
        SmallMargin,
    ]
    for make in made:
        assert make(a).name == make(b).name
        assert str(a) not in make(a).name


def test_a_rule_for_holdings_says_so_in_its_name() -> None:
    rules: list[Any] = [
        MinCount,
        lambda **o: Dominance(1, 80, **o),
        lambda **o: PPercent(10, **o),
        lambda **o: PQ(5, 50, **o),
    ]
    for make in rules:
        assert make(counted_by="holding").name == make().name + " of holdings"


def test_too_many_rules_are_refused(cells_of: Any) -> None:
    many = MinCount(3) | MinCount(4)
    for n in range(5, 35):
        many = many | MinCount(n)
    with pytest.raises(errors.BadOption, match="32 rules"):
        mark(cells_of(CELLS), many)


def test_tabulation_learns_how_many_contributions_the_rules_need() -> None:
    assert largest_needed(MinCount(3)) == 0
    assert largest_needed(MinCount(3) | Dominance(4, 90) | PPercent(10)) == 4


# --- special cases no rule decides -----------------------------------------------------------------------------------


def sizes(golden: Any) -> tuple[Table, Any]:
    case = golden("rules/special_cases")["expected"][1]
    counts = case["input"]["size_class_counts"]
    cells = {"size": list(counts), "n": list(counts.values())}
    return Table.from_cells(cells, by={"size": Hierarchy.flat(list(counts))}, value="n", frequency=True), case


def test_two_far_classes_are_named_though_no_rule_catches_them(golden: Any) -> None:
    table, case = sizes(golden)
    assert SmallMargin().judge(table).primary.any() == case["margin_rule_flag"]
    assert OneCategory().judge(table).primary.any() == case["one_category_flag"]
    with pytest.warns(ProtectionWarning, match="two far classes: 2 cells.*'size=2', 'size=8'"):
        mark(table, SmallMargin() | OneCategory(), ordered=["size"])


def test_classes_are_only_far_in_an_ordered_classification(golden: Any) -> None:
    mark(sizes(golden)[0], SmallMargin())


def test_neighbouring_classes_and_three_classes_are_not_far() -> None:
    for counts in ([0, 4, 5, 0], [3, 0, 4, 5], [4, 0, 0, 0]):
        by = {"size": Hierarchy.flat("1234")}
        table = Table.from_cells({"size": list("1234"), "n": counts}, by=by, value="n", frequency=True)
        mark(table, SmallCells(3), ordered=["size"])


def two_diagnoses(frequent: int, rare: int) -> Table:
    cells = {"who": ["x", "x", "y", "y"], "diagnosis": ["A", "B"] * 2, "n": [1, 1, frequent, rare]}
    return Table.from_cells(cells, by={"who": None, "diagnosis": None}, value="n", frequency=True)


def test_an_obvious_category_is_named(golden: Any) -> None:
    assert golden("rules/special_cases")["expected"][2]["input"]["line_total"] == 2
    with pytest.warns(ProtectionWarning, match="obvious category: 2 cells.*'who=x, diagnosis=A'.*'who=x, diagnosis=B'"):
        mark(two_diagnoses(500, 8), SmallMargin())


def test_hidden_categories_of_like_frequency_are_not_obvious() -> None:
    marked = mark(two_diagnoses(50, 40), SmallMargin())
    assert marked.hidden.sum() == 2


def test_values_published_elsewhere_are_named_as_useless_partners(cells_of: Any) -> None:
    table = cells_of([[5, 5, 5], [5, 5, 5, 5]], public=[["1", "1", "1"], ["1", "0", "0", "0"]])
    with pytest.warns(ProtectionWarning, match="values published elsewhere: 1 cell .*'cell=c0'") as caught:
        mark(table, PPercent(1))
    assert "cell=c1" not in str(caught[0].message)


def test_special_cases_can_be_switched_off(golden: Any) -> None:
    mark(two_diagnoses(500, 8), SmallMargin(), special_cases=False)


# --- comparing rules -------------------------------------------------------------------------------------------------


def test_comparison_counts_what_each_rule_marks_and_what_only_it_marks(cells_of: Any) -> None:
    table = cells_of([[90, 4, 3, 3], [51, 40, 5, 4], [20, 20, 20, 20, 20], [60, 40], []])
    rules: list[Any] = [Dominance(1, 85), Dominance(2, 90), MinCount(3)]
    comparison = compare_rules(table, rules)
    sets = [{int(i) for i in np.flatnonzero(rule.judge(table).primary)} for rule in rules]
    assert sets == [{0}, {0, 1, 3}, {3}]
    assert comparison.marked == (1, 3, 1)
    assert comparison.only == (0, 1, 0)
    assert np.flatnonzero(comparison.only_cells(1)).tolist() == [1]
    assert comparison.both.tolist() == [[len(a & b) for b in sets] for a in sets]
    assert comparison.names == ("1. (1,k) dominance", "2. (2,k) dominance", "3. minimum count")
    assert comparison.borders == ((1.0, 0.0, 0.85), (1.0, 1.0, 0.9), None)
    assert present(comparison.shares)[0].tolist() == [0.9, 0.04]
    assert len(present(comparison.shares)) == comparison.occupied.sum() == 5


def test_comparison_prints_no_parameter_and_takes_joined_rules(cells_of: Any) -> None:
    table = cells_of([[90, 4, 3, 3]])
    text = str(compare_rules(table, Dominance(1, 87) | PPercent(13)))
    assert "87" not in text
    assert "13" not in text
    assert "(1,k) dominance" in text
    with pytest.raises(errors.BadOption):
        compare_rules(table, [])


def test_a_sum_of_one_part_has_no_obvious_category() -> None:
    by = {"m": Hierarchy.from_nested({"T": {"first": ["a"], "rest": ["b", "c"]}}), "s": Hierarchy.flat("uv")}
    cells = {"m": list("aabbcc"), "s": list("uvuvuv"), "n": [1, 20, 2, 30, 40, 50]}
    table = Table.from_cells(cells, by=by, value="n", frequency=True)
    marked = mark(table, SmallCells(3))
    assert int((marked.status == Status.PRIMARY).sum()) > 0
