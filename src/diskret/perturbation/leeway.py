"""What a perturbation must do and may do, cell by cell, in whole units of the last decimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact import EXACT_LIMIT, to_units
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.demands import Demands, demands_of
from diskret.moves.persons import alone_in
from diskret.perturbation import _move_kernels as kernels

FAR = int(kernels.FAR)
NOTHING: Ints = np.empty(0, dtype=np.int64)
"""No cells."""


@dataclass(frozen=True, kw_only=True)
class Units:
    """Values as whole numbers: a power of ten where the table has short decimals, else a power of two."""

    decimals: int | None
    scale: float

    @classmethod
    def of(cls, table: Table) -> Units:
        """The units of a table."""
        if table.decimals is not None:
            return cls(decimals=table.decimals, scale=10.0**table.decimals)
        largest = float(np.abs(table.value).max(initial=1.0))
        return cls(decimals=None, scale=2.0 ** np.floor(np.log2(EXACT_LIMIT / 4 / max(largest, 1e-300))))

    def whole(self, numbers: Floats) -> Ints:
        """Values in units."""
        return to_units(numbers, self.decimals) if self.decimals is not None else self.down(numbers)

    def down(self, numbers: Floats) -> Ints:
        """Bounds in units, rounded down; what is too large to count is cut off."""
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


class Leeway(NamedTuple):
    """What may change per cell in whole units, and by how much primary cells must: flat arrays, for the kernels.

    ``change`` and ``state`` are written while moves are made.
    """

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


def leeway_of(table: Table, units: Units, promise: Promise, max_relative_change: float | None) -> Leeway:
    """What may change in a table of which nothing has been changed yet."""
    room_up, room_down = promise.knowledge.room(table)
    demands = demands_of(table, promise)
    primary = demands.cells
    fixed = ~usable_cells(table)
    state = np.where(fixed, 0, kernels.USABLE).astype(np.uint8)
    state[primary] |= kernels.PRIMARY
    state[alone_in(table)] |= kernels.SINGLE
    place = np.full(table.size, -1, dtype=np.int32)
    place[primary] = np.arange(primary.size, dtype=np.int32)
    need_down, need_up = least_changes(demands, units)
    cap = np.full(primary.size, FAR)
    if max_relative_change is not None:
        share = units.down(max_relative_change * demands.size)
        cap = np.maximum(share, 2 * np.maximum(need_down, need_up))
    return Leeway(
        value=units.whole(table.value.reshape(-1)),
        change=np.zeros(table.size, dtype=np.int64),
        low=np.where(fixed, 0, -units.down(room_down)),
        high=np.where(fixed, 0, units.down(room_up)),
        state=state, place=place, primary=primary, need_up=need_up, need_down=need_down, cap=cap,
    )  # fmt: skip


def least_changes(demands: Demands, units: Units) -> tuple[Ints, Ints]:
    """How far down or up primary cells must be changed at least, in units: what the rule demands, and always something.

    A range r that the interval must exceed is a change of more than r/2 either way: whoever knows the least change m
    knows that the true value is not within m of the published one, and has an interval of 2 m in which he cannot tell.
    """
    half = np.where(demands.length > 0, units.down(demands.length / 2) + 1, 1)
    return np.maximum(half, units.up(demands.down)), np.maximum(half, units.up(demands.up))


def usable_cells(table: Table) -> Bools:
    """Cells that may be changed (flat): not those fixed by their status, publicly known, or empty."""
    status, value = table.status.reshape(-1), table.value.reshape(-1)
    usable = (status != Status.NEVER) & (status != Status.PUBLISHED) & (status != Status.STRUCTURAL_ZERO)
    finest = finest_cells(table)
    # a zero that became positive would show somebody where nobody is
    blank = finest & (value == 0) & ((status == Status.OPEN) | (status == Status.SECONDARY))
    if not nonnegative(table):
        blank &= table.empty.reshape(-1)
    usable &= ~blank
    people = table.respondents
    if people is not None and people.public_count is not None:
        usable &= ~people.all_public.reshape(-1)
    result: Bools = usable
    return result


def nonnegative(table: Table) -> bool:
    """Whether no value is negative, by declaration or by the look of it."""
    return table.positive or not bool((table.value < 0).any())


def finest_cells(table: Table) -> Bools:
    """Cells that are not a sum (flat)."""
    return table.inner.reshape(-1)
