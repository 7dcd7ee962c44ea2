"""What must be shown to be possible: every primary cell up and down by its levels, or along an interval long enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table

UP, DOWN, LENGTH = 0, 1, 2
VISIBLE = 1e-3
LEAST = 1e-6
"""A range must exceed what is asked for by this share of the value: more than any tolerance."""
STRICTLY = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Targets:
    """One entry per demand: a primary cell, which way it must be able to go, and how far."""

    cell: Ints
    kind: npt.NDArray[np.int8]
    amount: Floats
    """What settles it."""
    asked: Floats
    """What moves are looked for with: rounded up to the decimals of the table, so that they are made of whole steps."""
    at: npt.NDArray[np.int32]
    """For every cell of the table its two demands (-1 for none)."""

    @property
    def count(self) -> int:
        """Number of demands."""
        return int(self.cell.size)


def targets_of(table: Table, promise: Promise) -> Targets:
    """The demands of all primary cells.

    A cell without any demanded range still must not be computable exactly: it must be able to move at all. Counts must
    be able to move in whole numbers.

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="status")
    >>> targets_of(table, Promise(min_relative_range=0.55)).asked.tolist()
    [6.0]
    """
    need, below, above = promise.needs(table)
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    value = np.abs(table.value.reshape(-1))
    grid = unit(table)
    # levels on both sides and a longer range: the range is reached by going up farther
    rise = np.where(need > below + above, (need - below) * STRICTLY, above)
    up, down = primary[above[primary] > 0], primary[below[primary] > 0]
    length = primary[(above[primary] == 0) & ((below[primary] == 0) | (need[primary] > below[primary]))]
    cell = np.concatenate([up, down, length])
    kind = np.repeat(np.array([UP, DOWN, LENGTH], dtype=np.int8), [up.size, down.size, length.size])
    least = need[length] * STRICTLY + LEAST * np.maximum(value[length], 1.0)
    asked = np.concatenate(
        [_rounded(rise[up], grid), _rounded(below[down], grid), _strictly(need[length], value[length], grid)]
    )
    amount = asked if table.frequency else np.minimum(asked, np.concatenate([rise[up], below[down], least]))
    at = np.full((table.size, 2), -1, dtype=np.int32)
    at[cell, np.where(kind == DOWN, 1, 0)] = np.arange(cell.size, dtype=np.int32)
    return Targets(cell, kind, amount, asked, at)


def unit(table: Table) -> float:
    """The smallest step of the table's values; 0 where they are no short decimals."""
    return 0.0 if table.decimals is None else 10.0 ** -int(table.decimals)


def _rounded(amount: Floats, grid: float) -> Floats:
    return amount if not grid else np.maximum(np.ceil(amount / grid * (1 - 1e-9)), 1.0) * grid


def _strictly(need: Floats, value: Floats, grid: float) -> Floats:
    """A length that is truly longer than what is asked for, and large enough for a solver to see."""
    if grid:
        return (np.floor(need / grid * STRICTLY) + 1.0) * grid
    return np.maximum(need * STRICTLY, VISIBLE * np.maximum(value, 1.0))
