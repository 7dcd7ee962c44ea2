"""The printed examples of the magnitude rules, flag for flag and figure for figure."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from diskret import PQ, Dominance, MinCount, PPercent, Table, mark
from diskret.rules.rule import Rule

Golden = Callable[[str], Any]


def flag(table: Table, rule: Any, cell: int = 0) -> bool:
    return bool(rule.judge(table).primary[cell])


def test_every_printed_cell_is_judged_as_printed_by_every_rule(golden: Golden, cells_of: Any) -> None:
    for case in golden("rules/magnitude_rules")["expected"]:
        table, flags = cells_of([case["contributions"]]), case["flags"]
        assert table.value[0] == flags["total"]
        assert flag(table, MinCount(3)) == flags["min_frequency"], case["name"]
        for k, primary in flags["one_k"].items():
            assert flag(table, Dominance(1, int(k))) == primary, (case["name"], k)
        for k, primary in flags["two_k"].items():
            assert flag(table, Dominance(2, int(k))) == primary, (case["name"], k)
        for p, primary in flags["p_percent"].items():
            assert flag(table, PPercent(int(p))) == primary, (case["name"], p)


def test_printed_overestimate_of_the_largest_is_where_the_p_rule_turns(golden: Golden, cells_of: Any) -> None:
    for case in golden("rules/magnitude_rules")["expected"]:
        printed = case["flags"]["second_overestimates_largest_by_percent"]
        table = cells_of([case["contributions"]])
        assert flag(table, PPercent(max(1, printed + 0.0001)))
        if printed > 0:
            assert not flag(table, PPercent(printed - 0.0001))


@pytest.fixture
def cell(golden: Golden) -> tuple[Table, dict[str, Any]]:
    file = golden("quader/ch0-primary-rules")
    (given,) = file["table"]["cells"]
    cells = {"s": ["a"], "x": [given["value"]], "n": [3], "x1": [given["largest"]], "x2": [given["second_largest"]]}
    return Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"]), file


def test_the_cell_of_chapter_0_is_judged_as_stated(cell: tuple[Table, dict[str, Any]]) -> None:
    table, file = cell
    rules: dict[str, Callable[[dict[str, Any]], Rule]] = {
        "(1,k)": lambda c: Dominance(1, 100 * Fraction(repr(c["k"]))),
        "(2,k)": lambda c: Dominance(2, 100 * Fraction(repr(c["k"]))),
        "p%": lambda c: PPercent(100 * Fraction(repr(c["p"]))),
        "(p,q)": lambda c: PQ(100 * Fraction(repr(c["p"])), 100 * Fraction(repr(c["q"]))),
    }
    cases = [c for part in ("stated", "derived") for c in file["expected"][part] if "primary" in c]
    assert len(cases) == 10
    for case in cases:
        assert flag(table, rules[case["rule"]](case)) == case["primary"], case


def test_the_limit_of_the_p_rule_is_exactly_remainder_over_largest(cell: tuple[Table, dict[str, Any]]) -> None:
    table, _ = cell
    limit = 100 * Fraction(5, 85)
    assert not flag(table, PPercent(limit))
    assert flag(table, PPercent(limit + Fraction(1, 10**12)))


def test_guaranteed_overestimates_are_the_stated_figures(cell: tuple[Table, dict[str, Any]]) -> None:
    _, file = cell
    stated, derived = file["expected"]["stated"], file["expected"]["derived"]
    k1, k2, x1, x2 = Fraction(85, 100), Fraction(95, 100), 85, 10
    one = (1 - k1) / k1
    two = (1 + Fraction(x2, x1)) * (1 - k2) / k2
    assert float(one) == pytest.approx(derived[6]["value"], rel=1e-15)
    assert float(two) == pytest.approx(derived[7]["value"], rel=1e-15)
    assert round(float(one), 3) == stated[0]["minimum_overestimate"]
    low, high = stated[2]["minimum_overestimate_range"]
    assert round(float((1 - k2) / k2), 3) == low
    assert round(float(2 * (1 - k2) / k2), 4) == high
    # the rules keep these promises: p% with that p turns where the dominance rule turns
    assert derived[8]["value"] == pytest.approx(2 / (2 + 0.0589), rel=1e-12)


def test_count_rule_of_three(golden: Golden, cells_of: Any) -> None:
    for case in golden("quader/ch0-primary-rules")["expected"]["count_rule"]:
        assert flag(cells_of([[10] * case["contributors"]]), MinCount()) == case["primary"]


def test_mining_is_primary_in_every_value_column_of_example_1(golden: Golden) -> None:
    file = golden("rules/example1_magnitude_table")
    cells = {"industry": file["rows"], "n": file["establishments"]} | {v: file[v] for v in ("turnover", "investment")}
    tables = Table.from_cells(cells, by={"industry": None}, value=["turnover", "investment"], count="n")
    found = []
    for name, table in tables.items():
        marked = mark(table, MinCount(3))
        found += [[*marked.codes(at), name] for at, _ in marked.marks()]
    assert sorted(found) == sorted(file["expected"]["primary"])


def test_a_contributor_who_publishes_its_value_is_no_company(golden: Golden, cells_of: Any) -> None:
    case = golden("rules/special_cases")["expected"][0]
    contributions = case["input"]["contributions"]
    sizes, public = list(contributions.values()), ["publishes" in name for name in contributions]
    assert flag(cells_of([sizes]), MinCount(3)) == case["plain_min_frequency_flag"]
    table = cells_of([sizes], public=[public])
    assert table.count[0] - table.respondents.public_count[0] == case["effective_contributors"]
    assert flag(table, MinCount(3)) == case["flag_with_public_contributor_removed"]
