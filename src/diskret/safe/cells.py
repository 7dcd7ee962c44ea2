"""Control cells: every cell of every control table that some row falls into, numbered through."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import TableTooLarge
from diskret.model.hierarchy import Hierarchy
from diskret.safe import _cell_kernels
from diskret.safe.control import ControlTable, KeyLevel, key_levels

Numbers = npt.NDArray[np.uint32]
MOST_TABLES = 65_000
MOST_DENSE = 1 << 26
"""Possible cells of one table up to which they are numbered by a lookup; beyond, by sorting."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class ControlCells:
    """Which cells each row is counted in, and what they hold in the original.

    ``number[j, t]`` is the cell of row j in table t; cells of one table stand together, from ``first[t]`` on. Rows
    outside the unit of a table (counter 0) are counted in the last cell, which is not controlled.
    """

    tables: tuple[ControlTable, ...]
    number: Numbers
    first: Ints
    original: Ints

    @property
    def size(self) -> int:
        """Number of controlled cells."""
        return int(self.first[-1])

    @property
    def table_dimension(self) -> npt.NDArray[np.int8]:
        """Dimension of each table. The number of units of a counter is a total and has dimension 1 all the same."""
        return np.array([max(t.dimension, 1) for t in self.tables], dtype=np.int8)

    @property
    def dimension(self) -> npt.NDArray[np.int8]:
        """Dimension of each cell."""
        return np.repeat(self.table_dimension, np.diff(self.first))

    def count(self, frequency: Ints | npt.NDArray[np.int32]) -> Ints:
        """What the cells hold with these frequencies, counted from the rows."""
        totals = np.zeros(self.size + 1, dtype=np.int64)
        _cell_kernels.count_cells(self.number, frequency.astype(np.int64), totals)
        return totals[:-1]

    def deviation(self, frequency: Ints | npt.NDArray[np.int32]) -> Ints:
        """Anonymous minus original, cell by cell."""
        return self.count(frequency) - self.original


def refuse_too_many(rows: int, tables: int) -> None:
    """Refuse a control set whose cell numbers do not fit the memory."""
    needed = rows * tables * 8  # the cells of each row, and the rows of each cell
    if tables > MOST_TABLES:
        raise TableTooLarge(
            f"{tables:,} control tables are too many", hint="control fewer key levels or a lower dimension."
        )
    if needed > 0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise TableTooLarge(
            f"{rows:,} different rows in {tables:,} control tables need {needed / 1e9:.0f} GB, "
            "more than this machine's memory allows",
            hint="control fewer key levels or a lower dimension, or list the tables that matter.",
        )


def level_codes(codes: npt.NDArray[np.int32], attributes: Mapping[str, Hierarchy]) -> dict[KeyLevel, tuple[Ints, Ints]]:
    """Per key level the number of each row's code among the codes that occur, and the positions of these codes."""
    found: dict[KeyLevel, tuple[Ints, Ints]] = {}
    for axis, (name, hierarchy) in enumerate(attributes.items()):
        for level, to in key_levels(name, hierarchy).items():
            occurring = np.zeros(len(hierarchy), dtype=np.bool_)
            occurring[to[codes[:, axis]]] = True
            place = np.cumsum(occurring) - 1
            found[level] = place[to][codes[:, axis]].astype(np.int64), np.flatnonzero(occurring)
    return found


def control_cells(
    codes: npt.NDArray[np.int32], frequency: Ints, attributes: Mapping[str, Hierarchy],
    tables: Sequence[ControlTable], progress: Progress | None = None,
) -> ControlCells:  # fmt: skip
    """Number the cells that rows fall into, table by table in the order of their codes.

    >>> sex, age = Hierarchy.flat("mw"), Hierarchy.flat(["old", "young"])
    >>> rows = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> tables = [ControlTable((KeyLevel("sex"),)), ControlTable((KeyLevel("sex"), KeyLevel("age")))]
    >>> cells = control_cells(rows, np.array([5, 1, 2]), {"sex": sex, "age": age}, tables)
    >>> cells.number.tolist(), cells.original.tolist()
    ([[0, 2], [0, 3], [1, 4]], [6, 2, 5, 1, 2])
    """
    say = progress or (lambda what, done, of: None)
    refuse_too_many(len(codes), len(tables))
    levels = level_codes(codes, attributes)
    counted = _counted(codes, attributes, tables)
    number = np.empty((len(codes), len(tables)), dtype=np.uint32)
    first = np.zeros(len(tables) + 1, dtype=np.int64)
    for t, table in enumerate(tables):
        say("numbering cells", t, len(tables))
        key = np.zeros(len(codes), dtype=np.int64)
        size = 1
        for level in table.levels:
            code, occurring = levels[level]
            key = key * occurring.size + code
            size *= occurring.size
        inside = counted.get(table.counter)
        if inside is not None:
            key = np.where(inside, key, size)
        if size <= MOST_DENSE:
            found = _cell_kernels.number_cells(key, number, t, first[t], size)
        else:
            distinct, place = np.unique(key, return_inverse=True)
            found = distinct.size - (inside is not None and bool((~inside).any()))
            number[:, t] = place + first[t]
        first[t + 1] = first[t] + found
    for t, table in enumerate(tables):
        outside = counted.get(table.counter)
        if outside is not None:
            number[~outside, t] = first[-1]
    cells = ControlCells(tuple(tables), number, first, np.zeros(int(first[-1]), dtype=np.int64))
    say("numbering cells", len(tables), len(tables))
    return ControlCells(cells.tables, number, first, cells.count(frequency))


def _counted(
    codes: npt.NDArray[np.int32], attributes: Mapping[str, Hierarchy], tables: Sequence[ControlTable]
) -> dict[str | None, Bools]:
    """Per counter the rows that count."""
    names = list(attributes)
    counters = {t.counter for t in tables if t.counter is not None}
    return {name: codes[:, names.index(name)] == attributes[name].index("1") for name in counters}
