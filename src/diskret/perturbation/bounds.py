"""Bounds of true values that add up: what is certain about a table when every cell is known to within an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from diskret.model.hierarchy import Hierarchy

Floats = npt.NDArray[np.float64]

ROUNDS = 30


def tightened(lower: Floats, upper: Floats, hierarchies: Sequence[Hierarchy]) -> tuple[Floats, Floats]:
    """Intervals narrowed by all sums of the table, over and over until nothing changes.

    A sum lies between the sums of its parts' bounds; a part between what its sum leaves when all others are large, and
    when all others are small. Every interval that comes out is certain; a linear programme may narrow it further.

    >>> sex = Hierarchy.flat(["m", "w"])
    >>> low, high = tightened(np.array([1.0, 0.0, 9.0]), np.array([4.0, 6.0, 12.0]), [sex])
    >>> low.tolist(), high.tolist()
    ([3.0, 5.0, 9.0], [4.0, 6.0, 10.0])
    """
    low, high = lower.astype(np.float64, copy=True), upper.astype(np.float64, copy=True)
    for _ in range(ROUNDS):
        changed = False
        for axis, hierarchy in enumerate(hierarchies):
            one, other = np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0)
            for parent, parts in enumerate(hierarchy.part_index):
                if parts.size and _narrow(one, other, parent, parts):
                    changed = True
        if not changed:
            break
    return low, high


def _narrow(low: Floats, high: Floats, parent: int, parts: npt.NDArray[np.int64]) -> bool:
    """Narrow all lines of one sum, in place; whether anything changed."""
    part_low, part_high = low[parts], high[parts]
    total_low = np.maximum(low[parent], part_low.sum(axis=0))
    total_high = np.minimum(high[parent], part_high.sum(axis=0))
    # infinite bounds: all others together are finite only if no other is infinite
    endless = np.isinf(part_high)
    others_high = np.where(endless, 0.0, part_high).sum(axis=0) - np.where(endless, 0.0, part_high)
    others_high = np.where(endless.sum(axis=0) - endless > 0, np.inf, others_high)
    new_low = np.maximum(part_low, total_low - others_high)
    new_high = np.minimum(part_high, total_high - (part_low.sum(axis=0) - part_low))
    eps = 1e-9
    changed = bool(
        (new_low > part_low + eps).any()
        or (new_high < part_high - eps).any()
        or (total_low > low[parent] + eps).any()
        or (total_high < high[parent] - eps).any()
    )
    low[parts], high[parts], low[parent], high[parent] = new_low, new_high, total_low, total_high
    return changed
