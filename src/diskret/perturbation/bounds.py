"""Bounds of true values that add up: what is certain about a table when every cell is known to within an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.hierarchy import Hierarchy

ROUNDS = 50
"""Most intervals stand still after a few rounds; long chains of sums creep."""


def tightened(
    lower: Floats, upper: Floats, sums: Sequence[Hierarchy] | Equations, decimals: int | None = None
) -> tuple[Floats, Floats]:
    """Intervals narrowed by all sums over the hierarchies (or all equations), over and over until nothing changes.

    A sum lies between the sums of its parts' bounds; a part between what its sum leaves when all others are large, and
    when all others are small. Every interval that comes out is certain; a linear programme may narrow it further. With
    ``decimals`` values have no more of them: the ends move inwards to the next possible value, and everything is
    computed in whole units, without rounding errors.

    >>> sex = Hierarchy.flat(["m", "w"])
    >>> low, high = tightened(np.array([1.0, 0.0, 9.0]), np.array([4.0, 6.0, 12.0]), [sex])
    >>> low.tolist(), high.tolist()
    ([3.0, 5.0, 9.0], [4.0, 6.0, 10.0])
    """
    scale = 1.0 if decimals is None else 10.0**decimals
    low, high = lower * scale, upper * scale
    if decimals is not None:
        low, high = np.ceil(low - _hair(low)), np.floor(high + _hair(high))
    for _ in range(ROUNDS):
        if not (_by_equations(low, high, sums) if isinstance(sums, Equations) else _by_lines(low, high, sums)):
            break
    return low / scale + 0.0, high / scale + 0.0


def _by_equations(low: Floats, high: Floats, equations: Equations) -> bool:
    """Narrow finite intervals by all equations at once, in place; whether anything changed."""
    row, cell, times = equations.row_of(), equations.columns, equations.coefficients
    ends = times * low[cell], times * high[cell]
    # an equation adds up to nothing: a cell is what the others leave
    leave = [
        (end - np.bincount(row, weights=end, minlength=equations.rows)[row]) / times
        for end in (np.minimum(*ends), np.maximum(*ends))
    ]
    one, other = low.copy(), high.copy()
    np.maximum.at(one, cell, np.minimum(*leave))
    np.minimum.at(other, cell, np.maximum(*leave))
    return _put(low, high, slice(None), one, other)


def _by_lines(low: Floats, high: Floats, hierarchies: Sequence[Hierarchy]) -> bool:
    changed = False
    for axis, hierarchy in enumerate(hierarchies):
        one, other = np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0)
        for parent, parts in enumerate(hierarchy.part_index):
            if parts.size:
                changed |= _narrow(one, other, parent, parts)
    return changed


def _hair(ends: Floats) -> Floats:
    """Rounding errors of floats."""
    finite: Floats = np.where(np.isfinite(ends), np.abs(ends), 0.0)
    return 1e-6 + 1e-12 * finite


def _narrow(low: Floats, high: Floats, parent: int, parts: Ints) -> bool:
    """Narrow all lines of one sum, in place; whether anything changed by more than rounding errors."""
    part_low, part_high = low[parts], high[parts]
    # infinite ends: all others together have an end only if each of them has one
    most = _others(part_high, np.inf)
    least = _others(part_low, -np.inf)
    total_low = np.maximum(low[parent], part_low.sum(axis=0))
    total_high = np.minimum(high[parent], part_high.sum(axis=0))
    new_low, new_high = np.maximum(part_low, total_low - most), np.minimum(part_high, total_high - least)
    changed = _put(low, high, parts, new_low, new_high)
    return _put(low, high, parent, total_low, total_high) or changed


def _put(low: Floats, high: Floats, at: Ints | int | slice, one: Floats, other: Floats) -> bool:
    """Put narrower ends in place; whether any is narrower by more than rounding errors."""
    old_low, old_high = low[at], high[at]
    # where rounding errors make ends cross, nothing is narrowed: the interval is a point already
    better_low = (one > old_low + _hair(old_low)) & (one <= old_high)
    better_high = (other < old_high - _hair(old_high)) & (other >= np.where(better_low, one, old_low))
    low[at], high[at] = np.where(better_low, one, old_low), np.where(better_high, other, old_high)
    return bool(better_low.any() or better_high.any())


def _others(ends: Floats, endless: float) -> Floats:
    """Sum of all parts but one, for each of them."""
    open_ends = np.isinf(ends)
    finite = np.where(open_ends, 0.0, ends)
    found: Floats = np.where(open_ends.sum(axis=0) - open_ends > 0, endless, finite.sum(axis=0) - finite)
    return found
