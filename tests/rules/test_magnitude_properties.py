"""What the magnitude rules promise on any data (P1 to P5 of the Quaderverfahren), and twins that argue by attackers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diskret import PQ, Dominance, Hierarchy, MinCount, PPercent, Roles, Table
from diskret.model.contributors import Contributors

SIZES = st.one_of(st.integers(0, 20), st.integers(0, 10**6))
CELL = st.lists(SIZES, min_size=1, max_size=7)
CELLS = st.lists(CELL, min_size=1, max_size=8)
PERCENT = st.decimals(min_value="1", max_value="99.99", places=2)


def known(cells: Sequence[Sequence[Any]], scale: int = 1, ranked: int = 3) -> Table:
    """A table straight from contributions; the total is left out of it (empty)."""
    ordered = [sorted(c, reverse=True) for c in cells]
    value = np.array([float(Fraction(sum(c)) / scale) for c in ordered] + [0.0])
    largest = [[float(Fraction(x) / scale) for x in [*c, *[0] * ranked][:ranked]] for c in ordered] + [[0.0] * ranked]
    count = np.array([len(c) for c in ordered] + [0])
    by = {"c": Hierarchy.flat([str(i) for i in range(len(cells))])}
    return Table(by, "x", value, np.zeros(value.shape, np.uint8), Contributors(count, np.array(largest)))


def primary(table: Table, rule: Any) -> list[bool]:
    found: list[bool] = rule.judge(table).primary[:-1].tolist()
    return found


# --- P1: the border is open ------------------------------------------------------------------------------------------


@given(st.integers(1, 10**6), st.integers(10, 1000), st.integers(0, 3), st.integers(1, 10**6))
def test_equality_leaves_a_cell_open_under_p_percent(a: int, p10: int, decimals: int, second: int) -> None:
    largest, remainder, scale = 1000 * a, a * p10, 10**decimals
    second = min(second, largest)
    rule = PPercent(Fraction(p10, 10))
    total = largest + second + remainder
    assert primary(with_largest(total, [largest, second], scale), rule) == [False]
    assert primary(with_largest(total - 1, [largest, second], scale), rule) == [True]


@given(st.integers(2, 10**6), st.integers(10, 999), st.integers(0, 3), st.integers(1, 3))
def test_equality_leaves_a_cell_open_under_dominance(a: int, k10: int, decimals: int, n: int) -> None:
    total, together = 1000 * a, a * k10
    assume(together >= n)
    parts = [together - (n - 1) * (together // n), *[together // n] * (n - 1)]
    rule = Dominance(n, Fraction(k10, 10))
    at_border = with_largest(total, parts, 10**decimals)
    assert primary(at_border, rule) == [False]
    assert primary(with_largest(total, [parts[0] + 1, *parts[1:]], 10**decimals), rule) == [True]


def with_largest(total: int, largest: list[int], scale: int) -> Table:
    people = Contributors(np.array([9, 0]), np.array([[x / scale for x in largest], [0.0] * len(largest)]))
    by = {"c": Hierarchy.flat(["0"])}
    return Table(by, "x", np.array([total / scale, 0.0]), np.zeros(2, np.uint8), people)


# --- P2 to P5 --------------------------------------------------------------------------------------------------------


@given(CELLS, PERCENT)
def test_primary_under_one_k_is_primary_under_two_k(cells: Any, k: Any) -> None:
    table = known(cells)
    one, two = primary(table, Dominance(1, k)), primary(table, Dominance(2, k))
    assert all(b for a, b in zip(one, two, strict=True) if a)


@given(st.lists(st.lists(SIZES, min_size=1, max_size=2), min_size=1), PERCENT)
def test_one_or_two_contributors_are_always_primary_under_p_percent_and_two_k(cells: Any, parameter: Any) -> None:
    table = known(cells)
    somebody = [max(c) > 0 for c in cells]
    assert primary(table, PPercent(parameter)) == somebody
    assert primary(table, Dominance(2, parameter)) == somebody


@given(CELLS, PERCENT, st.decimals(min_value="0.1", max_value="100", places=2), st.integers(0, 3))
def test_p_q_is_p_percent_with_p_over_q(cells: Any, p: Any, q: Any, decimals: int) -> None:
    table = known(cells, 10**decimals)
    ratio = 100 * Fraction(p) / Fraction(q)
    assert primary(table, PQ(p, q)) == primary(table, PPercent(ratio))
    assert np.array_equal(PQ(p, q).judge(table).needed, PPercent(ratio).judge(table).needed)  # type: ignore[arg-type]


@given(CELLS, PERCENT)
def test_open_cells_keep_the_guaranteed_overestimate(cells: Any, percent: Any) -> None:
    table, share = known(cells), Fraction(percent) / 100
    guaranteed = (1 - share) / share
    rules = {rule: primary(table, rule) for rule in (Dominance(1, percent), Dominance(2, percent), PPercent(percent))}
    one, two, p = rules.values()
    for i, cell in enumerate(cells):
        total, (x1, x2) = sum(cell), sorted([*cell, 0], reverse=True)[:2]
        if not x1:
            continue
        if not one[i]:
            assert Fraction(total - x1, x1) >= guaranteed
        if not two[i]:
            assert Fraction(total - x2 - x1, x1) >= (1 + Fraction(x2, x1)) * guaranteed
        if not p[i]:
            assert Fraction(total - x2 - x1, x1) >= share


@given(CELLS, st.decimals(min_value="1", max_value="99", places=2))
def test_p_percent_with_the_overestimate_of_one_k_catches_all_of_it(cells: Any, k: Any) -> None:
    table, share = known(cells), Fraction(k) / 100
    one, p = primary(table, Dominance(1, k)), primary(table, PPercent(100 * (1 - share) / share))
    assert all(b for a, b in zip(one, p, strict=True) if a)


@given(CELLS, st.lists(PERCENT, min_size=2, max_size=2))
def test_stricter_parameters_catch_more(cells: Any, parameters: Any) -> None:
    low, high = sorted(parameters)
    table = known(cells)
    for strict, mild in (
        (PPercent(high), PPercent(low)),
        (Dominance(1, low), Dominance(1, high)),
        (MinCount(4), MinCount(3)),
    ):
        assert all(a for a, b in zip(primary(table, strict), primary(table, mild), strict=True) if b)


@given(CELLS, PERCENT, st.integers(1, 3))
def test_borders_in_the_plane_of_shares_say_what_the_rules_say(cells: Any, parameter: Any, n: int) -> None:
    table = known(cells)
    for rule in (Dominance(n, parameter), PPercent(parameter), PQ(parameter, 50)):
        border = rule.border()
        if border is None:
            assert n == 3
            continue
        a, b, c = border
        for cell, caught in zip(cells, primary(table, rule), strict=True):
            if sum(cell):
                x, y = (share / sum(cell) for share in sorted([*cell, 0], reverse=True)[:2])
                if abs(a * x + b * y - c) > 1e-9:
                    assert caught == (a * x + b * y > c)


# --- needed protection -----------------------------------------------------------------------------------------------


@given(CELLS, PERCENT, st.integers(1, 3))
def test_a_value_that_far_above_just_would_not_be_primary(cells: Any, parameter: Any, n: int) -> None:
    table = known(cells)
    for rule in (Dominance(n, parameter), PPercent(parameter), PQ(parameter, 40)):
        verdict = rule.judge(table)
        needed = verdict.needed
        assert needed is not None
        assert (needed[verdict.primary] > 0).all()
        for factor, still in ((1 - 1e-6, True), (1 + 1e-6, False)):
            raised = Table(table.by, "x", table.value + needed * factor, table.status, table.respondents)
            assert (rule.judge(raised).primary == (verdict.primary & still)).all()


# --- who needs protection: twins that try every attacker on every target ---------------------------------------------

PERSON = st.tuples(SIZES, st.booleans())


def attackers_succeed(cell: list[tuple[int, bool]], p: Fraction) -> bool:
    """Some contributor who needs protection is estimated within p by the largest of the others."""
    total = sum(x for x, _ in cell)
    for i, (target, needs) in enumerate(cell):
        others = [x for j, (x, _) in enumerate(cell) if j != i]
        if needs and total - max(others, default=0) - target < p * target:
            return True
    return False


def coalition_succeeds(cell: list[tuple[int, bool]], n: int, k: Fraction) -> bool:
    """Some contributor who needs protection makes up, with the n-1 largest others, more than k of the cell."""
    total = sum(x for x, _ in cell)
    for i, (target, needs) in enumerate(cell):
        others = sorted((x for j, (x, _) in enumerate(cell) if j != i), reverse=True)
        if needs and target + sum(others[: n - 1]) > k * total:
            return True
    return False


@settings(max_examples=30)
@given(data=st.data(), percent=PERCENT, role=st.sampled_from(["waiver", "request"]))
def test_only_those_who_need_protection_make_a_cell_primary(
    data: st.DataObject, percent: Any, role: str, cells_of: Any
) -> None:
    cells = data.draw(st.lists(st.lists(PERSON, min_size=1, max_size=6), min_size=1, max_size=6))
    flags = [[needs == (role == "request") for _, needs in cell] for cell in cells]
    table = cells_of([[x for x, _ in cell] for cell in cells], largest=3, **{role: flags})
    share = Fraction(percent) / 100
    assert primary(table, PPercent(percent)) == [attackers_succeed(c, share) for c in cells]
    for n in (1, 2, 3):
        assert primary(table, Dominance(n, percent)) == [coalition_succeeds(c, n, share) for c in cells]
    few = [len(c) < 3 and any(needs for _, needs in c) and any(x for x, _ in c) for c in cells]
    assert primary(table, MinCount(3)) == few


@settings(max_examples=30)
@given(data=st.data(), percent=PERCENT)
def test_public_contributors_are_as_if_they_were_not_there_for_the_ratio_rules(
    data: st.DataObject, percent: Any, cells_of: Any
) -> None:
    cells = data.draw(st.lists(st.lists(PERSON, min_size=1, max_size=6), min_size=1, max_size=6))
    table = cells_of([[x for x, _ in c] for c in cells], largest=3, public=[[open_ for _, open_ in c] for c in cells])
    private = [[(x, True) for x, open_ in c if not open_] for c in cells]
    share = Fraction(percent) / 100
    assert primary(table, PPercent(percent)) == [attackers_succeed(c, share) for c in private]
    assert primary(table, Dominance(2, percent)) == [coalition_succeeds(c, 2, share) for c in private]


@settings(max_examples=30)
@given(data=st.data(), percent=PERCENT)
def test_negative_contributions_count_by_their_size(data: st.DataObject, percent: Any, cells_of: Any) -> None:
    cells = data.draw(st.lists(st.lists(st.integers(-1000, 1000), min_size=1, max_size=6), min_size=1, max_size=6))
    signed, unsigned = cells_of(cells), cells_of([[abs(x) for x in c] for c in cells])
    for rule in (PPercent(percent), Dominance(2, percent), MinCount(3)):
        assert primary(signed, rule) == primary(unsigned, rule)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=5), min_size=1, max_size=5), PERCENT)
def test_whole_weights_are_so_many_equal_contributors(cells: Any, percent: Any) -> None:
    """Checked on the list of largest, where a weight of two and two records of weight one must not differ."""
    from diskret import tabulate

    names = [f"c{i}" for i, c in enumerate(cells) for _ in c]
    sizes = [x for c in cells for x in c]
    by = {"c": Hierarchy.flat([f"c{i}" for i in range(len(cells))])}
    weighted = tabulate(
        {"c": names, "x": sizes, "w": [2] * len(sizes)}, by=by, value="x", roles=Roles(weight="w"), largest=4
    )
    twice = tabulate({"c": names * 2, "x": sizes * 2}, by=by, value="x", largest=4)
    assert np.array_equal(weighted.largest, twice.largest)  # type: ignore[arg-type]
    for rule in (PPercent(percent), Dominance(2, percent)):
        assert primary(weighted, rule) == primary(twice, rule)


def test_rules_catch_in_order_of_their_threshold() -> None:
    table = known([[70, 20, 10], [80, 10, 10], [90, 5, 5]])
    counts = [sum(primary(table, Dominance(1, k))) for k in (60, 75, 85, 95)]
    assert counts == [3, 2, 1, 0]
    assert all(a >= b for a, b in pairwise(counts))
