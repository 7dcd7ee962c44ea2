"""Decimal numbers held in floats, without the false alarms of binary fractions.

A decimal with at most 15 digits survives the way into a double and back. So a column of such numbers is, exactly, a
column of integers over a power of ten; sums of those are exact as long as they stay below 2**53.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.tolerances import EXACT_LIMIT as EXACT_LIMIT
from diskret.model.tolerances import ROUNDING

MOST_DECIMALS = 9
LONGEST = 100
"""Digits of a parameter: nobody has more."""
AMOUNTS = 6
"""Decimals of amounts; numbers of more are measurements."""
COARSEST = 2
"""Numbers so large that not even so few decimals are exact are not taken for measurements."""
CHUNK = 1 << 18
Number = int | float | str | Decimal | Fraction


def decimals_of(values: Floats, most: int = MOST_DECIMALS) -> int | None:
    """Fewest decimals that hold every value exactly, or None where the values are not short decimals.

    >>> decimals_of(np.array([0.1, 0.25, 3.0])), decimals_of(np.array([1 / 3]))
    (2, None)
    """
    decimals = short_decimals(values, most)
    largest = float(np.abs(values).max(initial=0.0))
    return None if decimals is None or largest * 10.0**decimals >= most_units(decimals) else decimals


def short_decimals(values: Floats, most: int = MOST_DECIMALS) -> int | None:
    """Fewest decimals that print every value, whether they are exact or not; None if there are more than ``most``.

    >>> short_decimals(np.array([80_000_000_000_000.01])), decimals_of(np.array([80_000_000_000_000.01]))
    (2, None)
    """
    for decimals in range(most + 1):
        scale = 10.0**decimals
        near = np.rint(values * scale)
        # the product of a large number may be rounded to the unit beside its own
        if ((near / scale == values) | ((near - 1) / scale == values) | ((near + 1) / scale == values)).all():
            return decimals
    return None


def apart(values: Floats) -> Floats:
    """How far numbers that are meant to be these may lie apart from them, because doubles were added up.

    Less than half a unit of the last decimal, if all of them are short decimals.

    >>> apart(np.array([1.0, 1e12])).tolist(), apart(np.array([1 / 3, 1e12])).round(9).tolist()
    ([1e-09, 0.5], [1e-09, 1000.0])
    """
    lost: Floats = ROUNDING * np.maximum(1.0, np.abs(values))
    decimals = decimals_of(values)
    return lost if decimals is None else np.minimum(lost, 0.5 * 10.0**-decimals)


def most_units(decimals: int) -> int:
    """How many units of the last decimal are exact, in doubles and in what is computed from them.

    Whole numbers are doubles themselves. A decimal is near one, and what is computed from it loses some bits more.
    """
    return EXACT_LIMIT if decimals <= 0 else EXACT_LIMIT // 8


def told_apart(decimals: int) -> float:
    """Doubles below this are so near to each other that they tell all decimals of this length apart.

    >>> told_apart(0) == 2.0**53, told_apart(2)
    (True, 70368744177664.0)
    """
    return float(2 ** max(0, 53 - (10**decimals - 1).bit_length()))


def zeros_of(values: Floats) -> int:
    """How many zeros end all of the numbers, as they print; none if one of them has decimals.

    >>> zeros_of(np.array([1.2e16, 3e14])), zeros_of(np.array([1.5, 100.0]))
    (14, 0)
    """
    numbers = np.unique(values[values != 0]).tolist()
    ends = (Decimal(repr(float(number))).normalize().as_tuple().exponent for number in numbers)
    return max(0, min((int(end) for end in ends), default=0))


def beyond(decimals: int | None, largest: float, size: float) -> bool:
    """Whether numbers of some decimals, whose sums reach a size, must be refused: they are decimals, and not exact.

    From `told_apart` on every double has few decimals, and nobody knows whether they mean anything.

    >>> beyond(2, 9e13, 9e13), beyond(2, 9e12, 9e12), beyond(6, 3e11, 9e11)
    (True, False, False)
    """
    if decimals is None or size * 10.0**decimals < most_units(decimals):
        return False
    return decimals == 0 or largest < told_apart(decimals) or largest * 10.0**COARSEST >= most_units(COARSEST)


def to_units(values: Floats, decimals: int) -> Ints:
    """Values as integers in units of the last decimal.

    >>> to_units(np.array([0.1, 12.34]), 2).tolist()
    [10, 1234]
    """
    return np.rint(values * 10.0**decimals).astype(np.int64)


def from_units(units: Ints, decimals: int) -> Floats:
    """The float nearest to each decimal; the inverse of `to_units`.

    >>> from_units(np.array([30]), 2).tolist()
    [0.3]
    """
    return units / 10.0**decimals


def exact(number: Number) -> Fraction:
    """A parameter as the fraction its decimal notation means: 0.1 is one tenth, not the double near it.

    >>> exact(0.1), exact("12.5")
    (Fraction(1, 10), Fraction(25, 2))
    """
    if isinstance(number, str | Decimal) and "/" not in str(number):
        return Fraction(short_decimal(str(number)))
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def short_decimal(text: str) -> Decimal:
    """A decimal that can be worked with: 1e999999999 is ten letters, and a number of a gigabyte.

    >>> short_decimal(" 0.25"), short_decimal("1e3")
    (Decimal('0.25'), Decimal('1E+3'))
    >>> short_decimal("1e999999999")
    Traceback (most recent call last):
    ValueError: no decimal, or one that is too long
    """
    try:
        found = Decimal(text.strip())
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or len(text) > LONGEST or abs(found.adjusted()) > LONGEST:
        raise ValueError("no decimal, or one that is too long")
    return found


def exceeds(terms: Sequence[tuple[Number, Floats]]) -> Bools:
    """Where a weighted sum of columns is strictly positive, decided exactly.

    Floats decide the clear cases; cells whose sum lies within rounding error of zero are decided with fractions, each
    number taken as the decimal it prints as. So 85 > 85 % of 100 is false whatever binary fractions say.

    >>> x1, total = np.array([85.0, 0.3]), np.array([100.0, 0.4])
    >>> exceeds([(1, x1), ("-0.85", total)]).tolist(), exceeds([(1, x1), ("-0.75", total)]).tolist()
    ([False, False], [True, False])
    """
    factors = [exact(f) for f, _ in terms]
    shape = np.broadcast_shapes(*(c.shape for _, c in terms))
    columns = [np.broadcast_to(c, shape).reshape(-1) for _, c in terms]
    result = np.zeros(columns[0].size, dtype=np.bool_)
    for start in range(0, result.size, CHUNK):
        piece = slice(start, start + CHUNK)
        result[piece] = _exceeds(factors, [c[piece] for c in columns])
    return result.reshape(shape)


def _exceeds(factors: Sequence[Fraction], columns: Sequence[Floats]) -> Bools:
    total = np.zeros(columns[0].shape)
    size = np.zeros_like(total)
    for factor, column in zip(factors, columns, strict=True):
        part = float(factor) * column
        total += part
        size += np.abs(part)
    result: Bools = total > 0
    for at in np.flatnonzero((np.abs(total) <= 1e-13 * size) & (size > 0)):
        result[at] = sum(f * exact(float(c[at])) for f, c in zip(factors, columns, strict=True)) > 0
    return result
