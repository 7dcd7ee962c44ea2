"""What a perturbation must do and may do, cell by cell, in whole units of the last decimal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact import EXACT_LIMIT, to_units
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation import _cuboid_kernels as kernels

FAR = int(kernels.FAR)


@dataclass(frozen=True)
class Units:
    """Values as whole numbers: a power of ten where the table has short decimals, else a power of two."""

    decimals: int | None
    scale: float

    @classmethod
    def of(cls, table: Table) -> Units:
        """The units of a table."""
        if table.decimals is not None:
            return cls(table.decimals, 10.0**table.decimals)
        largest = float(np.abs(table.value).max(initial=1.0))
        return cls(None, 2.0 ** np.floor(np.log2(EXACT_LIMIT / 4 / max(largest, 1e-300))))

    def whole(self, numbers: Floats) -> Ints:
        """Values in units."""
        return to_units(numbers, self.decimals) if self.decimals is not None else self.down(numbers)

    def down(self, numbers: Floats) -> Ints:
        """Bounds in units, rounded down; beyond measure is far."""
        scaled = np.floor(np.minimum(numbers * self.scale * (1 + 1e-15), float(FAR)))
        return scaled.astype(np.int64)

    def up(self, numbers: Floats) -> Ints:
        """Demands in units, rounded up (binary fractions do not count)."""
        scaled = np.ceil(np.minimum(numbers * self.scale * (1 - 1e-15), float(FAR)))
        return scaled.astype(np.int64)

    def change(self, units: Ints) -> Floats:
        """A change in units as a number."""
        return units / self.scale

    def moved(self, table: Table, change: Ints) -> Floats:
        """The values of a table after a change, exactly where the table has short decimals."""
        if self.decimals is None:
            return table.value + self.change(change.reshape(table.shape))
        moved: Floats = (self.whole(table.value) + change.reshape(table.shape)) / self.scale
        return moved


@dataclass(eq=False)
class Task:
    """Flat arrays over the cells, and one entry per primary cell for its demand and the largest change."""

    value: Ints
    change: Ints
    low: Ints
    """Smallest change a cell may have in the end."""
    high: Ints
    """Largest change."""
    state: npt.NDArray[np.uint8]
    place: npt.NDArray[np.int32]
    """Which primary cell it is; -1: none."""
    primary: Ints
    """Flat positions of the primary cells."""
    need_up: Ints
    """Per primary cell: least change, if it goes up."""
    need_down: Ints
    cap: Ints
    """Per primary cell: largest change by a single error."""

    @property
    def cellwise(self) -> tuple[Ints, Ints, Ints, npt.NDArray[np.uint8]]:
        """What the kernels read and write."""
        return self.change, self.low, self.high, self.state

    @property
    def demands(self) -> tuple[npt.NDArray[np.int32], Ints, Ints]:
        """What primary cells demand."""
        return self.place, self.need_up, self.need_down


def task_of(
    table: Table, units: Units, protection: Protection, knowledge: Knowledge, max_relative_change: float | None
) -> Task:
    """Everything the kernels need, before anything is changed."""
    value = units.whole(table.value.reshape(-1))
    room_up, room_down = knowledge.room(table)
    fixed = ~usable_cells(table)
    low, high = -units.down(room_down), units.down(room_up)
    low[fixed], high[fixed] = 0, 0
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    state = np.where(fixed, 0, kernels.USABLE).astype(np.uint8)
    state[primary] |= kernels.PRIMARY
    state[_alone(table)] |= kernels.SINGLE
    place = np.full(table.size, -1, dtype=np.int32)
    place[primary] = np.arange(primary.size, dtype=np.int32)
    need_down, need_up = least_changes(table, units, protection, primary)
    cap = np.full(primary.size, FAR)
    if max_relative_change is not None:
        share = units.down(max_relative_change * np.abs(table.value.reshape(-1)[primary]))
        cap = np.maximum(share, 2 * np.maximum(need_down, need_up))
    change = np.zeros(table.size, dtype=np.int64)
    return Task(value, change, low, high, state, place, primary, need_up, need_down, cap)


def least_changes(table: Table, units: Units, protection: Protection, primary: Ints) -> tuple[Ints, Ints]:
    """How far down or up primary cells must be changed at least, in units: what the rule demands, and always something.

    A range r that the interval must exceed is a change of more than r/2 either way: whoever knows the least change m
    knows that the true value is not within m of the published one, and has an interval of 2 m in which he cannot tell.
    """
    span, below, above = (need[primary] for need in protection.needs(table))
    half = np.where(span > 0, units.down(span / 2) + 1, 1)
    return np.maximum(half, units.up(below)), np.maximum(half, units.up(above))


def usable_cells(table: Table) -> Bools:
    """Cells that may be changed (flat): not those fixed by their status, publicly known, or empty."""
    status, value = table.status.reshape(-1), table.value.reshape(-1)
    usable = (status != Status.NEVER) & (status != Status.PUBLISHED) & (status != Status.STRUCTURAL_ZERO)
    finest = finest_cells(table)
    # a zero that became positive would show somebody where nobody is
    blank = finest & (value == 0) & ((status == Status.OPEN) | (status == Status.SECONDARY))
    if not (table.positive or not (value < 0).any()):
        blank &= table.empty.reshape(-1)
    usable &= ~blank
    people = table.respondents
    if people is not None and people.public_count is not None:
        usable &= ((people.public_count < people.count) | (people.count == 0)).reshape(-1)
    result: Bools = usable
    return result


def finest_cells(table: Table) -> Bools:
    """Cells that are no sum (flat)."""
    return table.inner.reshape(-1)


def _alone(table: Table) -> Bools:
    alone = np.zeros(table.size, dtype=np.bool_)
    for people in (table.respondents, table.holdings):
        if people is not None:
            alone |= people.count.reshape(-1) == 1
    if table.respondents is None and table.frequency:
        alone |= table.value.reshape(-1) == 1
    return alone
