"""Everybody, and whoever is alone in a cell, against a pattern: exact intervals by a solver, from plain arrays.

Shares nothing with the package. Unknowns are the deviations of the hidden cells from their true values: every sum
holds, no value is negative, and what somebody knows does not deviate. A primary cell is exposed to somebody who can
tell that it does not reach its level up or down, or where there is no level that it is a single number; cells in which
he has a share himself are not asked about. That a cell
reaches its level is looked for among the cells around it first, with all others as they are: a table that is found so
is a possible one. That it does not is only said after a programme over all hidden cells.
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
NEAR = (200, 2_000)
"""Hidden cells around a primary one, in small programmes before that over all of them."""
EACH = 600.0
"""Seconds one programme may take; where the whole attack has a limit, no longer than that."""
ANYTHING = 1e-3
"""Without a level a cell must be able to be off by so much, up or down; values are whole numbers."""
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
        self.points: list[tuple[Ints, Floats]] = []
        """Possible tables: the columns that deviate, and by how much."""
        self.through: dict[int, list[int]] = {}
        """The points in which a column deviates."""
        self.end = np.inf
        """CPU seconds of this process after which nothing more is asked."""
        self.settled = 0
        """Questions that were answered: a primary cell, a side, somebody."""
        self.solver = self._model(hidden.reshape(-1))
        level = grid.level.reshape(-1)[self.cells]
        primary = np.flatnonzero(grid.primary.reshape(-1)[self.cells])
        self.demands: list[tuple[int, tuple[float, ...], float]] = []
        """Questions: a column, ways of which one must be possible, and how far."""
        for column in primary.tolist():
            ways = [(1.0,), (-1.0,)] if level[column] > 0 else [(1.0, -1.0)]
            self.demands += [(column, sides, float(level[column]) or ANYTHING) for sides in ways]

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
        self.system = _System(row, col, sign, self.cells.size, names.size)
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

    def reaches(self, column: int, side: float, level: float, known: Ints) -> bool | None:
        """Whether a cell can be so far off, by programmes; what is found is kept. None if there was no time for it."""
        for most in NEAR:
            if most < self.cells.size:
                near = self.system.around(column, most, known)
                found = self.system.farthest(near, column, side * level, self.low, self.high)
                if side * found[near == column][0] >= level * (1 - CLOSE):
                    self.keep(near, found)
                    return True
        return self._reaches(column, side, level)

    def _reaches(self, column: int, side: float, level: float) -> bool | None:
        """The same by a programme over all cells, of which the known ones do not move."""
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
        off = found[:size] - found[size:]
        self.keep(np.arange(size), off)
        return bool(side * off[column] >= level * (1 - CLOSE))

    def keep(self, columns: Ints, off: Floats) -> None:
        """A possible table, for other questions."""
        columns, off = columns[off != 0], off[off != 0]
        for column in columns.tolist():
            self.through.setdefault(column, []).append(len(self.points))
        self.points.append((columns, off))

    def exposed(self, person: Person | None = None) -> set[int]:
        """Primary cells that somebody narrows down too far (flat positions); None: everybody."""
        known = np.empty(0, np.int64) if person is None else person.knows
        behind = set() if person is None else {*person.behind.tolist()}
        # what the points that he cannot rule out reach, up and down
        ruled_out = {number for column in known.tolist() for number in self.through.get(column, [])}
        reached = np.zeros((2, self.cells.size))
        for number, (columns, off) in enumerate(self.points):
            if number not in ruled_out:
                _reach(reached, columns, off)
        found: set[int] = set()
        for column in known.tolist():
            for one in (column, column + self.cells.size):
                self.solver.changeColBounds(one, 0.0, 0.0)
        for column, sides, level in self.demands:
            if time.process_time() > self.end:
                break
            if column in behind or any(reached[int(side < 0), column] >= level * (1 - CLOSE) for side in sides):
                self.settled += 1
                continue
            answer: bool | None = False
            for side in sides:
                if not answer:
                    late, answer = answer is None, self.reaches(column, side, level, known)
                    answer = None if late and not answer else answer
            if answer is None:
                continue
            self.settled += 1
            if not answer:
                found.add(int(self.cells[column]))
            _reach(reached, *self.points[-1])
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


class _System:
    """The equations, entry by entry, by column and by row."""

    def __init__(self, row: Ints, column: Ints, sign: Floats, columns: int, rows: int) -> None:
        self.row, self.column, self.sign = row, column, sign
        self.by_column, self.by_row = np.argsort(column, kind="stable"), np.argsort(row, kind="stable")
        self.of_column = np.searchsorted(column[self.by_column], np.arange(columns + 1))
        self.of_row = np.searchsorted(row[self.by_row], np.arange(rows + 1))

    def around(self, column: int, most: int, known: Ints) -> Ints:
        """Columns that share equations with one, with those that share some with these, and so on; ascending."""
        seen, ring = {column}, [column]
        still = {*known.tolist()}
        while ring and len(seen) < most:
            rows = np.unique(np.concatenate([self.row[self._entries(one, by_column=True)] for one in ring]))
            members = np.unique(np.concatenate([self.column[self._entries(r, by_column=False)] for r in rows.tolist()]))
            ring = [c for c in members.tolist() if c not in seen and c not in still][: most - len(seen)]
            seen.update(ring)
        return np.array(sorted(seen))

    def farthest(self, near: Ints, column: int, goal: float, low: Floats, high: Floats) -> Floats:
        """How far each of these is off where one goes as far towards a goal as it can, all others as they are."""
        entries = np.concatenate([self._entries(c, by_column=True) for c in near.tolist()])
        names, row = np.unique(self.row[entries], return_inverse=True)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = near.size, names.size
        lower, upper = low[near], high[near]
        at = int(np.searchsorted(near, column))
        lower[at], upper[at] = max(min(goal, 0.0), lower[at]), min(max(goal, 0.0), upper[at])
        cost = np.zeros(near.size)
        cost[at] = -np.sign(goal)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
        lp.row_lower_ = lp.row_upper_ = np.zeros(names.size)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lengths = self.of_column[near + 1] - self.of_column[near]
        lp.a_matrix_.start_ = np.append(0, np.cumsum(lengths)).astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = row.astype(np.int32), self.sign[entries]
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.passModel(lp)
        solver.run()
        good = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return np.array(solver.getSolution().col_value) if good else np.zeros(near.size)

    def _entries(self, number: int, *, by_column: bool) -> Ints:
        first, order = (self.of_column, self.by_column) if by_column else (self.of_row, self.by_row)
        found: Ints = order[first[number] : first[number + 1]]
        return found


def _reach(reached: Floats, columns: Ints, off: Floats) -> None:
    """Note how far a point goes, up and down."""
    reached[0, columns] = np.maximum(reached[0, columns], off)
    reached[1, columns] = np.maximum(reached[1, columns], -off)


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
