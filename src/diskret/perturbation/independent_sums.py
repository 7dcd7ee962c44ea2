"""One equation for every sum of a table: the others follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.hierarchy import Hierarchy


def one_line_each(hierarchies: Sequence[Hierarchy]) -> tuple[tuple[Ints, Ints, Floats], int]:
    """For every sum its parts along the first classification in which it is a sum: row, cell, coefficient; rows.

    >>> (row, cell, coefficient), rows = one_line_each([Hierarchy.flat("ab")])
    >>> rows, cell.tolist(), coefficient.tolist()
    (1, [2, 0, 1], [-1.0, 1.0, 1.0])
    """
    shape = tuple(len(h) for h in hierarchies)
    size = prod(shape)
    at = np.unravel_index(np.arange(size), shape)
    number, rows = np.full(size, -1), 0
    along = np.full(size, -1)
    for axis, hierarchy in enumerate(hierarchies):
        fresh = np.flatnonzero((~hierarchy.is_leaf)[at[axis]] & (number < 0))
        number[fresh], along[fresh] = rows + np.arange(fresh.size), axis
        rows += fresh.size
    sums = np.flatnonzero(number >= 0)
    row, cell, coefficient = [number[sums]], [sums], [-np.ones(sums.size)]
    for axis, hierarchy in enumerate(hierarchies):
        parent = hierarchy.parent_index[at[axis]]
        parts = np.flatnonzero(parent >= 0)
        whole = parts + (parent[parts] - at[axis][parts]) * prod(shape[axis + 1 :])
        mine = along[whole] == axis
        row.append(number[whole[mine]])
        cell.append(parts[mine])
        coefficient.append(np.ones(int(mine.sum())))
    return (np.concatenate(row), np.concatenate(cell), np.concatenate(coefficient)), rows
