"""The occupied cells of a product of classifications, where most cells of the product are empty.

A cell is known by its place in the product; cells are numbered in the order of their places. Every sum of an occupied
cell is occupied as well, and empty cells are zeros that nobody contributes to and everybody knows: what adds up among
occupied cells is what adds up in the whole product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model import product
from diskret.model.arrays import Bools, Ints
from diskret.model.equations import Entries, Equations
from diskret.model.hierarchy import Hierarchy
from diskret.model.memory import refuse_short
from diskret.model.product import Along, Line
from diskret.model.trees import strides_of

Numbers = npt.NDArray[np.int32]
MOST_PLACES = 2**63 - 1
SORTING = 48
"""Bytes that adding a sum to the list of occupied cells takes while it is sorted."""


@dataclass(frozen=True, eq=False)
class Occupied:
    """Occupied cells by their places in the product, ascending, with what adds up among them.

    >>> flat = Hierarchy.flat("abc")
    >>> cells = Occupied.of([flat, flat], np.array([0, 5]))
    >>> cells.places.tolist(), [each.tolist() for each in cells.at]
    ([0, 3, 5, 7, 12, 13, 15], [[0, 0, 1, 1, 3, 3, 3], [0, 3, 1, 3, 0, 1, 3]])
    """

    hierarchies: tuple[Hierarchy, ...]
    places: Ints

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], finest: Ints) -> Occupied:
        """Finest cells (by their places, in any order) with all sums above them."""
        places = np.unique(finest)
        for hierarchy, stride in zip(hierarchies, strides_of([len(h) for h in hierarchies]).tolist(), strict=True):
            fresh = places
            while fresh.size:
                refuse_short(places.size + fresh.size, "finding the occupied cells", SORTING)
                code = fresh // stride % len(hierarchy)
                above = [(fresh + (parents[code] - code) * stride)[parents[code] >= 0] for parents in hierarchy.fills]
                fresh = np.setdiff1d(np.concatenate(above), places)
                places = _merged(places, fresh)
        return cls(tuple(hierarchies), places)

    @property
    def size(self) -> int:
        """Number of occupied cells."""
        return int(self.places.size)

    @property
    def possible(self) -> tuple[int, ...]:
        """Number of codes of each classification."""
        return tuple(len(h) for h in self.hierarchies)

    @cached_property
    def at(self) -> tuple[Numbers, ...]:
        """For each classification the number of the code of every cell."""
        strides = strides_of(self.possible).tolist()
        sizes = zip(strides, self.possible, strict=True)
        return tuple((self.places // stride % size).astype(np.int32) for stride, size in sizes)

    def find(self, places: Ints) -> Ints:
        """The numbers of cells given by their places; -1 where a cell is empty."""
        at = np.minimum(np.searchsorted(self.places, places), self.size - 1)
        return np.where(self.places[at] == places, at, -1)

    # --- what adds up ------------------------------------------------------------------------------------------------

    @cached_property
    def axes(self) -> tuple[Along, ...]:
        """Everything along which cells add up."""
        return tuple(product.axes_of(self.hierarchies))

    @cached_property
    def above(self) -> tuple[Numbers, ...]:
        """For each axis the sum of every cell along it, -1 where there is none."""
        return tuple(self._above(axis.place, axis.parents) for axis in self.axes)

    def _above(self, place: int, parents: Ints) -> Numbers:
        here = self.at[place]
        parent = parents[here]
        part = np.flatnonzero(parent >= 0)
        stride = int(strides_of(self.possible)[place])
        found = np.full(self.size, -1, dtype=np.int32)
        found[part] = np.searchsorted(self.places, self.places[part] + (parent[part] - here[part]) * stride)
        return found

    @property
    def complete(self) -> bool:
        """Whether the places are ascending places of the product, with all sums above them."""
        if not self.size or int(self.places[0]) < 0 or int(self.places[-1]) != prod(self.possible) - 1:
            return False
        if not (np.diff(self.places) > 0).all():
            return False
        strides = strides_of(self.possible).tolist()
        for hierarchy, at, stride in zip(self.hierarchies, self.at, strides, strict=True):
            for parents in hierarchy.groupings:
                part = np.flatnonzero(parents[at] >= 0)
                if (self.find(self.places[part] + (parents[at[part]] - at[part]) * stride) < 0).any():
                    return False
        return True

    def sums(self, numbers: npt.NDArray[Any]) -> Iterator[tuple[Ints, npt.NDArray[Any]]]:
        """Axis by axis all sums, and what their parts add up to."""
        for axis, above in zip(self.axes, self.above, strict=True):
            part, whole = np.flatnonzero(above >= 0), np.flatnonzero(axis.is_sum[self.at[axis.place]])
            added = np.zeros_like(numbers)
            np.add.at(added, above[part], numbers[part])
            yield whole, added[whole]

    @property
    def inner(self) -> Bools:
        """Cells that are not a sum in any classification."""
        inner = np.ones(self.size, dtype=np.bool_)
        for hierarchy, at in zip(self.hierarchies, self.at, strict=True):
            inner &= hierarchy.is_leaf[at]
        return inner

    def entries(self, cells: Ints) -> Iterator[Entries]:
        """Where cells stand in equations, axis by axis; an equation has the number of its sum."""
        for axis, above in zip(self.axes, self.above, strict=True):
            sums = above[cells]
            part, whole = np.flatnonzero(sums >= 0), np.flatnonzero(axis.is_sum[self.at[axis.place][cells]])
            equation = np.concatenate([sums[part].astype(np.int64), cells[whole]])
            sign = np.concatenate([np.ones(part.size), -np.ones(whole.size)])
            yield Entries(np.concatenate([part, whole]), equation, sign, self.size)

    def equations(self, cells: Ints) -> Equations:
        """All equations that hold one of the cells (ascending), the others being known."""
        rows = [_rows(each) for each in self.entries(cells)]
        lengths = [np.diff(start) for start, *_ in rows]
        start = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        columns, sign, sums = (np.concatenate([row[i] for row in rows]) for i in (1, 2, 3))
        axis = np.repeat(np.arange(len(rows)), [each.size for each in lengths])
        return Equations(cells, start, columns, sign, axis, sums)

    def lines(self, names: Sequence[str], cell: int) -> Iterator[Line]:
        """The lines a cell stands in, with their occupied cells."""
        strides = strides_of(self.possible).tolist()
        for axis in sorted(self.axes, key=lambda axis: axis.place):
            here, stride = int(self.at[axis.place][cell]), strides[axis.place]
            parent = int(axis.parents[here])
            for total in ([parent] if parent >= 0 else []) + ([here] if axis.is_sum[here] else []):
                codes = np.append(np.flatnonzero(axis.parents == total), total)
                found = self.find(self.places[cell] + (np.append(codes[codes != here], total) - here) * stride)
                yield Line(names[axis.place], int(found[-1]), found[:-1][found[:-1] >= 0])

    @cached_property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to."""
        part = [np.flatnonzero(above >= 0) for above in self.above]
        return np.concatenate(part), np.concatenate([a[p] for a, p in zip(self.above, part, strict=True)]).astype(
            np.int64
        )

    def one_person(self, alone: Bools) -> Ints:
        """Numbers of persons who are alone in cells, one for all parts and sums in which somebody is alone; else -1."""
        person = np.where(alone, np.arange(self.size), self.size)
        pairs = []
        for above in self.above:
            part = np.flatnonzero(alone & (above >= 0))
            part = part[alone[above[part]]]
            pairs.append((part, above[part]))
        while True:
            before = person.copy()
            for part, whole in pairs:
                np.minimum.at(person, whole, person[part])
                person[part] = np.minimum(person[part], person[whole])
            if (person == before).all():
                return np.where(alone, person, -1)


def _rows(entries: Entries) -> tuple[Ints, Ints, npt.NDArray[np.float64], Ints]:
    """The equations of one axis row by row: where each begins, columns, coefficients, sums."""
    order = np.lexsort((entries.position, entries.equation))
    equation = entries.equation[order]
    begin = np.flatnonzero(np.diff(equation, prepend=-1))
    start = np.append(begin, equation.size)
    return start, entries.position[order], entries.coefficient[order], equation[begin]


def _merged(one: Ints, other: Ints) -> Ints:
    """Two ascending lists without common members as one."""
    both = np.concatenate([one, other])
    both.sort(kind="stable")  # two ascending runs are merged in one pass
    return both


def countable(hierarchies: Sequence[Hierarchy]) -> bool:
    """Whether the cells of a product can be numbered at all.

    >>> countable([Hierarchy.flat("abc")] * 8), countable([Hierarchy.flat("abc")] * 32)
    (True, False)
    """
    return prod(len(h) for h in hierarchies) <= MOST_PLACES
