"""What an adjustment must do and may do: how far cells may move, how far primary ones must, what a change costs.

Changes are whole numbers of steps. A step is one unit of the table's last decimal, or a small part of it where values
need not stay whole; programmes count in units, so that their numbers stay small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import Literal

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.errors import BadOption, ChangeOutOfReach, listed
from diskret.model.exact import MOST_DECIMALS, from_units, most_units, to_units
from diskret.model.grid import floor_of
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.demands import demands_of
from diskret.moves.persons import persons_of
from diskret.perturbation.leeway import nonnegative, usable_cells

Distance = Literal["L1", "L2"]
FINEST = 6
"""Further decimals of values that need not stay whole."""
LONG, FINE = 30, 20
"""Values that are no short decimals: bits of the largest in units, and bits of a unit in steps."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """How values become whole numbers of steps."""

    decimals: int | None
    """Of the values that come out; None where there are none."""
    fine: int
    """Steps of a unit."""
    units: float
    """Units of one."""

    @classmethod
    def of(cls, table: Table, *, whole: bool) -> Steps:
        """The steps of a table, whose values are to keep their decimals (``whole``) or not."""
        largest = float(np.abs(table.value).max(initial=0.0))
        if table.decimals is None:
            return cls(decimals=None, fine=2**FINE, units=2.0 ** floor(LONG - np.log2(max(largest, 1e-300))))
        units = 10.0**table.decimals
        free = floor(log10(most_units(1) / (4 * max(largest * units, 1.0))))
        further = 0 if whole else max(0, min(FINEST, MOST_DECIMALS - table.decimals, free))
        return cls(decimals=table.decimals + further, fine=10**further, units=units)

    @property
    def scale(self) -> float:
        """Steps of one."""
        return self.units * self.fine

    def down(self, numbers: Floats) -> Floats:
        """Rooms in whole steps, rounded down; endless ones stay so."""
        return floor_of(numbers * self.scale)

    def up(self, numbers: Floats) -> Floats:
        """Demands in whole steps, rounded up."""
        return -floor_of(-numbers * self.scale)

    def moved(self, value: Floats, change: Ints) -> Floats:
        """Values after a change; exactly, where they are short decimals."""
        if self.decimals is None:
            return value + change / self.scale
        return from_units(to_units(value, self.decimals) + change, self.decimals)


@dataclass(frozen=True, eq=False, kw_only=True)
class Room:
    """The cells that may change, one entry each, and the equations between them. Rooms and demands are in steps."""

    equations: Equations
    low: Floats
    high: Floats
    weight: Floats
    """What a change by one unit costs."""
    distance: Distance
    primary: Ints
    """Which of the cells are primary."""
    down: Floats
    up: Floats
    """Per primary cell: how far it must go at least, either way."""
    steps: Steps

    @property
    def size(self) -> int:
        """Number of cells that may change."""
        return int(self.low.size)

    @cached_property
    def possible(self) -> tuple[Bools, Bools]:
        """Per primary cell whether it has room to go down as far as it must, and up."""
        return -self.low[self.primary] >= self.down, self.high[self.primary] >= self.up

    def costs(self, change: Floats) -> Floats:
        """What changes of the cells cost, in units."""
        return self.weight * (np.abs(change) if self.distance == "L1" else change * change)

    def cost(self, steps: Floats | Ints) -> float:
        """What a change of all cells costs, in steps."""
        return float(self.costs(steps / self.steps.fine).sum())

    def within(self, directions: Ints) -> tuple[Floats, Floats]:
        """Least and largest change of every cell in units; primary ones go as given: 1 up, -1 down, 0 not so far."""
        low, high = self.low.copy(), self.high.copy()
        least, most = low[self.primary], high[self.primary]
        low[self.primary] = np.where(
            directions > 0, self.up, np.where(directions < 0, least, np.maximum(least, -self.down))
        )
        high[self.primary] = np.where(
            directions < 0, -self.down, np.where(directions > 0, most, np.minimum(most, self.up))
        )
        return low / self.steps.fine, high / self.steps.fine


def room_of(table: Table, promise: Promise, steps: Steps, distance: Distance, weights: str) -> Room:
    """What may change in a table, and what must."""
    status, value = table.status.reshape(-1), table.value.reshape(-1)
    demands = demands_of(table, promise)
    primary = status == Status.PRIMARY
    usable = usable_cells(table)
    if nonnegative(table):
        usable &= (value != 0) | primary
    rise, fall = _bounds(table, promise)
    high, low = np.where(usable, steps.down(rise), 0.0), np.where(usable, -steps.down(fall), 0.0) + 0.0
    # a range r is a change of more than r/2 either way; where nothing is demanded, a unit
    half = np.where(demands.length > 0, steps.down(demands.length / 2) + 1, 0.0)
    down, up = (np.maximum(half, steps.up(level)) for level in (demands.down, demands.up))
    down, up = (np.where(need > 0, need, float(steps.fine)) for need in (down, up))
    _refuse_stuck(table, demands.cells, (low, high), (down, up))
    movable = low < high
    number = np.cumsum(movable) - 1
    weight = _weights(table, weights, movable) / steps.units ** (1 if distance == "L1" else 2)
    return Room(
        equations=table.equations(movable), low=low[movable], high=high[movable], weight=weight, distance=distance,
        primary=number[demands.cells], down=down, up=up, steps=steps,
    )  # fmt: skip


def _bounds(table: Table, promise: Promise) -> tuple[Floats, Floats]:
    """How far up and down cells may go: within what everybody knows, and within bounds of their own."""
    rise, fall = promise.knowledge.room(table)
    value = table.value.reshape(-1)
    if table.upper is not None:
        rise = np.minimum(rise, np.maximum(table.upper.reshape(-1) - value, 0.0))
    if table.lower is not None:
        fall = np.minimum(fall, np.maximum(value - table.lower.reshape(-1), 0.0))
    return rise, fall


def _refuse_stuck(table: Table, cells: Ints, room: tuple[Floats, Floats], needs: tuple[Floats, Floats]) -> None:
    """Refuse primary cells that cannot go far enough either way, whatever the others do."""
    (low, high), (down, up) = room, needs
    stuck = cells[(-low[cells] < down) & (high[cells] < up)]
    if stuck.size:
        raise out_of_reach(table, stuck)


def out_of_reach(table: Table, cells: Ints) -> ChangeOutOfReach:
    """Primary cells that cannot be changed as much as demanded."""
    one = f"{cells.size} primary cell cannot be changed as much as the rule demands"
    several = f"{cells.size} primary cells cannot be changed as much as the rule demands"
    return ChangeOutOfReach(
        one if cells.size == 1 else several,
        where=listed([table.name_of(int(c)) for c in cells], most=50),
        hint="fewer cells with the status never or published, wider bounds, a smaller demand; or suppress them.",
    )


def _weights(table: Table, weights: str, movable: Bools) -> Floats:
    """What a change of each movable cell costs, in the table's own numbers."""
    value = np.abs(table.value.reshape(-1)[movable])
    if weights == "unit":
        return np.ones(value.size)
    if weights == "value":
        return 1.0 / np.where(value > 0, value, 1.0)
    if table.weight is None:
        raise BadOption("the table has no weights", hint="weights='value' or 'unit'; or name a column of costs.")
    own: Floats = table.weight.reshape(-1)[movable].astype(np.float64)
    if not ((own > 0) & np.isfinite(own)).all():
        raise BadOption("weights of cells that may change are zero or less", hint="give every cell a positive weight.")
    return own


def told_beside(table: Table, equations: Equations) -> Ints:
    """Primary cells (flat) in an equation with one other cell that may change, in which somebody else is alone."""
    persons, pairs = persons_of(table), np.diff(equations.start) == 2
    first = equations.start[:-1][pairs]
    one, other = (equations.cells[equations.columns[first + i]] for i in (0, 1))
    cell, beside = np.concatenate([one, other]), np.concatenate([other, one])
    primary = table.status.reshape(-1)[cell] == Status.PRIMARY
    known = (persons[beside] >= 0) & (persons[beside] != persons[cell])
    return np.unique(cell[primary & known])


def small_room(distance: Distance = "L1") -> Room:
    """Two cells that must stay equal, the first of which goes up or down by two: for examples."""
    first = np.zeros(1, dtype=np.int64)
    equations = Equations(np.arange(2), np.array([0, 2]), np.arange(2), np.array([1.0, -1.0]), first, first)
    return Room(
        equations=equations, low=np.full(2, -9.0), high=np.full(2, 9.0), weight=np.ones(2), distance=distance,
        primary=first, down=np.full(1, 2.0), up=np.full(1, 2.0),
        steps=Steps(decimals=0, fine=1, units=1.0),
    )  # fmt: skip
