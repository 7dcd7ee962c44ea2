"""Univariate microaggregation: golden groups, the exact optimum, and what is kept."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.microdata._kernels import group_values, moments, sorted_usable
from diskret.microdata._mdav_kernels import mdav
from diskret.microdata.microaggregation import fixed_starts, group_column, mdav_values, optimal_starts
from diskret.model.errors import BadOption, NotFinite, ProtectionWarning, TooFewUnits

Golden = Callable[[str], Any]
values = st.lists(st.integers(-50, 1000).map(float), min_size=3, max_size=13)
positive = st.lists(st.floats(0.01, 1e9), min_size=4, max_size=60)


def compositions(n: int, least: int) -> Iterator[tuple[int, ...]]:
    """All ways to cut n sorted values into consecutive groups of at least ``least``, with no bound above."""
    if n == 0:
        yield ()
    for size in range(least, n + 1):
        for rest in compositions(n - size, least):
            yield (size, *rest)


def within(x: np.ndarray, sizes: tuple[int, ...]) -> float:
    ends = list(itertools.accumulate(sizes))
    return sum(float(((g := x[e - s : e]) - g.mean()) @ (g - g.mean())) for e, s in zip(ends, sizes, strict=True))


def sizes_of(starts: np.ndarray, n: int) -> tuple[int, ...]:
    return tuple(np.diff([*starts, n]).tolist())


# --- golden ----------------------------------------------------------------------------------------------------------


def test_triples_are_the_printed_ones(golden: Golden) -> None:
    case = golden("panel/microaggregation_triples")
    units, expected = list(case["input"]), case["expected"]
    x = np.array([np.nan if v is None else v for v in case["input"].values()])
    done = dk.microaggregate({"x": x}, ["x"], method="fixed").frame["x"]
    assert [None if np.isnan(v) else round(v, 6) for v in done] == list(expected["values"].values())
    for group in expected["groups"]:
        assert len({done[units.index(u)] for u in group}) == 1
    used = ~np.isnan(x) & (x != 0)
    assert round(done[used].sum(), 9) == expected["sum_after"] == expected["sum_before"]
    assert round(x[used].var(), 6) == expected["variance_nonzero_before"]
    assert round(done[used].var(), 6) == expected["variance_nonzero_after"]


def test_optimal_groups_are_the_printed_ones(golden: Golden) -> None:
    case = golden("panel/optimal_grouping")
    x = np.sort(np.array(case["input"], dtype=float))
    for expected in case["expected"]:
        starts = optimal_starts(x, expected["m"])
        groups = [part[::-1].tolist() for part in np.split(x, starts[1:])][::-1]
        assert groups == expected["groups"]
        assert within(x, sizes_of(starts, x.size)) == pytest.approx(expected["sse"], abs=1e-9)
        others = sorted(within(x, s) for s in compositions(x.size, expected["m"]))
        assert others[:2] == pytest.approx([expected["sse"], expected["second_best_sse"]], abs=1e-9)


def test_variance_preserving_values_are_the_printed_ones(golden: Golden) -> None:
    for case in golden("panel/variance_preserving_groups")["expected"]:
        x = np.sort(np.array(case["group"], dtype=float))
        out = np.empty_like(x)
        _, _, ruled, fallen = group_values(x, np.array([0]), True, out)
        assert bool(ruled) == (case["g_used"] != case["g_default"])
        if case["still_negative"]:  # our convention: the plain mean, reported
            assert fallen == 1
            assert out == pytest.approx([case["mean"]] * case["m"], abs=1e-6)
        else:
            g = case["g_used"]
            assert out == pytest.approx([case["lower_value"]] * (case["m"] - g) + [case["upper_value"]] * g, abs=1e-6)
            assert out.mean() == pytest.approx(case["mean"])
            assert out.std() == pytest.approx(case["sd_population"], abs=1e-6)


def test_printed_formulas_give_the_printed_lower_values_even_where_they_are_negative(golden: Golden) -> None:
    for case in golden("panel/variance_preserving_groups")["expected"]:
        m, g = case["m"], case["g_used"]
        assert case["mean"] - np.sqrt(g / (m - g)) * case["sd_population"] == pytest.approx(
            case["lower_value"], abs=1e-5
        )
        assert case["still_negative"] == (case["mean"] < np.sqrt(g / (m - g)) * case["sd_population"])


# --- the optimum -----------------------------------------------------------------------------------------------------


@given(values, st.integers(2, 4))
def test_optimal_grouping_equals_brute_force_over_all_groupings(column: list[float], m: int) -> None:
    x = np.sort(np.array(column))
    if x.size < m:
        return
    sizes = sizes_of(optimal_starts(x, m), x.size)
    assert all(m <= s <= 2 * m - 1 for s in sizes)
    best = min(within(x, s) for s in compositions(x.size, m))
    assert within(x, sizes) == pytest.approx(best, rel=1e-9, abs=1e-6)


def readable_sizes(x: np.ndarray, m: int) -> tuple[int, ...]:
    """The readable twin of the kernel: shortest path with exact fractions."""
    from fractions import Fraction

    f = [Fraction(float(v)) for v in x]
    cost: list[Fraction | None] = [Fraction(0)] + [None] * len(f)
    size = [0] * (len(f) + 1)
    for j in range(m, len(f) + 1):
        for s in range(m, min(2 * m - 1, j) + 1):
            before = cost[j - s]
            if before is not None:
                part = f[j - s : j]
                mean = sum(part, Fraction(0)) / s
                c = before + sum(((v - mean) * (v - mean) for v in part), Fraction(0))
                if cost[j] is None or c < cost[j]:  # type: ignore[operator]
                    cost[j], size[j] = c, s
    found = []
    j = len(f)
    while j:
        found.append(size[j])
        j -= size[j]
    return tuple(found[::-1])


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_kernel_agrees_with_its_readable_twin(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.lognormal(10, 3, size=int(rng.integers(m, 80))))
    assert sizes_of(optimal_starts(x, m), x.size) == readable_sizes(x, m)


@given(st.lists(st.floats(allow_infinity=False) | st.integers(-3, 3).map(float), max_size=60))
def test_sorting_agrees_with_a_stable_comparison_sort(column: list[float]) -> None:
    x = np.array(column, dtype=np.float64)
    ascending, place = sorted_usable(x)
    kept = np.flatnonzero(~np.isnan(x) & (x != 0))
    order = kept[np.argsort(x[kept], kind="stable")]
    assert place.tolist() == order.tolist()
    assert ascending.tolist() == x[order].tolist()


@given(positive)
def test_moments_are_mean_and_squares_around_it(column: list[float]) -> None:
    mean, squares = moments(np.array(column))
    middle = sum(column) / len(column)
    assert mean == pytest.approx(middle)
    assert squares == pytest.approx(sum((v - middle) ** 2 for v in column), abs=1e-9 * max(column) ** 2)


def test_small_values_are_grouped_well_beside_huge_ones() -> None:
    """Prefix sums over such a column lose every digit of the small end."""
    rng = np.random.default_rng(7)
    small, huge = np.sort(rng.random(60)), 1e15 + np.sort(rng.random(6)) * 1e14
    for x in (np.concatenate([small, huge]), np.concatenate([-huge[::-1], small])):
        sizes = sizes_of(optimal_starts(x, 3), x.size)
        assert sizes == readable_sizes(x, 3)


def test_large_groups_use_wider_sizes() -> None:
    x = np.sort(np.random.default_rng(1).normal(size=1000))
    sizes = sizes_of(optimal_starts(x, 200), x.size)
    assert sum(sizes) == 1000
    assert all(200 <= s <= 399 for s in sizes)


# --- what is kept ----------------------------------------------------------------------------------------------------


@given(positive)
def test_means_are_kept_and_every_value_is_shared(column: list[float]) -> None:
    x = np.array(column)
    for fixed in (False, True):
        done = group_column(x, 3, fixed).values
        assert done.sum() == pytest.approx(x.sum(), rel=1e-12)
        assert np.unique(done, return_counts=True)[1].min() >= 3


@given(positive)
def test_variance_is_kept_where_no_group_falls_back(column: list[float]) -> None:
    x = np.array(column)
    done = group_column(x, 4, keep_variance=True)
    assert done.values.mean() == pytest.approx(x.mean(), rel=1e-12)
    assert (done.values >= 0).all()
    kept = x.var() - done.lost / x.size
    assert done.values.var() == pytest.approx(kept, rel=1e-9, abs=1e-9 * x.max() ** 2)
    if not done.fallen:
        assert done.values.var() == pytest.approx(x.var(), rel=1e-9, abs=1e-12 * x.max() ** 2)


def test_million_values_keep_mean_and_variance_to_rounding() -> None:
    x = np.random.default_rng(3).lognormal(10, 2, size=200_000)
    done = group_column(x, 4, keep_variance=True)
    assert done.fallen == 0
    assert done.values.mean() == pytest.approx(x.mean(), rel=1e-12)
    assert done.values.var() == pytest.approx(x.var(), rel=1e-12)
    assert np.unique(done.values, return_counts=True)[1].min() >= 2


def test_zeros_and_missing_keep_their_state() -> None:
    x = np.array([0.0, 5, np.nan, 6, 7, 0, 8, 9, np.nan, 30])
    done = dk.microaggregate({"x": x}, ["x"], m=3).frame["x"]
    assert np.array_equal(np.isnan(done), np.isnan(x))
    assert np.array_equal(done == 0, x == 0)


def test_negative_values_may_stay_negative() -> None:
    x = np.array([-10.0, -8, -3, 2, 5, 9, 20, 21])
    done = group_column(x, 4, keep_variance=True)
    assert done.fallen == 0
    assert done.values.var() == pytest.approx(x.var())


def test_waves_are_grouped_separately_or_pooled() -> None:
    panel = {"x": [1.0, 2, 3, 101, 102, 103], "year": [1, 2, 1, 2, 1, 2]}
    pooled = dk.microaggregate(panel, ["x"]).frame["x"]
    assert pooled.tolist() == [2, 2, 2, 102, 102, 102]
    separate = dk.microaggregate(panel, ["x"], wave="year").frame["x"]
    assert separate.tolist() == pytest.approx([106 / 3, 206 / 3] * 3)


def test_input_is_untouched() -> None:
    x = np.array([3.0, 1, 2, 9, 8, 7])
    dk.microaggregate({"x": x}, ["x"])
    assert x.tolist() == [3, 1, 2, 9, 8, 7]


def test_extreme_values_stay_in_the_range_of_numbers() -> None:
    for scale in (1e307, 1e-290):
        x = np.array([1.0, 2, 3, 10, 11, 12]) * scale
        done = group_column(x, 3).values
        assert done / scale == pytest.approx([2, 2, 2, 11, 11, 11])
    wide = np.array([1e-300, 2e-300, 3e-300, 1e300, 2e300, 3e300])
    assert group_column(wide, 3, keep_variance=True).values[3:] / 1e300 == pytest.approx([2, 2, 2], rel=1)
    assert np.isfinite(group_column(wide, 3).values).all()


def test_fixed_groups_leave_the_remainder_to_the_lowest() -> None:
    assert sizes_of(fixed_starts(11, 3), 11) == (5, 3, 3)
    assert sizes_of(fixed_starts(3, 3), 3) == (3,)


# --- whole records ---------------------------------------------------------------------------------------------------


def readable_mdav(x: np.ndarray, m: int) -> list[frozenset[int]]:
    left, groups = list(range(len(x))), []

    def take(centre: int) -> None:
        near = sorted(left, key=lambda r: (-1.0 if r == centre else float(((x[r] - x[centre]) ** 2).sum()), r))[:m]
        groups.append(frozenset(near))
        for r in near:
            left.remove(r)

    def far(point: np.ndarray) -> int:
        return max(left, key=lambda r: (float(((x[r] - point) ** 2).sum()), -r))

    while len(left) >= 2 * m:
        first = far(x[left].mean(axis=0))
        take(first)
        if len(left) >= 2 * m:
            take(far(x[first]))
    return [*groups, frozenset(left)]


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_mdav_agrees_with_its_readable_twin(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(int(rng.integers(m, 40)), 3))
    values, groups = mdav_values(x, m)
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    expected = readable_mdav(scaled, m)
    assert groups == len(expected)
    group, _ = mdav(np.ascontiguousarray(scaled), m)
    assert [frozenset(np.flatnonzero(group == g).tolist()) for g in range(groups)] == expected
    for group in expected:
        rows = sorted(group)
        assert m <= len(rows) <= 2 * m - 1
        assert values[rows] == pytest.approx(np.tile(x[rows].mean(axis=0), (len(rows), 1)))


def test_mdav_keeps_means_and_refuses_gaps() -> None:
    frame = {"x": np.arange(10.0), "y": np.arange(10.0)[::-1]}
    done = dk.microaggregate(frame, ["x", "y"], method="mdav").frame
    assert done["x"].mean() == pytest.approx(4.5)
    with pytest.raises(NotFinite, match="whole records"):
        dk.microaggregate({"x": [1.0, None, 2, 3]}, ["x"], method="mdav")


# --- refusals and care -----------------------------------------------------------------------------------------------


def test_fewer_than_m_units_are_refused_by_column() -> None:
    with pytest.raises(TooFewUnits, match="'x' has 2 values to group, a group needs 3"):
        dk.microaggregate({"x": [1.0, 2.0, 0.0, None]}, ["x"])
    with pytest.raises(TooFewUnits):
        dk.microaggregate({"x": [1.0, 2, 3, 4], "w": [1, 1, 1, 2]}, ["x"], wave="w")
    with pytest.raises(TooFewUnits):
        dk.microaggregate({"x": [1.0, 2.0]}, ["x"], method="mdav")


def test_a_constant_column_is_left_and_told() -> None:
    with pytest.warns(ProtectionWarning, match="constant"):
        done = dk.microaggregate({"x": [5.0] * 6}, ["x"])
    assert done.frame["x"].tolist() == [5.0] * 6


def test_groups_that_fall_back_are_told() -> None:
    with pytest.warns(ProtectionWarning, match="would be negative"):
        done = dk.microaggregate({"x": [1000.0, 5, 4, 3]}, ["x"], keep_variance=True)
    assert done.facts["x"]["groups at their mean"] == 1
    assert done.frame["x"].tolist() == [253.0] * 4


def test_halves_of_one_unit_are_told() -> None:
    with pytest.warns(ProtectionWarning, match="value of its own"):
        dk.microaggregate({"x": [4.0, 5, 6]}, ["x"], m=3, keep_variance=True)


@pytest.mark.parametrize(
    "options",
    [{"m": 1}, {"method": "best"}, {"method": "mdav", "keep_variance": True}, {"m": 2, "keep_variance": True}],
)
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        dk.microaggregate({"x": [1.0, 2, 3, 4]}, ["x"], **options)


def test_no_column_and_a_column_twice_are_refused() -> None:
    with pytest.raises(BadOption):
        dk.microaggregate({"x": [1.0, 2, 3]}, [])
    with pytest.raises(BadOption, match="twice"):
        dk.microaggregate({"x": [1.0, 2, 3]}, ["x", "x"])


# --- MDAV on large files ---------------------------------------------------------------------------------------------


def test_mdav_in_blocks_groups_as_many_and_loses_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    size = random.normal(size=2_000)
    firms = {f"c{k}": np.exp(size + 0.4 * random.normal(size=2_000)) for k in range(4)}
    whole = dk.microaggregate(firms, list(firms), method="mdav")
    monkeypatch.setattr("diskret.microdata.microaggregation.MOST_TOGETHER", 300)
    monkeypatch.setattr("diskret.microdata.microaggregation.BLOCK", 300)
    blocks = dk.microaggregate(firms, list(firms), method="mdav")
    shared = np.unique(np.stack([blocks.frame[name] for name in firms]), axis=1, return_counts=True)[1]
    assert shared.min() >= 3
    assert blocks.facts["blocks"] == 8
    assert "blocks" not in whole.facts
    assert whole.facts["variance lost"] <= blocks.facts["variance lost"] < 1.25 * whole.facts["variance lost"]
    for name, values in firms.items():
        assert blocks.frame[name].mean() == pytest.approx(values.mean())
