"""Which way primary cells go: a start that balances lines, then turning cells as long as it pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.perturbation.adjustment_bound import both_ways
from diskret.perturbation.adjustment_room import Room
from diskret.perturbation.nearest import Nearest, Point

GAIN = 1e-10
"""Less than this, relative to the value, is no gain."""
FIRST = 64
"""Cells that are turned at once, at most."""

PART = 8
"""Share of the undecided cells that is decided at once."""


class Deadline(Protocol):
    """When to stop."""

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """Which way primary cells go (1 up, -1 down), and the nearest change with that."""

    directions: Ints
    point: Point


def balanced(room: Room, given: Ints) -> Ints:
    """Directions that balance the equations, large demands first; ``given`` ones (not 0) stay."""
    can_fall, can_rise = room.possible
    chosen = np.where(given != 0, given, np.where(~can_fall, 1, np.where(~can_rise, -1, 0)))
    start, row, coefficient = room.equations.by_column()
    off = np.zeros(room.equations.rows)
    order = np.lexsort((-np.maximum(room.up, room.down), chosen == 0))
    for k in order.tolist():
        entries = slice(start[room.primary[k]], start[room.primary[k] + 1])
        rows, times = row[entries], coefficient[entries]
        if chosen[k] == 0:
            rise, fall = off[rows] + times * room.up[k], off[rows] - times * room.down[k]
            chosen[k] = 1 if np.abs(rise).sum() <= np.abs(fall).sum() else -1
        off[rows] += times * (room.up[k] if chosen[k] > 0 else -room.down[k])
    return chosen


def dived(nearest: Nearest, given: Ints, clock: Deadline) -> Ints:
    """Directions decided a few at a time: those that the nearest change with all others undecided leans to."""
    room = nearest.room
    can_fall, can_rise = room.possible
    otherwise = balanced(room, given)
    chosen = np.where(given != 0, given, np.where(~can_fall, 1, np.where(~can_rise, -1, 0)))
    while (chosen == 0).any():
        if clock.late:
            return np.where(chosen == 0, otherwise, chosen)
        change = nearest.solve(chosen).change[room.primary] * room.steps.fine
        share = np.where(change > 0, change / room.up, -change / room.down)
        share = np.where(chosen == 0, share, -1.0)
        order = np.lexsort((-np.maximum(room.up, room.down), -share))[: int((chosen == 0).sum())]
        some = order[: max(1, order.size // PART, int((share >= 1 - GAIN).sum()))]
        leans = np.where(share > GAIN, np.where(change > 0, 1, -1), otherwise)
        chosen[some] = leans[some]
    return chosen


def turned(nearest: Nearest, begin: Choice, given: Ints, clock: Deadline, *, mending: bool = False) -> Choice:
    """Turn cells that are not ``given``, as long as the nearest change gets nearer; ``mending``: or none stays behind.

    What turning a cell gains is estimated by the prices of the equations; the estimate is never less than the truth, so
    that where nothing promises a gain no single cell has one.
    """
    room, best, tried, batch = nearest.room, begin, np.zeros(begin.directions.size, dtype=np.bool_), FIRST
    free = (given == 0) & room.possible[0] & room.possible[1]
    while not clock.late and (best.point.behind.any() or not mending):
        promise = _promises(room, best, free & ~tried)
        order = np.flatnonzero(promise < -GAIN * max(best.point.value, 1e-300))
        if not order.size:
            break
        some = order[np.argsort(promise[order], kind="stable")][:batch]
        directions = best.directions.copy()
        directions[some] *= -1
        point = nearest.solve(directions)
        if point.value < best.point.value * (1 - GAIN):
            best, batch = Choice(directions=directions, point=point), min(2 * batch, FIRST)
            tried[:] = False
        elif some.size > 1:
            batch = some.size // 4 or 1
        else:
            tried[some] = True
    return best


def _promises(room: Room, best: Choice, free: Bools) -> Floats:
    """What turning each cell alone could change the value by, at best; infinite where it must not be turned."""
    down, up = both_ways(room, best.point.pull, best.point.value)
    own, other = np.where(best.directions > 0, (up, down), (down, up))
    # who stays behind is asked first
    promise = np.where(best.point.behind, -np.inf, other - np.where(np.isfinite(own), own, 0.0))
    result: Floats = np.where(free & np.isfinite(other), promise, np.inf)
    return result
