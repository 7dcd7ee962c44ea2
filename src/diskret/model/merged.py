"""Cells that are always equal, as one: of a sum with a single occupied part, sum and part.

Where most cells are empty, most sums have one part only, and the same contributors make up hundreds of cells. What is
hidden or open together is one unknown; protecting and attacking a table need to know it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.equations import Equations
from diskret.model.sparse import SparseTable
from diskret.model.status import Status
from diskret.model.system import Space, System
from diskret.model.table import Index

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Merged(System):
    """A sparse table in which cells that are always equal are one; named by the finest of them."""

    whole: SparseTable
    number_of: Ints
    """For every cell of the whole table its number here."""
    first: Ints
    """For every cell here the first cell of the whole table it stands for."""
    sums: Ints
    """For every equation its sum in the whole table."""

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return self.whole.kind

    def index(self, *codes: str) -> Index:
        """Position of a cell, by one code per classification."""
        return (int(self.number_of[self.whole.index(*codes)[0]]),)

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of the finest cell."""
        return self.whole.codes((int(self.first[index[0]]),))

    def name_of(self, cell: int) -> str:
        """Name of the finest cell."""
        return self.whole.name_of(int(self.first[cell]))

    def cell_name(self, cell: int) -> str:
        """The finest cell by its codes, for proofs."""
        return self.whole.cell_name(int(self.first[cell]))

    def line_name(self, axis: int, sum_cell: int, through: Sequence[str] = ()) -> str:
        """An equation in words."""
        return self.whole.line_name(axis, self._sum_of[axis, sum_cell], through)

    @cached_property
    def _sum_of(self) -> dict[tuple[int, int], int]:
        keys = zip(self.system.axis.tolist(), self.system.sum_cell.tolist(), strict=True)
        return dict(zip(keys, self.sums.tolist(), strict=True))

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """The cells of the whole table in the order of their numbers here, and where each number begins."""
        order = np.argsort(self.number_of, kind="stable")
        return order, np.searchsorted(self.number_of[order], np.arange(self.size + 1))

    def stands_for(self, cells: Ints) -> Ints:
        """How many primary cells of the whole table each of some cells stands for."""
        primary = self.number_of[self.whole.status == Status.PRIMARY]
        number: Ints = np.bincount(primary, minlength=self.size)[cells]
        return number

    def spread(self, cells: Ints) -> tuple[Ints, Ints]:
        """All cells of the whole table that some cells stand for: which of these each belongs to, and the cell."""
        order, start = self.members
        length = start[cells + 1] - start[cells]
        at = np.repeat(np.arange(cells.size), length)
        return at, order[start[cells][at] + np.arange(at.size) - np.repeat(np.cumsum(length) - length, length)]


def merged(table: SparseTable, price: Floats | None = None) -> Merged:
    """The table with cells that are always equal as one; ``price`` of all its cells adds up."""
    of, first = _classes(table)
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], np.arange(first.size))

    def over(array: Any, reduce: np.ufunc) -> Any:
        return None if array is None else reduce.reduceat(array[order], start)

    def people(some: Contributors | None) -> Contributors | None:
        return None if some is None else some.each(lambda array: array[first])

    primary = over(table.status == Status.PRIMARY, np.logical_or)
    status = np.where(primary, np.uint8(Status.PRIMARY), over(table.status, np.maximum))
    # a cell that is always equal to a published one cannot be hidden
    fixed = over(_never(table.status), np.logical_or)
    system, sums = _rows(table, of)
    given = {name: getattr(table, name) for name in SAME}
    return Merged(
        by={}, value=table.value[first], status=np.where(fixed, np.uint8(Status.NEVER), status),
        respondents=people(table.respondents), holdings=people(table.holdings), rule=over(table.rule, np.bitwise_or),
        below=over(table.below, np.maximum), above=over(table.above, np.maximum),
        lower=over(table.lower, np.maximum), upper=over(table.upper, np.minimum), weight=over(price, np.add),
        space=Space(table.names, tuple(h.codes for h in table.hierarchies), table.tops, _places(table, first)),
        system=system, axes=tuple((table.names[axis.place], "") for axis in table.occupied.axes),
        whole=table, number_of=of, first=first, sums=sums, **given,
    )  # fmt: skip


SAME = (
    "response", "rules", "judges", "decimals", "frequency", "positive", "weighted", "additive_counts", "counted",
    "altered",
)  # fmt: skip
"""What is the same of every cell."""


def _never(status: npt.NDArray[np.uint8]) -> Bools:
    found: Bools = (status >= Status.NEVER) & (status != Status.ZERO)
    return found


def _places(table: SparseTable, first: Ints) -> tuple[Ints, ...]:
    return tuple(at[first].astype(np.int64) for at in table.occupied.at)


def _classes(table: SparseTable) -> tuple[Ints, Ints]:
    """For every cell the number of those it is always equal to, and the first cell of each number.

    Cells of which one is hidden and the other open stay apart: what is open tells the other.
    """
    label = np.arange(table.size)
    links = [_alike(table, part, whole) for part, whole in _only_parts(table)]
    while True:
        before = label.copy()
        for part, whole in links:
            least = np.minimum(label[part], label[whole])
            label[part] = least
            label[whole] = np.minimum(label[whole], least)
        if (label == before).all():
            break
    first, of = np.unique(label, return_inverse=True)
    return of.reshape(-1).astype(np.int64), first.astype(np.int64)


def _only_parts(table: SparseTable) -> Iterator[tuple[Ints, Ints]]:
    """Axis by axis the parts that are the only ones of their sums, and these sums."""
    for above in table.occupied.above:
        part = np.flatnonzero(above >= 0)
        parts = np.bincount(above[part], minlength=table.size)
        part = part[parts[above[part]] == 1]
        yield part, above[part].astype(np.int64)


def _alike(table: SparseTable, part: Ints, whole: Ints) -> tuple[Ints, Ints]:
    """Pairs that are hidden or open together, of which everybody thinks the same and the same is asked."""
    same = table.hidden[part] == table.hidden[whole]
    for known in (table.lower, table.upper):
        if known is not None:
            same &= known[part] == known[whole]
    primary = (table.status[part] == Status.PRIMARY) & (table.status[whole] == Status.PRIMARY)
    for level in (table.below, table.above):
        if level is not None:
            same &= ~primary | (level[part] == level[whole])
    return part[same], whole[same]


class _Lines(NamedTuple):
    """Equations of one axis: their sums in the whole table, where each begins, and the numbers of their parts."""

    sums: Ints
    start: Ints
    parts: Ints


def _lines(above: npt.NDArray[np.int32], of: Ints) -> _Lines:
    part = np.flatnonzero(above >= 0)
    part = part[of[part] != of[above[part]]]
    order = np.lexsort((of[part], above[part]))
    sums = above[part][order]
    begin = np.flatnonzero(np.diff(sums, prepend=-1))
    return _Lines(sums[begin].astype(np.int64), np.append(begin, part.size), of[part][order])


def _rows(table: SparseTable, of: Ints) -> tuple[Equations, Ints]:
    """All different equations, and the sum of each in the whole table."""
    number = int(of.max(initial=-1)) + 1
    lines = [_lines(above, of) for above in table.occupied.above]
    sums = np.concatenate([each.sums for each in lines])
    lengths = np.concatenate([np.diff(each.start) for each in lines])
    parts = np.concatenate([each.parts for each in lines])
    axis = np.repeat(np.arange(len(lines)), [each.sums.size for each in lines])
    start = np.append(0, np.cumsum(lengths))
    kept = _different(of[sums], start, parts, number)
    entries = _entries(start, kept)
    row = np.repeat(np.arange(kept.size), lengths[kept] + 1)
    column = np.empty(row.size, dtype=np.int64)
    sign = np.ones(row.size)
    last = np.cumsum(lengths[kept] + 1) - 1
    is_sum = np.zeros(row.size, dtype=np.bool_)
    is_sum[last] = True
    column[is_sum], column[~is_sum] = of[sums[kept]], parts[entries]
    sign[is_sum] = -1.0
    order = np.lexsort((column, row))
    system = Equations(
        np.arange(number), np.append(0, last + 1), column[order], sign[order], axis[kept], of[sums[kept]]
    )
    return system, sums[kept]


def _entries(start: Ints, rows: Ints) -> Ints:
    """The entries of some rows, one row after the other."""
    length = start[rows + 1] - start[rows]
    return np.repeat(start[rows] - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))


def _different(sums: Ints, start: Ints, parts: Ints, number: int) -> Ints:
    """The first of every set of equations that are the same; parts stand in ascending order.

    Candidates are found by a sum of random numbers, and compared in full.
    """
    if not sums.size:
        return np.empty(0, dtype=np.int64)
    draw = np.random.default_rng(0)
    of_part, of_sum = (draw.integers(0, 2**63, number, dtype=np.uint64) for _ in range(2))
    key = np.add.reduceat(of_part[parts], start[:-1]) ^ of_sum[sums]
    _, leader, group = np.unique(key, return_index=True, return_inverse=True)
    rows = np.arange(sums.size)
    of = leader[group.reshape(-1)]
    length = np.diff(start)
    same = (rows != of) & (sums == sums[of]) & (length == length[of])
    doubtful = np.flatnonzero(same)
    mine, others = parts[_entries(start, doubtful)], parts[_entries(start, of[doubtful])]
    wrong = np.bincount(np.repeat(np.arange(doubtful.size), length[doubtful]), weights=mine != others, minlength=1)
    same[doubtful[wrong[: doubtful.size] > 0]] = False
    return np.flatnonzero(~same)


def hidden_together(table: SparseTable, usable: Bools) -> SparseTable:
    """The table with everything hidden that is always equal to something hidden, where it may be hidden."""
    links, hidden = list(_only_parts(table)), table.hidden.copy()
    while True:
        before = int(hidden.sum())
        for part, whole in links:
            hidden[whole] |= hidden[part] & usable[whole]
            hidden[part] |= hidden[whole] & usable[part]
        if int(hidden.sum()) == before:
            break
    added = hidden & ~table.hidden
    return replace(table, status=np.where(added, np.uint8(Status.SECONDARY), table.status)) if added.any() else table
