"""Where a row is counted in every control table, worked out from its codes instead of being kept row by row.

A place is a possible cell: the codes of its key levels read as the digits of a number. Few rows times many tables would
fit the memory as a matrix, many rows do not; and a processor works out a place sooner than it fetches one. Only tables
most of whose places no row falls into, and tables of a counter, are listed row by row.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.safe import _cell_kernels
from diskret.safe.control import ControlTable, KeyLevel

Places = namedtuple("Places", "level parent at size base listed slots")
"""Codes of each row per key level; then a tree of key levels, slot by slot: the value of a slot is that of its
``parent`` times its ``size`` plus the row's code at key level ``at``; slot 0 is the root, with value 0. Slots after the
tree are the columns of ``listed``. A table has a slot (``slots``), and its place is the value of the slot plus its
``base``. Rows that a table does not count are in the place after all others."""
SPARSE = 4
"""Possible places per cell up to which places are worked out."""
SMALL = 4096
"""Possible places up to which they are worked out in any case."""
Codes = Mapping[KeyLevel, tuple[Ints, int]]
"""Per key level the code of each row, numbered, and how many there are."""


def places_of(
    tables: Sequence[ControlTable], codes: Codes, sizes: Sequence[int], columns: Mapping[int, npt.NDArray[np.int32]]
) -> Places:
    """The places of tables; ``sizes`` says how many each has, ``columns`` has those of the tables to be listed."""
    known = list(codes)
    rows = next(iter(codes.values()))[0].size
    wide = np.uint16 if all(n <= 1 << 16 for _, n in codes.values()) else np.int32
    level = np.empty((rows, len(known)), dtype=wide)
    for i, each in enumerate(known):
        level[:, i] = codes[each][0]
    tree: dict[tuple[KeyLevel, ...], int] = {(): 0}
    for t, table in enumerate(tables):
        for depth in range(1, 1 + (0 if t in columns else table.dimension)):
            tree.setdefault(table.levels[:depth], len(tree))
    parent = np.array([tree[each[:-1]] for each in tree], dtype=np.uint32)
    at = np.array([known.index(each[-1]) if each else 0 for each in tree], dtype=np.uint32)
    size = np.array([codes[each[-1]][1] if each else 0 for each in tree], dtype=np.int32)
    slots, base = np.empty(len(tables), dtype=np.int64), np.zeros(len(tree) + len(columns), dtype=np.int32)
    listed = np.empty((rows, len(columns)), dtype=np.int32)
    first = 0
    for t, table in enumerate(tables):
        if t in columns:
            slots[t] = len(tree) + list(columns).index(t)
            listed[:, slots[t] - len(tree)] = columns[t]
        else:
            slots[t] = tree[table.levels]
            base[slots[t]] = first
        first += sizes[t]
    return Places(level=level, parent=parent, at=at, size=size, base=base, listed=listed, slots=slots)


def counted(places: Places, total: int, frequency: Ints | npt.NDArray[np.int32]) -> Ints:
    """What the places hold with these frequencies."""
    found = np.zeros(total + 1, dtype=np.int64)
    _cell_kernels.count_places(tuple(places), frequency.astype(np.int64), found)
    return found[:-1]


def places_in(places: Places, table: int, outside: int) -> Ints:
    """The place of every row in one table; ``outside`` where the table does not count it."""
    slot, tree = int(places.slots[table]), places.parent.size
    if slot >= tree:
        column: Ints = np.minimum(places.listed[:, slot - tree].astype(np.int64), outside)
        return column
    value, path = np.zeros(len(places.level), dtype=np.int64), []
    while slot:
        path.append(slot)
        slot = int(places.parent[slot])
    for each in reversed(path):
        value = value * int(places.size[each]) + places.level[:, places.at[each]]
    value += int(places.base[places.slots[table]])
    return value


def rows_in(codes: npt.NDArray[np.int32], wanted: npt.NDArray[np.int32]) -> Ints:
    """Where each wanted row stands among sorted rows, -1 where it does not.

    >>> rows_in(np.array([[0, 1], [2, 0], [2, 3]], np.int32), np.array([[2, 3], [2, 1]], np.int32)).tolist()
    [2, -1]
    """
    found = np.full(len(wanted), -1, dtype=np.int64)
    for i, row in enumerate(wanted.tolist()):
        low, high = 0, len(codes)
        for a, code in enumerate(row):
            here = codes[low:high, a]
            low, high = low + int(here.searchsorted(code)), low + int(here.searchsorted(code, side="right"))
        if low < high:
            found[i] = low
    return found


Index = namedtuple("Index", "start rows offset single pair first slot listed_start listed_rows")
"""Rows by one or two of their codes: the rows of index ``i`` with value ``v`` are ``rows[i]`` from
``start[offset[i] + v]`` on; ``single[a]`` and ``pair[a, b]`` name the index of a key level, and of two. ``first`` are
the first places of the tables and ``slot`` their slots; the rows of listed places stand in ``listed_rows``."""


def index_of(places: Places, first: Ints) -> Index:
    """An index over all pairs of key levels that tables cross, and over all single ones."""
    levels, tree = places.level.shape[1], places.parent.size
    single = np.full(levels, -1, dtype=np.int64)
    pair = np.full((levels, levels), -1, dtype=np.int64)
    wanted: list[tuple[int, int]] = []
    for slot in places.slots[places.slots < tree].tolist():
        path = _path(places, slot)
        if len(path) == 1 and single[path[0]] < 0:
            single[path[0]] = len(wanted)
            wanted.append((path[0], -1))
        for a, b in combinations(path, 2):
            if pair[a, b] < 0:
                pair[a, b] = len(wanted)
                wanted.append((a, b))
    counts = [0] * levels
    for slot in range(1, tree):
        counts[places.at[slot]] = int(places.size[slot])
    width = [counts[a] * (counts[b] if b >= 0 else 1) + 1 for a, b in wanted]
    offset = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    start, rows = np.zeros(offset[-1], dtype=np.int64), np.empty((len(wanted), len(places.level)), dtype=np.int32)
    for i, (a, b) in enumerate(wanted):
        of = start[offset[i] : offset[i + 1]]
        _cell_kernels.rows_by_codes(places.level, a, b, counts[b] if b >= 0 else 1, of, rows[i])
    listed_start = np.zeros(int(first[-1]) + 2 if places.listed.size else 2, dtype=np.int64)
    listed_rows = np.empty(places.listed.size, dtype=np.int32)
    if places.listed.size:
        _cell_kernels.rows_by_cell(places.listed, listed_start, listed_rows)
    return Index(
        start=start, rows=rows, offset=offset[:-1], single=single, pair=pair, first=first, slot=places.slots,
        listed_start=listed_start, listed_rows=listed_rows,
    )  # fmt: skip


def _path(places: Places, slot: int) -> list[int]:
    """The key levels of a slot."""
    found: list[int] = []
    while slot:
        found.append(int(places.at[slot]))
        slot = int(places.parent[slot])
    return found[::-1]
