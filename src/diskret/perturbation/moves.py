"""The moves of a perturbation as arrays; single ones become `Move` objects when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.protection import Knowledge
from diskret.model.table import Table
from diskret.moves.move import Move


@dataclass(frozen=True, eq=False)
class CuboidMoves:
    """Cuboids of finest cells: per classification the code that goes with the step and the one against it (or -1)."""

    shape: tuple[int, ...]
    with_step: Ints
    against: Ints
    step: Ints
    """The error, in units of the last decimal. Confidential: whoever has it undoes the perturbation."""
    pivot: Ints
    """The primary cell (flat) every move was made for."""

    @classmethod
    def of(cls, shape: tuple[int, ...], made: Ints, step: Ints) -> CuboidMoves:
        """From the rows of the kernel."""
        n = len(shape)
        return cls(shape, made[:, :n], made[:, n : 2 * n], step, made[:, 2 * n])

    def __len__(self) -> int:
        return int(self.step.size)

    def rows(self) -> Ints:
        """The moves as the kernel takes them."""
        return np.ascontiguousarray(np.concatenate([self.with_step, self.against, self.pivot[:, None]], axis=1))

    @property
    def inside(self) -> Bools:
        """Moves with a partner in every classification: they leave all totals as they are."""
        return np.asarray((self.against >= 0).all(axis=1))

    def cells(self, k: int, hierarchies: Sequence[Hierarchy]) -> tuple[Ints, Floats]:
        """All cells one move changes, sums included, and their signs."""
        axes = [
            _chains(h, int(g), int(d)) for h, g, d in zip(hierarchies, self.with_step[k], self.against[k], strict=True)
        ]
        cells, signs = [], []
        for chosen in product(*axes):
            cells.append(int(np.ravel_multi_index([code for code, _ in chosen], self.shape)))
            signs.append(float(np.prod([sign for _, sign in chosen])))
        return np.array(cells, dtype=np.int64), np.array(signs)

    def move(self, k: int, table: Table, knowledge: Knowledge) -> Move:
        """One move as everybody else knows it, with how far it can go in a table."""
        cells, signs = self.cells(k, table.hierarchies)
        fall, rise = error_interval(table, cells, signs, knowledge)
        return Move(cells=cells, coefficients=signs, up=rise, down=-fall)

    def using(self, cell: int, hierarchies: Sequence[Hierarchy]) -> Ints:
        """The moves that change a cell."""
        chosen = np.ones(len(self), dtype=np.bool_)
        for axis, (h, at) in enumerate(zip(hierarchies, np.unravel_index(cell, self.shape), strict=True)):
            low, high = int(h.first_below[at]), int(at)
            g, d = self.with_step[:, axis], self.against[:, axis]
            # a sum above both codes does not change
            chosen &= ((g >= low) & (g <= high)) != ((d >= low) & (d <= high))
        return np.flatnonzero(chosen)


def error_interval(table: Table, cells: Ints, signs: Floats, knowledge: Knowledge) -> tuple[float, float]:
    """Between which errors a move contradicts nothing that is known beforehand: (7a), (7b) of the Quaderverfahren.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [100, 80, 90, 1]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x")
    >>> error_interval(table, np.array([0, 1, 3, 4]), np.array([1.0, -1.0, -1.0, 1.0]), Knowledge.positive())
    (-1.0, 80.0)
    """
    up, down = knowledge.room(table)
    return interval_within(up[cells], down[cells], signs)


def interval_within(up: Floats, down: Floats, signs: Floats) -> tuple[float, float]:
    """The same from how far up and down each cell of the move can go."""
    rise = np.where(signs > 0, up, down) / np.abs(signs)
    fall = np.where(signs > 0, down, up) / np.abs(signs)
    return -float(fall.min()), float(rise.min())


def _chains(hierarchy: Hierarchy, g: int, d: int) -> list[tuple[int, int]]:
    """The codes above two finest codes up to where they meet, with signs; all above one that has no partner."""
    above_g, above_d = _chain(hierarchy, g), _chain(hierarchy, d) if d >= 0 else []
    return [(c, 1) for c in above_g if c not in above_d] + [(c, -1) for c in above_d if c not in above_g]


def _chain(hierarchy: Hierarchy, code: int) -> list[int]:
    found = []
    while code >= 0:
        found.append(code)
        code = hierarchy.parents[code]
    return found
