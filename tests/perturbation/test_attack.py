"""What an attacker who knows the method learns: the truth always remains possible, and where he succeeds it is said."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import (
    Hierarchy,
    MinCount,
    Pool,
    PPercent,
    Promise,
    ProtectionWarning,
    Table,
    mark,
    methods,
    perturb,
    round_table,
    suppress,
)
from diskret.perturbation import perturbation_attack as inside
from diskret.perturbation.bounds import tightened
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.perturbation_attack import attack_perturbed
from tests import by_hand

seeds = st.integers(0, 10**6)


def quietly(make: Callable[..., Perturbation], *args: Any, **options: Any) -> Perturbation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return make(*args, **options)


@given(seeds)
def test_truth_remains_possible_after_cuboids(seed: int) -> None:
    table = mark(by_hand.firms(seed).table, MinCount(3) | PPercent(10), special_cases=False)
    found = attack_perturbed(quietly(perturb, table, seed=seed))
    value = table.value.reshape(-1)[found.cells]
    assert (found.lower <= value + 1e-9).all()
    assert (found.upper >= value - 1e-9).all()
    assert not found.told.size
    assert found.summary()["attacked"] == found.of


def test_without_the_second_error_a_single_contributor_computes_its_neighbour() -> None:
    """Two firms alone in their cells, one cuboid: each knows its own error, which is that of the other."""
    cells = {"s": ["a", "b", "c"], "x": [50, 60, 70], "n": [1, 1, 9], "st": ["primary", "primary", "published"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", count="n", status="st")
    naive = attack_perturbed(perturb(table, Promise(guard="public"), seed=1))
    assert naive.told.tolist() == [0, 1]
    assert "a single contributor elsewhere computes the error: s=a; s=b" in naive.report()


def test_along_a_suppression_the_single_contributor_succeeds_where_it_shares_the_only_move() -> None:
    cells = {"s": ["a", "b", "c"], "x": [50, 60, 700], "n": [1, 1, 9]}
    table = mark(Table.from_cells(cells, by={"s": None}, value="x", count="n"), MinCount(3))
    hidden = suppress(table, Promise(guard="public", levels=False), methods.Cuboids(thin=False))
    assert attack_perturbed(perturb(table, seed=1, along=hidden)).told.size == 2


def test_direction_is_known_where_the_value_cannot_have_been_lower() -> None:
    """A cell of value 1 with a demand of 1: it cannot have gone below nothing, so what is published is higher."""
    cells = {"s": ["a", "b"], "x": [1, 500], "st": ["primary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    sides = [attack_perturbed(perturb(table, seed=s)).one_sided[0] for s in range(20)]
    assert any(sides)


@settings(max_examples=15)
@given(seeds, st.sampled_from(["controlled", "random", "deterministic"]), st.booleans())
def test_rounding_leaves_exactly_what_rounds_alike(
    seed: int, method: Literal["controlled", "random", "deterministic"], total_known: bool
) -> None:
    """Counts of two small classifications: every table of whole numbers is tried out."""
    rng = np.random.default_rng(seed)
    cells = {"s": list("aabb"), "t": list("uvuv"), "n": rng.integers(0, 5, 4).tolist()}
    table = Table.from_cells(cells, by={"s": None, "t": None}, value="n", frequency=True)
    done = round_table(table, 3, method=method, seed=seed)
    known = [("Total", "Total")] if total_known else []
    found = attack_perturbed(done, known=known)
    reach = 1 if method == "deterministic" else 2
    published = done.table.value
    low, high = np.full((2, 2), 99), np.full((2, 2), -1)
    for inner in np.ndindex(9, 9, 9, 9):
        x = np.array(inner).reshape(2, 2)
        whole = np.zeros((3, 3))
        whole[:2, :2], whole[2, :2], whole[:2, 2], whole[2, 2] = x, x.sum(axis=0), x.sum(axis=1), x.sum()
        fits = (np.abs(whole - published) <= reach).all()
        if fits and (not total_known or whole[2, 2] == table.value[2, 2]):
            low, high = np.minimum(low, x), np.maximum(high, x)
    expected = {int(np.ravel_multi_index(at, (3, 3))): (low[at], high[at]) for at in np.ndindex(2, 2)}
    for cell, lower, upper in zip(found.cells.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
        assert (lower, upper) == expected[cell]


def test_unrounded_total_gives_rounded_cells_away() -> None:
    table = Table.from_cells({"s": list("abc"), "n": [1, 1, 1]}, by={"s": None}, value="n", frequency=True)
    done = round_table(table, 3, method="deterministic")
    without, with_total = attack_perturbed(done), attack_perturbed(done, known=[("Total",)])
    assert without.summary()["found exactly"] == 0
    assert with_total.summary()["found exactly"] == 3
    assert "only one value is possible" in with_total.report()


@settings(max_examples=15)
@given(seeds)
def test_line_by_line_is_never_stronger_than_the_solver(seed: int) -> None:
    by = [Hierarchy.from_parents(by_hand.TREES[k]) for k in (1, 3)]
    table = by_hand.counts(seed)
    assert tuple(len(h) for h in by) == table.shape
    done = round_table(table, 3, method="random", seed=seed)
    value = table.value.reshape(-1)
    ends = np.maximum(done.table.value - 2, 0), done.table.value + 2
    low, high = (end.reshape(-1) for end in tightened(*ends, table.hierarchies))
    assert (low <= value).all()
    assert (value <= high).all()
    solved = attack_perturbed(done)
    assert (low[solved.cells] <= solved.lower + 1e-9).all()
    assert (high[solved.cells] >= solved.upper - 1e-9).all()


def test_a_pool_is_narrowed_by_the_sums_of_all_its_tables() -> None:
    """The shared region is pinned down by the second table, and its neighbour in the first one by that."""
    one = Table.from_cells({"r": ["a", "b"], "n": [2, 3]}, by={"r": None}, value="n", frequency=True)
    cells = {"r": ["a", "a", "b"], "t": ["u", "v", "u"], "n": [1, 1, 3]}
    pool = Pool.of({"one": one, "two": Table.from_cells(cells, by={"r": None, "t": None}, value="n", frequency=True)})
    lower, upper = np.zeros(pool.size), np.full(pool.size, 9.0)
    known = [pool.index(*codes)[0] for codes in (("a", "u"), ("a", "v"), ("Total", "Total"))]
    lower[known] = upper[known] = pool.value[known]
    low, high = tightened(lower, upper, pool.equations(np.ones(pool.size, np.bool_)))
    at = pool.index("b", "Total")
    assert low[at] == high[at] == 3
    assert (low <= pool.value).all()
    assert (high >= pool.value).all()


def test_large_tables_are_attacked_line_by_line_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "SOLVED", 0)
    table = by_hand.counts(4)
    found = attack_perturbed(round_table(table, 3, seed=1))
    assert not found.jointly
    assert "a real attack may find more" in found.report()
    assert attack_perturbed(round_table(table, 3, seed=1), most=2).summary()["attacked"] == 2
