"""Everybody, and whoever is alone in a cell, against a pattern: exact intervals by a solver, from plain arrays.

Shares nothing with the package. Unknowns are the deviations of the hidden cells from their true values: every sum
holds, no value is negative, and what somebody knows does not deviate. A primary cell is exposed to somebody who can
tell that it does not reach its level up or down; cells in which he has a share himself are not asked about.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import highspy
import numpy as np

from benchmarks.grids import Bools, Floats, Grid, Ints, above, sums

Thing = TypeVar("Thing")
EACH = 600.0
"""Seconds one programme may take; where the whole attack has a limit, no longer than that."""
CLOSE = 1e-6
"""A level counts as reached to this share of it: more than the tolerance of the solver."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Person:
    """Somebody who is alone in hidden cells."""

    knows: Ints
    """Columns he knows."""
    behind: Ints
    """Columns of primary cells he has a share in."""


class Attack:
    """One pattern of one table under attack; every possible table found on the way is kept, and answers others."""

    def __init__(self, grid: Grid, hidden: Bools) -> None:
        self.grid = grid
        self.cells = np.flatnonzero(hidden.reshape(-1))
        value = grid.value.reshape(-1)[self.cells]
        # nothing can be larger than a few totals, and no level asks for that
        self.low, self.high = -value, np.full(value.size, 4 * float(grid.value.max()) + 1)
        self.points: list[Floats] = []
        self.end = np.inf
        """CPU seconds of this process after which nothing more is asked."""
        self.settled = 0
        """Questions that were answered: a primary cell, a side, somebody."""
        self.solver = self._model(hidden.reshape(-1))
        level = grid.level.reshape(-1)[self.cells]
        primary = np.flatnonzero(grid.primary.reshape(-1)[self.cells])
        self.demands = [(int(c), side, float(level[c])) for c in primary.tolist() for side in (1.0, -1.0)]

    def _model(self, hidden: Bools) -> highspy.Highs:
        column = np.full(hidden.size, -1)
        column[self.cells] = np.arange(self.cells.size)
        rows, columns, signs = [], [], []
        for number, (whole, parts) in enumerate(sums(self.grid.parents, self.grid.shape)):
            entries = np.append(column[parts], column[whole])
            sign = np.append(np.ones(parts.size), -1.0)
            kept = entries >= 0
            rows.append(np.full(int(kept.sum()), number))
            columns.append(entries[kept])
            signs.append(sign[kept])
        row, col, sign = np.concatenate(rows), np.concatenate(columns), np.concatenate(signs)
        names, row = np.unique(row, return_inverse=True)
        # a column for what a cell is higher and one for what it is lower: the solver begins where nothing deviates, so
        # few cells do in what it finds, and that answers others too
        size = self.cells.size
        row, col, sign = np.tile(row, 2), np.append(col, col + size), np.append(sign, -sign)
        order = np.lexsort((row, col))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * size, names.size
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(2 * size), np.zeros(2 * size), self._rooms()
        lp.row_lower_ = lp.row_upper_ = np.zeros(names.size)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.searchsorted(col[order], np.arange(2 * size + 1)).astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = row[order].astype(np.int32), sign[order]
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("simplex_strategy", 1)  # dual: begins with the cell where it is asked to be
        solver.passModel(lp)
        return solver

    def _rooms(self) -> Floats:
        return np.append(self.high, -self.low)

    def reaches(self, column: int, side: float, level: float) -> bool | None:
        """Whether a cell can be so far off, by a programme; what is found is kept. None if there was no time for it."""
        solver, size = self.solver, self.cells.size
        there, back = (column, column + size) if side > 0 else (column + size, column)
        rooms = self._rooms()
        # no farther than asked
        solver.changeColBounds(there, 0.0, min(level, float(rooms[there])))
        solver.changeColBounds(back, 0.0, 0.0)
        solver.changeColCost(there, -1.0)
        solver.clearSolver()
        solver.setOptionValue("time_limit", solver.getRunTime() + max(min(EACH, self.end - time.process_time()), 0.01))
        solver.run()
        late = solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
        good = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        found = np.array(solver.getSolution().col_value) if good else np.zeros(2 * size)
        solver.changeColCost(there, 0.0)
        for one in (there, back):
            solver.changeColBounds(one, 0.0, float(rooms[one]))
        if late and self.end < np.inf:
            return None
        if not good:
            raise RuntimeError("the solver of the attack gave no answer")
        self.points.append(found[:size] - found[size:])
        return bool(side * self.points[-1][column] >= level * (1 - CLOSE))

    def exposed(self, person: Person | None = None) -> set[int]:
        """Primary cells that somebody narrows down too far (flat positions); None: everybody."""
        known = np.empty(0, np.int64) if person is None else person.knows
        behind = set() if person is None else {*person.behind.tolist()}
        # what the points that he cannot rule out reach, up and down
        possible = [p for p in self.points if (np.abs(p[known]) <= CLOSE).all()]
        reached = np.zeros((2, self.cells.size))
        for point in possible:
            np.maximum(reached, [point, -point], out=reached)
        found: set[int] = set()
        for column in known.tolist():
            for one in (column, column + self.cells.size):
                self.solver.changeColBounds(one, 0.0, 0.0)
        for column, side, level in self.demands:
            if time.process_time() > self.end:
                break
            if column in behind or reached[int(side < 0), column] >= level * (1 - CLOSE):
                self.settled += 1
                continue
            answer = self.reaches(column, side, level)
            if answer is None:
                continue
            self.settled += 1
            if not answer:
                found.add(int(self.cells[column]))
            np.maximum(reached, [self.points[-1], -self.points[-1]], out=reached)
        rooms = self._rooms()
        for column in known.tolist():
            for one in (column, column + self.cells.size):
                self.solver.changeColBounds(one, 0.0, float(rooms[one]))
        return found

    def persons(self) -> Iterator[Person]:
        """Everybody who is alone in an inner cell, with the margins in which he is alone too."""
        grid = self.grid
        column = np.full(grid.value.size, -1)
        column[self.cells] = np.arange(self.cells.size)
        inner = np.ones(grid.shape, dtype=np.bool_)
        for axis, up in enumerate(grid.parents):
            leaves = np.isin(np.arange(up.size), up, invert=True)
            inner &= leaves.reshape([-1 if a == axis else 1 for a in range(inner.ndim)])
        for home in zip(*np.nonzero(inner & (grid.count == 1)), strict=True):
            chain = np.ix_(*(above(up, int(c)) for up, c in zip(grid.parents, home, strict=True)))
            stands = np.ravel_multi_index(chain, grid.shape).reshape(-1)
            alone = column[stands[grid.count.reshape(-1)[stands] == 1]]
            knows = alone[alone >= 0]
            if knows.size:
                yield Person(knows=knows, behind=column[stands])


def exposed(grid: Grid, hidden: Bools, *, singles: bool, most: int | None = None) -> set[int]:
    """Primary cells (flat) that are exposed to everybody, or with ``singles`` to somebody who is alone in a cell.

    At ``most`` so many persons attack, spread evenly, and as many demands are looked at; left out: all.
    """
    return attacked(grid, hidden, singles=singles, most=most).exposed


class Attacked(NamedTuple):
    """What an attack found, how many questions it answered, and how many there were."""

    exposed: set[int]
    settled: int
    questions: int


def attacked(grid: Grid, hidden: Bools, *, singles: bool, most: int | None = None, seconds: float = np.inf) -> Attacked:
    """The same, with how much was asked: no more than so many CPU ``seconds`` allow, everybody first, half of them."""
    if not grid.primary[hidden].sum() == grid.primary.sum():
        raise ValueError("a primary cell is not hidden")
    attack, begun = Attack(grid, hidden), time.process_time()
    attack.demands = _spread(attack.demands, most)
    attack.end = begun + seconds / 2
    found = attack.exposed()
    attack.end = begun + seconds
    persons = _spread([*attack.persons()], most) if singles else []
    for person in persons:
        found |= attack.exposed(person)
    return Attacked(found, attack.settled, len(attack.demands) * (1 + len(persons)))


def _spread(some: Sequence[Thing], most: int | None) -> list[Thing]:
    """At most so many of them, from the first to the last."""
    if most is None or len(some) <= most:
        return [*some]
    return [some[i] for i in np.linspace(0, len(some) - 1, most).astype(int).tolist()]
