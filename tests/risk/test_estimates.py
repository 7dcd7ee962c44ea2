"""Estimates before collection: against counting, for joint tables, worst cases and plans."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb, floor, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption, BadShares
from diskret.risk.shares import all_shares, read_shares
from diskret.risk.worst_case import worst_case


@st.composite
def distributions(draw: st.DrawFn, most: int = 4) -> dict[str, list[Fraction]]:
    made = {}
    for name in "abcd"[: draw(st.integers(1, most))]:
        parts = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any))
        made[name] = [Fraction(p, sum(parts)) for p in parts]
    return made


@given(distributions(), st.integers(1, 200))
def test_estimators_by_going_through_all_cells(shares: dict[str, list[Fraction]], n: int) -> None:
    found = dk.estimate_reidentifiable(shares, n=n).at(n)
    cells = [n * prod(c) for c in itertools.product(*shares.values())]
    assert found.singles["truncated"] == sum(floor(x) == 1 for x in cells)
    assert found.singles["rounded"] == sum(floor(x + Fraction(1, 2)) == 1 for x in cells)
    assert found.expected == pytest.approx(sum(float(x) * (1 - float(x) / n) ** (n - 1) for x in cells), abs=1e-9)


def test_expected_singles_are_what_samples_show() -> None:
    shares = {"sex": [0.5, 0.5], "age": [0.4, 0.3, 0.2, 0.1], "school": [0.5, 0.3, 0.2]}
    expected = dk.estimate_reidentifiable(shares, n=40).at(40).expected
    generator = np.random.default_rng(5)
    p = all_shares(read_shares(shares)).astype(float).reshape(-1)
    counted = (generator.multinomial(40, p, size=20_000) == 1).sum(axis=1)
    assert expected == pytest.approx(counted.mean(), abs=4 * counted.std() / np.sqrt(20_000))


def test_many_cells_are_counted_without_writing_them_down() -> None:
    shares = {f"q{i}": [0.4, 0.3, 0.2, 0.1] for i in range(16)}
    n = 10_000_000
    found = dk.estimate_reidentifiable(shares, n=n)
    assert found.cells == 4**16
    by_hand = 0
    for a, b, c in itertools.product(range(17), repeat=3):
        if a + b + c <= 16 and 10**16 <= n * 4**a * 3**b * 2**c < 2 * 10**16:
            by_hand += comb(16, a) * comb(16 - a, b) * comb(16 - a - b, c)
    assert found.at(n).singles["truncated"] == by_hand > 0


# --- joint tables ----------------------------------------------------------------------------------------------------


def test_a_joint_table_of_independent_attributes_changes_nothing() -> None:
    sex, age = [0.4, 0.6], [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)]
    apart = dk.estimate_reidentifiable({"sex": sex, "age": age}, n=30)
    product = [[s * a for a in age] for s in (Fraction(2, 5), Fraction(3, 5))]
    together = dk.estimate_reidentifiable({("sex", "age"): product}, n=30)
    assert together.orwell == pytest.approx(apart.orwell)
    assert together.at(30).singles == apart.at(30).singles


def test_correlation_lowers_the_estimate() -> None:
    apart = dk.estimate_reidentifiable({"sex": [0.5, 0.5], "job": [0.5, 0.5]}, n=10)
    together = dk.estimate_reidentifiable({("sex", "job"): [[0.45, 0.05], [0.05, 0.45]]}, n=10)
    assert together.orwell < apart.orwell
    assert together.cells == apart.cells


def test_tables_with_a_common_attribute_are_conditionally_independent() -> None:
    joined = read_shares({("s", "a"): [[0.3, 0.2], [0.1, 0.4]], ("s", "b"): [[0.25, 0.25], [0.4, 0.1]]})
    (block,) = joined.blocks
    for s, a, b in itertools.product(range(2), repeat=3):
        p = {"sa": [[3, 2], [1, 4]][s][a] / 10, "sb": [[25, 25], [40, 10]][s][b] / 100, "s": 0.5}
        assert float(block.shares[s, a, b]) == pytest.approx(p["sa"] * p["sb"] / p["s"])


def test_tables_in_a_circle_are_fitted() -> None:
    pair = [[0.3, 0.2], [0.2, 0.3]]
    (block,) = read_shares({("a", "b"): pair, ("b", "c"): pair, ("a", "c"): pair}).blocks
    for names in (("a", "b"), ("b", "c"), ("a", "c")):
        assert block.margin(names).astype(float) == pytest.approx(np.array(pair), abs=1e-9)


@given(st.permutations(["a", "b", "c"]))
def test_margins_do_not_depend_on_the_order_of_attributes(order: list[str]) -> None:
    table = np.arange(1, 25).reshape(2, 3, 4)
    shares = {(str(i), str(j), str(k)): Fraction(int(table[i, j, k]), 300) for i, j, k in np.ndindex(table.shape)}
    (block,) = read_shares({("a", "b", "c"): shares}).blocks
    axes = ["abc".index(n) for n in order]
    assert (block.margin(order) == np.transpose(block.shares, axes)).all()
    assert block.margin([order[0]]).sum() == 1


# --- worst case ------------------------------------------------------------------------------------------------------


def singles_by_enumeration(rows: list[int], columns: list[int]) -> tuple[int, int]:
    """Largest and smallest number of ones in all tables of whole numbers with these margins."""
    found = []
    for cells in itertools.product(*(range(min(r, c) + 1) for r in rows for c in columns)):
        table = np.array(cells).reshape(len(rows), len(columns))
        if (table.sum(axis=1) == rows).all() and (table.sum(axis=0) == columns).all():
            found.append(int((table == 1).sum()))
    return max(found), min(found)


@pytest.mark.parametrize(
    ("rows", "columns"), [([3, 2], [2, 3]), ([4, 1, 1], [3, 3]), ([2, 2, 2], [4, 2]), ([5, 3], [4, 4])]
)
def test_worst_case_equals_enumeration(rows: list[int], columns: list[int]) -> None:
    n = sum(rows)
    shares = {"r": [Fraction(x, n) for x in rows], "c": [Fraction(x, n) for x in columns]}
    found = worst_case(read_shares(shares), n, [("r",), ("c",)])
    assert (found.most, found.fewest) == singles_by_enumeration(rows, columns)


def test_a_joint_table_is_kept_in_the_worst_case() -> None:
    shares = {("sex", "job"): [[0.9, 0.0], [0.0, 0.1]]}
    case = dk.estimate_reidentifiable(shares, n=10, worst=True).at(10).worst
    assert case is not None
    assert (case.most, case.fewest) == (1, 1)


def test_too_many_cells_for_integer_programming_are_refused() -> None:
    with pytest.raises(BadOption, match="too large for integer programming"):
        dk.estimate_reidentifiable({str(i): [0.1] * 10 for i in range(3)}, n=10, worst=True)


# --- plans -----------------------------------------------------------------------------------------------------------


@given(
    distributions(most=3),
    st.integers(5, 80),
    st.sampled_from([0.05, 0.1, 0.3]),
    st.sampled_from(["orwell", "expected"]),
)
def test_a_plan_ends_tolerable_or_with_nothing_left(shares: Any, n: int, tolerated: float, by: Any) -> None:
    plan = dk.plan_merges(shares, n=n, tolerated=tolerated, freely=list(shares), by=by)
    left = sum(len(levels) for levels in plan.levels.values())
    assert left == sum(len(s) for s in shares.values()) - len(plan.merges)
    last = plan.merges[-1].singles if plan.merges else plan.before
    assert plan.reached == (last <= tolerated * n)
    assert plan.reached or left == len(shares)


def test_every_step_of_a_plan_takes_the_largest_fall() -> None:
    shares = {"sex": [0.5, 0.5], "age": [0.4, 0.3, 0.2, 0.1]}
    step = dk.plan_merges(shares, n=50, tolerated=0.1, ordered=["age"], freely=["sex"]).merges[0]
    merged = {
        ("sex", ("1", "2")): {"sex": [1.0], "age": shares["age"]},
        ("age", ("1", "2")): {"sex": shares["sex"], "age": [0.7, 0.2, 0.1]},
        ("age", ("2", "3")): {"sex": shares["sex"], "age": [0.4, 0.5, 0.1]},
        ("age", ("3", "4")): {"sex": shares["sex"], "age": [0.4, 0.3, 0.3]},
    }
    best = min(merged, key=lambda k: dk.estimate_reidentifiable(merged[k], n=50).orwell)
    assert (step.attribute, step.levels) == best


def test_ordered_levels_merge_with_neighbours_only_and_kept_ones_not_at_all() -> None:
    shares = {"sex": [0.5, 0.5], "age": {"young": 0.4, "old": 0.2, "older": 0.4}}
    plan = dk.plan_merges(shares, n=100, tolerated=0.01, ordered=["age"], freely=["sex"], keep=["sex"])
    assert plan.levels["sex"] == ("1", "2")
    assert plan.merges[0].levels in {("young", "old"), ("old", "older")}
    assert not plan.reached


def test_nothing_merges_that_nobody_said_may_merge() -> None:
    shares = {"sex": {"female": 0.5, "male": 0.5}, "region": [0.4, 0.3, 0.2, 0.1]}
    plan = dk.plan_merges(shares, n=20, tolerated=0.05)
    assert (plan.merges, plan.reached) == ((), False)
    assert "nothing is left that may merge" in str(plan)
    assert f"instead of merging: {plan.persons_needed}" in str(plan)
    told = dk.plan_merges(shares, n=20, tolerated=0.05, freely=["region"])
    assert {m.attribute for m in told.merges} == {"region"}
    with pytest.raises(dk.DiskretError, match="both ordered and merged freely"):
        dk.plan_merges(shares, n=20, tolerated=0.05, ordered=["region"], freely=["region"])


def test_so_many_persons_would_do_without_merging() -> None:
    shares = {"sex": [0.5, 0.5], "age": [0.4, 0.3, 0.2, 0.1]}
    plan = dk.plan_merges(shares, n=50, tolerated=0.1)
    assert plan.persons_needed is not None
    assert dk.estimate_reidentifiable(shares, n=plan.persons_needed).estimates[0].share() <= 0.1
    assert dk.estimate_reidentifiable(shares, n=plan.persons_needed - 1).estimates[0].share() > 0.1


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ({"sex": [0.5, 0.4]}, "the shares sum to 0.9, not to 1"),
        ({"age": [0.6, 0.3, 0.2]}, "sum to 1.1"),
        ({"sex": [1.2, -0.2]}, "negative"),
        ({"sex": ["half", 0.5]}, "not a number"),
        ({"sex": [float("nan"), 1.0]}, "not a number|sum to|negative"),
        ({}, "no shares"),
        ({"sex": []}, "wrong form"),
        ({("sex", "age"): [0.5, 0.5]}, "wrong form"),
        ({("sex", "age"): [[0.5, 0.3], [0.2]]}, "wrong form"),
        ({("sex", "sex"): [[0.5, 0.5]]}, "twice"),
        ({"sex": [0.5, 0.5], ("sex", "age"): [[0.6, 0.1], [0.2, 0.1]]}, "different shares of 'sex'"),
        ({"sex": {"m": 0.5, "f": 0.5}, ("sex", "age"): [[0.25, 0.25], [0.25, 0.25]]}, "different levels"),
    ],
)
def test_shares_that_are_none_are_refused(shares: Any, says: str) -> None:
    with pytest.raises(BadShares, match=says):
        dk.estimate_reidentifiable(shares, n=10)


@pytest.mark.parametrize("n", [0, -3, 1.5, [], [10, 0], True])
def test_a_number_of_persons_is_whole_and_positive(n: Any) -> None:
    with pytest.raises(BadOption):
        dk.estimate_reidentifiable({"sex": [0.5, 0.5]}, n=n)


def test_rounding_of_printed_shares_is_passed_over() -> None:
    assert dk.estimate_reidentifiable({"a": [0.333, 0.333, 0.333]}, n=10).levels == {"a": 3}
    assert dk.estimate_reidentifiable({"a": [1 / 7] * 7}, n=10).levels == {"a": 7}


def test_plans_refuse_what_they_cannot_do() -> None:
    with pytest.raises(BadOption, match="no attribute 'agee'"):
        dk.plan_merges({"age": [0.5, 0.5]}, n=10, tolerated=0.1, ordered=["agee"])
    with pytest.raises(BadOption, match="tolerated share"):
        dk.plan_merges({"age": [0.5, 0.5]}, n=10, tolerated=5)
