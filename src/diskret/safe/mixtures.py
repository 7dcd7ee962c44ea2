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
from diskret.safe._mixture_kernels import UNIT
from diskret.safe.chance import generator
from diskret.safe.control_cells import ControlCells
from diskret.safe.places import counted
from diskret.safe.start import with_total

SINGLE = 2
"""Objects a combination, on average, below which a search begins with mixtures."""
HOT, COLD, SLOW = 4.0, 0.03, 2.0
"""Warmth at the start and end, per control table and for k = 3, and how much of the time is spent on the hot side. This
and OWN are tuned on a census of 125,000 persons, 61 % of them with attributes that do not hang together."""
OWN, LATE = 0.5, 8.0
"""The share of its own weight that a row feels, and how late this becomes all of it. With the full weight rows settle
too soon: what others make of a change would answer to half of it."""
Small = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixtures:
    """The mixtures of all rows: of the ``original`` frequencies, with what the cells deviate by, in units of 1/4096."""

    original: Ints
    cells: ControlCells
    k: int
    mean: Ints
    deviation: Ints

    @classmethod
    def of(cls, original: Ints, cells: ControlCells, k: int, mean: Ints | None) -> Mixtures:
        """From the means that an interrupted run had; else from the original."""
        now = original * UNIT if mean is None else mean
        deviation = np.zeros(cells.places_size + 1, dtype=np.int64)
        if mean is not None:
            deviation[:-1] = counted(cells.places, cells.places_size, mean)
            deviation[cells.occurring] -= cells.original * UNIT
        return cls(original=original, cells=cells, k=k, mean=now, deviation=deviation)

    def sweep(self, at: float, seed: int) -> None:
        """All rows once, in a random order; ``at`` is how far the cooling has come, 0 to 1."""
        tables = len(self.cells.tables)
        warmth = HOT * (COLD / HOT) ** (at**SLOW) * tables * (self.k / 3) ** 2
        rows = generator(seed, "mixtures").permutation(self.original.size).astype(np.int32)
        # short numbers, since machines may differ in the last bit of a power
        cold, own = np.float32(1 / warmth), np.float32(OWN + (1 - OWN) * at**LATE)
        _mixture_kernels.mix(
            rows, tuple(self.cells.places), self.deviation, self.original, self.mean, self.k, float(cold), float(own)
        )

    def frequencies(self) -> Small:
        """Each row's nearest frequency, with the right number of objects."""
        found = np.empty_like(self.original)
        _mixture_kernels.nearest(self.original, self.mean, self.k, found)
        return with_total(found, int(self.original.sum()), self.k).astype(np.int32)


def are_needed(original: Ints) -> bool:
    """Whether most combinations are of one object.

    >>> are_needed(np.array([1, 1, 3])), are_needed(np.array([5, 1, 1]))
    (True, False)
    """
    return int(original.sum()) < SINGLE * original.size
