"""All deviations that nobody can see, as short moves: a basis of the null space of the published equations.

Elimination writes every hidden cell as a combination of some free ones; what changes with one free cell is a move, and
every other move is a sum of these. In published tables they are short, mostly of a dozen cells that rise or fall alike.
They are found modulo a prime and checked in whole numbers like moves from anywhere: what does not hold is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diskret.auditing import _basis_kernels
from diskret.auditing import _elimination_kernels as kernels
from diskret.auditing.elimination import echelon
from diskret.model.arrays import Bools, Ints
from diskret.model.equations import Equations
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.moves.recheck import hold

LONGEST = 5_000
"""Free cells an unknown may be made of; longer ones are left out, and every move with them."""
MOST = 20_000_000
"""So many in all."""
SHORTEST = 8
"""So many moves of the basis are tried for an unknown: with more of them, sums against insiders need be made for fewer,
but moves of tables with three and more dimensions are long."""
ROOM = 1_000_000
"""Cells of sums that are made at once."""
LARGEST = 1 << 20
"""Coefficients beyond this are no small whole numbers but fractions modulo the prime."""
PARTS = 60
"""Into so many parts a step is divided at most until the others of its move are whole numbers, too. (In three and more
classifications some moves need halves and thirds: of those of the default pattern of the cube with 98,968 cells of the
benchmarks 17 %.)"""


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
    cells: Ints
    """The cell of every unknown (flat)."""

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

    def through(self, columns: Ints) -> tuple[Ints, Ints]:
        """The shortest moves that hold and go through some unknowns: the place of the unknown of each, and these."""
        lengths = np.diff(self.start)[columns]
        own = np.repeat(np.arange(columns.size), lengths)
        begin = np.cumsum(lengths) - lengths
        free = self.free[np.repeat(self.start[columns] - begin, lengths) + np.arange(own.size)]
        own, free = own[self.holds[free]], free[self.holds[free]]
        order = np.lexsort((free, self._lengths[free], own))
        own, free = own[order], free[order]
        rank = np.arange(own.size) - np.searchsorted(own, own)
        return own[rank < SHORTEST], free[rank < SHORTEST]

    @cached_property
    def _lengths(self) -> Ints:
        return np.diff(self.moves.start)

    def apart(self, columns: Ints, first: Ints, known: Ints) -> tuple[Bools, MoveSet, Ints]:
        """Moves of unknowns that leave others alone: for each unknown those that somebody knows (from ``first`` on).

        Returns which unknowns are determined by it, moves of the others, and the number of the unknown of each move. An
        unknown may be neither, where numbers become too large.

        >>> from diskret import Hierarchy
        >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "secondary"]}
        >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
        >>> found = basis_of(table, table.equations())
        >>> fixed, moves, own = found.apart(np.array([0, 0]), np.array([0, 1, 3]), np.array([1, 1, 2]))
        >>> fixed.tolist(), moves.cells.tolist(), own.tolist()
        ([False, True], [0, 2], [0])
        """
        if not columns.size:
            return np.empty(0, dtype=np.bool_), MoveSet.none(), columns
        size, room = self.start.size - 1, max(int(self._lengths.max(initial=1)) * (int(np.diff(first).max()) + 1), ROOM)
        answers, ends = np.full(columns.size, _basis_kernels.UNKNOWN), np.zeros(columns.size, dtype=np.int64)
        place, chosen = np.full(self._lengths.size, -1), np.zeros(self._lengths.size, dtype=np.int64)
        moves = self.moves.start, self._columns, self.moves.coefficients.astype(np.int64), self._lengths
        parts: list[Ints] = []
        done = 0
        while done < columns.size:
            space = place, chosen, np.zeros(size, np.int64), np.zeros(room, np.int64), answers[done:], ends[done:]
            found, steps = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
            more = _basis_kernels.apart(
                columns[done:], first[done:], known, (self.start, self.free, self.times), moves, space, found, steps
            )
            written = int(ends[done + more - 1]) if more else 0
            ends[done : done + more] += sum(part.shape[1] for part in parts)
            parts.append(np.stack([found[:written], steps[:written]]))
            done += more
        at, steps = np.concatenate(parts, axis=1)
        own = np.flatnonzero(answers == _basis_kernels.FOUND)
        number = own.size
        return answers == _basis_kernels.NONE, MoveSet(
            start=np.append(0, ends[own]), cells=self.cells[at], coefficients=steps.astype(np.float64),
            up=np.full(number, np.inf), down=np.full(number, np.inf),
            first_protected=np.zeros(number + 1, dtype=np.int64), protected_cells=at[:0],
        ), own  # fmt: skip

    @cached_property
    def _columns(self) -> Ints:
        return np.searchsorted(self.cells, self.moves.cells)


def basis_of(table: Table, system: Equations) -> Basis:
    """The basis, as far as its moves are short and hold.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c", "d"], "x": [1, 2, 3, 4], "st": ["primary", "secondary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abcd")}, value="x", status="st")
    >>> found = basis_of(table, table.equations())
    >>> [(move.cells.tolist(), move.coefficients.tolist()) for move in found.moves]
    [([0, 1], [-1.0, 1.0]), ([0, 2], [-1.0, 1.0])]
    """
    size = system.cells.size
    p, pivots = echelon(system)
    start, column, times, short = kernels.combined(*pivots, size, p, LONGEST, MOST)
    free_columns = np.ones(size, dtype=np.bool_)
    free_columns[pivots[0]] = False
    number = np.cumsum(free_columns) - 1
    free = number[column]
    rows = np.repeat(np.arange(size), np.diff(start))
    order = np.lexsort((rows, free))
    count = int(free_columns.sum())
    times = _whole(times, free, count, p)
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
    return Basis(start, free, times, short & ~wrong, moves, good, system.cells)


def _whole(times: Ints, free: Ints, count: int, p: int) -> Ints:
    """The same moves in whole numbers: each multiplied by the least number that makes all its coefficients small.

    A fraction is a large number modulo the prime, unless it is taken as many times as it has parts. Moves for which
    there is no such number stay as they are, and do not hold then.

    >>> half = (101 + 1) // 2 - 101  # modulo 101
    >>> _whole(np.array([1, half, 1, 3]), np.array([0, 0, 1, 1]), 2, 101).tolist()
    [2, 1, 1, 3]
    """
    result, largest = times.copy(), min(LARGEST, p // 16)
    at = np.arange(times.size)
    for parts in range(1, PARTS + 1):
        taken = times[at] * parts % p
        taken = np.where(taken <= p // 2, taken, taken - p)
        large = np.zeros(count, dtype=np.bool_)
        large[free[at[np.abs(taken) > largest]]] = True
        done = ~large[free[at]]
        result[at[done]] = taken[done]
        at = at[~done]
        if not at.size:
            break
    return result
