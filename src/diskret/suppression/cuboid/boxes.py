"""Subtables of a table of which occupied cells are held only: boxes of the codes that occur in them.

What is empty stands in a box as a cell that nobody may hide, so that the search finds what it would find in the whole
table. Codes of a subtable at which nothing is occupied are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.occupied import Occupied
from diskret.suppression.cuboid.subtables import Segments

EMPTY = -1
"""The cell of an empty place: the last one, behind all occupied ones."""


class Boxes(NamedTuple):
    """Some subtables that share no cell."""

    names: Ints
    cells: Ints
    """Their occupied cells, one subtable after the other."""
    start: Ints
    """Where the cells of each begin; one more at the end."""
    at: Ints
    """Where every cell stands on every axis of its box."""
    shapes: Ints
    """How long every box is on every axis."""

    @property
    def volumes(self) -> Ints:
        """Cells of the boxes, empty ones too, as far as they can be counted."""
        found: Ints = np.minimum(np.prod(self.shapes.astype(np.float64), axis=1), 2.0**62).astype(np.int64)
        return found

    def where(self, number: int) -> tuple[Ints, tuple[int, ...]]:
        """Which cell stands at every place of a box, and its shape."""
        shape = tuple(self.shapes[number].tolist())
        own = slice(int(self.start[number]), int(self.start[number + 1]))
        found = np.full(int(np.prod(shape)), EMPTY, dtype=np.int64)
        found[np.ravel_multi_index(tuple(self.at[own].T), shape)] = self.cells[own]
        return found, shape


def boxes_of(occupied: Occupied, segments: Segments, names: Ints) -> Boxes:
    """The boxes of some subtables of one level, in their order, as far as anything in them is occupied.

    >>> from diskret.model.hierarchy import Hierarchy
    >>> trees = [Hierarchy.flat("abc")] * 2
    >>> found = boxes_of(Occupied.of(trees, np.array([0, 10])), Segments.of(trees), np.array([0]))
    >>> found.where(0)
    (array([ 0, -1,  1, -1,  2,  3,  4,  5,  6]), (3, 3))
    """
    rows, sizes = segments.rows(names), tuple(len(h) for h in occupied.hierarchies)
    segment, place = [], []
    for axis, length in enumerate(sizes):
        own, at = np.full(length, -1, dtype=np.int64), np.zeros(length, dtype=np.int64)
        for each in np.unique(rows[:, axis]).tolist():
            codes = segments.items[segments.first[each] : segments.first[each + 1]]
            own[codes], at[codes] = each - segments.offsets[axis], np.arange(codes.size)
        segment.append(own)
        place.append(at)
    inside = np.ones(occupied.size, dtype=np.bool_)
    for own, code in zip(segment, occupied.at, strict=True):
        inside &= own[code] >= 0
    cells = np.flatnonzero(inside)
    of = np.ravel_multi_index(
        tuple(own[code[cells]] for own, code in zip(segment, occupied.at, strict=True)), segments.counts
    )
    order = np.argsort(names)
    number = order[np.minimum(np.searchsorted(names, of, sorter=order), names.size - 1)]
    chosen = names[number] == of
    cells, number = cells[chosen], number[chosen]
    by_box = np.argsort(number, kind="stable")
    cells, number = cells[by_box], number[by_box]
    here, begin, number = np.unique(number, return_index=True, return_inverse=True)
    axes = [_packed(number, at[code[cells]]) for at, code in zip(place, occupied.at, strict=True)]
    return Boxes(
        names[here], cells, np.append(begin, cells.size),
        np.stack([at for at, _ in axes], axis=1), np.stack([length for _, length in axes], axis=1),
    )  # fmt: skip


def _packed(number: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Places on an axis without those where a box has nothing, and how many every box has then."""
    width = int(at.max(initial=0)) + 1
    used, place = np.unique(number * width + at, return_inverse=True)
    first = np.searchsorted(used, np.arange(int(number.max(initial=-1)) + 2) * width)
    return place.reshape(-1) - first[number], np.diff(first)
