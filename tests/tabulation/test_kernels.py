"""Compiled loops against the same thing written slowly."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.model import rollup
from diskret.tabulation import _kernels, holdings
from diskret.tabulation.plan import Plan, Units

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9), st.sampled_from([0.5, 1.0, 2.5])), max_size=30)


def arrays(pairs: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells, amounts, weights = zip(*pairs, strict=True) if pairs else ((), (), ())
    return np.array(cells, np.int64), np.array(amounts, np.int64), np.array(weights, np.float64)


@given(PAIRS)
def test_adding_equals_adding_one_by_one(pairs: list[Any]) -> None:
    cell, amount, _ = arrays(pairs)
    total, absolute, count = (np.zeros(5, dtype=np.int64) for _ in range(3))
    _kernels.add(cell, amount, total)
    _kernels.add_absolute(cell, amount, absolute)
    _kernels.add_one(cell, count)
    for c in range(5):
        mine = [x for at, x, _ in pairs if at == c]
        assert (total[c], absolute[c], count[c]) == (sum(mine), sum(map(abs, mine)), len(mine))


@given(PAIRS, st.integers(1, 4))
def test_ranking_equals_sorting(pairs: list[Any], n: int) -> None:
    cell, amount, _ = arrays(pairs)
    largest = np.zeros((5, n), dtype=np.int64)
    _kernels.rank(cell, amount.reshape(-1, 1), largest)
    for c in range(5):
        mine = sorted((abs(x) for at, x, _ in pairs if at == c), reverse=True)
        assert largest[c].tolist() == [*mine, *[0] * n][:n]


@given(PAIRS, st.integers(1, 4))
def test_weighted_ranking_equals_sorting_by_size_then_weight(pairs: list[Any], n: int) -> None:
    cell, amount, weight = arrays(pairs)
    largest, weights = np.zeros((5, n), dtype=np.int64), np.ones((5, n))
    _kernels.rank_weighted(cell, amount.reshape(-1, 1), weight.reshape(-1, 1), largest, weights)
    for c in range(5):
        mine = [(abs(x), w) for at, x, w in pairs if at == c]
        wanted = sorted([*mine, *[(0, 1.0)] * n], reverse=True)[:n]
        assert list(zip(largest[c].tolist(), weights[c].tolist(), strict=True)) == wanted


@given(data=st.data())
def test_merging_weighted_lists_equals_sorting_everything_below(data: st.DataObject, small_trees: Any) -> None:
    trees = [data.draw(small_trees), data.draw(small_trees)]
    hierarchies = [Hierarchy.from_parents(t) for t in trees]
    shape, n = tuple(len(h) for h in hierarchies), 3
    inner = np.argwhere(rollup.inner_cells(hierarchies)).tolist()
    entries = data.draw(
        st.lists(st.tuples(st.sampled_from(inner), st.integers(0, 5), st.sampled_from([1.0, 2.5, 3.0])), max_size=12)
    )
    largest, weights = np.zeros((*shape, n), dtype=np.int64), np.ones((*shape, n))
    single = np.zeros(shape, dtype=np.int64)
    below: dict[tuple[int, ...], list[tuple[int, float]]] = defaultdict(list)
    for at, x, w in entries:
        flat = np.array([np.ravel_multi_index(at, shape)])
        _kernels.rank_weighted(flat, np.array([[x]]), np.array([[w]]), largest.reshape(-1, n), weights.reshape(-1, n))
        single[tuple(at)] = max(single[tuple(at)], x)
        for cell in itertools.product(*(upward(h, i) for h, i in zip(hierarchies, at, strict=True))):
            below[cell].append((x, w))
    for parent, outer, inside in rollup.axes(hierarchies):
        _kernels.merge_weighted_to_sums(largest.reshape(-1, n), weights.reshape(-1, n), parent, outer, inside)
    rollup.merge_largest(single, hierarchies)
    for cell in np.ndindex(shape):
        wanted = sorted([*below[cell], *[(0, 1.0)] * n], reverse=True)[:n]
        assert list(zip(largest[cell].tolist(), weights[cell].tolist(), strict=True)) == wanted
        assert single[cell] == wanted[0][0]


def upward(hierarchy: Hierarchy, at: int) -> list[int]:
    return [at] if hierarchy.parents[at] < 0 else [at, *upward(hierarchy, hierarchy.parents[at])]


@pytest.mark.parametrize("most_pairs", [1, 7, 1 << 20])
@given(data=st.data())
def test_joined_holdings_equal_a_dictionary_of_owners(data: st.DataObject, most_pairs: int, small_trees: Any) -> None:
    hierarchies = {name: Hierarchy.from_parents(data.draw(small_trees)) for name in "ab"}
    plan = Plan(by=hierarchies, values=("x",), holding="owner")
    units = Units(contribution=0, total=0, exact=True, negative=True)
    inner = np.flatnonzero(rollup.inner_cells(tuple(hierarchies.values()))).tolist()
    part = st.tuples(st.integers(1, 4), st.sampled_from(inner), st.integers(-5, 5))
    parts = sorted(data.draw(st.lists(part, min_size=1, max_size=25)), key=lambda p: p[:2])
    cuts = sorted(data.draw(st.sets(st.integers(0, len(parts)), max_size=3)))
    pieces = [parts[a:b] for a, b in itertools.pairwise([0, *cuts, len(parts)])]
    batches = [
        dict(zip(["number", "cell", "t0"], np.array(p, dtype=np.int64).reshape(-1, 3).T, strict=True)) for p in pieces
    ]
    for batch in batches:
        batch["x0"] = batch["t0"] * 10
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holdings, "MOST_PAIRS", most_pairs)
        found = list(holdings.joined_holdings(iter(batches), plan, [units]))
    entries = [e for b in found for e in zip(b["cell"].tolist(), b["t0"].tolist(), b["x0"].tolist(), strict=True)]
    wanted: dict[tuple[int, int], int] = defaultdict(int)
    for owner, cell, amount in parts:
        at = np.unravel_index(cell, plan.shape)
        for above in itertools.product(*(upward(h, int(i)) for h, i in zip(hierarchies.values(), at, strict=True))):
            wanted[owner, int(np.ravel_multi_index(above, plan.shape))] += amount
    assert sorted(entries) == sorted((cell, amount, 10 * amount) for (_, cell), amount in wanted.items())
