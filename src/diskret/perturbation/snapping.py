"""From a solver's change to one in whole steps: next to it, additive to the last digit, and no dearer than need be."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.rational import Exactly
from diskret.perturbation.adjustment_room import Room

FURTHER = 10
"""Where nothing additive is found next to a change, the search goes on so many times as far away,"""
TIMES = 9
"""so often."""
HIGHEST = 1e6
NODES = 200


class Deadline(Protocol):
    """When to stop."""

    @property
    def left(self) -> float:
        """Seconds left."""
        ...


def snapped(room: Room, directions: Ints, change: Floats, clock: Deadline) -> Ints | None:
    """A change in whole steps near one in units, with the same directions; None if none was found.

    >>> import numpy as np
    >>> from diskret.perturbation.adjustment_room import small_room
    >>> from diskret.suppression.optimum.clock import Clock
    >>> snapped(small_room(), np.array([1]), np.array([2.0, 1.9]), Clock(9)).tolist()
    [2, 2]
    """
    low, high = (ends * room.steps.fine for ends in room.within(directions))
    low, high = np.rint(low), np.rint(high)
    exactly, wanted = Exactly(room.equations), change * room.steps.fine
    near = np.clip(np.rint(wanted), low, high).astype(np.int64)
    if not exactly.sums(near).any():
        return near
    base = np.clip(np.floor(wanted), low, high).astype(np.int64)
    radius = 0
    for _ in range(TIMES):
        found = _beside(room, exactly, base, (low, high), radius, clock)
        if found is not None or clock.left <= 0:
            return found
        radius = FURTHER * radius or 1
    return None


def _beside(
    room: Room, exactly: Exactly, base: Ints, ends: tuple[Floats, Floats], radius: int, clock: Deadline
) -> Ints | None:
    """The cheapest additive change that is at most so far from a given one: by a linear programme, then in integers."""
    low, high = ends
    upper = np.concatenate([np.minimum(radius + 1.0, high - base), np.minimum(float(radius), base - low)])
    own = room.costs(base / room.steps.fine)
    slope = [room.costs((base + step) / room.steps.fine) - own for step in (1, -1)]
    cost = np.concatenate(slope)
    cost *= HIGHEST / max(float(np.abs(cost).max(initial=0.0)), 1e-300)
    start, row, coefficient = room.equations.by_column()
    missing = -exactly.sums(base).astype(np.float64)
    for whole in (False, True):
        way = Way(seconds=max(clock.left, 1.0), nodes=NODES if whole else None)
        programme = Programme(
            Matrix(start, row, coefficient).both_ways(), missing, lower=np.zeros(upper.size), upper=upper, cost=cost,
            whole=whole, way=way,
        )  # fmt: skip
        programme.solve()
        if not programme.has_point:
            return None
        step = np.rint(programme.point).astype(np.int64)
        found: Ints = base + step[: base.size] - step[base.size :]
        if not exactly.sums(found).any() and (found >= low).all() and (found <= high).all():
            return found
    return None
