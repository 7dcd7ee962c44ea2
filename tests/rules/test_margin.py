"""Counting contributors alone leaves a margin around every hidden value: nobody comes close to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import BadOption
from diskret.model.rule import Verdict
from diskret.rules.magnitude import USUAL_MARGIN
from diskret.rules.rule import Joinable
from tests.present import present

FIRM = 1_000_000.0


def hiding(partner: float) -> dk.Table:
    """A firm that is alone in its cell, beside a cell that is hidden with it."""
    cells = {"s": ["firm", "partner", "rest"], "x": [FIRM, partner, 5e6], "n": [1, 3, 9]}
    table = dk.mark(dk.Table.from_cells(cells, by={"s": None}, value="x", count="n"), dk.rules.MinCount(3))
    return table.with_status(dk.Status.SECONDARY, [["partner"]])


def margin(table: dk.Table, rules: Any) -> list[float]:
    marked = dk.mark(table, rules, special_cases=False)
    assert np.array_equal(present(marked.below), present(marked.above))
    levels: list[float] = present(marked.above).tolist()
    return levels


def test_a_firm_hidden_by_its_count_alone_is_not_known_to_within_one() -> None:
    assert not dk.audit(hiding(1.0)).safe
    assert not dk.audit(hiding(FIRM * USUAL_MARGIN / 100 - 1)).safe
    assert dk.audit(hiding(FIRM * USUAL_MARGIN / 100)).safe


def test_suppress_leaves_the_margin_and_reports_where_it_cannot() -> None:
    cells = {"s": ["firm", "tiny", "rest"], "x": [FIRM, 1.0, 5e6], "n": [1, 3, 9]}
    table = dk.mark(dk.Table.from_cells(cells, by={"s": None}, value="x", count="n"), dk.rules.MinCount(3))
    assert dk.suppress(table).table.name_cells(dk.suppress(table).secondary) == ["s=rest"]
    published = table.with_status(dk.Status.NEVER, [["rest"], ["Total"]])
    with pytest.warns(dk.ProtectionWarning):
        assert not present(dk.suppress(published).audit).safe


def test_the_margin_is_that_of_p_percent_for_a_cell_with_one_contributor(cells_of: Any) -> None:
    table = cells_of([[35], [100], [7, 7, 7]])
    assert margin(table, dk.rules.MinCount(3)) == margin(table, dk.rules.PPercent(USUAL_MARGIN)) == [2.8, 8.0, 0.0, 0.0]


@pytest.mark.parametrize("rule", [dk.rules.PPercent(4), dk.rules.Dominance(1, 90), dk.rules.PQ(4, 80)], ids=str)
def test_beside_a_rule_that_says_what_is_too_close_no_margin_is_added(cells_of: Any, rule: Any) -> None:
    table = cells_of([[35], [10, 20], [100]])
    assert margin(table, dk.rules.MinCount(3) | rule) == margin(table, rule)
    assert margin(table, rule | dk.rules.MinCount(3, counted_by="respondent")) == margin(table, rule)


def test_a_margin_that_was_asked_for_stays_beside_other_rules(cells_of: Any) -> None:
    assert margin(cells_of([[10, 10]]), dk.rules.MinCount(3, margin=50) | dk.rules.PPercent(5)) == [10.0, 10.0]


def test_only_exact_disclosure_is_prevented_if_somebody_says_so(cells_of: Any) -> None:
    assert margin(cells_of([[50], [9, 9, 9]]), dk.rules.MinCount(3, margin=0)) == [0.0, 0.0, 0.0]


def test_counts_have_no_margin() -> None:
    people = dk.tabulate({"s": ["a"] * 2 + ["b"] * 9}, by={"s": None})
    assert margin(people, dk.rules.MinCount(3)) == [0.0, 0.0, 0.0]
    assert margin(people, dk.rules.MinCount(3) | dk.rules.SmallCells(3)) == [0.0, 0.0, 0.0]


def test_rules_of_counts_say_nothing_about_what_is_too_close(cells_of: Any) -> None:
    assert margin(cells_of([[50], [9, 9, 9]]), dk.rules.MinCount(3) | dk.rules.SmallCells(3)) == [4.0, 0.0, 0.0]


@dataclass(frozen=True)
class Mine(Joinable):
    """A rule of the user's own, with levels or without."""

    levels: bool
    name: str = "mine"

    def judge(self, table: dk.Table) -> Verdict:
        nobody = np.zeros(table.shape, dtype=np.bool_)
        return Verdict(primary=nobody, needed=np.zeros(table.shape) if self.levels else None)


def test_a_rule_of_ones_own_counts_if_it_gives_levels(cells_of: Any) -> None:
    table = cells_of([[50], [9, 9, 9]])
    assert margin(table, dk.rules.MinCount(3) | Mine(levels=True)) == [0.0, 0.0, 0.0]
    assert margin(table, dk.rules.MinCount(3) | Mine(levels=False)) == [4.0, 0.0, 0.0]


def test_profit_and_loss_that_cancel_keep_the_margin_of_what_was_contributed(cells_of: Any) -> None:
    assert margin(cells_of([[100, -100]]), dk.rules.MinCount(3)) == [16.0, 16.0]


def test_marking_again_by_the_rules_a_table_keeps_gives_the_same_margin(cells_of: Any) -> None:
    marked = dk.mark(cells_of([[50], [9, 9, 9]]), dk.rules.MinCount(3))
    (rule,) = marked.judges
    assert rule == dk.rules.MinCount(3)
    assert margin(marked, rule) == present(marked.above).tolist()


def test_the_promise_speaks_of_the_margin_and_keeps_its_number_secret() -> None:
    said = " ".join(str(dk.Promise()).split())
    assert "(a minimum count: by its margin)" in said
    assert str(USUAL_MARGIN) not in said
    assert "Sicherheitsabstand" in dk.Promise().describe("de")


def test_what_contributors_publish_has_no_margin_so_that_the_rest_can_be_protected() -> None:
    firms = {"s": ["a", "a", "b", "b", "b"], "x": [9950, 50, 40, 30, 30], "listed": ["yes", "no", "no", "no", "no"]}
    table = dk.tabulate(firms, by={"s": None}, value="x", roles=dk.Roles(public="listed"))
    assert margin(table, dk.rules.MinCount(3))[0] == 4.0
    assert dk.suppress(dk.mark(table, dk.rules.MinCount(3), special_cases=False)).exposed == 0


@pytest.mark.parametrize("wrong", ["x", "", float("nan"), float("inf"), -1, "-0.5", True, [8]])
def test_a_margin_is_a_number_from_zero_on(wrong: Any) -> None:
    with pytest.raises(BadOption, match="margin of the minimum count"):
        dk.rules.MinCount(3, margin=wrong)


def test_a_margin_beyond_measure_is_refused_and_one_of_hundreds_of_digits_is_worked_with() -> None:
    with pytest.raises(BadOption):
        dk.rules.MinCount(3, margin=10**400)
    table = dk.Table.from_cells({"s": ["m", "w"], "x": [5.0, 7.0], "n": [1, 9]}, by={"s": None}, value="x", count="n")
    marked = dk.mark(table, dk.rules.MinCount(3, margin=1e-150))
    assert present(marked.above).max() < 1e-140
