"""Rules offices bring along from tau-ARGUS, each beside a twin that reads its definition from the contributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.io.cell_list import read_cell_list
from diskret.model.errors import BadOption
from diskret.publication.working import load_working, save_working
from diskret.rules.stored import plain_rules, rules_from
from tests.present import present

Cell = Sequence[int]
Cells = Callable[..., dk.Table]


def random_cells(seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [(rng.pareto(0.8, int(rng.integers(1, 8))) * 20).astype(int).tolist() for _ in range(40)]


def judged(rule: Any, table: dk.Table) -> list[bool]:
    found: list[bool] = rule.judge(table).primary[:-1].tolist()
    return found


def demanded(rule: Any, table: dk.Table) -> list[float]:
    found: list[float] = rule.judge(table).needed[:-1].tolist()
    return found


# --- contributors who work together ----------------------------------------------------------------------------------


def coalition_is_too_close(cell: Cell, p: Fraction, n: int) -> bool:
    """The n next largest add up what they know, and take the rest of the cell for the largest."""
    largest, *others = sorted(cell, reverse=True)
    estimate = sum(cell) - sum(others[:n])
    return estimate - largest < p * largest


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_p_percent_protects_against_n_who_work_together(cells_of: Cells, n: int, seed: int) -> None:
    cells = random_cells(seed)
    table = cells_of(cells)
    assert judged(dk.rules.PPercent(20, n=n), table) == [coalition_is_too_close(c, Fraction(1, 5), n) for c in cells]
    assert judged(dk.rules.PQ(20, 50, n=n), table) == [coalition_is_too_close(c, Fraction(2, 5), n) for c in cells]


def test_the_level_is_what_the_coalition_still_has_to_err(cells_of: Cells) -> None:
    table = cells_of([[80, 20, 10, 4], [100, 50, 50]])
    # the rest is 4 where it should be 16; two who know 100 of 200 are right to the last unit
    assert demanded(dk.rules.PPercent(20, n=2), table) == [12.0, 20.0]
    assert judged(dk.rules.PPercent(20, n=1), table) == [True, False]


def test_more_who_work_together_catch_no_fewer_cells(cells_of: Cells) -> None:
    table = cells_of(random_cells(7))
    caught = [dk.rules.PPercent(15, n=n).judge(table).primary for n in (1, 2, 3)]
    assert all((less <= more).all() for less, more in pairwise(caught))


def test_a_coalition_needs_so_many_largest_contributions(cells_of: Cells) -> None:
    with pytest.raises(BadOption, match="looks at the 3 largest contributions, the table knows 2"):
        dk.mark(cells_of([[1, 2]], largest=2), dk.rules.PPercent(10, n=2))
    with pytest.raises(BadOption, match="n of the p% rule = 0"):
        dk.rules.PPercent(10, n=0)
    assert dk.rules.PPercent(10, n=2).border() is None


# --- zeros, and cells that are primary by hand -----------------------------------------------------------------------


def test_zeros_with_contributors_are_primary_and_reach_up_only(cells_of: Cells) -> None:
    by = {"s": dk.Hierarchy.flat(["zero", "empty", "full"])}
    firms = {"s": ["zero", "zero", "full"], "x": [0, 0, 7]}
    marked = dk.mark(dk.tabulate(firms, by=by, value="x"), dk.rules.ZeroCells(10))
    assert marked.name_cells(marked.hidden) == ["s=zero"]
    assert present(marked.above).tolist() == [10, 0, 0, 0]
    assert not present(marked.below).any()
    assert marked.rules_of(marked.index("zero")) == ("zero cells",)


def test_contributions_that_cancel_are_a_zero_too(cells_of: Cells) -> None:
    assert judged(dk.rules.ZeroCells(1), cells_of([[5, -5], [3, -2]])) == [True, False]


def test_zeros_leave_the_margin_of_a_minimum_count_alone(cells_of: Cells) -> None:
    table = cells_of([[50], [0, 0, 0]])
    alone, beside = (
        dk.mark(table, rules) for rules in (dk.rules.MinCount(3), dk.rules.MinCount(3) | dk.rules.ZeroCells(5))
    )
    assert present(alone.above)[0] == present(beside.above)[0] == 4.0


def test_a_cell_primary_by_hand_without_levels_gets_the_margin(cells_of: Cells) -> None:
    table = cells_of([[50, 40], [60], [70]]).with_status(dk.Status.PRIMARY, [["c0"], ["c1"]])
    own = np.array([0.0, 3.0, 0.0, 0.0])
    table = dk.mark(replace(table, below=own, above=own), dk.rules.Given(20))
    assert present(table.above).tolist() == [18.0, 3.0, 0.0, 0.0]
    assert table.rules_of(table.index("c0")) == ("given",)
    assert table.rules == ("given",)


def test_marking_again_asks_for_the_margin_of_the_same_cells(cells_of: Cells) -> None:
    table = cells_of([[50, 40], [60], [70]]).with_status(dk.Status.PRIMARY, [["c0"]])
    rules = dk.rules.Given(20) | dk.rules.MinCount(2)
    once = dk.mark(table, rules)
    twice = dk.mark(once, rules)
    assert once.rules == ("given", "minimum count")
    assert np.array_equal(present(once.above), present(twice.above))
    assert np.array_equal(once.status, twice.status)


# --- requests --------------------------------------------------------------------------------------------------------


def request_is_broken(cell: Cell, kinds: Sequence[int], percents: Sequence[int], n: int) -> bool:
    """The largest of those who asked is too much of the cell for its kind, or has too little company."""
    asked = [(x, kind) for x, kind in zip(cell, kinds, strict=True) if kind and x > 0]
    if not asked:
        return False
    largest = max(x for x, _ in asked)
    too_much = any(percents[k - 1] and 100 * x > percents[k - 1] * sum(cell) for x, k in asked if x == largest)
    return too_much or len(cell) < n


@pytest.mark.parametrize("seed", range(3))
def test_requests_protect_who_asked_and_nobody_else(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    cells = random_cells(seed)
    kinds = [rng.integers(0, 3, len(c)).tolist() for c in cells]
    firms = {
        "cell": [f"{i:02}" for i, c in enumerate(cells) for _ in c],
        "x": [x for c in cells for x in c],
        "asked": [str(k) for each in kinds for k in each],
    }
    table = dk.tabulate(firms, by={"cell": None}, value="x", roles=dk.Roles(asked=("asked", ["1", "2"])))
    for percents, n in (((30, 60), 0), ((0, 40), 3), ((101, 0), 4)):
        found = judged(dk.rules.Request(percents, n), table)
        assert found == [request_is_broken(c, k, percents, n) for c, k in zip(cells, kinds, strict=True)]
    # other rules judge everybody
    plain = dk.tabulate(firms, by={"cell": None}, value="x")
    assert judged(dk.rules.PPercent(10), table) == judged(dk.rules.PPercent(10), plain)


def test_a_holding_asked_if_one_of_its_units_did() -> None:
    firms = {"s": ["a"] * 3, "x": [40, 35, 25], "owner": ["K", "K", "L"], "req": ["", "1", ""]}
    roles = dk.Roles(holding="owner", asked=("req", ["1"]))
    table = dk.tabulate(firms, by={"s": None}, value="x", roles=roles)
    assert present(present(table.respondents).asked)[0].tolist() == [35]
    assert present(present(table.holdings).asked)[0].tolist() == [75]


def test_requests_must_be_known() -> None:
    with pytest.raises(BadOption, match="needs to know who asked for protection"):
        dk.rules.Request(50).judge(dk.tabulate({"s": ["a"], "x": [1]}, by={"s": None}, value="x"))


# --- weights, missing codes, shadow ----------------------------------------------------------------------------------


def test_a_minimum_count_may_count_weights() -> None:
    firms = {"s": ["a", "b", "b"], "x": [5, 6, 7], "w": [3.5, 1.2, 1.2]}
    options = dk.TabulationOptions(weighted_counts=True)
    table = dk.tabulate(firms, by={"s": None}, value="x", roles=dk.Roles(weight="w"), options=options)
    assert present(present(table.respondents).weight).tolist() == [3.5, 2.4, 5.9]
    assert judged(dk.rules.MinCount(3), table) == [True, True]
    assert judged(dk.rules.MinCount(3, weighted=True), table) == [False, True]
    with pytest.raises(BadOption, match="needs the sums of the weights"):
        dk.rules.MinCount(3, weighted=True).judge(dk.tabulate(firms, by={"s": None}, value="x"))


def test_no_rule_judges_cells_with_a_missing_code() -> None:
    firms = {"r": ["N", "S", "9"], "s": ["1", "9", "1"], "x": [5, 6, 7]}
    table = dk.tabulate(firms, by={"r": None, "s": None}, value="x")
    marked = dk.mark(table, dk.rules.MinCount(2), missing={"r": ["9"], "s": ["9", "99"]})
    assert set(marked.name_cells(marked.hidden)) == {"r=N, s=1", "r=N, s=Total", "r=S, s=Total"}
    with pytest.raises(BadOption, match="no classification 'q'"):
        dk.mark(table, dk.rules.MinCount(2), missing={"q": ["9"]})


def test_rules_judge_the_shadow_variable_and_demand_the_same_share_of_the_value() -> None:
    firms = {"s": ["a"] * 3 + ["b"] * 3, "profit": [1, 2, 3, 30, 30, 40], "turnover": [90, 6, 4, 30, 30, 40]}
    table = dk.tabulate(firms, by={"s": None}, value="profit", roles=dk.Roles(shadow="turnover"))
    turnover = dk.tabulate(firms, by={"s": None}, value="turnover")
    for rule in (dk.rules.PPercent(10), dk.rules.Dominance(1, 75)):
        assert judged(rule, table) == judged(rule, turnover) == [True, False]
        share = demanded(rule, turnover)[0] / 100
        assert demanded(rule, table)[0] == pytest.approx(share * 6)
    assert table.value.tolist() == [6, 100, 106]
    assert present(table.largest)[0].tolist() == [3, 2]  # who attacks knows what he contributed to the value
    assert demanded(dk.rules.MinCount(4, margin=50), table) == [3.0, 50.0]


def test_a_shadow_variable_is_refused_where_it_means_nothing() -> None:
    firms = {"s": ["a"], "x": [1], "y": [2], "w": ["yes"]}
    with pytest.raises(BadOption, match="a shadow variable without a value"):
        dk.tabulate(firms, by={"s": None}, roles=dk.Roles(shadow="y"))
    with pytest.raises(BadOption, match="cannot be combined with 'waiver'"):
        dk.tabulate(firms, by={"s": None}, value="x", roles=dk.Roles(shadow="y", waiver="w"))


# --- all of them -----------------------------------------------------------------------------------------------------

NEW = [
    dk.rules.PPercent(17, n=2), dk.rules.PQ(17, 51, n=3), dk.rules.ZeroCells(17), dk.rules.Given(17),
    dk.rules.Request((17, 51), 3, 17, "holding"), dk.rules.MinCount(3, weighted=True),
]  # fmt: skip


@pytest.mark.parametrize("rule", NEW, ids=lambda rule: type(rule).__name__)
def test_names_tell_no_parameter_and_working_files_keep_all(rule: Any) -> None:
    assert "17" not in rule.name
    assert "51" not in rule.name
    assert rules_from(plain_rules([rule])) == (rule,)


@pytest.mark.parametrize(
    "wrong", [lambda: dk.rules.ZeroCells(-1), lambda: dk.rules.Given("much"), lambda: dk.rules.Request((1, 2, 3)),  # type: ignore[arg-type]
              lambda: dk.rules.Request(-1), lambda: dk.rules.Request(5, -1)],
)  # fmt: skip
def test_senseless_parameters_are_refused_without_being_repeated(wrong: Callable[[], Any]) -> None:
    with pytest.raises(BadOption):
        wrong()


def test_what_the_rules_look_at_survives_a_working_file(tmp_path: Any) -> None:
    firms = {"s": ["a", "a", "b"], "x": [1, 2, 3], "y": [9, 1, 4], "w": [2, 1, 1], "req": ["1", "2", ""]}
    roles = dk.Roles(weight="w", shadow="y", asked=("req", ["1", "2"]))
    table = dk.tabulate(
        firms, by={"s": None}, value="x", roles=roles, options=dk.TabulationOptions(weighted_counts=True)
    )
    rules = dk.rules.Request((50, 50)) | dk.rules.MinCount(3, weighted=True, margin=5) | dk.rules.PPercent(10)
    save_working(dk.mark(table, rules), tmp_path / "work.parquet")
    (again,) = load_working(tmp_path / "work.parquet").values()
    assert np.array_equal(dk.mark(again, rules).status, dk.mark(table, rules).status)
    assert again.judges == tuple(rules)


def test_levels_are_no_smaller_than_the_smallest_level(cells_of: Cells) -> None:
    table = cells_of([[2], [50], [0], [1, 1, 1]])
    marked = dk.mark(table, dk.rules.MinCount(2, zeros=True, margin=30), min_level=3)
    assert present(marked.above).tolist() == [3, 15, 0, 0, 0]
    assert present(marked.below).tolist() == [2, 15, 0, 0, 0]  # nothing lies below zero
    with pytest.raises(BadOption, match="smallest level"):
        dk.mark(table, dk.rules.MinCount(2), min_level=-1)


def test_negative_contributions_count_by_size_and_against_the_value_only_if_asked(cells_of: Cells) -> None:
    # 90 of sizes 190 is no dominance; 90 of a value of 20 is
    table = cells_of([[90, -85, 10, 5], [-50, 10, 4], [-50, 60, 40]])
    rules = dk.rules.Dominance(1, 85) | dk.rules.PPercent(10)

    def primary(**how: Any) -> list[str]:
        marked = dk.mark(table, rules, special_cases=False, **how)
        return marked.name_cells(marked.hidden & (np.arange(table.size) < 3))

    assert primary() == ["cell=c1"]  # the second knows 10 of 64, 4 are left
    # whoever compares with the value: 90 > 85 % of 20; below zero there is no share; the rest of 50 is -60
    assert primary(signed=True) == ["cell=c0", "cell=c1", "cell=c2"]
    assert not dk.mark(table, dk.rules.Dominance(1, 85), signed=True, special_cases=False).hidden[1]


def test_without_negative_contributions_signs_change_nothing(cells_of: Cells) -> None:
    table = cells_of(random_cells(11))
    rules = dk.rules.Dominance(2, 80) | dk.rules.PPercent(15, n=2) | dk.rules.MinCount(3)
    one, other = (dk.mark(table, rules, signed=signed, special_cases=False) for signed in (False, True))
    assert np.array_equal(one.status, other.status)
    assert np.array_equal(present(one.above), present(other.above))


def test_cells_may_name_what_their_largest_contributions_are_of(tmp_path: Any) -> None:
    cells = {"s": ["a", "b"], "profit": [6, 9], "n": [3, 3], "turnover": [100, 100], "t1": [90, 40], "t2": [6, 30]}
    own: dict[str, Any] = {"by": {"s": None}, "value": "profit", "count": "n", "largest": ["t1", "t2"]}
    table = dk.Table.from_cells(cells, shadow="turnover", **own)
    assert judged(dk.rules.PPercent(10), table) == [True, False]
    assert demanded(dk.rules.PPercent(10), table)[0] == pytest.approx(5 / 100 * 6)  # 9 are asked for, 4 there
    assert table.largest is None

    (tmp_path / "t.tab").write_text("a;6;3;100;90;6\nb;9;3;100;40;30\n")
    names = (
        ("profit", "NUMERIC"),
        ("n", "FREQUENCY"),
        ("turnover", "NUMERIC> <SHADOW"),
        ("t1", "MAXSCORE"),
        ("t2", "MAXSCORE"),
    )
    described = "".join(f"{name}\n<{tag}>\n" for name, tag in (("s", "RECODEABLE"), *names))
    (tmp_path / "t.rda").write_text(described)
    read = read_cell_list(tmp_path / "t.tab", tmp_path / "t.rda", shadow="turnover")
    assert np.array_equal(dk.mark(read, dk.rules.PPercent(10)).status, dk.mark(table, dk.rules.PPercent(10)).status)
