"""From a solver's change to one in whole steps: next to it, additive to the last digit, and no dearer than need be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.rational import Exactly
from diskret.perturbation.adjustment_room import Room

RADII = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""How far from a change one in whole steps is looked for: steps, one after the other."""
HIGHEST = 1e6
NODES = 50


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
    low, high = (np.rint(ends * room.steps.fine) for ends in room.within(directions))
    snap = _Snap(room=room, low=low, high=high, exactly=Exactly(room.equations), sums=_sums(room.equations))
    wanted = change * room.steps.fine
    near = np.clip(np.rint(wanted), low, high).astype(np.int64)
    if snap.holds(near):
        return near
    for radius, apart in product(RADII, (False, True)):
        found = snap.beside(wanted, radius, clock, apart=apart)
        if found is not None or clock.left <= 0:
            return found
    return None


@dataclass(frozen=True, eq=False, kw_only=True)
class _Snap:
    """Bounds and equations in steps."""

    room: Room
    low: Floats
    high: Floats
    exactly: Exactly
    sums: Bools
    """Cells that are sums of others."""

    def holds(self, change: Ints) -> bool:
        within = (change >= self.low).all() and (change <= self.high).all()
        return bool(within) and not self.exactly.sums(change).any()

    def beside(self, wanted: Floats, radius: int, clock: Deadline, *, apart: bool) -> Ints | None:
        """The cheapest additive change that is so far away at most: a corner that is whole, or added up from its parts.

        With ``apart`` sums keep away from their bounds, so that they stay inside when their parts are rounded.
        """
        most = np.minimum(float(radius), np.floor((self.high - self.low) / 2))
        away = np.where(self.sums & apart, most, 0.0)
        low, high = self.low + away, self.high - away
        base = np.clip(np.floor(wanted), low, high).astype(np.int64)
        upper = np.concatenate([np.minimum(2.0 * radius + 1, high - base), np.minimum(2.0 * radius, base - low)])
        point = self._solved(base, upper, whole=False, seconds=clock.left)
        if point is None:
            return None
        for found in (base + np.rint(point).astype(np.int64), added_up(self.room.equations, base, point)):
            if self.holds(found):
                return found
        if radius <= 1 and not apart:
            point = self._solved(base, upper, whole=True, seconds=clock.left)
            found = base if point is None else base + np.rint(point).astype(np.int64)
            return found if self.holds(found) else None
        return None

    def _solved(self, base: Ints, upper: Floats, *, whole: bool, seconds: float) -> Floats | None:
        fine, n = self.room.steps.fine, base.size
        own = self.room.costs(base / fine)
        cost = np.concatenate([self.room.costs((base + step) / fine) - own for step in (1, -1)])
        cost *= HIGHEST / max(float(np.abs(cost).max(initial=0.0)), 1e-300)
        start, row, coefficient = self.room.equations.by_column()
        programme = Programme(
            Matrix(start, row, coefficient).both_ways(), -self.exactly.sums(base).astype(np.float64),
            lower=np.zeros(2 * n), upper=upper, cost=cost, whole=whole,
            way=Way(seconds=max(seconds, 1.0), nodes=NODES if whole else None),
        )  # fmt: skip
        programme.solve()
        return programme.point[:n] - programme.point[n:] if programme.has_point else None


def _sums(equations: Equations) -> Bools:
    """Cells that are sums of others."""
    found = np.zeros(equations.cells.size, dtype=np.bool_)
    found[equations.columns[equations.coefficients < 0]] = True
    return found


def added_up(equations: Equations, base: Ints, step: Floats) -> Ints:
    """A change whose finest cells are rounded and whose sums are added up from them, level by level."""
    change: Ints = base + np.rint(step).astype(np.int64)
    row, columns = equations.row_of(), equations.columns
    is_sum = equations.coefficients == -1
    known = ~_sums(equations)
    while True:
        parts_known = np.bincount(row, ~is_sum & ~known[columns], equations.rows) == 0
        ready = parts_known[row] & is_sum & ~known[columns]
        if not ready.any():
            return change
        total = np.zeros(equations.rows, dtype=np.int64)
        np.add.at(total, row, np.where(is_sum, 0, equations.coefficients.astype(np.int64) * change[columns]))
        change[columns[ready]] = total[row[ready]]
        known[columns[ready]] = True
