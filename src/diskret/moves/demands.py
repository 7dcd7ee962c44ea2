"""The promise applied to cells: how far every primary cell must be able to move, and when that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.grid import SAME, Whole, digits_of, whole
from diskret.model.promise import Promise
from diskret.model.status import Status

UP, DOWN, LENGTH = 0, 1, 2
VISIBLE = 1e-3


class Ways(NamedTuple):
    """One entry per demand: a primary cell, which way it must be able to go, and how far."""

    cell: Ints
    kind: npt.NDArray[np.int8]
    amount: Floats
    """What settles it: to be reached, or"""
    strict: Bools
    """to be exceeded."""
    least: Floats
    """The same for moves of whole steps, to be reached by doubles: between what is too short and what is enough."""
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
    digits: int = 0
    """Decimals of all demands and of what is thought possible: both are whole numbers of such steps."""
    grid: float = 0.0
    """The smallest step of the table's values; 0 where they are not short decimals."""
    whole: bool = False
    """Whether values are counts."""
    among: int = 0
    """Number of cells of the table."""

    def some(self, chosen: Ints | Bools) -> Demands:
        """The same for some of the cells."""
        parts = {name: getattr(self, name)[chosen] for name in ("cells", "up", "down", "length", "size", "sliding")}
        return Demands(**parts, digits=self.digits, grid=self.grid, whole=self.whole, among=self.among)

    def kept(self, rise: Floats, fall: Floats) -> Bools:
        """Which cells keep what they need, given how far each can rise and fall."""
        long_enough = np.where(self.sliding, rise + fall >= self.length, rise + fall > self.length)
        result: Bools = (rise >= self.up) & (fall >= self.down) & long_enough
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
        longer = self._longer
        rise = np.where(longer, self.length - self.down, self.up)
        up, down = np.flatnonzero(self.up > 0), np.flatnonzero(self.down > 0)
        length = np.flatnonzero((self.up == 0) & ((self.down == 0) | longer))
        chosen = np.concatenate([up, down, length])
        kind = np.repeat(np.array([UP, DOWN, LENGTH], dtype=np.int8), [up.size, down.size, length.size])
        asked = [
            np.where(longer[up], self._strictly(rise[up], up), self._rounded(rise[up])),
            self._rounded(self.down[down]),
            self._strictly(self.length[length], length),
        ]
        amount = np.concatenate([rise[up], self.down[down], self.length[length]])
        strict = np.concatenate([longer[up], np.zeros(down.size, dtype=np.bool_), ~self.sliding[length]])
        least = np.where(strict, amount + 0.5 * 10.0**-self.digits, amount * (1 - 1e-12))
        at = np.full((self.among, 2), -1, dtype=np.int32)
        at[self.cells[chosen], np.where(kind == DOWN, 1, 0)] = np.arange(chosen.size, dtype=np.int32)
        return Ways(self.cells[chosen], kind, amount, strict, least, np.concatenate(asked), at)

    @property
    def _longer(self) -> Bools:
        """Where a range is longer than levels on both sides: it is reached by going up farther."""
        result: Bools = (self.length > 0) & (self.length >= self.down + self.up)
        return result

    @property
    def stretched(self) -> bool:
        """Whether moves are asked for more than was promised: a range may be reached by going down farther, too."""
        return bool((self._longer & (self.up > 0)).any())

    def _rounded(self, amount: Floats) -> Floats:
        if not self.grid:
            return amount
        return np.maximum(np.ceil(amount / self.grid * (1 - 1e-9)), 1.0) * self.grid

    def _strictly(self, length: Floats, chosen: Ints) -> Floats:
        """A length that is truly longer than what is asked for, and large enough for a solver to see."""
        if self.grid:
            return (np.floor(length / self.grid * (1 + 1e-9)) + 1.0) * self.grid
        return np.maximum(length * (1 + 1e-9), VISIBLE * np.maximum(self.size[chosen], 1.0))

    @property
    def steps(self) -> Steps:
        """The same in whole numbers of steps."""
        return Steps(*(whole(each, self.digits) for each in (self.up, self.down, self.length)))


class Steps(NamedTuple):
    """Demands in whole numbers."""

    up: Whole
    down: Whole
    length: Whole


def demands_of(table: Cells, promise: Promise) -> Demands:
    """What a promise asks for every primary cell of a table."""
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    asked, below, above, enough = promise.asks(table)
    length, down, up, reached = asked[primary], below[primary], above[primary], enough[primary]
    size = np.abs(table.value.reshape(-1)[primary])
    digits = _digits(table, promise)
    if table.frequency:
        # counts move in whole numbers: more than 2.5 is 3, more than 2 as well
        down, up = _rounded(down, size, 0, np.ceil(down)), _rounded(up, size, 0, np.ceil(up))
        length = _rounded(length, size, 0, np.where(reached, np.ceil(length), np.floor(length)))
    else:
        for each in (length, down, up):
            digits = digits_of(each, first=digits) or digits
        length, down, up = (_rounded(each, size, digits) for each in (length, down, up))
    return Demands(
        cells=primary, up=up, down=down, length=length, size=size, sliding=reached, digits=digits,
        grid=unit(table), whole=table.frequency, among=table.size,
    )  # fmt: skip


def _digits(table: Cells, promise: Promise) -> int:
    """Decimals of everything an attacker may think possible."""
    found = 0
    for room in promise.knowledge.room(table):
        found = digits_of(room, first=found) or found
    return found


def _rounded(numbers: Floats, size: Floats, digits: int, otherwise: Floats | None = None) -> Floats:
    """The decimals that numbers mean, measured by the values; whatever is none ``otherwise``."""
    scaled = numbers * 10.0**digits
    near = np.rint(scaled)
    if otherwise is not None:
        near = np.where(np.abs(scaled - near) <= SAME * np.maximum(np.abs(scaled), size), near, otherwise)
    return near / 10.0**digits


def unit(table: Cells) -> float:
    """The smallest step of the table's values; 0 where they are not short decimals."""
    return 0.0 if table.decimals is None else 10.0 ** -int(table.decimals)
