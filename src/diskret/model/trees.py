"""Hierarchies as flat arrays, for loops that walk over codes and cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.hierarchy import Hierarchy


class Trees(NamedTuple):
    """The codes of all classifications numbered through: each with its sum, and where its parts are listed."""

    parent: Ints
    """The sum a code is added to; -1 for totals."""
    start: Ints
    """Where the parts of each code begin in ``parts``; one more at the end."""
    parts: Ints


def trees_of(hierarchies: Sequence[Hierarchy]) -> Trees:
    """The trees of a table, one after the other.

    >>> trees_of([Hierarchy.flat("ab"), Hierarchy.flat("c")]).parent.tolist()
    [2, 2, -1, 4, -1]
    """
    offset = np.cumsum([0, *(len(h) for h in hierarchies[:-1])])
    parent = np.concatenate(
        [np.where(h.parent_index < 0, -1, h.parent_index + o) for h, o in zip(hierarchies, offset, strict=True)]
    )
    parts = np.argsort(parent, kind="stable")
    start = np.searchsorted(parent[parts], np.arange(parent.size + 1))
    return Trees(parent=parent, start=start.astype(np.int64), parts=parts.astype(np.int64))


def strides_of(shape: Sequence[int]) -> Ints:
    """How far apart neighbours along each axis are in the flat table.

    >>> strides_of((2, 3, 5)).tolist()
    [15, 5, 1]
    """
    return np.array([prod(shape[i + 1 :]) for i in range(len(shape))], dtype=np.int64)
