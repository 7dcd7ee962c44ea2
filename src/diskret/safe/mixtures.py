"""Mixtures: how a search begins on a file in which hardly two objects share a combination.

There, moves of three rows change hundreds of cells at once, and annealing is stuck early. So rows first hold mixtures
of frequencies. At the start each has the mean of its original frequency, and no table deviates. As the mixtures cool,
each row in turn weighs its frequencies by what they cost beside the means of all others (mean-field annealing), until
every mixture has become one frequency. A row has no barrier to cross: it goes from one frequency to another by degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.safe import _mixture_kernels
from diskret.safe._mixture_kernels import FINE, UNIT
from diskret.safe.chance import generator
from diskret.safe.control_cells import ControlCells
from diskret.safe.places import counted
from diskret.safe.start import with_total

SINGLE = 2
"""Objects a combination, on average, below which a search begins with mixtures."""
HOT = 1.0
"""Warmth at the start, per control table and for k = 3. This and what follows is tuned on censuses of 60,000, 125,000
and a million persons, 61 % or all of them with attributes that do not hang together."""
SETTLED, STEER, PACE = 0.9, 0.6, 15.0
"""The share of the sweeps after which all rows are to hold one frequency; how strongly warmth follows the spread; and
by how much at most, over all sweeps. Without steering, nearly all rows settle within a few sweeps, far too soon."""
OWN = 0.35
"""The share of its own weight that a row feels until late: what others make of its change answers to the rest. Much
less, and rows that have settled change their frequency without end."""
LATE = 10.0
"""How much steeper the price becomes when hardly any row holds several frequencies."""
LARGE, SCATTER, FAR = 4.0, 1.4, 3.0
"""Border from which deviations cost clearly more than their square: LARGE for k = 3, or SCATTER times the root mean
square, whichever is more. From FAR borders on the price is a square again."""
Small = npt.NDArray[np.int32]


@dataclass(eq=False, kw_only=True)
class Mixtures:
    """The mixtures of all rows: of the ``original`` frequencies, with what the cells deviate by, in units of 1/4096."""

    original: Ints
    cells: ControlCells
    k: int
    mean: Ints
    deviation: Ints
    warmth: float
    spread: int
    """The variances of all mixtures, added up; in the same units."""

    @classmethod
    def of(
        cls, original: Ints, cells: ControlCells, k: int, mean: Ints | None, warmth: float = 0.0, spread: int = 0
    ) -> Mixtures:
        """From where an interrupted run stood; else from the original."""
        now = original * UNIT if mean is None else mean
        deviation = np.zeros(cells.places_size + 1, dtype=np.int64)
        if mean is not None:
            deviation[:-1] = counted(cells.places, cells.places_size, mean)
            deviation[cells.occurring] -= cells.original * UNIT
        else:
            warmth, spread = HOT * len(cells.tables) * k * k / 9, between(original, k)
        return cls(
            original=original, cells=cells, k=k, mean=now, deviation=deviation, warmth=warmth, spread=spread
        )  # fmt: skip

    def sweep(self, done: int, of: int, seed: int) -> None:
        """All rows once, in a random order, after ``done`` sweeps of so many.

        Only sums, products and roots: they are the same on every machine.
        """
        most, at = between(self.original, self.k), done / (of - 1)
        mixed = min(1.0, self.spread / most) if most else 0.0
        slope, shift = self._price(1 - mixed)
        beyond = int(_mixture_kernels.stiffness_beyond(self.deviation, slope, shift))
        # steeper prices are like colder mixtures: warmth goes with them, or all rows would settle at once
        cold = 1 / (self.warmth * (1 + beyond / (UNIT * self.cells.size)))
        own = OWN + (1 - OWN) * at * at * at * at
        rows = generator(seed, "mixtures").permutation(self.original.size).astype(np.int32)
        self.spread = int(
            _mixture_kernels.mix(
                rows, tuple(self.cells.places), self.deviation, self.original, self.mean, self.k, cold, own, slope,
                shift,
            )
        )  # fmt: skip
        left = max(0.0, 1 - at / SETTLED)
        wanted = most * left * left
        lag = (wanted - self.spread) / max(wanted + self.spread, 1.0)
        rate = min(0.5, PACE * (1 + at) / (2 * of))
        self.warmth *= 1 + min(rate, max(-rate, STEER * lag))

    def _price(self, settled: float) -> tuple[Ints, int]:
        """Slopes of the price of deviations, in steps of a power of two: of d ** 2 / 2 + r * d ** 6 / (6 * b ** 4).

        While rows hold several frequencies, only the square counts (r = 0); in the end the largest deviations do.
        """
        squares = float(_mixture_kernels.sum_of_squares(self.deviation))
        border = max(LARGE * self.k / 3, SCATTER * float(np.sqrt(squares / self.cells.size)))
        shift = (int(4 * border * UNIT) // FINE).bit_length()
        size = (np.arange(-FINE, FINE) + 0.5) * (2.0**shift / UNIT)
        share = np.minimum(np.square(size / border), FAR * FAR)
        nearly = settled
        for _ in range(4):
            nearly *= nearly
        beyond = settled * (1 + LATE * nearly) * share * share
        slope = np.stack([size * (1 + beyond), 1 + 5 * beyond], axis=1)
        return np.rint(slope * UNIT).astype(np.int64), shift

    def frequencies(self) -> Small:
        """Each row's nearest frequency, with the right number of objects."""
        found = np.empty_like(self.original)
        _mixture_kernels.nearest(self.original, self.mean, self.k, found)
        return with_total(found, int(self.original.sum()), self.k).astype(np.int32)


def between(original: Ints, k: int) -> int:
    """What rows below k that hold 0 or k only spread, added up; in units of 1/4096.

    >>> between(np.array([1, 2, 7]), 3) // UNIT
    4
    """
    small = original[original < k]
    return int((small * (k - small)).sum()) * UNIT


def are_needed(original: Ints) -> bool:
    """Whether most combinations are of one object.

    >>> are_needed(np.array([1, 1, 3])), are_needed(np.array([5, 1, 1]))
    (True, False)
    """
    return int(original.sum()) < SINGLE * original.size
