"""Sums over all hierarchies of a dense array, in place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy.typing as npt

from diskret.model import _kernels
from diskret.model.arrays import Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.product import inner_cells as inner_cells


def add_up(cells: npt.NDArray[Any], hierarchies: Sequence[Hierarchy]) -> None:
    """Fill every sum from its parts; sums must hold zero before. Works in place on a contiguous array.

    >>> import numpy as np
    >>> cells = np.array([1, 2, 0])
    >>> add_up(cells, [Hierarchy.flat(["a", "b"])])
    >>> cells.tolist()
    [1, 2, 3]
    """
    for parent, outer, inner in axes(hierarchies):
        _kernels.add_to_sums(cells.reshape(-1), parent, outer, inner)


def add_up_modulo(cells: npt.NDArray[Any], hierarchies: Sequence[Hierarchy], modulus: int) -> None:
    """The same modulo a whole number, for cells that hold whole numbers from 0 up to it.

    >>> import numpy as np
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


def pass_owner_on(owner: Ints, largest: npt.NDArray[Any], hierarchies: Sequence[Hierarchy]) -> None:
    """Give every sum the owner of the part that holds its largest contribution, in place; sums must be -1 before.

    ``largest`` holds descending lists of contributions, sums filled already; without any entry the first part that has
    an owner gives it. Of equal contributions the smaller number counts.

    >>> import numpy as np
    >>> owner = np.array([0, 1, -1])
    >>> pass_owner_on(owner, np.array([[4], [9], [9]]), [Hierarchy.flat("ab")])
    >>> owner.tolist()
    [0, 1, 1]
    """
    for parent, outer, inner in axes(hierarchies):
        _kernels.pass_owner_to_sums(owner.reshape(-1), largest.reshape(owner.size, -1), parent, outer, inner)


def axes(hierarchies: Sequence[Hierarchy]) -> list[tuple[Ints, int, int]]:
    """For each axis its parents and the number of cells outside and inside of it; sums of further groupings follow."""
    sizes = [len(h) for h in hierarchies]
    return [(parents, prod(sizes[:i]), prod(sizes[i + 1 :])) for i, h in enumerate(hierarchies) for parents in h.fills]
