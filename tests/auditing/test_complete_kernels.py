"""All complete cuboids of hidden cells: the compiled search says what trying all pairs of cells says."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.auditing._complete_kernels import widest
from diskret.model.arrays import Bools, Floats, Ints

Cell = tuple[int, ...]


def by_trying(
    groups: list[list[Cell]], trees: list[Hierarchy], usable: Bools, up: Floats, down: Floats
) -> tuple[int, Floats, Floats]:
    """The readable twin: every pair of cells of a subtable that differ in all classifications, corner by corner."""
    rise, fall, found = np.zeros(usable.shape), np.zeros(usable.shape), 0
    for cells in groups:
        for pivot, other in combinations(cells, 2):
            if any(g == d for g, d in zip(pivot, other, strict=True)):
                continue
            corners = list(product(*zip(pivot, other, strict=True)))
            with_pivot = {c: is_even(c, pivot, other, trees) for c in corners}
            if not all(usable[c] for c in corners):
                continue
            forth = min(up[c] if same else down[c] for c, same in with_pivot.items())
            back = min(down[c] if same else up[c] for c, same in with_pivot.items())
            if forth + back <= 0:
                continue
            found += 1
            for corner, same in with_pivot.items():
                rise[corner] = max(rise[corner], forth if same else back)
                fall[corner] = max(fall[corner], back if same else forth)
    return found, rise, fall


def is_even(corner: Cell, pivot: Cell, other: Cell, trees: list[Hierarchy]) -> bool:
    """Whether a corner changes like the pivot: each step between two parts of a sum turns the sign."""
    turns = 0
    for c, g, d, tree in zip(corner, pivot, other, trees, strict=True):
        turns += c != g and tree.parents[g] != d and tree.parents[d] != g
    return turns % 2 == 0


@given(data=st.data(), seed=st.integers(0, 2**32), share=st.sampled_from([0.5, 0.8, 1.0]))
def test_cells_are_carried_as_far_as_the_best_of_all_cuboids_carries_them(
    small_trees: st.SearchStrategy[dict[str, str]], data: st.DataObject, seed: int, share: float
) -> None:
    trees = [Hierarchy.from_parents(data.draw(small_trees)) for _ in range(data.draw(st.integers(1, 3)))]
    shape, rng = tuple(len(h) for h in trees), np.random.default_rng(seed)
    usable = rng.random(shape) < share
    up, down = (rng.integers(0, 9, shape).astype(np.float64) for _ in range(2))
    # a sum with its parts in every classification is a subtable
    families = [[[*np.flatnonzero(h.parent_index == t).tolist(), t] for t in range(len(h))] for h in trees]
    segments = [[f for f in several if len(f) > 1] for several in families]
    groups = [list(product(*choice)) for choice in product(*segments)]
    codes: Ints = np.array([c for cells in groups for c in cells], dtype=np.int64).reshape(-1, len(trees))
    start = np.cumsum([0, *map(len, groups)])
    parent = np.concatenate([h.parent_index for h in trees]).astype(np.int64)
    offset = np.cumsum([0, *shape[:-1]])
    strides = np.array([int(np.prod(shape[a + 1 :])) for a in range(len(shape))])
    rise, fall = np.zeros(usable.size), np.zeros(usable.size)
    found = widest(
        start, codes, usable.reshape(-1), parent, offset, strides, up.reshape(-1), down.reshape(-1), rise, fall
    )
    number, higher, lower = by_trying(groups, trees, usable, up, down)
    assert found == number
    assert rise.reshape(shape).tolist() == higher.tolist()
    assert fall.reshape(shape).tolist() == lower.tolist()
