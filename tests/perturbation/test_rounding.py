"""Rounding: nearest, unbiased at random, and controlled: within one base, zeros kept, every sum true."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, Pool, ProtectionWarning, Table, round_table
from diskret.model import rollup
from diskret.model.arrays import Ints
from diskret.model.errors import BadOption
from diskret.perturbation import _rounding_kernels as kernels
from diskret.perturbation import controlled as inside
from diskret.perturbation.cuboids import most_cells, tree_of
from diskret.perturbation.leeway import finest_cells
from diskret.perturbation.slices import repaired
from tests import by_hand

seeds = st.integers(0, 10**6)
Trees = st.SearchStrategy[dict[str, str]]


def random_table(pairs: list[dict[str, str]], seed: int, most: int = 12, decimals: int = 0) -> Table:
    """Whole (or decimal) numbers over random hierarchies, a third of the cells empty."""
    hierarchies = [Hierarchy.from_parents(p) for p in pairs]
    shape = tuple(len(h) for h in hierarchies)
    rng = np.random.default_rng(seed)
    units = np.where(rng.random(shape) < 0.3, 0, rng.integers(1, most, shape)) * rollup.inner_cells(hierarchies)
    rollup.add_up(units, hierarchies)
    by = {f"d{i}": h for i, h in enumerate(hierarchies)}
    status = np.zeros(shape, dtype=np.uint8)
    return Table(by, "n", units / 10**decimals, status, decimals=decimals, frequency=decimals == 0, positive=True)


def adds_up(table: Table) -> bool:
    units = np.rint(table.value * 10 ** (table.decimals or 0)).astype(np.int64)
    return all(units[whole] == sum(units[p] for p in parts) for whole, parts in by_hand.equations(table))


def is_controlled(before: Table, after: Table, base: float) -> bool:
    """Multiples of the base, less than one base away, sums true."""
    times = after.value / base
    whole = np.allclose(times, np.rint(times))
    return whole and bool((np.abs(after.value - before.value) < base - 1e-9).all()) and adds_up(after)


@given(st.data(), seeds, st.sampled_from([2, 3, 5, 10]))
def test_two_classifications_have_a_controlled_rounding(
    small_trees: Trees, data: st.DataObject, seed: int, base: int
) -> None:
    table = random_table([data.draw(small_trees) for _ in range(2)], seed)
    done = round_table(table, base, seed=seed)
    assert is_controlled(table, done.table, base)
    assert (done.table.value[table.value % base == 0] == table.value[table.value % base == 0]).all()
    assert done.summary()["a base or more away"] == 0


@given(st.data(), seeds)
def test_three_classifications_are_solved_exactly_or_said_to_be_off(
    small_trees: Trees, data: st.DataObject, seed: int
) -> None:
    table = random_table([data.draw(small_trees) for _ in range(3)], seed)
    assume(table.size > 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = round_table(table, 5, seed=seed)
    away = np.abs(done.change).reshape(-1) >= 5
    assert adds_up(done.table)
    assert np.array_equal(np.flatnonzero(away), done.beyond)
    assert bool(away.any()) == any(issubclass(w.category, ProtectionWarning) for w in caught)
    if not away.any():
        assert is_controlled(table, done.table, 5)


@given(seeds)
def test_decimals_are_rounded_in_whole_units(seed: int) -> None:
    table = random_table([by_hand.TREES[0], by_hand.TREES[4]], seed, most=400, decimals=2)
    assert is_controlled(table, round_table(table, 0.25, seed=seed).table, 0.25)


@pytest.mark.slow
def test_large_tables_of_three_classifications_stay_additive_and_next_to_the_finest_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inside, "SMALL", 0)
    monkeypatch.setattr(inside, "MOVES", 200_000)
    monkeypatch.setattr(inside, "EFFORT", 50_000)
    wide = {f"{i}{j}": f"{i}" for i in range(4) for j in range(6)} | {f"{i}": "T" for i in range(4)}
    table = random_table([wide, wide, dict.fromkeys("xyz", "T")], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        done = round_table(table, 5, seed=1)
    finest = finest_cells(table)
    assert adds_up(done.table)
    assert (np.abs(done.change).reshape(-1)[finest] < 5).all()
    assert not set(done.beyond.tolist()) & set(np.flatnonzero(finest).tolist())
    assert done.beyond.size < 0.05 * table.size
    again = round_table(table, 5, seed=1) if not done.beyond.size else done
    assert np.array_equal(again.table.value, done.table.value)


@pytest.mark.slow
def test_annealing_rounds_three_classifications_with_subtotals_within_one_base(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inside, "SMALL", 0)
    monkeypatch.setattr(inside, "EFFORT", 0)
    wide = {f"{i}{j}": f"{i}" for i in range(4) for j in range(6)} | {f"{i}": "T" for i in range(4)}
    for seed in range(3):
        table = random_table([wide, wide, dict.fromkeys("vwxyz", "T")], seed)
        assert is_controlled(table, round_table(table, 5, seed=seed).table, 5)


def test_annealing_finds_the_rounding_of_an_easy_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inside, "SMALL", 0)
    table = random_table([{f"{i}": "T" for i in range(12)}] * 3, 5)
    assert is_controlled(table, round_table(table, 3, seed=2).table, 3)


def test_linked_tables_agree_after_rounding() -> None:
    rng = np.random.default_rng(7)
    one = {"r": list("aaabbbccc"), "s": list("xyz") * 3, "n": rng.integers(0, 20, 9).tolist()}
    shared = np.array(one["n"]).reshape(3, 3).sum(axis=1)
    first = [int(rng.integers(0, t + 1)) for t in shared]
    split = [n for a, t in zip(first, shared, strict=True) for n in (a, int(t) - a)]
    two = {"r": list("aabbcc"), "t": list("uv") * 3, "n": split}
    tables = {
        "one": Table.from_cells(one, by={"r": None, "s": None}, value="n", frequency=True),
        "two": Table.from_cells(two, by={"r": None, "t": None}, value="n", frequency=True),
    }
    done: Any = round_table(Pool.of(tables), 5, seed=1)
    parts = done.table.split()
    for name, table in tables.items():
        assert is_controlled(table, parts[name], 5)
    assert np.array_equal(parts["one"].value[:, -1], parts["two"].value[:, -1])


def test_total_goes_to_its_nearest_multiple_if_asked() -> None:
    for seed in range(20):
        table = random_table([by_hand.TREES[1], by_hand.TREES[3]], seed)
        done = round_table(table, 5, seed=seed, keep_total=True)
        assert abs(done.change.reshape(-1)[-1]) <= 2.5
        assert adds_up(done.table)


# --- one cell at a time ----------------------------------------------------------------------------------------------


def numbers(values: list[float], **options: Any) -> Table:
    codes = [f"c{i}" for i in range(len(values))]
    return Table.from_cells({"s": codes, "x": values}, by={"s": Hierarchy.flat(codes)}, value="x", **options)


def test_nearest_multiple_with_halves_away_from_zero() -> None:
    table = numbers([0, 1, 2, 3, 4, 5, -1, -2, -3, -4])
    done = round_table(table, 4, method="deterministic").table.value[:-1]
    assert done.tolist() == [0, 0, 4, 4, 4, 4, 0, -4, -4, -4]


def test_random_rounding_is_unbiased() -> None:
    """Every rest r of base b goes up with chance r/b: 4,000 draws each, five standard deviations."""
    draws = 4_000
    for base in (3, 5, 10):
        table = numbers([float(v) for v in range(base) for _ in range(draws)])
        done = round_table(table, base, method="random", seed=2026)
        means = done.change[:-1].reshape(base, draws).mean(axis=1)
        shares = np.arange(base) / base
        assert (np.abs(means) <= 5 * base * np.sqrt(shares * (1 - shares) / draws)).all()
        assert (np.abs(done.change) < base).all()
        assert means[0] == 0


def test_random_rounding_depends_on_the_seed_alone() -> None:
    table = numbers([float(v) for v in range(200)])
    one, same, other = (round_table(table, 7, method="random", seed=s).table.value for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    "options",
    [{"base": 0}, {"base": -3}, {"base": 0.5}, {"base": 1}, {"base": float("nan")}, {"base": 3, "method": "best"}],
    ids=str,
)
def test_refused_options(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        round_table(numbers([1.0, 2.0]), **options)


def test_rounded_table_is_not_rounded_again() -> None:
    done = round_table(numbers([1.0, 7.0]), 5, seed=1).table
    assert done.altered
    with pytest.raises(BadOption, match="already"):
        round_table(done, 5)


def test_values_that_are_no_short_decimals_can_be_rounded() -> None:
    table = replace(numbers([1 / 3, 2 / 3, 22 / 7]), decimals=None)
    done = round_table(table, 0.5, seed=1).table.value
    assert np.allclose(done * 2, np.rint(done * 2))
    assert done[:-1].sum() == done[-1]


@settings(max_examples=20)
@given(seeds)
def test_repair_leaves_less_off_and_breaks_nothing(seed: int) -> None:
    """From a random choice of ups: sums stay those of their parts, finest cells stay in their bounds."""
    table = random_table([by_hand.TREES[0], by_hand.TREES[2], by_hand.TREES[3]], seed)
    rng = np.random.default_rng(seed)
    finest = finest_cells(table)
    rest = (table.value % 3).reshape(-1)
    ups = np.where(finest & (rest > 0), rng.integers(0, 2, table.size), 0).reshape(table.shape)
    rollup.add_up(ups, table.hierarchies)
    lower = np.where(finest.reshape(table.shape), table.value // 3, 0).astype(np.int64)
    rollup.add_up(lower, table.hierarchies)
    low = np.where(finest, 0, (table.value // 3 - lower).reshape(-1)).astype(np.int64)
    high = low + (rest > 0)
    after = repaired(table, ups.reshape(-1), low, high, rng, effort=2_000)

    def off(total: Ints) -> int:
        return int(np.maximum(np.maximum(low - total, total - high), 0).sum())

    assert off(after) <= off(ups.reshape(-1))
    assert (after[finest] >= 0).all()
    assert (after[finest] <= (rest > 0)[finest]).all()
    inner = np.where(finest, after, 0).reshape(table.shape)
    rollup.add_up(inner, table.hierarchies)
    assert np.array_equal(inner.reshape(-1), after)


@given(st.data(), seeds)
def test_a_move_changes_the_sums_above_its_corners_and_no_others(
    small_trees: Trees, data: st.DataObject, seed: int
) -> None:
    """The readable twin: turn all corners, up and down in turn, and add up."""
    table = random_table([data.draw(small_trees) for _ in range(3)], seed)
    rng = np.random.default_rng(seed)
    widest = most_cells(table)
    leaves = [np.flatnonzero(h.is_leaf) for h in table.hierarchies]
    code = np.array([rng.choice(each) for each in leaves])
    other = np.array([rng.choice(np.append(each, -1)) for each in leaves])
    other[other == code] = -1
    by_hand_change = np.zeros(table.shape, dtype=np.int64)
    for corner in np.ndindex(*(1 if o < 0 else 2 for o in other)):
        at = tuple(o if k else c for k, c, o in zip(corner, code, other, strict=True))
        by_hand_change[at] = (-1) ** sum(corner)
    rollup.add_up(by_hand_change, table.hierarchies)
    rows, signs = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int64)
    tree = tree_of(table)
    size = kernels.changed(code, other, 1, rows, signs, tree.strides, tree.offset, tree.parent)
    change = np.zeros(table.size, dtype=np.int64)
    np.add.at(change, rows[:size], signs[:size])
    assert np.unique(rows[:size]).size == size
    assert np.array_equal(change.reshape(table.shape), by_hand_change)


@settings(max_examples=30)
@given(st.data(), seeds)
def test_search_keeps_sums_and_finest_bounds_and_counts_what_is_off(
    small_trees: Trees, data: st.DataObject, seed: int
) -> None:
    table = random_table([data.draw(small_trees) for _ in range(3)], seed)
    rng = np.random.default_rng(seed)
    finest, rest = finest_cells(table), (table.value % 3).reshape(-1)
    cells = np.flatnonzero(finest & (rest > 0))
    assume(cells.size)
    total = np.zeros(table.size, dtype=np.int32)
    total[cells] = rng.integers(0, 2, cells.size)
    rollup.add_up(total.reshape(table.shape), table.hierarchies)
    low = np.where(finest, 0, rng.integers(0, 3, table.size)).astype(np.int32)
    high = np.where(finest, rest > 0, low + rng.integers(0, 2, table.size)).astype(np.int32)

    def off() -> int:
        return int(np.maximum(np.maximum(low - total, total - high), 0).sum())

    before = off()
    codes = np.stack(np.unravel_index(cells, table.shape), axis=1).astype(np.int32)
    plan = kernels.Annealing(inside.move_kinds(table), most_cells(table), 10, 200, 0.4, 0.2, 4)
    bounds = low, high, finest
    left = kernels.search(
        total, bounds, cells.astype(np.int32), codes, tree_of(table), plan, np.uint64(seed + 1)
    )  # fmt: skip
    assert left == off() <= before
    assert (total[finest] >= 0).all()
    assert (total[finest] <= high[finest]).all()
    inner = np.where(finest, total, 0).reshape(table.shape)
    rollup.add_up(inner, table.hierarchies)
    assert np.array_equal(inner.reshape(-1), total)
