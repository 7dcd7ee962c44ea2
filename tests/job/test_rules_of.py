"""The rules a job asks for are the rules that judge its table."""

from __future__ import annotations

from typing import Any

from diskret import PQ, Dominance, MinCount, OneCategory, PPercent, SmallCells, SmallMargin
from diskret.job.rules import rules_of
from diskret.job.table_job import TableJob


def rules(asked: dict[str, Any], classifications: dict[str, Any] | None = None) -> list[object]:
    by = list(classifications or {})
    content = {"data": {"cells": "x"}, "rules": asked, "classifications": classifications or {}, "table": {"by": by}}
    return list(rules_of(TableJob.model_validate(content)))


def test_each_key_is_one_rule_with_its_parameters() -> None:
    asked = {
        "min_count": 4, "dominance": [[1, 85], [2, 90.5]], "p_percent": 10, "pq": [5, 50], "small_cells": 5,
        "small_margin": True, "one_category": True,
    }  # fmt: skip
    expected = [MinCount(4), Dominance(1, 85.0), Dominance(2, 90.5), PPercent(10.0), PQ(5.0, 50.0), SmallCells(5)]
    assert rules(asked) == [*expected, SmallMargin(), OneCategory()]


def test_no_key_no_rule() -> None:
    assert rules({}) == []
    assert rules({"small_margin": False, "one_category": False}) == []


def test_a_minimum_count_may_look_at_zeros() -> None:
    assert rules({"min_count": {"n": 5, "zeros": True}}) == [MinCount(5, zeros=True)]


def test_a_minimum_count_may_ask_for_a_margin() -> None:
    assert rules({"min_count": {"margin": 12.5}}) == [MinCount(3, margin=12.5)]


def test_magnitude_rules_are_judged_on_every_level_of_counting_asked_for() -> None:
    both = rules(
        {"min_count": 3, "p_percent": 10, "small_cells": 3, "counted_by": ["holding", "respondent", "holding"]}
    )
    respondents = [MinCount(3), PPercent(10.0)]
    holdings = [MinCount(3, counted_by="holding"), PPercent(10.0, "holding")]
    assert both == [*holdings, *respondents, SmallCells(3)]
    assert rules({"min_count": 3, "counted_by": "holding"}) == [MinCount(3, counted_by="holding")]


def test_lines_are_read_along_the_classifications_called_sensitive() -> None:
    sensitive = {"diagnosis": {"sensitive": True}, "sex": {"sensitive": False}, "age": {}}
    assert rules({"one_category": True}, sensitive) == [OneCategory(("diagnosis",))]
    assert rules({"one_category": True}, {"sex": {"sensitive": False}, "age": {}}) == [OneCategory(("age",))]
    assert rules({"small_margin": True}, {"age": {}}) == [SmallMargin(2, None)]


def test_a_working_file_knows_its_classifications_and_the_job_need_not_list_them() -> None:
    content = {"data": {"table": "x"}, "rules": {"one_category": True}}
    sensitive = TableJob.model_validate(content | {"classifications": {"diagnosis": {"sensitive": True}}})
    assert list(rules_of(sensitive)) == [OneCategory(("diagnosis",))]
    harmless = TableJob.model_validate(content | {"classifications": {"sex": {"sensitive": False}}})
    assert list(rules_of(harmless, ["sex", "age"])) == [OneCategory(("age",))]


def test_a_rule_may_choose_its_own_classifications() -> None:
    asked = {"small_margin": {"most": 1, "sensitive": ["sex"]}, "one_category": {"sensitive": ["age"]}}
    assert rules(asked, {"diagnosis": {"sensitive": True}}) == [SmallMargin(1, ("sex",)), OneCategory(("age",))]
