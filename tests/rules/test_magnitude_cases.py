"""Single claims about the magnitude rules: holdings, weights, zeros, what they need to know."""

from __future__ import annotations

from typing import Any

import pytest

from diskret import PQ, Dominance, MinCount, PPercent, Table, mark
from diskret.model import errors
from tests.present import present


def flag(table: Table, rule: Any) -> bool:
    return bool(rule.judge(table).primary[0])


def test_three_firms_of_one_owner_are_one_contributor_at_holding_level(cells_of: Any) -> None:
    table = cells_of([[10, 10, 10]], holding=[["h", "h", "h"]])
    assert not flag(table, MinCount(3))
    assert flag(table, MinCount(3, counted_by="holding"))
    assert not flag(table, PPercent(10))
    assert flag(table, PPercent(10, counted_by="holding"))


def test_an_owner_in_two_cells_is_joined_in_their_sum_only(cells_of: Any) -> None:
    table = cells_of([[40, 20, 20], [40, 20, 20]], holding=[["h", None, None], ["h", None, None]])
    rule = Dominance(1, 49, counted_by="holding")
    assert rule.judge(table).primary.tolist() == [True, True, True]
    assert Dominance(1, 49).judge(table).primary.tolist() == [True, True, False]


def test_holding_rules_need_holdings(cells_of: Any) -> None:
    with pytest.raises(errors.BadOption, match="holding="):
        MinCount(3, counted_by="holding").judge(cells_of([[1]]))


def test_rules_say_how_many_contributions_they_need(cells_of: Any) -> None:
    with pytest.raises(errors.BadOption, match="largest=3"):
        Dominance(3, 90).judge(cells_of([[5, 5, 5]], largest=2))
    with pytest.raises(errors.BadOption, match="count="):
        MinCount(3).judge(Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x"))


def test_a_weighted_giant_shields_itself(cells_of: Any) -> None:
    assert flag(cells_of([[100, 10]], weight=[[1, 1]]), PPercent(8))
    assert not flag(cells_of([[100, 10]], weight=[[3, 1]]), PPercent(8))


def test_minimum_count_counts_respondents_not_weights(cells_of: Any) -> None:
    assert flag(cells_of([[100, 10]], weight=[[50, 50]]), MinCount(3))


@pytest.mark.parametrize("contributions", [[0], [0, 0]])
def test_a_cell_of_zeros_is_open_unless_asked_for(contributions: list[int], cells_of: Any) -> None:
    table = cells_of([contributions, [5, 5, 5]])
    for rule in (MinCount(3), PPercent(10), Dominance(1, 75), Dominance(2, 75), PQ(10, 50)):
        assert not flag(table, rule)
    assert flag(table, MinCount(3, zeros=True))


def test_an_empty_cell_is_never_primary(cells_of: Any) -> None:
    table = cells_of([[], [5, 5, 5]])
    for rule in (MinCount(3, zeros=True), PPercent(10), Dominance(1, 75)):
        assert not flag(table, rule)


def test_contributions_that_cancel_out_are_still_contributions(cells_of: Any) -> None:
    table = cells_of([[-50, 50]])
    assert table.value[0] == 0
    assert flag(table, MinCount(3))
    assert flag(table, PPercent(10))


def test_a_cell_of_waivers_needs_nothing(cells_of: Any) -> None:
    table = cells_of([[100], [100]], waiver=[["yes"], ["no"]])
    for rule in (MinCount(3), PPercent(10), Dominance(1, 75)):
        assert rule.judge(table).primary.tolist()[:2] == [False, True]


def test_a_public_contributor_is_nobodys_target(cells_of: Any) -> None:
    table = cells_of([[1000, 10, 5]], waiver=[["no", "yes", "yes"]], public=[["1", "0", "0"]])
    assert not flag(table, PPercent(10))
    assert not flag(table, Dominance(1, 75))


def test_minimum_count_may_ask_for_a_margin(cells_of: Any) -> None:
    marked = mark(cells_of([[50], [10, 10, 10]]), MinCount(3, margin=20))
    assert present(marked.above).tolist() == [10, 0, 0]
    assert present(marked.below).tolist() == [10, 0, 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: MinCount(0),
        lambda: MinCount(3, margin=-1),
        lambda: Dominance(0, 80),
        lambda: Dominance(1, 100),
        lambda: Dominance(1, 0),
        lambda: PPercent(0),
        lambda: PPercent(-1),
        lambda: PQ(5, 0),
        lambda: PQ(5, 101),
    ],
)
def test_parameters_without_sense_are_refused(make: Any) -> None:
    with pytest.raises(errors.BadOption):
        make()
