"""Numbers of a table as whole numbers: everything that decides is counted in steps, nothing is measured.

A double stands for the decimal it is nearest to. All values of a table are whole multiples of one unit, the largest
power of ten there is; in that unit a table in cents, in euros or in millions is the same table, so that whatever is
done to it is the same as well. Rooms and demands may need finer steps, further decimals of the unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats

Whole = npt.NDArray[Any]
"""Whole numbers: of 64 bits where all fit, otherwise Python's own, which have no limit."""
SAME = 2.0**-50
"""Doubles that differ by less than this, relative to their size, mean the same decimal: a few operations lose that."""
FITS = 2**62
"""Whole numbers below this, and sums of two of them, fit into 64 bits."""
ENDLESS = -FITS
"""A room without end."""
MOST_DIGITS = 40
FARTHEST = 300
LONGEST = 15
"""Decimals of a double that is meant to have few."""
FINEST = 6
"""Digits of a protection level beyond those of the values."""
LARGEST = 2.0**53
"""In a table's own unit values are not larger than this, so that all of them are exact; smaller parts need steps."""


def digits_of(numbers: Floats, size: Floats | None = None, first: int = 0, last: int = MOST_DIGITS) -> int | None:
    """Fewest decimals (negative: zeros before the point) that all numbers mean; None if more than ``last``.

    ``size`` is what the numbers were computed from, and so what their last digits are measured by.

    >>> digits_of(np.array([0.1, 0.25, 3.0])), digits_of(np.array([0.1 + 0.2])), digits_of(np.array([1200.0]), first=-9)
    (2, 1, -2)
    """
    numbers = numbers[np.isfinite(numbers)] if size is None else numbers
    given = np.abs(numbers) if size is None else np.maximum(np.abs(numbers), size)
    for digits in range(first, last + 1):
        scaled = times_ten(numbers, digits)
        if (np.abs(scaled - np.rint(scaled)) <= SAME * times_ten(given, digits)).all():
            return digits
    return None


def whole(numbers: Floats, digits: int) -> Whole:
    """Numbers in steps of 10**-digits, to the nearest; infinite ones are `ENDLESS`.

    >>> whole(np.array([0.3, 2.0, np.inf]), 1).tolist() == [3, 20, ENDLESS]
    True
    """
    finite = np.isfinite(numbers)
    scaled = np.rint(times_ten(np.where(finite, numbers, 0.0), digits))
    if np.abs(scaled).max(initial=0.0) < LARGEST:
        steps: Whole = scaled.astype(np.int64)
    else:
        # a double from 2**53 on is whole already: its decimals are those it prints as
        steps = fitting([_nearest(float(x), digits) for x in np.where(finite, numbers, 0.0)])
    steps[~finite] = ENDLESS
    return steps


def fitting(numbers: Sequence[int]) -> Whole:
    """Whole numbers as an array of 64 bits if they fit, otherwise of Python's own."""
    if all(-FITS < n < FITS for n in numbers):
        return np.array(numbers, dtype=np.int64)
    result = np.empty(len(numbers), dtype=object)
    result[:] = list(numbers)
    return result


def _nearest(number: float, digits: int) -> int:
    meant = Fraction(repr(number)) * Fraction(10) ** digits
    return floor(meant + Fraction(1, 2))


def times_ten(numbers: Floats, digits: int) -> Floats:
    """Numbers times a power of ten: dividing by one keeps more digits than multiplying by its inverse."""
    if abs(digits) > FARTHEST:  # further powers of ten are no doubles, but times the smallest numbers they are
        once = FARTHEST if digits > 0 else -FARTHEST
        return times_ten(times_ten(numbers, once), digits - once)
    return numbers * 10.0**digits if digits >= 0 else numbers / 10.0**-digits


def unit_of(values: Floats) -> int:
    """The largest power of ten of which all values are whole multiples, as its exponent.

    Of values that are not short decimals it is one that makes the largest of them as long as a double is.

    >>> unit_of(np.array([1500.0, 300.0, 0.0])), unit_of(np.array([0.25, 1.0])), unit_of(np.array([1e-7, 3e-7]))
    (2, -2, -7)
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 0
    first = -floor(log10(largest)) - 1
    digits = digits_of(values.reshape(-1), first=first, last=first + 16)
    return -(first + 15) if digits is None or float(times_ten(np.array([largest]), digits)[0]) >= LARGEST else -digits


def level_of(levels: Floats, values: Floats) -> Floats:
    """Levels that a rule computed from values, as decimals; what is none (x / 0.85) is rounded up.

    Rounded is to a millionth of the table's unit, or of the smallest level.

    >>> level_of(np.array([100 / 0.85 - 100, 7.0]), np.array([101.0, 100.0])).tolist()
    [17.647059, 7.0]
    >>> level_of(np.array([7.000000000000001, 2.5]), np.array([100.0, 50.0])).tolist()
    [7.0, 2.5]
    """
    flat, size = levels.reshape(-1), np.abs(values.reshape(-1))
    smallest = float(flat[flat > 0].min(initial=np.inf))
    if smallest == np.inf:
        return levels
    finest = FINEST - min(unit_of(values), floor(log10(smallest)))
    digits = digits_of(flat, size, first=finest - 3 * FINEST, last=finest)
    if digits is not None:
        return times_ten(np.rint(times_ten(levels, digits)), -digits)
    return times_ten(np.ceil(times_ten(levels, finest) * (1 - SAME)), -finest)


def floor_of(numbers: Floats) -> Floats:
    """The whole numbers below; a double that means a whole number is that one.

    >>> floor_of(np.array([2.9999999999999996, 2.5, np.inf, 1e15])).tolist()
    [3.0, 2.0, inf, 1000000000000000.0]
    """
    with np.errstate(invalid="ignore"):
        near = np.rint(numbers)
        return np.where(np.abs(numbers - near) <= SAME * np.abs(numbers), near, np.floor(numbers))


def difference(one: Floats, other: Floats) -> Floats:
    """What is left of one number without another: it has no more decimals than they.

    >>> difference(np.array([0.3]), np.array([0.1])).tolist(), 0.3 - 0.1
    ([0.2], 0.19999999999999998)
    """
    digits = digits_of(np.concatenate([one.reshape(-1), other.reshape(-1)]), last=LONGEST)
    return one - other if digits is None else np.round(one - other, digits)
