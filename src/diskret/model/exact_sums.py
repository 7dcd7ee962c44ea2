"""Sums of floats that are exact, and so the same in whatever order and wherever they were added up.

Two machines that share a file add its numbers in another order than one alone, and floats remember the order. A float
is a whole number times a power of two: whole numbers of one power add up exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from diskret.model.arrays import Floats

BITS = 53
HALF = 26
CHUNK = 1 << 22
"""So many halves of a float's digits stay below 2**53 together."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactSum:
    """A sum by powers of two, and how many numbers it has.

    >>> exact_sum(np.array([1e100, 1.0, -1e100])).total
    1.0
    >>> (exact_sum(np.array([0.1, 0.2])) + exact_sum(np.array([0.3]))).mean
    0.2
    """

    count: int = 0
    parts: Mapping[int, int] = field(default_factory=dict)
    beyond: float = 0.0
    """The sum of what is no finite number."""

    def __add__(self, other: ExactSum) -> ExactSum:
        parts = dict(self.parts)
        for power, digits in other.parts.items():
            parts[power] = parts.get(power, 0) + digits
        return ExactSum(count=self.count + other.count, parts=parts, beyond=self.beyond + other.beyond)

    @property
    def total(self) -> float:
        """The float next to the sum."""
        return self._over(1)

    @property
    def mean(self) -> float:
        """The float next to the mean; 0 of nothing."""
        return self._over(max(1, self.count))

    def _over(self, number: int) -> float:
        if self.beyond:  # infinite, or not a number
            return self.beyond
        lowest = min(self.parts, default=0)
        whole = sum(digits << (power - lowest) for power, digits in self.parts.items())
        try:
            return float(Fraction(whole, number) * Fraction(2) ** lowest)
        except OverflowError:
            return float("inf") if whole > 0 else float("-inf")


def exact_sum(values: Floats) -> ExactSum:
    """The sum of an array."""
    made = ExactSum()
    for at in range(0, values.size, CHUNK):
        made += _of_chunk(values[at : at + CHUNK])
    return made


def _of_chunk(values: Floats) -> ExactSum:
    finite = np.isfinite(values)
    if not finite.all():
        with np.errstate(invalid="ignore"):
            odd = float(values[~finite].sum())
        return ExactSum(count=values.size, parts=_of_chunk(values[finite]).parts, beyond=odd)
    fraction, power = np.frexp(values)
    digits = np.ldexp(fraction, BITS).astype(np.int64)
    least = int(power.min(initial=0))
    high, low = (
        np.bincount(power - least, weights=half.astype(np.float64))
        for half in (digits >> HALF, digits & ((1 << HALF) - 1))
    )
    used = np.flatnonzero((high != 0) | (low != 0)).tolist()
    parts = {k + least - BITS: (int(high[k]) << HALF) + int(low[k]) for k in used}
    return ExactSum(count=values.size, parts=parts)
