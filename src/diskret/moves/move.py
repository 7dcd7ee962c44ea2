"""A protecting move: cells that can change together without touching what is published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Move:
    """Cells with coefficients, and how far the move can go each way before a cell becomes impossible.

    With step e each cell changes by coefficient times e, for any e from ``-down`` to ``up``.

    >>> move = Move(np.array([0, 1]), np.array([1.0, -1.0]), up=5.0, down=2.0)
    >>> move.range, move.interval(1, 30.0)
    (7.0, (25.0, 32.0))
    """

    cells: Ints
    """Flat positions in the table."""
    coefficients: Floats
    """+1 or -1 in a cuboid; any numbers in moves found by linear programmes."""
    up: float
    down: float

    @property
    def range(self) -> float:
        """Length of the interval of a cell with coefficient 1."""
        return self.up + self.down

    def interval(self, cell: int, value: float) -> tuple[float, float]:
        """What a cell of the move can be, given its value."""
        (at,) = np.flatnonzero(self.cells == cell)
        coefficient = float(self.coefficients[at])
        ends = value - coefficient * self.down, value + coefficient * self.up
        return min(ends), max(ends)
