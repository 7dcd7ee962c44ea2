"""From a solver's doubles to whole numbers: exact answers of linear systems that a basis of the solver solves nearly.

The solver's factorisation is only a means to guess: what comes back has been multiplied out in whole numbers. Most
answers are whole or small fractions and are found by rounding; for the others digits are taken step by step, and
continued fractions find what they mean.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.grid import FITS, Whole

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 24, 30, 60, 120, 840, 5040, 27720)
CLOSE = 1e-5
"""How far from a whole number something may be that is tried as one; it counts only after the check."""
BITS = 24
"""Bits that one step with the factorisation is trusted with."""
MOST_STEPS = 48
ROUNDS = 6


class Ratio(NamedTuple):
    """A vector of fractions with one denominator."""

    q: int
    x: Whole


def wide(numbers: Whole) -> Whole:
    """As Python's own whole numbers, which have no limit."""
    return numbers.astype(object)


def largest(numbers: Whole) -> int:
    """The largest number, without signs."""
    return int(np.abs(numbers).max()) if numbers.size else 0


def rounded(numbers: Floats) -> Whole:
    """The nearest whole numbers, whatever their size."""
    near = np.rint(numbers)
    if np.abs(near).max(initial=0.0) < FITS:
        return near.astype(np.int64)
    result = np.empty(near.size, dtype=object)
    result[:] = [int(n) for n in near]
    return result


class Exactly:
    """The equations of a system, multiplied out in whole numbers."""

    def __init__(self, system: Equations) -> None:
        weights = np.rint(system.coefficients).astype(np.int64)
        if not np.array_equal(weights, system.coefficients):
            raise ValueError("equations with coefficients that are not whole numbers")
        self.rows, self.count = system.rows, int(system.cells.size)
        self._system, self._weights = system, weights
        longest = int(max(np.diff(system.start).max(initial=1), np.bincount(system.columns, minlength=1).max()))
        self._safe = FITS // max(longest * int(np.abs(weights).max(initial=1)), 1)

    @cached_property
    def _by_column(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Columns in use, where the entries of each begin, and rows and weights of all entries."""
        row, columns = self._system.row_of(), self._system.columns
        order = np.lexsort((row, columns))
        used, first = np.unique(columns[order], return_index=True)
        return used, first, row[order], self._weights[order]

    def sums(self, x: Whole) -> Whole:
        """What every equation adds up to."""
        if not self.rows:
            return np.empty(0, dtype=np.int64)
        if x.dtype != object and largest(x) >= self._safe:
            x = wide(x)
        result: Whole = np.add.reduceat(self._weights * x[self._system.columns], self._system.start[:-1])
        return result

    def combined(self, times: Whole) -> Whole:
        """What a combination of equations says about every unknown."""
        if times.dtype != object and largest(times) >= self._safe:
            times = wide(times)
        result: Whole = np.zeros(self.count, dtype=times.dtype)
        used, first, row, weights = self._by_column
        if used.size:
            result[used] = np.add.reduceat(weights * times[row], first)
        return result


def corrected(exactly: Exactly, given: Whole, basic: Ints, solve: Callable[[Floats], Floats]) -> Ratio | None:
    """A point near the given one that makes all equations true, changed in the basic columns only; None if not found.

    ``basic`` and ``solve`` are those of a basis (see `lp.Programme`).
    """
    x, own = given, basic >= 0
    columns = basic[own]
    before = None
    for _ in range(ROUNDS):
        off = exactly.sums(x)
        if not off.any():
            return Ratio(1, x)
        size = largest(off)
        if before is not None and size >= before:
            break
        before = size
        change = solve(-off.astype(np.float64))[own]
        step = rounded(change)
        if not step.any():
            break
        x = _changed(x, columns, step)
    return _as_fractions(exactly, x, columns, own, solve)


def _changed(x: Whole, columns: Ints, step: Whole) -> Whole:
    if x.dtype != object and (step.dtype == object or largest(x) + largest(step) >= FITS):
        x = wide(x)
    x = x.copy()
    x[columns] += step
    return x


def _as_fractions(
    exactly: Exactly, x: Whole, columns: Ints, own: Bools, solve: Callable[[Floats], Floats]
) -> Ratio | None:
    """The rest of a correction in fractions: with small denominators, or digit by digit."""
    off = exactly.sums(x)
    change = solve(-off.astype(np.float64))[own]
    for q in DENOMINATORS:
        if (np.abs(q * change - np.rint(q * change)) > CLOSE).any():
            continue
        found = _changed(_times(x, q), columns, rounded(q * change))
        if not exactly.sums(found).any():
            return Ratio(q, found)

    def missing(digits: Whole) -> Whole:
        at = np.zeros(exactly.count, dtype=object)
        at[columns] = digits
        return exactly.sums(at)

    rest = by_digits(-wide(off), lambda r: solve(r)[own], missing, int(own.sum()))
    if rest is None:
        return None
    found = _times(wide(x), rest.q)
    found[columns] += rest.x
    return None if exactly.sums(found).any() else Ratio(rest.q, found)


def _times(x: Whole, q: int) -> Whole:
    return x * q if x.dtype == object or largest(x) * q < FITS else wide(x) * q


def by_digits(
    right: Whole, solve: Callable[[Floats], Floats], times: Callable[[Whole], Whole], size: int
) -> Ratio | None:
    """Solve a system by ever more binary digits until continued fractions give one that is right; None if never.

    ``solve`` answers nearly, ``times`` multiplies out exactly.
    """
    total, left = np.zeros(size, dtype=object), wide(right)
    for step in range(1, MOST_STEPS + 1):
        scale = largest(left)
        if scale == 0:
            return Ratio(1 << (BITS * (step - 1)), total)
        # doubles hold the leading digits of what is left, whatever its size
        shift = max(scale.bit_length() - 60, 0)
        near = solve((left >> shift).astype(np.float64))
        digits = np.empty(size, dtype=object)
        digits[:] = [int(d) for d in np.rint(near * 2.0**BITS)]
        digits = digits << shift
        total = (total << BITS) + digits
        left = (left << BITS) - times(digits)
        if step in (3, 6, 12, 24, MOST_STEPS):
            found = _meant(total, BITS * step)
            if found is not None and not (found.q * right - times(found.x)).any():
                return found
    return None


def _meant(total: Whole, bits: int) -> Ratio | None:
    """Fractions with one denominator that the binary digits are the beginnings of; None if they have none."""
    one, most, q = 1 << bits, 1 << (bits // 2 - 4), 1
    for number in total:
        rest = number * q % one
        if min(rest, one - rest) < one >> (bits // 3):
            continue
        q *= Fraction(number * q, one).limit_denominator(most).denominator
        if q > most:
            return None
    whole = np.empty(total.size, dtype=object)
    whole[:] = [(2 * number * q + one) // (2 * one) for number in total]
    return Ratio(q, whole)
