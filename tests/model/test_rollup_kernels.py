"""Sums over hierarchies: the compiled loops say what is written out here cell by cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.model import _kernels
from diskret.model.arrays import Ints


@dataclass(frozen=True)
class Axis:
    """One classification of a table, with how many cells lie before and behind a code."""

    hierarchy: Hierarchy
    outer: int
    inner: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.outer, len(self.hierarchy), self.inner

    @property
    def parent(self) -> Ints:
        return np.array(self.hierarchy.parents, dtype=np.int64)

    def summed(self, cells: Ints, add: Callable[[list[int]], int]) -> Ints:
        """Every sum from its finest codes: what stood in it before counts as one more part."""
        found = cells.copy()
        for o, j in itertools.product(range(self.outer), range(self.inner)):
            for code in range(len(self.hierarchy)):
                found[o, code, j] = add([int(cells[o, c, j]) for c in self.below(code)])
        return found

    def below(self, code: int) -> list[int]:
        """A code and everything below it."""
        parts = [c for c, p in enumerate(self.hierarchy.parents) if p == code]
        return [code, *(c for part in parts for c in self.below(part))]


@st.composite
def axes(draw: st.DrawFn, trees: st.SearchStrategy[dict[str, str]]) -> Axis:
    return Axis(Hierarchy.from_parents(draw(trees)), draw(st.integers(1, 3)), draw(st.integers(1, 4)))


@given(data=st.data(), seed=st.integers(0, 2**32))
def test_every_sum_is_that_of_all_codes_below_it(
    trees: st.SearchStrategy[dict[str, str]], data: st.DataObject, seed: int
) -> None:
    axis = data.draw(axes(trees))
    cells = np.random.default_rng(seed).integers(-50, 50, axis.shape)
    added = cells.reshape(-1).copy()
    _kernels.add_to_sums(added, axis.parent, axis.outer, axis.inner)
    assert added.reshape(axis.shape).tolist() == axis.summed(cells, sum).tolist()


@given(data=st.data(), seed=st.integers(0, 2**32), modulus=st.sampled_from([2, 7, 1 << 20]))
def test_sums_of_keys_stay_below_the_modulus(
    trees: st.SearchStrategy[dict[str, str]], data: st.DataObject, seed: int, modulus: int
) -> None:
    axis = data.draw(axes(trees))
    cells = np.random.default_rng(seed).integers(0, modulus, axis.shape)
    added = cells.reshape(-1).copy()
    _kernels.add_to_sums_modulo(added, axis.parent, axis.outer, axis.inner, modulus)
    assert added.reshape(axis.shape).tolist() == axis.summed(cells, lambda parts: sum(parts) % modulus).tolist()


@given(data=st.data(), seed=st.integers(0, 2**32), ranks=st.integers(1, 3))
def test_the_largest_contributions_of_a_sum_are_the_largest_of_all_its_parts(
    trees: st.SearchStrategy[dict[str, str]], data: st.DataObject, seed: int, ranks: int
) -> None:
    axis = data.draw(axes(trees))
    drawn = np.random.default_rng(seed).integers(0, 6, (*axis.shape, ranks)).astype(np.float64)
    given = -np.sort(-drawn, axis=-1)  # each list falls
    merged = given.reshape(-1, ranks).copy()
    _kernels.merge_largest_to_sums(merged, axis.parent, axis.outer, axis.inner)
    found = merged.reshape(*axis.shape, ranks)
    for o, code, j in np.ndindex(*axis.shape):
        several = sorted((x for c in axis.below(code) for x in given[o, c, j].tolist()), reverse=True)
        assert found[o, code, j].tolist() == several[:ranks]
