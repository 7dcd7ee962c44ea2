"""Control cells: every cell of every control table that some row falls into, numbered through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import TableTooLarge
from diskret.model.memory import free_memory
from diskret.safe import _cell_kernels
from diskret.safe.control import ControlTable, KeyLevel, key_levels
from diskret.safe.options import Progress, silent
from diskret.safe.places import SMALL, SPARSE, Places, counted, places_of
from diskret.tabulation.combinations import Combinations

MOST_TABLES = 65_000
BYTES = 400
"""Bytes of a row beside the index over its pairs of codes: sort orders, codes, frequencies, room to work."""
MOST_DENSE = 1 << 25
"""Possible cells of one table up to which they are numbered by a lookup; beyond, by sorting."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ControlCells:
    """Which cells there are, what they hold in the original, and where each row is counted.

    Cells are the places that some row falls into, table by table in the order of their codes, from ``first[t]`` on;
    ``occurring`` has the place of each. Places of one table stand together, from ``start[t]`` on. Rows outside the unit
    of a table (counter 0) are counted in the last place, which is not controlled.
    """

    tables: tuple[ControlTable, ...]
    places: Places
    start: Ints
    occurring: Ints
    first: Ints
    original: Ints

    @property
    def size(self) -> int:
        """Number of controlled cells."""
        return int(self.first[-1])

    @property
    def places_size(self) -> int:
        """Number of places: cells, and possible ones that no row falls into."""
        return int(self.start[-1])

    @property
    def table_dimension(self) -> npt.NDArray[np.int8]:
        """Dimension of each table. The number of units of a counter is a total and has dimension 1 all the same."""
        return np.array([max(t.dimension, 1) for t in self.tables], dtype=np.int8)

    @property
    def dimension(self) -> npt.NDArray[np.int8]:
        """Dimension of each cell."""
        return np.repeat(self.table_dimension, np.diff(self.first))

    def deviation(self, frequency: Ints | npt.NDArray[np.int32]) -> Ints:
        """Anonymous minus original, cell by cell."""
        return counted(self.places, self.places_size, frequency)[self.occurring] - self.original

    @cached_property
    def number(self) -> npt.NDArray[np.uint32]:
        """``number[j, t]`` is the cell of row j in table t: only for small files, it takes 4 bytes each."""
        rank = np.full(self.places_size + 1, self.size, dtype=np.uint32)
        rank[self.occurring] = np.arange(self.size, dtype=np.uint32)
        found = np.empty((len(self.places.level), len(self.tables)), dtype=np.uint32)
        _cell_kernels.number_places(tuple(self.places), rank, found)
        return found


def refuse_too_many(rows: int, tables: Sequence[ControlTable]) -> None:
    """Refuse a control set whose rows do not fit the memory."""
    number = len(tables)
    if number > MOST_TABLES:
        raise TableTooLarge(
            f"{number:,} control tables are too many", hint="control fewer key levels or a lower dimension."
        )
    pairs = {pair for table in tables for pair in combinations(table.levels, 2)}
    needed = rows * (4 * len(pairs) + BYTES)
    free = free_memory()
    if free is not None and needed > 0.8 * free:
        raise TableTooLarge(
            f"{rows:,} different rows in {number:,} control tables need {needed / 1e9:.0f} GB, "
            "more than the memory that is free allows",
            hint="control fewer key levels or a lower dimension, or list the tables that matter.",
        )


def control_cells(found: Combinations, tables: Sequence[ControlTable], progress: Progress = silent) -> ControlCells:
    """Number the cells that rows fall into, table by table in the order of their codes.

    >>> from diskret.model.hierarchy import Hierarchy
    >>> by = {"sex": Hierarchy.flat("mw"), "age": Hierarchy.flat(["old", "young"])}
    >>> codes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> sex, age = KeyLevel(attribute="sex"), KeyLevel(attribute="age")
    >>> tables = [ControlTable(levels=(sex,)), ControlTable(levels=(sex, age))]
    >>> cells = control_cells(Combinations(by=by, codes=codes, frequency=np.array([5, 1, 2])), tables)
    >>> cells.number.tolist(), cells.original.tolist()
    ([[0, 2], [0, 3], [1, 4]], [6, 2, 5, 1, 2])
    """
    refuse_too_many(len(found), tables)
    levels, units = _level_codes(found), _units(found, tables)
    sizes: list[int] = []
    columns: dict[int, npt.NDArray[np.int32]] = {}
    occurring, totals = [], []
    for t, table in enumerate(tables):
        progress("numbering cells", t, len(tables))
        key, size = np.zeros(len(found), dtype=np.int64), 1
        for level in table.levels:
            code, codes = levels[level]
            key, size = key * codes + code, size * codes
        inside = units.get(table.counter, slice(None))
        here, held = _held(key[inside], size, found.frequency[inside])
        start = sum(sizes)
        totals.append(held)
        if table.counter is None and size <= max(SMALL, SPARSE * here.size):
            occurring.append(here + start)
            sizes.append(size)
            continue
        columns[t] = column = np.full(len(found), -1, dtype=np.int32)
        column[inside] = np.searchsorted(here, key[inside]) + start
        occurring.append(np.arange(here.size) + start)
        sizes.append(here.size)
    progress("numbering cells", len(tables), len(tables))
    total = sum(sizes)
    for column in columns.values():
        column[column < 0] = total
    return ControlCells(
        tables=tuple(tables), places=places_of(tables, levels, sizes, columns),
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), occurring=np.concatenate(occurring),
        first=np.concatenate([[0], np.cumsum([each.size for each in totals])]).astype(np.int64),
        original=np.concatenate(totals),
    )  # fmt: skip


def _held(key: Ints, size: int, frequency: Ints) -> tuple[Ints, Ints]:
    """The keys that occur, in order, and what each holds."""
    if size > MOST_DENSE:
        here, place = np.unique(key, return_inverse=True)
        return here, np.bincount(place, weights=frequency, minlength=here.size).astype(np.int64)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[key] = True
    here = np.flatnonzero(occurs)
    return here, np.bincount(key, weights=frequency, minlength=size).astype(np.int64)[here]


def _numbered(key: Ints, size: int) -> tuple[Ints, int]:
    """Each key's number among those that occur, and how many do."""
    if size > MOST_DENSE:
        distinct, place = np.unique(key, return_inverse=True)
        return place, distinct.size
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[key] = True
    return (np.cumsum(occurs) - 1)[key], int(occurs.sum())


def _level_codes(found: Combinations) -> dict[KeyLevel, tuple[Ints, int]]:
    """Per key level the number of each row's code among the codes that occur, and how many do."""
    return {
        level: _numbered(to[found.codes[:, axis]], len(hierarchy))
        for axis, (name, hierarchy) in enumerate(found.by.items())
        for level, to in key_levels(name, hierarchy).items()
    }


def _units(found: Combinations, tables: Sequence[ControlTable]) -> Mapping[str | None, Bools]:
    """Per counter the rows that count."""
    names = list(found.by)
    counters = {t.counter for t in tables if t.counter is not None}
    return {name: found.codes[:, names.index(name)] == found.by[name].index("1") for name in counters}
