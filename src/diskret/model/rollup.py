"""Sums over all hierarchies of a dense array, in place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model import _kernels
from diskret.model.arrays import Bools, Ints
from diskret.model.hierarchy import Hierarchy


def add_up(cells: npt.NDArray[Any], hierarchies: Sequence[Hierarchy]) -> None:
    """Fill every sum from its parts; sums must hold zero before. Works in place on a contiguous array.

    >>> cells = np.array([1, 2, 0])
    >>> add_up(cells, [Hierarchy.flat(["a", "b"])])
    >>> cells.tolist()
    [1, 2, 3]
    """
    for parent, outer, inner in axes(hierarchies):
        _kernels.add_to_sums(cells.reshape(-1), parent, outer, inner)


def add_up_modulo(cells: npt.NDArray[Any], hierarchies: Sequence[Hierarchy], modulus: int) -> None:
    """The same modulo a whole number, for cells that hold whole numbers from 0 up to it.

    >>> cells = np.array([3, 2, 0])
    >>> add_up_modulo(cells, [Hierarchy.flat(["a", "b"])], 4)
    >>> cells.tolist()
    [3, 2, 1]
    """
    for parent, outer, inner in axes(hierarchies):
        _kernels.add_to_sums_modulo(cells.reshape(-1), parent, outer, inner, modulus)


def merge_largest(largest: npt.NDArray[Any], hierarchies: Sequence[Hierarchy]) -> None:
    """Merge the descending lists of largest contributions upward, in place; the lists of sums must be zero before."""
    count = prod(len(h) for h in hierarchies)
    for parent, outer, inner in axes(hierarchies):
        _kernels.merge_largest_to_sums(largest.reshape(count, -1), parent, outer, inner)


def axes(hierarchies: Sequence[Hierarchy]) -> list[tuple[Ints, int, int]]:
    """For each axis its parents and the number of cells outside and inside of it."""
    sizes = [len(h) for h in hierarchies]
    return [(h.parent_index, prod(sizes[:i]), prod(sizes[i + 1 :])) for i, h in enumerate(hierarchies)]


def inner_cells(hierarchies: Sequence[Hierarchy]) -> Bools:
    """Cells that are no sum in any classification."""
    inner = np.ones(tuple(len(h) for h in hierarchies), dtype=np.bool_)
    for axis, h in enumerate(hierarchies):
        shape = [1] * len(hierarchies)
        shape[axis] = len(h)
        inner &= h.is_leaf.reshape(shape)
    return inner
