"""The promise applied to cells: how far every primary cell must be able to move, and when that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.tolerances import SOLVER

UP, DOWN, LENGTH = 0, 1, 2
VISIBLE = 1e-3
LEAST = 1e-6
"""A range must exceed what is asked for by this share of the value: more than any tolerance."""
STRICTLY = 1 + 1e-9


class Ways(NamedTuple):
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
    def size(self) -> int:
        """Number of demands."""
        return int(self.cell.size)


@dataclass(frozen=True)
class State:
    """Where a demand stands: open, settled, or settled except against some insiders."""

    settled: bool
    """Whether a move carries the cell far enough."""
    against: frozenset[int] = frozenset()
    """Insiders who can object to every such move."""

    @property
    def entirely(self) -> bool:
        """Settled against everybody."""
        return self.settled and not self.against


OPEN, SETTLED = State(settled=False), State(settled=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Demands:
    """What each primary cell must keep: how far its interval reaches up and down, and how long it is (strictly).

    A cell without any demanded range still must not be computable exactly: it must be able to move at all. Counts must
    be able to move in whole numbers.

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="status")
    >>> demands_of(table, Promise(min_relative_range=0.55)).ways.asked.tolist()
    [6.0]
    """

    cells: Ints
    """Flat positions, ascending."""
    up: Floats
    down: Floats
    length: Floats
    size: Floats
    """The value itself, without its sign."""
    sliding: Bools
    """Where the length stands for levels that need only be reached."""
    grid: float = 0.0
    """The smallest step of the table's values; 0 where they are not short decimals."""
    whole: bool = False
    """Whether values are counts."""
    among: int = 0
    """Number of cells of the table."""

    def some(self, chosen: Ints | Bools) -> Demands:
        """The same for some of the cells."""
        parts = {name: getattr(self, name)[chosen] for name in ("cells", "up", "down", "length", "size", "sliding")}
        return Demands(**parts, grid=self.grid, whole=self.whole, among=self.among)

    def kept(self, rise: Floats, fall: Floats) -> Bools:
        """Which cells keep what they need, given how far each can rise and fall."""
        slack = SOLVER * np.maximum(self.size, 1.0)
        length = np.where(self.sliding, self.length - 2 * slack, self.length)
        result: Bools = (rise >= self.up - slack) & (fall >= self.down - slack) & (rise + fall > length + slack)
        return result

    def times(self, rise: Floats, fall: Floats) -> Floats:
        """How many times over the cells keep what they need; infinite where no range is asked for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = [
                np.where(need > 0, has / need, np.inf)
                for has, need in ((rise, self.up), (fall, self.down), (rise + fall, self.length))
            ]
        result: Floats = np.minimum.reduce(shares)
        return result

    @cached_property
    def ways(self) -> Ways:
        """What a single move has to show, one entry per way a cell must be able to go."""
        # levels on both sides and a longer range: the range is reached by going up farther
        rise = np.where(self.length > self.down + self.up, (self.length - self.down) * STRICTLY, self.up)
        up, down = np.flatnonzero(self.up > 0), np.flatnonzero(self.down > 0)
        length = np.flatnonzero((self.up == 0) & ((self.down == 0) | (self.length > self.down)))
        chosen = np.concatenate([up, down, length])
        kind = np.repeat(np.array([UP, DOWN, LENGTH], dtype=np.int8), [up.size, down.size, length.size])
        least = self.length[length] * STRICTLY + LEAST * np.maximum(self.size[length], 1.0)
        asked = np.concatenate([self._rounded(rise[up]), self._rounded(self.down[down]), self._strictly(length)])
        amount = asked if self.whole else np.minimum(asked, np.concatenate([rise[up], self.down[down], least]))
        at = np.full((self.among, 2), -1, dtype=np.int32)
        at[self.cells[chosen], np.where(kind == DOWN, 1, 0)] = np.arange(chosen.size, dtype=np.int32)
        return Ways(self.cells[chosen], kind, amount, asked, at)

    def _rounded(self, amount: Floats) -> Floats:
        if not self.grid:
            return amount
        return np.maximum(np.ceil(amount / self.grid * (1 - 1e-9)), 1.0) * self.grid

    def _strictly(self, chosen: Ints) -> Floats:
        """A length that is truly longer than what is asked for, and large enough for a solver to see."""
        if self.grid:
            return (np.floor(self.length[chosen] / self.grid * STRICTLY) + 1.0) * self.grid
        return np.maximum(self.length[chosen] * STRICTLY, VISIBLE * np.maximum(self.size[chosen], 1.0))


def demands_of(table: Cells, promise: Promise) -> Demands:
    """What a promise asks for every primary cell of a table."""
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    length, down, up = (need[primary] for need in promise.needs(table))
    sliding = np.zeros(primary.size, dtype=np.bool_)
    levels = [level.reshape(-1)[primary] for level in (table.below, table.above) if level is not None]
    if promise.levels and promise.sliding and levels:
        # levels need only be reached: what is a hair short of their sum is long enough
        sliding = length < np.sum(levels, axis=0)
    return Demands(
        cells=primary, up=up, down=down, length=length, size=np.abs(table.value.reshape(-1)[primary]), sliding=sliding,
        grid=unit(table), whole=table.frequency, among=table.size,
    )  # fmt: skip


def unit(table: Cells) -> float:
    """The smallest step of the table's values; 0 where they are not short decimals."""
    return 0.0 if table.decimals is None else 10.0 ** -int(table.decimals)
