"""The moves of a perturbation as flat arrays, with the step each was taken by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.perturbation._move_kernels import Whole

NOTHING: Ints = np.empty(0, dtype=np.int64)
"""No cells."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TakenMoves:
    """Moves end to end: cells, sums included, that change together, each by its coefficient times the step."""

    start: Ints
    """Where the cells of each move begin; one more at the end."""
    cells: Whole
    """Flat positions in the table."""
    coefficients: Whole
    step: Ints
    """The error, in units of the last decimal. Confidential: whoever has it undoes the perturbation."""
    pivot: Ints
    """The primary cell (flat) a move was searched for; -1: it was given, for whichever cell may use it."""

    def __len__(self) -> int:
        return int(self.step.size)

    @property
    def searched(self) -> Bools:
        """Moves that were made for one primary cell."""
        return np.asarray(self.pivot >= 0)

    @property
    def taken(self) -> Bools:
        """Moves that were made, or given and used."""
        return np.asarray(self.searched | (self.step != 0))

    def members(self, k: int) -> tuple[Ints, Floats]:
        """The cells of one move and their coefficients."""
        part = slice(int(self.start[k]), int(self.start[k + 1]))
        return self.cells[part].astype(np.int64), self.coefficients[part].astype(np.float64)

    def using(self, cells: Ints) -> list[tuple[int, int]]:
        """Which of these cells (by position) are changed by which moves, cell by cell."""
        hits = np.flatnonzero(np.isin(self.cells, cells))
        move = np.searchsorted(self.start, hits, side="right") - 1
        order = np.argsort(cells, kind="stable")
        at = order[np.searchsorted(cells, self.cells[hits], sorter=order)]
        used = self.taken[move]
        return sorted(zip(at[used].tolist(), move[used].tolist(), strict=True))

    def through_totals(self, shape: tuple[int, ...]) -> Bools:
        """Moves that change the total of a classification."""
        total = np.zeros(self.cells.size, dtype=np.bool_)
        for axis, size in enumerate(shape):
            total |= self.cells // int(np.prod(shape[axis + 1 :])) % size == size - 1
        return np.asarray(np.add.reduceat(total, self.start[:-1]) > 0) if len(self) else total


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """Moves with their errors, and the primary cells that could not be served."""

    moves: TakenMoves
    failed: Ints
    """Flat positions of primary cells that did not reach their demanded change."""
    told: Ints
    """Flat positions of primary cells whose error a single contributor elsewhere can compute."""


def interval_within(up: Floats, down: Floats, coefficients: Floats) -> tuple[float, float]:
    """Between which errors a move goes, by how far up and down each of its cells can go: (7a), (7b).

    >>> interval_within(np.array([np.inf, np.inf, 9.0]), np.array([100.0, 80, 1]), np.array([1.0, -1, -1]))
    (-9.0, 1.0)
    """
    size = np.abs(coefficients)
    rise, fall = np.where(coefficients > 0, up, down) / size, np.where(coefficients > 0, down, up) / size
    return -float(fall.min()), float(rise.min())
