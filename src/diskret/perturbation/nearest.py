"""The nearest additive change where it is settled which way every primary cell goes.

By absolute changes: a linear programme. Columns: how far each cell goes up, and how far down; and, at a price that no
solution pays that need not, how far primary cells stay behind their demands, so that there is always a point and the
programme says where it hurts. By squares: see `least_squares`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.lp import ALL_BUT_OPTIMAL, Matrix, Programme, Way
from diskret.perturbation.adjustment_room import Room
from diskret.perturbation.least_squares import least_squares

HIGHEST = 1e6
"""Largest cost of a column. The solver's tolerance is absolute: weights of large cells must not drown in it."""
BEHIND = 1e8
"""Price of staying behind a demand."""
FAR = 1e6
"""What staying behind counts for where points are compared: more than any distance."""
WAY = Way(tolerance=1e-9, presolve=False, only_simplex=True, doubted=ALL_BUT_OPTIMAL)


@dataclass(frozen=True, eq=False, kw_only=True)
class Point:
    """A change of all cells, in units, and what is known about it."""

    change: Floats
    """Nearly additive: as far as floating-point numbers go."""
    behind: Bools
    """Primary cells that stay behind their demand."""
    value: float
    """What it costs; far more if a cell stays behind."""
    pull: Floats
    """What the equations pay for a unit more of every cell: with it, every cell is judged on its own."""


class Nearest:
    """The programme of one room, solved for one choice of directions after the other."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._size, self._count = room.size, room.primary.size
        self._scale = HIGHEST / max(float(room.weight.max(initial=0.0)), 1e-300)
        self._programme: Programme | None = None
        self._multipliers: Floats | None = None

    def solve(self, directions: Ints) -> Point:
        """The nearest change with these directions; cells without one (0) stay within their demands, for nothing."""
        point = self._absolute(directions)
        if self.room.distance == "L1" or point.behind.any():
            return point
        change, self._multipliers = least_squares(self.room, *self.room.within(directions), self._multipliers)
        pull = self.room.equations.transposed_times(self._multipliers)
        return Point(change=change, behind=point.behind, value=float(self.room.costs(change).sum()), pull=pull)

    def _absolute(self, directions: Ints) -> Point:
        lower, upper = self._bounds(directions)
        weight = self._scale * self.room.weight
        # up to its demand an undecided cell costs what it costs anyway
        weight[self.room.primary[directions == 0]] = 0.0
        cost = np.concatenate([weight, weight, np.full(2 * self._count, BEHIND)])
        if self._programme is None:
            nothing = np.zeros(self.room.equations.rows)
            self._programme = Programme(self._matrix(), nothing, lower=lower, upper=upper, cost=cost, way=WAY)
        else:
            self._programme.set_bounds(lower, upper)
            self._programme.set_costs(cost)
        self._programme.solve()
        return self._point(self._programme)

    def _bounds(self, directions: Ints) -> tuple[Floats, Floats]:
        """Columns: up, down, behind a demand to go down, behind one to go up."""
        low, high = self.room.within(directions)
        lower = [np.maximum(low, 0.0), np.maximum(-high, 0.0), np.zeros(2 * self._count)]
        short = np.where(directions > 0, self.room.up, self.room.down) / self.room.steps.fine
        behind = np.where(directions < 0, short, 0.0), np.where(directions > 0, short, 0.0)
        upper = [np.maximum(high, 0.0), np.maximum(-low, 0.0), *behind]
        return np.concatenate(lower), np.concatenate(upper)

    def _matrix(self) -> Matrix:
        start, row, coefficient = self.room.equations.by_column()
        every, some = np.arange(self._size), self.room.primary
        parts = [(every, 1.0), (every, -1.0), (some, 1.0), (some, -1.0)]
        lengths = [start[which + 1] - start[which] for which, _ in parts]
        at = np.concatenate([_spread(start, which) for which, _ in parts])
        sign = np.concatenate([np.full(int(n.sum()), s) for n, (_, s) in zip(lengths, parts, strict=True)])
        return Matrix(np.append(0, np.cumsum(np.concatenate(lengths))), row[at], sign * coefficient[at])

    def _point(self, programme: Programme) -> Point:
        x, n, k = programme.point, self._size, self._count
        change = x[:n] - x[n : 2 * n]
        late, early = x[2 * n : 2 * n + k], x[2 * n + k :]
        change[self.room.primary] += late - early
        behind = late + early > 0.5 / self.room.steps.fine
        value = float(self.room.weight @ np.abs(change))
        if behind.any():
            value += FAR * BEHIND / self._scale * float((late + early).sum())
        pull = self.room.equations.transposed_times(programme.multipliers) / self._scale
        return Point(change=change, behind=behind, value=value, pull=pull)


def _spread(start: Ints, which: Ints) -> Ints:
    """Where the entries of some columns are, one column after the other."""
    length = start[which + 1] - start[which]
    return np.repeat(start[which] - np.append(0, np.cumsum(length)[:-1]), length) + np.arange(int(length.sum()))
