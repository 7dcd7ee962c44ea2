"""All deviations that nobody can see, as short moves: a basis of the null space of the published equations.

Elimination writes every hidden cell as a combination of some free ones; what changes with one free cell is a move, and
every other move is a sum of these. In published tables they are short, mostly of a dozen cells that rise or fall alike.
They are found modulo a prime and checked in whole numbers like moves from anywhere: what does not hold is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from diskret.auditing import _elimination_kernels as kernels
from diskret.auditing.elimination import echelon
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.moves.recheck import hold

LONGEST = 400
"""Free cells an unknown may be made of; longer ones are left out, and every move with them."""
LARGEST = 1 << 20
"""Coefficients beyond this are no small whole numbers but fractions modulo the prime."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Unknowns as combinations of free ones, row by row, and the moves of the free ones."""

    start: Ints
    """Where the row of every unknown begins; one more at the end."""
    free: Ints
    """Numbers of free unknowns, as many as there are moves,"""
    times: Ints
    """and how many times each is taken."""
    whole: Bools
    """Unknowns whose row is complete: all moves in it were checked."""
    moves: MoveSet
    holds: Bools
    """Which of the moves leave all equations true."""

    def row(self, column: int) -> dict[int, int]:
        """An unknown as a combination of free ones."""
        part = slice(int(self.start[column]), int(self.start[column + 1]))
        return dict(zip(self.free[part].tolist(), self.times[part].tolist(), strict=True))

    @property
    def complete(self) -> bool:
        """Whether every move is a sum of these: then what follows from the equations can be read off the rows."""
        return bool(self.whole.all())

    def kinds(self) -> Ints:
        """A number per unknown of a complete basis: equal where unknowns determine each other, -1 where all do."""
        row = np.repeat(np.arange(self.start.size - 1), np.diff(self.start))
        order = np.lexsort((self.free, row))
        free, times, found = self.free[order], self.times[order], np.full(self.start.size - 1, -1, dtype=np.int64)
        begin, filled = self.start[:-1], np.diff(self.start) > 0
        scale = np.ones(begin.size, dtype=np.int64)
        scale[filled] = np.gcd.reduceat(np.abs(times), begin[filled]) * np.sign(times[begin[filled]])
        times = times // scale[row]
        numbers: dict[tuple[bytes, bytes], int] = {}
        for column in np.flatnonzero(filled).tolist():
            part = slice(int(self.start[column]), int(self.start[column + 1]))
            found[column] = numbers.setdefault((free[part].tobytes(), times[part].tobytes()), len(numbers))
        return found

    def through(self, cells: Bools) -> MoveSet:
        """The moves that hold and go through some cells (flat), short ones first."""
        met = np.bincount(self.moves.number(), weights=cells[self.moves.cells], minlength=len(self.moves)) > 0
        chosen = np.flatnonzero(self.holds & met)
        return self.moves.some(chosen[np.argsort(self._lengths[chosen], kind="stable")])

    @cached_property
    def _lengths(self) -> Ints:
        return np.diff(self.moves.start)

    def apart(self, column: int, known: Ints) -> tuple[Ints, Floats] | None:
        """A move of an unknown that leaves others as they are: cells and whole steps.

        None if they determine it: then nobody who knows them needs more to compute it.
        """
        rows = [self.row(k) for k in known.tolist()]
        mine = self.row(column)
        candidates = np.array(sorted(set(mine).union(*rows)), dtype=np.int64)
        pivots: list[tuple[int, list[int], dict[int, int]]] = []
        for f in candidates[np.argsort(self._lengths[candidates], kind="stable")].tolist():
            parts, taken = [mine.get(f, 0), *(row.get(f, 0) for row in rows)], {f: 1}
            for at, others, also in pivots:
                if parts[at]:
                    a, b = others[at], parts[at]
                    parts = [a * x - b * y for x, y in zip(parts, others, strict=True)]
                    taken = {g: a * taken.get(g, 0) - b * also.get(g, 0) for g in {**taken, **also}}
            at = next((i for i, x in enumerate(parts) if i and x), 0)
            if at:
                pivots.append((at, parts, taken))
            elif parts[0]:
                return self._sum(taken)
        return None

    def _sum(self, taken: dict[int, int]) -> tuple[Ints, Floats]:
        """Moves added up, in smallest whole numbers."""
        divisor = gcd(*taken.values())
        parts = [(self.moves[f], times // divisor) for f, times in taken.items() if times]
        cells, place = np.unique(np.concatenate([move.cells for move, _ in parts]), return_inverse=True)
        steps = np.zeros(cells.size, dtype=np.int64)
        np.add.at(steps, place, np.concatenate([times * move.coefficients.astype(np.int64) for move, times in parts]))
        steps //= max(int(np.gcd.reduce(np.abs(steps))), 1)
        return cells[steps != 0], steps[steps != 0].astype(np.float64)


def basis_of(table: Table, system: Equations) -> Basis:
    """The basis, as far as its moves are short and hold.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c", "d"], "x": [1, 2, 3, 4], "st": ["primary", "secondary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abcd")}, value="x", status="st")
    >>> found = basis_of(table, table.equations())
    >>> [(move.cells.tolist(), move.coefficients.tolist()) for move in found.moves]
    [([0, 1], [-1.0, 1.0]), ([0, 2], [-1.0, 1.0])]
    >>> [each.tolist() for each in found.apart(0, np.array([1]))], found.apart(0, np.array([1, 2]))
    ([[0, 2], [-1.0, 1.0]], None)
    """
    size = system.cells.size
    p, pivots = echelon(system)
    start, column, times, short = kernels.combined(*pivots, size, p, LONGEST, LARGEST)
    free_columns = np.ones(size, dtype=np.bool_)
    free_columns[pivots[0]] = False
    number = np.cumsum(free_columns) - 1
    free = number[column]
    rows = np.repeat(np.arange(size), np.diff(start))
    order = np.lexsort((rows, free))
    count = int(free_columns.sum())
    first = np.searchsorted(free[order], np.arange(count + 1))
    nothing = np.empty(0, dtype=np.int64)
    proposed = MoveSet(
        start=first, cells=system.cells[rows[order]], coefficients=times[order].astype(np.float64),
        up=np.full(count, np.inf), down=np.full(count, np.inf),
        first_protected=np.zeros(count + 1, dtype=np.int64), protected_cells=nothing,
    )  # fmt: skip
    good, moves = hold(table, proposed)
    # a row that was left out is missing in moves that do not hold then
    wrong = np.bincount(rows, weights=~good[free], minlength=size) > 0
    return Basis(start, free, times, short & ~wrong, moves, good)
