"""Values for cells of which nobody told any: some that fit everything that is known.

What an attacker can find out about a cell depends on what is published and on nothing else, so it does not matter which
values the cells have that nobody asks about, as long as they fit. Values in the middle leave moves the most room. They
are rounded so that no cell has more room than it truly has, neither down nor up.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact import MOST_DECIMALS, decimals_of
from diskret.model.lp import Answer, Matrix, Programme

LARGE = 1e4
"""Values are scaled down to it: a programme with values of 4e8, which had an answer, was taken to have none."""
HAIR = 1e-4
"""How near a step a point of the solver is taken to be on it."""


def fitted(
    value: Floats, bounds: tuple[Floats, Floats], rows: tuple[Ints, Ints, Floats], give: Bools | None = None
) -> tuple[Floats, Floats, bool]:
    """All values, those that are undefined (NaN) filled in; how high they may go; and whether any fit.

    ``rows`` are equations that add up to zero: where each begins, cells, coefficients. ``give`` are cells that may fall
    below their lower end where nothing fits otherwise: what rounding leaves of a rate that was published before some of
    its values were revised.

    >>> start, cells, factor = np.array([0, 3]), np.array([0, 1, 2]), np.array([-1.0, 1.0, 1.0])
    >>> fitted(np.array([10.0, np.nan, np.nan]), (np.zeros(3), np.full(3, np.inf)), (start, cells, factor))
    (array([10.,  5.,  5.]), array([inf, inf, inf]), True)
    """
    unknown = np.flatnonzero(np.isnan(value))
    if not unknown.size:
        return value, bounds[1], True
    start, cells, factor = rows
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    asked = np.isnan(value)[cells]
    known = np.bincount(
        row, weights=np.where(asked, 0.0, factor * np.nan_to_num(value[cells])), minlength=start.size - 1
    )
    number, inside = np.unique(row[asked], return_inverse=True)
    place = np.full(value.size, -1, dtype=np.int64)
    place[unknown] = np.arange(unknown.size)
    at: Ints = place[cells[asked]]
    right: Floats = -known[number].astype(np.float64)
    lower, upper = (each[unknown] for each in bounds)
    lower = np.where(np.isfinite(lower), lower, 0.0)
    told = decimals_of(value[~np.isnan(value)])
    decimals = MOST_DECIMALS if told is None else told
    step = 10.0**-decimals
    # whole shares leave whole values in nearly all cells, which need no rounding
    share = np.maximum(np.floor(_shares(unknown.size, at, inside, factor[asked], right) / step + 1e-6), 1.0) * step
    entries = (at, inside, factor[asked])
    # solvers take large numbers for contradictions
    scale = 2.0 ** max(0, int(np.ceil(np.log2(np.abs(right).max(initial=1.0) / LARGE))))
    point = _middle(entries, right / scale, (lower / scale, upper / scale), share / scale)
    if point is None and give is not None and give[unknown].any():
        point = _middle(entries, right / scale, (lower / scale, upper / scale), share / scale, give[unknown])
        lower = lower if point is None else np.where(give[unknown], -np.inf, lower)
    filled = value.copy()
    if point is None:
        filled[unknown] = lower
        return filled, bounds[1], False
    point = point * scale
    filled[unknown] = np.maximum(np.floor(point / step + HAIR) * step, lower)
    highest = bounds[1].copy()
    highest[unknown] = np.minimum(highest[unknown], filled[unknown] + np.floor((upper - point) / step + HAIR) * step)
    return filled, highest, True


def _shares(size: int, at: Ints, row: Ints, factor: Floats, right: Floats) -> Floats:
    """About how much each cell would have if all of its line had the same."""
    many = np.bincount(row, weights=np.abs(factor), minlength=right.size)
    share = np.full(size, np.inf)
    np.minimum.at(share, at, np.abs(right)[row] / np.maximum(many[row], 1.0))
    return np.where(np.isfinite(share) & (share > 0), share, 1.0)


def _middle(
    entries: tuple[Ints, Ints, Floats], right: Floats, bounds: tuple[Floats, Floats], share: Floats,
    give: Bools | None = None,
) -> Floats | None:  # fmt: skip
    """A point that fits with as many cells as can be well above their lower end, and none that gives more below it."""
    at, row, factor = entries
    lower, upper = bounds
    size = lower.size
    order = np.lexsort((row, at))
    start = np.searchsorted(at[order], np.arange(size + 1))
    one = Matrix(start, row[order], factor[order])
    # three columns for every cell: up to its share, beyond, and below its lower end
    ends = np.concatenate([one.start, one.start[-1] + one.start[1:], 2 * one.start[-1] + one.start[1:]])
    thrice = Matrix(ends, np.tile(one.at, 3), np.concatenate([one.value, one.value, -one.value]))
    near = np.minimum(share, np.maximum(upper - lower, 0.0))
    below = np.zeros(size) if give is None else np.where(give, np.inf, 0.0)
    programme = Programme(
        thrice, right - np.bincount(row, weights=factor * lower[at], minlength=right.size),
        lower=np.zeros(3 * size), upper=np.concatenate([near, np.maximum(upper - lower - near, 0.0), below]),
        cost=np.concatenate([-1.0 / share, np.zeros(size), np.full(size, size / share.min(initial=1.0))]),
    )  # fmt: skip
    if programme.solve() is not Answer.OPTIMAL:
        return None
    point = programme.point
    result: Floats = lower + point[:size] + point[size : 2 * size] - point[2 * size :]
    return result
