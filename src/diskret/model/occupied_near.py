"""Neighbourhoods among occupied cells: what lies below one sum per classification, as far as it is occupied."""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.near import GROWTH, SMALL, Key
from diskret.model.occupied import Occupied


class InOccupied:
    """Neighbourhoods in a product of trees of which few cells are occupied.

    A neighbourhood is named by one sum per classification: all that lies strictly below it; -1 is everything. A ladder
    raises one classification after the other, always the one that adds least: with many classifications there are too
    many ways to try them all.
    """

    tangled = False

    def __init__(self, occupied: Occupied, movable: Bools) -> None:
        self._occupied = occupied
        self._cells = np.flatnonzero(movable)
        self._first = [h.first_below for h in occupied.hierarchies]
        self._ladders: dict[tuple[int, ...], list[Key]] = {}

    def heights(self, cells: Ints) -> Ints:
        """The aggregation levels of each cell in all classifications together."""
        found = np.zeros(cells.size, dtype=np.int64)
        for hierarchy, at in zip(self._occupied.hierarchies, self._occupied.at, strict=True):
            found += hierarchy.levels[at[cells]]
        return found

    def families(self, cells: Ints) -> Ints:
        """By the sums each cell is part of; of very many combinations some may share a number."""
        found = np.zeros(cells.size, dtype=np.int64)
        for hierarchy, at in zip(self._occupied.hierarchies, self._occupied.at, strict=True):
            found = found * (len(hierarchy) + 1) + hierarchy.parent_index[at[cells]] + 1
        return found

    def ladder(self, cell: int) -> list[Key]:
        """Below the next sums, then below higher ones."""
        parents = zip(self._occupied.hierarchies, self._occupied.at, strict=True)
        first = tuple(int(h.parents[int(at[cell])]) for h, at in parents)
        if first not in self._ladders:
            self._ladders[first] = self._rungs(first)
        return self._ladders[first]

    def size(self, key: Key) -> int:
        """Number of cells below the sums at most: there are no more than below any one of them."""
        widths = [top - low for low, top in self._ranges(key)]
        numbers = [
            int(start[top] - start[low])
            for (_, start), (low, top) in zip(self._by_code, self._ranges(key), strict=True)
        ]
        return min(prod(widths), *numbers)

    def inside(self, key: Key) -> Bools:
        """The movable cells below the sums."""
        ranges = self._ranges(key)
        numbers = [int(start[top] - start[low]) for (_, start), (low, top) in zip(self._by_code, ranges, strict=True)]
        least = int(np.argmin(numbers))
        order, start = self._by_code[least]
        found = order[start[ranges[least][0]] : start[ranges[least][1]]]
        for axis, (low, top) in enumerate(ranges):
            at = self._occupied.at[axis][found]
            found = found[(at >= low) & (at < top)]
        mask = np.zeros(self._occupied.size, dtype=np.bool_)
        mask[found] = True
        return mask

    def _ranges(self, key: Key) -> list[tuple[int, int]]:
        """The codes below the sums of a key on every axis, from the first up to before the last."""
        return [
            (0, first.size) if top < 0 else (int(first[top]), top) for first, top in zip(self._first, key, strict=True)
        ]

    def _rungs(self, first: tuple[int, ...]) -> list[Key]:
        """Small neighbourhoods, larger ones that differ clearly in size, and everything."""
        rungs, tops, before = [first], first, self.size(first)
        everything = (-1,) * len(first)
        while tops != everything:
            raised = [self._raised(tops, axis) for axis, top in enumerate(tops) if top >= 0]
            tops = min(raised, key=lambda each: (self.size(each), each))
            size = self.size(tops)
            if size <= SMALL or GROWTH * before <= size or tops == everything:
                rungs.append(tops)
                before = size
        return list(rungs)

    def _raised(self, tops: tuple[int, ...], axis: int) -> tuple[int, ...]:
        above = self._occupied.hierarchies[axis].parents[tops[axis]]
        return (*tops[:axis], int(above), *tops[axis + 1 :])

    @cached_property
    def _by_code(self) -> list[tuple[Ints, Ints]]:
        """On every axis the movable cells in the order of their codes, and where each code begins."""
        found = []
        for hierarchy, at in zip(self._occupied.hierarchies, self._occupied.at, strict=True):
            mine = at[self._cells]
            order = np.argsort(mine, kind="stable")
            start = np.searchsorted(mine[order], np.arange(len(hierarchy) + 1))
            found.append((self._cells[order], start))
        return found
