"""All protecting cuboids of a run, as arrays; single ones become `Move` objects when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.move import Move
from diskret.model.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moves:
    """Cuboids in the order they were built: pivot and diametral cell (flat), how far each can go, where it lies."""

    pivot: Ints
    diametral: Ints
    up: Floats
    down: Floats
    subtable: Ints
    second: npt.NDArray[np.bool_]
    """Whether a cuboid is the second of a pair (double protection)."""

    @classmethod
    def of(cls, rows: Floats) -> Moves:
        """From the rows of the engine."""
        pivot, diametral, subtable = (rows[:, c].astype(np.int64) for c in (0, 1, 4))
        return cls(pivot, diametral, rows[:, 2], rows[:, 3], subtable, rows[:, 5] == 1)

    def __len__(self) -> int:
        return int(self.pivot.size)

    def protecting(self, cell: int) -> Ints:
        """The last cuboids built with this cell as pivot, per subtable."""
        mine = np.flatnonzero(self.pivot == cell)
        latest: dict[tuple[int, bool], int] = {}
        for k in mine:
            if not self.second[k]:
                latest.pop((int(self.subtable[k]), True), None)
            latest[int(self.subtable[k]), bool(self.second[k])] = int(k)
        return np.array(sorted(latest.values()), dtype=np.int64)

    def using(self, cell: int, shape: tuple[int, ...]) -> Ints:
        """The cuboids this cell belongs to, whoever their pivot is."""
        inside = np.ones(len(self), dtype=np.bool_)
        at = np.unravel_index(cell, shape)
        for here, g, d in zip(
            at, np.unravel_index(self.pivot, shape), np.unravel_index(self.diametral, shape), strict=True
        ):
            inside &= (g == here) | (d == here)
        return np.flatnonzero(inside)

    def move(self, k: int, table: Table) -> Move:
        """One cuboid with its coefficients: +1 for the pivot, the others by the parity rule."""
        pivot = [int(i) for i in np.unravel_index(self.pivot[k], table.shape)]
        diametral = [int(i) for i in np.unravel_index(self.diametral[k], table.shape)]
        cells, signs = [0], [1]
        strides = np.array([int(np.prod(table.shape[i + 1 :])) for i in range(len(table.shape))])
        for g, d, stride, hierarchy in zip(pivot, diametral, strides, table.hierarchies, strict=True):
            if g == d:  # an axis that is fixed in a table of totals
                cells = [c + g * int(stride) for c in cells]
                continue
            across = -1 if hierarchy.parents[g] != d and hierarchy.parents[d] != g else 1
            cells = [c + g * int(stride) for c in cells] + [c + d * int(stride) for c in cells]
            signs = signs + [across * s for s in signs]
        return Move(np.array(cells), np.array(signs), float(self.up[k]), float(self.down[k]))

    def all(self, table: Table) -> Iterator[Move]:
        """Every cuboid as a move."""
        return (self.move(k, table) for k in range(len(self)))
