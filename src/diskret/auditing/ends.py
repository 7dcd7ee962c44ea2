"""How far hidden cells can go, exactly: many of them at once, and without a verdict on any.

Before any programme is asked, rooms narrow each other along the equations. A cell that was seen as far off as they
leave it needs no proof, and every point that carries one cell carries others too: so programmes push all cells that
wait at once, and only those that stay behind are asked about one by one.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from diskret.auditing.case import Case
from diskret.auditing.integers import farthest_whole
from diskret.auditing.outsiders import attack
from diskret.auditing.verdicts import Need
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.grid import ENDLESS, FITS, Whole
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.rational import Exactly, Ratio

ROUNDS = 50
"""Times the rooms narrow each other; most come to rest after a few."""
COUNTED = 5_000
"""Counts up to which programmes in whole numbers push many at once."""
ROUGHLY = Way(nodes=20, relative_gap=0.2, seconds=0.5, seed=1)
"""Any good point will do: how far cells go does not depend on which points were seen, only how soon it is found."""
FEW = 2
"""So many must get there for another push of all that wait."""
SPLITS = 200
"""Cases of a proof in whole numbers after which an end is left undecided: looked at are many cells, not one."""
End = Fraction | float | None
"""In whole steps; infinite, or None where it is undecided."""


def exact_ends(case: Case, columns: Ints, *, whole: bool = True) -> list[tuple[float, float]]:
    """How far every one of some unknowns can rise and fall; not a number where that is undecided.

    Counts are searched in whole numbers; without ``whole`` they are real ones, whose ends are rounded inwards.
    """
    rooms = narrowed(case.system, *case.rooms)
    if case.table.frequency and whole:
        counts = _Counts(case, columns, rooms)
        if case.digits == 0 and case.system.cells.size <= COUNTED and object not in (rooms[0].dtype, rooms[1].dtype):
            counts.push()
        sides = [counts.ends(upward) for upward in (True, False)]
    else:
        sides = [_ends(case, columns, room, upward) for room, upward in zip(rooms, (True, False), strict=True)]
        if case.table.frequency and case.digits == 0:
            sides = [[end if end is None or end == np.inf else Fraction(floor(end)) for end in side] for side in sides]
    step = 10.0**case.digits
    found = [[np.nan if end is None else float(end) / step for end in side] for side in sides]
    return list(zip(*found, strict=True))


def narrowed(system: Equations, up: Whole, down: Whole) -> tuple[Whole, Whole]:
    """Rooms as the equations narrow them line by line, again and again; nothing that is possible is lost.

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = Table.from_cells(cells, by={"s": None}, value="x", status="st").equations()
    >>> [room.tolist() for room in narrowed(system, np.array([ENDLESS, 5]), np.array([1, 2]))]
    [[2, 1], [1, 2]]
    """
    weight = np.rint(system.coefficients).astype(np.int64)
    finite = max((int(room[room != ENDLESS].max(initial=0)) for room in (up, down)), default=0)
    most = int(np.abs(weight).max(initial=1)) * int(np.diff(system.start).max(initial=1))
    if not system.rows or object in (up.dtype, down.dtype) or finite >= FITS // (2 * most):
        return up, down
    # as parts of their lines, upwards and downwards: a room without end has none there either
    row, rises, size = system.row_of(), weight > 0, np.abs(weight)
    up, down = up.copy(), down.copy()
    for _ in range(ROUNDS):
        before = up.copy(), down.copy()
        high = np.where(rises, up[system.columns], down[system.columns])
        low = np.where(rises, down[system.columns], up[system.columns])
        for room, others in ((high, low), (low, high)):
            # one unknown goes no farther than all others of the line can make up for
            left = _left(others, size, system.start, row)
            room[:] = np.where((room == ENDLESS) | ((left != ENDLESS) & (left < room)), left, room)
        _take(up, system.columns, np.where(rises, high, low))
        _take(down, system.columns, np.where(rises, low, high))
        if np.array_equal(before[0], up) and np.array_equal(before[1], down):
            break
    return up, down


def _left(others: Whole, size: Ints, start: Ints, row: Ints) -> Whole:
    """What all other entries of a line make possible for each, in its own steps and rounded up."""
    endless = others == ENDLESS
    amount = np.where(endless, 0, others * size)
    total = np.add.reduceat(amount, start[:-1])[row] - amount
    without_end = np.add.reduceat(endless.astype(np.int64), start[:-1])[row] - endless
    return np.where(without_end > 0, ENDLESS, -(-total // size))


def _take(room: Whole, columns: Ints, said: Whole) -> None:
    """Every unknown takes the least of what its lines leave it."""
    known = said != ENDLESS
    least = np.where(room == ENDLESS, FITS, room)
    np.minimum.at(least, columns[known], said[known])
    room[:] = np.where(least == FITS, ENDLESS, least)


def _ends(case: Case, columns: Ints, room: Whole, upward: bool) -> list[End]:
    """Values: all are pushed as far as their rooms may be, and programmes say how far the others go."""
    limit = room[columns]
    found: list[End] = [0.0 if end == 0 else None for end in limit.tolist()]
    asked = np.flatnonzero((limit != 0) & (limit != ENDLESS))
    case.everybody()
    goals = [(goal, 0) if upward else (0, goal) for goal in limit[asked].tolist()]
    needs = [Need(up=up, down=down, length=0, strict=False) for up, down in goals]
    for k, verdict in attack(case.attackers, columns[asked], needs).items():
        at = int(asked[k])
        found[at] = Fraction(int(limit[at])) if verdict.safe else verdict.ends[0 if upward else 1]
    for at in [at for at, end in enumerate(found) if end is None]:
        attacker, place, _ = case.attackers.on(int(columns[at]))
        found[at] = attacker.extreme(place, upward, case.near(int(columns[at])))
    return found


class _Counts:
    """Counts that go from one whole point to another; every point is kept as far as it carries some unknown."""

    def __init__(self, case: Case, columns: Ints, rooms: tuple[Whole, Whole]) -> None:
        self.case, self.columns, self.rooms = case, columns, rooms
        self.room = {True: rooms[0], False: rooms[1]}
        self.system, self.exactly = case.system, Exactly(case.system)
        nothing = np.zeros(case.system.cells.size, dtype=np.int64)
        self.seen = {True: nothing.copy(), False: nothing.copy()}
        self.points: dict[tuple[int, bool], Whole] = {}

    def ends(self, upward: bool) -> list[End]:
        """How far every unknown goes this way."""
        return [self._end(int(c), upward) for c in self.columns]

    def push(self) -> None:
        """All that wait at once, again and again while several get there, then one by one those whose room has an end.

        Whoever waits both ways is pushed up first.
        """
        crowd, alone = self._programme(), self._programme()
        gained, down, up = FEW, self._waiting(False), self._waiting(True)
        while gained >= FEW and up.size + down.size > FEW:
            cost = np.zeros(self.system.cells.size)
            cost[down], cost[up] = 1.0, -1.0
            crowd.set_costs(cost)
            self._see(crowd)
            before, down, up = up.size + down.size, self._waiting(False), self._waiting(True)
            gained = before - up.size - down.size
        low, high = self._bounds()
        for c, upward in [*((c, True) for c in up.tolist()), *((c, False) for c in down.tolist())]:
            goal = int(self.room[upward][c])
            if goal != ENDLESS and goal > self.seen[upward][c]:
                end, at = np.array([float(goal if upward else -goal)]), np.array([c])
                alone.set_bounds(end, end, at)
                self._see(alone)
                alone.set_bounds(low[at], high[at], at)

    def _waiting(self, upward: bool) -> Ints:
        """Unknowns that were not seen as far off as their room is."""
        limit = self.room[upward][self.columns]
        found: Ints = self.columns[(limit == ENDLESS) | (limit > self.seen[upward][self.columns])]
        return found

    def _bounds(self) -> tuple[Floats, Floats]:
        up, down = (np.where(room == ENDLESS, np.inf, room).astype(np.float64) for room in self.rooms)
        return -down, up

    def _programme(self) -> Programme:
        low, high = self._bounds()
        matrix = Matrix(*self.system.by_column())
        return Programme(matrix, np.zeros(self.system.rows), lower=low, upper=high, whole=True, way=ROUGHLY)

    def _see(self, programme: Programme) -> None:
        """Solve, and note how far the point carries every unknown, if it is one in whole numbers."""
        programme.limit(ROUGHLY.seconds or np.inf)
        programme.solve("scratch")
        if not programme.has_point:
            return
        point = np.rint(programme.point)
        if not np.isfinite(point).all() or np.abs(point).max(initial=0.0) >= FITS:
            return
        x = point.astype(np.int64)
        if self.exactly.sums(x).any() or self._outside(x).any():
            return
        for upward, steps in ((True, x), (False, -x)):
            for c in np.flatnonzero(steps > self.seen[upward]).tolist():
                self.points[c, upward] = x
            np.maximum(self.seen[upward], steps, out=self.seen[upward])

    def _outside(self, x: Ints) -> Bools:
        up, down = self.rooms
        found: Bools = ((up != ENDLESS) & (x > up)) | ((down != ENDLESS) & (-x > down))
        return found

    def _end(self, column: int, upward: bool) -> End:
        limit, seen = int(self.room[upward][column]), int(self.seen[upward][column])
        if limit == seen:
            return float(limit)
        attacker, place, own = self.case.attackers.on(column)
        attacker.narrow(*(room[own] for room in self.rooms))
        if limit == ENDLESS:
            end = attacker.extreme(place, upward, self.case.near(column))
            if end is None or end == np.inf:
                return end
        point = self.points.get((column, upward))
        start = None if point is None else Ratio(1, point[own])
        found = farthest_whole(attacker, place, upward, seconds=self.case.seconds, splits=SPLITS, start=start)
        attacker.narrow(*(room[own] for room in self.case.rooms))
        return None if found.proof is None else float(found.reach)
