"""All protecting moves of a run, as arrays; single ones become `Move` objects when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diskret.moves.cover import Cover
from diskret.model.arrays import Bools, Floats, Ints
from diskret.moves.move import Move
from diskret.model.table import Table


@dataclass(frozen=True, eq=False)
class Moves:
    """Cuboids in the order they were built: pivot and diametral cell (flat), how far each can go, where it lies."""

    pivot: Ints
    diametral: Ints
    up: Floats
    down: Floats
    subtable: Ints
    second: Bools
    """Whether a cuboid is the second of a pair (double protection)."""

    @property
    def cuboids(self) -> bool:
        """All of them are."""
        return True

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

    def protected(self, k: int) -> frozenset[int]:
        """The cell a cuboid was built for."""
        return frozenset([int(self.pivot[k])])

    def where(self, k: int) -> int:
        """The subtable inside which a cuboid holds."""
        return int(self.subtable[k])

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
        return Move(np.array(cells), np.array(signs, dtype=np.float64), float(self.up[k]), float(self.down[k]))

    def all(self, table: Table) -> Iterator[Move]:
        """Every cuboid as a move."""
        return (self.move(k, table) for k in range(len(self)))


@dataclass(frozen=True, eq=False)
class RoutedMoves:
    """Moves found by linear programmes, end to end: each is valid over the whole table."""

    start: Ints
    cells: Ints
    moved: Floats
    up: Floats
    down: Floats
    settles: tuple[frozenset[int], ...]
    """The primary cells each move protects."""

    @property
    def cuboids(self) -> bool:
        """They need not be."""
        return False

    @classmethod
    def of(cls, cover: Cover) -> RoutedMoves:
        """The kept moves of a pattern, in the order they were made."""
        kept = [cover.moves[number] for number in sorted(cover.moves)]
        start = np.append(0, np.cumsum([k.cells.size for k in kept])).astype(np.int64)
        limits = [cover.limits(k.cells, k.moved) for k in kept]
        return cls(
            start,
            np.concatenate([k.cells for k in kept]) if kept else np.empty(0, np.int64),
            np.concatenate([k.moved for k in kept]) if kept else np.empty(0),
            np.array([forth for forth, _ in limits]),
            np.array([back for _, back in limits]),
            tuple(frozenset(cover.targets.cell[list(k.settles)].tolist()) for k in kept),
        )

    def __len__(self) -> int:
        return len(self.settles)

    def protecting(self, cell: int) -> Ints:
        """The moves that settle what a primary cell demands."""
        return np.array([k for k, cells in enumerate(self.settles) if cell in cells], dtype=np.int64)

    def using(self, cell: int, shape: tuple[int, ...]) -> Ints:
        """The moves a cell takes part in."""
        return np.searchsorted(self.start, np.flatnonzero(self.cells == cell), side="right") - 1

    def protected(self, k: int) -> frozenset[int]:
        """The primary cells a move protects."""
        return self.settles[k]

    def where(self, k: int) -> int:
        """All are valid over the whole table."""
        return 0

    def move(self, k: int, table: Table) -> Move:
        """One move: a step of 1 is what was asked for."""
        part = slice(int(self.start[k]), int(self.start[k + 1]))
        return Move(self.cells[part], self.moved[part], float(self.up[k]), float(self.down[k]))

    def all(self, table: Table) -> Iterator[Move]:
        """Every move."""
        return (self.move(k, table) for k in range(len(self)))
