"""Neighbourhoods: where to look first for cells that can move together with a given one.

A ladder of neighbourhoods leads from the nearest cells to all of them. In a product of trees a neighbourhood is what
lies below one sum per classification; in linked tables those of all tables that show the cell, together; in a system of
equations whatever can be reached over this many equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.hierarchy import Hierarchy

Key = tuple[Any, ...]
"""What names a neighbourhood; the same key means the same cells."""
SMALL = 5000
"""Neighbourhoods up to this many cells are all tried; larger ones only if they are GROWTH times larger."""
GROWTH = 4
WIDE = 10_000
"""Of neighbourhoods with more cells a part is tried first: near the cell everything, elsewhere"""
FEW = 4
"""this many parts of every sum, those with the most cells that may move."""
NARROW = 8
"""A walk along equations takes at least this many cells of each (those that are hidden first),"""
ENOUGH = 1000
"""ends no sooner than after this many cells (narrower ones find more expensive moves),"""
NEAREST = 20
"""and meets at most this many cells, times the square of how many it takes of an equation."""


class Near(Protocol):
    """Neighbourhoods of the cells of one table, pool or system, made of cells that may move."""

    @property
    def tangled(self) -> bool:
        """Whether there are so many equations that most follow from others."""
        ...

    def ladder(self, cell: int) -> list[Key]:
        """Neighbourhoods of a cell, smallest first; the last one holds everything."""
        ...

    def size(self, key: Key) -> int:
        """Number of cells of a neighbourhood at most."""
        ...

    def inside(self, key: Key) -> Bools:
        """The movable cells of a neighbourhood (flat)."""
        ...

    def heights(self, cells: Ints) -> Ints:
        """How high each cell stands: sums are higher than their parts."""
        ...

    def families(self, cells: Ints) -> Ints:
        """A number for every cell, the same for cells with the same smallest neighbourhood."""
        ...


class Thinned(NamedTuple):
    """A neighbourhood below ``tops`` with all parts of the sums ``around`` the cell and few parts of other sums."""

    tops: tuple[int, ...]
    around: tuple[int, ...]


class InTrees:
    """Neighbourhoods in a product of trees: what lies strictly below a sum (-1: everything) in every classification."""

    tangled = False

    def __init__(self, hierarchies: Sequence[Hierarchy], movable: Bools) -> None:
        self._hierarchies = hierarchies
        self._shape = tuple(len(h) for h in hierarchies)
        self._movable = movable.reshape(self._shape)
        self._first = [h.first_below for h in hierarchies]
        self._ladders: dict[tuple[int, ...], list[Key]] = {}
        self._thin: dict[tuple[int, int, int], Ints] = {}

    def heights(self, cells: Ints) -> Ints:
        """The aggregation levels of each cell in all classifications together."""
        at = np.unravel_index(cells, self._shape)
        levels = [h.levels[each] for h, each in zip(self._hierarchies, at, strict=True)]
        found: Ints = np.sum(levels, axis=0, dtype=np.int64)
        return found

    def families(self, cells: Ints) -> Ints:
        """By the sums each cell is part of."""
        found = np.zeros(cells.size, dtype=np.int64)
        for hierarchy, at in zip(self._hierarchies, np.unravel_index(cells, self._shape), strict=True):
            found = found * (len(hierarchy) + 1) + hierarchy.parent_index[at] + 1
        return found

    def ladder(self, cell: int) -> list[Key]:
        """Below the next sums, then below higher ones, one classification after the other."""
        at = np.unravel_index(cell, self._shape)
        first = tuple(int(h.parents[int(i)]) for h, i in zip(self._hierarchies, at, strict=True))
        if first not in self._ladders:
            self._ladders[first] = self._rungs(first)
        return self._ladders[first]

    def size(self, key: Key) -> int:
        """Number of cells below the sums."""
        return prod(codes.size for codes in self._codes(key)) if isinstance(key, Thinned) else prod(self._sizes(key))

    def inside(self, key: Key) -> Bools:
        """The movable cells below the sums."""
        mask = np.zeros(self._shape, dtype=np.bool_)
        if isinstance(key, Thinned):
            grid = np.ix_(*self._codes(key))
            mask[grid] = self._movable[grid]
            return mask.reshape(-1)
        # what lies below a sum stands directly before it
        inside = tuple(
            slice(0, first.size) if top < 0 else slice(int(first[top]), top)
            for first, top in zip(self._first, key, strict=True)
        )
        mask[inside] = self._movable[inside]
        return mask.reshape(-1)

    def _rungs(self, first: tuple[int, ...]) -> list[Key]:
        """The ladder above the sums a cell stands below; where a rung is wide, a thinned one comes first."""
        chains = [_and_above(h.parents, top) for h, top in zip(self._hierarchies, first, strict=True)]
        size = {tops: prod(self._sizes(tops)) for tops in product(*chains)}
        ladder: list[Key] = []
        for tops in _far_enough_apart(size):
            thinned = Thinned(tops, first)
            if size[tops] > WIDE and GROWTH * self.size(thinned) <= size[tops]:
                ladder.append(thinned)
            ladder.append(tops)
        return ladder

    def _sizes(self, tops: tuple[int, ...]) -> list[int]:
        """Number of codes strictly below a sum on every axis."""
        return [first.size if top < 0 else top - int(first[top]) for first, top in zip(self._first, tops, strict=True)]

    def _codes(self, near: Thinned) -> list[Ints]:
        """The codes of a thinned neighbourhood on every axis."""
        keys = enumerate(zip(*near, strict=True))
        return [self._thinned(axis, top, around) for axis, (top, around) in keys]

    def _thinned(self, axis: int, top: int, around: int) -> Ints:
        """Codes below ``top``: the parts of ``around``, what stands above them, and few parts of every kept sum."""
        if (axis, top, around) not in self._thin:
            hierarchy, first = self._hierarchies[axis], self._first[axis]
            parents = hierarchy.parent_index
            wanted = (self._rank[axis] < FEW) | (parents == around)
            kept = np.zeros(parents.size + 1, dtype=np.bool_)
            kept[-1 if top < 0 else top] = True
            above = around
            while above >= 0:
                wanted[above] = True
                above = int(parents[above])
            # sums first: a part is only of use with its sum
            for level in range(hierarchy.depth, 0, -1):
                codes = np.flatnonzero((hierarchy.levels == level) & wanted)
                kept[codes] |= kept[parents[codes]]
            below = np.arange(first.size) if top < 0 else np.arange(first[top], top)
            self._thin[axis, top, around] = below[kept[below]]
        return self._thin[axis, top, around]

    @cached_property
    def _rank(self) -> list[Ints]:
        """On every axis the rank of each code among the parts of its sum, by how many of its cells may move."""
        ranks = []
        for axis, hierarchy in enumerate(self._hierarchies):
            number = self._movable.sum(axis=tuple(a for a in range(self._movable.ndim) if a != axis))
            parents = hierarchy.parent_index
            order = np.lexsort((np.arange(number.size), -number, parents))
            start = np.searchsorted(parents[order], parents[order])
            rank = np.empty(number.size, dtype=np.int64)
            rank[order] = np.arange(number.size) - start
            ranks.append(rank)
        return ranks


def _and_above(parents: Sequence[int], top: int) -> list[int]:
    """A code and all codes above it, at last -1 for everything."""
    chain = [top]
    while chain[-1] >= 0:
        chain.append(parents[chain[-1]])
    return chain


def _far_enough_apart(size: dict[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    """The smallest neighbourhood, all small ones, larger ones that differ clearly in size, and the largest."""
    by_size = sorted(size, key=lambda tops: (size[tops], tops))
    kept = by_size[:1]
    for tops in by_size[1:-1]:
        larger = size[tops] >= GROWTH * size[kept[-1]] and size[tops] * GROWTH <= size[by_size[-1]]
        if size[tops] <= SMALL or larger:
            kept.append(tops)
    return kept if by_size[-1] == kept[-1] else [*kept, by_size[-1]]


class InTables:
    """Neighbourhoods in linked tables: those of all tables that show the cell, together; at last all cells."""

    tangled = False

    def __init__(self, tables: Sequence[tuple[Near, Ints]], movable: Bools) -> None:
        self._movable = movable
        self._tables = tables
        self._local = []
        for _, cells in tables:
            local = np.full(movable.size, -1, dtype=np.int64)
            local[cells] = np.arange(cells.size)
            self._local.append(local)

    def heights(self, cells: Ints) -> Ints:
        """The greatest height over the tables that show a cell."""
        found = np.zeros(cells.size, dtype=np.int64)
        for (near, _), local in zip(self._tables, self._local, strict=True):
            shown = np.flatnonzero(local[cells] >= 0)
            found[shown] = np.maximum(found[shown], near.heights(local[cells[shown]]))
        return found

    def families(self, cells: Ints) -> Ints:
        """Those of the first table that shows a cell."""
        found, start = np.full(cells.size, -1, dtype=np.int64), 0
        for (near, _), local in zip(self._tables, self._local, strict=True):
            shown = np.flatnonzero((local[cells] >= 0) & (found < 0))
            found[shown] = start + near.families(local[cells[shown]])
            start = int(found.max(initial=0)) + 1
        return found

    def ladder(self, cell: int) -> list[Key]:
        """Rung by rung in all tables at once."""
        ladders = [
            (t, near.ladder(int(local[cell])))
            for t, ((near, _), local) in enumerate(zip(self._tables, self._local, strict=True))
            if local[cell] >= 0
        ]
        rungs = max(len(ladder) for _, ladder in ladders)
        found = [tuple((t, ladder[min(k, len(ladder) - 1)]) for t, ladder in ladders) for k in range(rungs)]
        return [*found, ()]

    def size(self, key: Key) -> int:
        """Number of cells in all tables together; shared ones count in each."""
        return sum(self._tables[t][0].size(part) for t, part in key) if key else self._movable.size

    def inside(self, key: Key) -> Bools:
        """The movable cells of all tables' neighbourhoods."""
        if not key:
            return self._movable
        mask = np.zeros(self._movable.size, dtype=np.bool_)
        for t, part in key:
            near, cells = self._tables[t]
            mask[cells[near.inside(part)]] = True
        return mask


class InEquations:
    """Neighbourhoods in any equations: a walk from a cell over its equations to some of their cells, and on.

    ``system`` are the equations of the movable cells, ``size`` the size of every value, ``hidden`` what is hidden
    already. A walk takes few cells of an equation (hidden ones, then those of about the size of the first cell), and
    all that lie on several equations it has met, because they close what others have opened. It ends when it has met
    enough cells, or no more are of use.
    """

    def __init__(self, system: Equations, size: Floats, hidden: Bools) -> None:
        self._system, self._value, self._hidden = system, size, hidden[system.cells]
        self.tangled = system.rows > system.cells.size
        self._column = np.full(size.size, -1, dtype=np.int64)
        self._column[system.cells] = np.arange(system.cells.size)
        self._first, self._row, _ = system.by_column()
        self._row_of = system.row_of()
        self._met: dict[Key, Ints] = {}

    def heights(self, cells: Ints) -> Ints:
        """One more than the highest part."""
        return self._height[cells]

    def families(self, cells: Ints) -> Ints:
        """Cells by the first equation they stand in."""
        column = self._column[cells]
        known = np.flatnonzero(column >= 0)
        known = known[self._first[column[known] + 1] > self._first[column[known]]]
        found = self._system.rows + cells
        found[known] = self._row[self._first[column[known]]]
        return found

    def ladder(self, cell: int) -> list[Key]:
        """Walks that meet ever more cells, at last everything."""
        rungs: list[Key] = []
        few, before = NARROW, 0
        while GROWTH * before <= self._system.cells.size:
            met = self.size((cell, few))
            if 2 * met > self._system.cells.size:
                break
            if met >= max(ENOUGH, 2 * before):
                rungs.append((cell, few))
                before = met
            few *= 2
            if few > self._system.cells.size:
                break
        return [*rungs, ()]

    def size(self, key: Key) -> int:
        """Number of movable cells met."""
        return int(self._walk(*key).size if key else self._system.cells.size)

    def inside(self, key: Key) -> Bools:
        """The movable cells met."""
        mask = np.zeros(self._value.size, dtype=np.bool_)
        mask[self._system.cells[self._walk(*key)] if key else self._system.cells] = True
        return mask

    def _walk(self, cell: int, few: int) -> Ints:
        """The columns that a walk meets which takes this many cells of an equation."""
        if (cell, few) not in self._met:
            most = NEAREST * few**2
            inside = np.zeros(self._system.cells.size, dtype=np.bool_)
            inside[self._column[cell]] = True
            order = self._by_size(cell)
            while inside.sum() < most:
                fresh = self._next(inside, order, few)
                if not fresh.size:
                    break
                inside[fresh[: most - int(inside.sum())]] = True
            self._met[cell, few] = np.flatnonzero(inside)
        return self._met[cell, few]

    def _next(self, inside: Bools, order: Ints, few: int) -> Ints:
        """Cells on several equations that were met; if there are none, some of every equation."""
        columns, row = self._system.columns, self._row_of
        held = np.bincount(row, weights=inside[columns], minlength=self._system.rows)
        met = (held > 0)[row]
        times = np.bincount(columns, weights=met, minlength=inside.size)
        closing = np.flatnonzero((times > 1) & ~inside)
        if closing.size:
            share = times[closing] / np.diff(self._first)[closing]
            return closing[np.lexsort((order[closing], -share))]
        entries = np.flatnonzero(met & ~inside[columns] & (held <= few)[row])
        entries = entries[np.lexsort((order[columns[entries]], row[entries]))]
        rank = np.arange(entries.size) - np.searchsorted(row[entries], row[entries])
        return np.unique(columns[entries[rank + held[row[entries]] <= few]])

    def _by_size(self, cell: int) -> Ints:
        """The rank of every column: hidden ones, then those at least as large as the cell, smallest first."""
        size, mine = self._value[self._system.cells], self._value[cell]
        rank = np.empty(size.size, dtype=np.int64)
        rank[np.lexsort((np.where(size >= mine, size, -size), size < mine, ~self._hidden))] = np.arange(size.size)
        return rank

    @cached_property
    def _height(self) -> Ints:
        system = self._system
        height = np.ones(self._value.size, dtype=np.int64)
        row = system.row_of()
        sums = system.sum_cell[row]
        part = system.cells[system.columns] != sums
        below, above = system.cells[system.columns[part]], sums[part]
        for _ in range(64):  # equations may go round in circles; trees are never so deep
            higher = height.copy()
            np.maximum.at(higher, above, height[below] + 1)
            if (higher == height).all():
                break
            height = higher
        return height
