"""Moves: cells that can change together without touching what is published, one by one or many as arrays.

Everything that finds moves gives them back in this form, everything that needs them takes them so: protecting,
attacking, thinning, explaining, changing values, certifying.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.scale import Scale

NO_INSIDERS: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False, kw_only=True)
class Move:
    """Cells with coefficients, and how far the move can go each way before a cell becomes impossible.

    With step e each cell changes by coefficient times e, for any e from ``-down`` to ``up``.

    >>> move = Move(cells=np.array([0, 1]), coefficients=np.array([1.0, -1.0]), up=5.0, down=2.0)
    >>> move.range, move.interval(1, 30.0)
    (7.0, (25.0, 32.0))
    """

    cells: Ints
    """Flat positions in the table."""
    coefficients: Floats
    """+1 or -1 in a cuboid; any numbers in moves found by linear programmes."""
    up: float = np.inf
    down: float = np.inf
    settles: Mapping[int, frozenset[int]] = field(default_factory=dict, repr=False)
    """The demands it settles, each with the insiders who can object."""

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


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveSet:
    """Many moves end to end.

    >>> pair = Move(cells=np.array([3, 5]), coefficients=np.array([1.0, -1.0]))
    >>> moves = MoveSet.of([pair, pair], protects=[[3], []])
    >>> len(moves), moves.using(5).tolist(), moves.protecting(3).tolist(), moves[1].cells.tolist()
    (2, [0, 1], [0], [3, 5])
    """

    start: Ints
    """Where the cells of each move begin; one more at the end."""
    cells: Ints
    coefficients: Floats
    up: Floats
    down: Floats
    first_protected: Ints
    """Where the cells that each move protects begin in ``protected_cells``; one more at the end."""
    protected_cells: Ints
    subtable: Ints | None = None
    """Inside which subtable each move holds; None: over the whole table."""
    cuboids: bool = False
    """Whether all of them are cuboids of one subtable each."""

    @classmethod
    def of(cls, moves: Sequence[Move], protects: Sequence[Sequence[int]] | None = None) -> MoveSet:
        """From single moves, and the primary cells each protects."""
        first, protected = _end_to_end([np.array(p, dtype=np.int64) for p in protects or [()] * len(moves)])
        start, cells = _end_to_end([m.cells for m in moves])
        limits = np.array([(m.up, m.down) for m in moves], dtype=np.float64).reshape(-1, 2)
        return cls(
            start=start, cells=cells, coefficients=np.concatenate([np.empty(0), *(m.coefficients for m in moves)]),
            up=limits[:, 0], down=limits[:, 1], first_protected=first, protected_cells=protected,
        )  # fmt: skip

    @classmethod
    def none(cls) -> MoveSet:
        """No move at all."""
        return cls.of([])

    def __len__(self) -> int:
        return int(self.start.size) - 1

    def __getitem__(self, number: int) -> Move:
        part = slice(int(self.start[number]), int(self.start[number + 1]))
        # large sets are kept in short whole numbers
        return Move(
            cells=self.cells[part].astype(np.int64, copy=False),
            coefficients=self.coefficients[part].astype(np.float64, copy=False),
            up=float(self.up[number]), down=float(self.down[number]),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Move]:
        return (self[number] for number in range(len(self)))

    def number(self) -> Ints:
        """The move of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def using(self, cell: int) -> Ints:
        """The moves a cell takes part in."""
        return np.searchsorted(self.start, np.flatnonzero(self.cells == cell), side="right") - 1

    def protecting(self, cell: int) -> Ints:
        """The moves that protect a cell."""
        found = np.flatnonzero(self.protected_cells == cell)
        return np.unique(np.searchsorted(self.first_protected, found, side="right") - 1)

    def protected(self, number: int) -> frozenset[int]:
        """The cells a move protects."""
        part = slice(int(self.first_protected[number]), int(self.first_protected[number + 1]))
        return frozenset(self.protected_cells[part].tolist())

    def where(self, number: int) -> int:
        """The subtable inside which a move holds; 0 for all that hold over the whole table."""
        return 0 if self.subtable is None else int(self.subtable[number])

    def written_in(self, scale: Scale) -> MoveSet:
        """The same moves where numbers are not in the table's own unit: they go as far as before."""
        return replace(self, up=scale.up(self.up), down=scale.up(self.down))

    def without(self, cell: int) -> MoveSet:
        """The moves a cell takes no part in."""
        return self.some(np.setdiff1d(np.arange(len(self)), self.using(cell)))

    def and_also(self, others: MoveSet) -> MoveSet:
        """These moves, then the others."""
        return replace(
            self,
            start=np.append(self.start, others.start[1:] + self.start[-1]),
            cells=np.append(self.cells, others.cells),
            coefficients=np.append(self.coefficients, others.coefficients),
            up=np.append(self.up, others.up),
            down=np.append(self.down, others.down),
            first_protected=np.append(self.first_protected, others.first_protected[1:] + self.first_protected[-1]),
            protected_cells=np.append(self.protected_cells, others.protected_cells),
        )

    def some(self, numbers: Ints) -> MoveSet:
        """Some of the moves, by their numbers."""
        start, at = _parts(self.start, numbers)
        first, protected = _parts(self.first_protected, numbers)
        return replace(
            self, start=start, cells=self.cells[at], coefficients=self.coefficients[at],
            up=self.up[numbers], down=self.down[numbers],
            first_protected=first, protected_cells=self.protected_cells[protected],
            subtable=None if self.subtable is None else self.subtable[numbers],
        )  # fmt: skip


def _parts(start: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Where some parts begin when they stand end to end (one more at the end), and where their entries come from."""
    lengths = start[numbers + 1] - start[numbers]
    begin = np.append(0, np.cumsum(lengths))
    return begin, np.repeat(start[numbers] - begin[:-1], lengths) + np.arange(int(begin[-1]))


def _end_to_end(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Where each part begins (one more at the end), and all parts in one array."""
    start = np.append(0, np.cumsum([part.size for part in parts], dtype=np.int64)).astype(np.int64)
    return start, np.concatenate([np.empty(0, np.int64), *parts])
