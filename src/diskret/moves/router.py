"""Finding the cheapest protecting move of a cell, by a linear programme near the cell.

A protecting move changes the cell by a given amount and leaves every published equation true. It is looked for among
the cell's brothers in every classification and what lies below them; only if there is none the neighbourhood grows, one
classification after the other. Programmes of one neighbourhood share one model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import highspy
import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations, equations_of
from diskret.model.pool import Pool
from diskret.model.table import Table
from diskret.moves.demands import unit

Rooms = tuple[Ints, Floats, Floats]
"""Cells (ascending) with how far each may rise and fall."""
Key = tuple[Any, ...]
"""What names a neighbourhood: the sums it lies below, in every classification."""
Weight = Callable[[Ints, float], Floats]
FREE = 1e30
TINY = 1e-9
SMALL = 5000
"""Neighbourhoods up to this many cells are all tried; larger ones only if they are GROWTH times larger."""
GROWTH = 4
WIDE = 10_000
"""Of neighbourhoods with more cells a part is tried first: near the cell everything, elsewhere"""
FEW = 4
"""so many parts of every sum, those with the most cells that may move."""
MOST_COLUMNS = 600_000
"""Models are kept up to this many unknowns altogether."""
SETTLED = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)


class Thinned(NamedTuple):
    """A neighbourhood below ``tops`` with all parts of the sums ``around`` the cell and few parts of other sums."""

    tops: tuple[int, ...]
    around: tuple[int, ...]


class Router:
    """Models of neighbourhoods of one table; ``movable`` cells may take part in moves."""

    def __init__(self, table: Table, movable: Bools, up: Floats, down: Floats) -> None:
        self.table, self.movable, self.up, self.down = table, movable, up, down
        self.programmes = 0
        self._near: OrderedDict[Key, Neighbourhood] = OrderedDict()
        self._columns = 0
        self._ladders: dict[tuple[int, ...], list[Key]] = {}
        self._thin: dict[tuple[int, int, int], Ints] = {}
        self._first = [h.first_below for h in table.hierarchies]
        self._unit = unit(table)

    def route(
        self, cell: int, rise: bool, amount: float, weight: Weight, rooms: Rooms | None = None,
        widest: float = np.inf, share: float = 1.0,
    ) -> tuple[Ints, Floats] | None:  # fmt: skip
        """Cells and amounts of the cheapest move, or None if there is none in neighbourhoods up to ``widest`` cells.

        ``weight(cells, amount)`` says what a unit costs in each cell; ``rooms`` narrows the rooms of some cells (0: the
        cell is not to be used). Of the amount only ``share`` has to be possible one way, the rest the other way.
        """
        room_up, room_down = self._rooms(np.array([cell]), rooms, share)
        if amount > (room_up if rise else room_down)[0]:
            return None
        for tops in self._ladder(cell):
            if self._size(tops) > widest:
                return None
            near = self._neighbourhood(tops)
            up, down = self._rooms(near.cells, rooms, share)
            self.programmes += 1
            moved = near.solve(cell, rise, amount, weight(near.cells, amount), up, down)
            if moved is not None:
                chosen = np.abs(moved) > TINY * max(1.0, amount)
                return near.cells[chosen], _snapped(moved[chosen], self._unit)
        return None

    def heights(self, cells: Ints) -> Ints:
        """How high each cell stands: its aggregation levels in all classifications together."""
        at = np.unravel_index(cells, self.table.shape)
        levels = [h.levels[each] for h, each in zip(self.table.hierarchies, at, strict=True)]
        found: Ints = np.sum(levels, axis=0, dtype=np.int64)
        return found

    def families(self, cells: Ints) -> Ints:
        """A number for every cell, the same for cells with the same smallest neighbourhood."""
        found = np.zeros(cells.size, dtype=np.int64)
        for hierarchy, at in zip(self.table.hierarchies, np.unravel_index(cells, self.table.shape), strict=True):
            found = found * (len(hierarchy) + 1) + np.array(hierarchy.parents)[at] + 1
        return found

    def _rooms(self, cells: Ints, rooms: Rooms | None, share: float) -> tuple[Floats, Floats]:
        """How far each cell may rise and fall in the whole move."""
        up, down = self.up[cells], self.down[cells]
        if rooms is not None:
            at = np.searchsorted(cells, rooms[0])
            inside = np.flatnonzero(at < cells.size)
            inside = inside[cells[at[inside]] == rooms[0][inside]]
            up[at[inside]] = np.minimum(up[at[inside]], rooms[1][inside])
            down[at[inside]] = np.minimum(down[at[inside]], rooms[2][inside])
        if share == 1.0:
            return up, down
        return np.minimum(up / share, down / (1 - share)), np.minimum(down / share, up / (1 - share))

    def _size(self, tops: Key) -> int:
        """Number of cells of a neighbourhood at most."""
        if isinstance(tops, Thinned):
            return prod(codes.size for codes in self._codes(tops))
        return prod(self._sizes(tops))

    def _codes(self, near: Thinned) -> list[Ints]:
        """The codes of a thinned neighbourhood on every axis."""
        keys = enumerate(zip(*near, strict=True))
        return [self._thinned(axis, top, around) for axis, (top, around) in keys]

    def _thinned(self, axis: int, top: int, around: int) -> Ints:
        """Codes below ``top``: the parts of ``around``, what stands above them, and few parts of every kept sum."""
        if (axis, top, around) not in self._thin:
            hierarchy, first = self.table.hierarchies[axis], self._first[axis]
            parents = np.array(hierarchy.parents)
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
        ranks, movable = [], self.movable.reshape(self.table.shape)
        for axis, hierarchy in enumerate(self.table.hierarchies):
            number = movable.sum(axis=tuple(a for a in range(movable.ndim) if a != axis))
            parents = np.array(hierarchy.parents)
            order = np.lexsort((np.arange(number.size), -number, parents))
            start = np.searchsorted(parents[order], parents[order])
            rank = np.empty(number.size, dtype=np.int64)
            rank[order] = np.arange(number.size) - start
            ranks.append(rank)
        return ranks

    def _sizes(self, tops: tuple[int, ...]) -> list[int]:
        """Number of codes strictly below a sum on every axis."""
        return [first.size if top < 0 else top - int(first[top]) for first, top in zip(self._first, tops, strict=True)]

    def _ladder(self, cell: int) -> list[Key]:
        """Neighbourhoods of a cell by the sums they lie strictly below (-1: everything), smallest first."""
        at = np.unravel_index(cell, self.table.shape)
        first = tuple(int(h.parents[int(i)]) for h, i in zip(self.table.hierarchies, at, strict=True))
        if first not in self._ladders:
            chains = []
            for top, hierarchy in zip(first, self.table.hierarchies, strict=True):
                chain = [top]
                while chain[-1] >= 0:
                    chain.append(hierarchy.parents[chain[-1]])
                chains.append(chain)
            size = {tops: prod(self._sizes(tops)) for tops in product(*chains)}
            by_size = sorted(size, key=lambda tops: (size[tops], tops))
            kept = by_size[:1]
            for tops in by_size[1:-1]:
                larger = size[tops] >= GROWTH * size[kept[-1]] and size[tops] * GROWTH <= size[by_size[-1]]
                if size[tops] <= SMALL or larger:
                    kept.append(tops)
            if by_size[-1] != kept[-1]:
                kept.append(by_size[-1])
            ladder: list[Key] = []
            for tops in kept:
                thinned = Thinned(tops, first)
                if size[tops] > WIDE and GROWTH * self._size(thinned) <= size[tops]:
                    ladder.append(thinned)
                ladder.append(tops)
            self._ladders[first] = ladder
        return self._ladders[first]

    def _neighbourhood(self, tops: Key) -> Neighbourhood:
        if tops in self._near:
            self._near.move_to_end(tops)
            return self._near[tops]
        near = self._near[tops] = Neighbourhood(equations_of(self.table, self._inside(tops)))
        self._columns += near.cells.size
        while self._columns > MOST_COLUMNS and len(self._near) > 1:
            _, old = self._near.popitem(last=False)
            self._columns -= old.cells.size
        return near

    def _inside(self, tops: Key) -> Bools:
        """The movable cells of a neighbourhood."""
        mask = np.zeros(self.table.shape, dtype=np.bool_)
        if isinstance(tops, Thinned):
            grid = np.ix_(*self._codes(tops))
            mask[grid] = self.movable.reshape(self.table.shape)[grid]
            return mask
        # what lies below a sum stands directly before it
        inside = tuple(
            slice(0, first.size) if top < 0 else slice(int(first[top]), top)
            for first, top in zip(self._first, tops, strict=True)
        )
        mask[inside] = self.movable.reshape(self.table.shape)[inside]
        return mask


class PoolRouter(Router):
    """Neighbourhoods in a pool: those of all tables that show the cell, together; at last the whole pool."""

    def __init__(self, pool: Pool, movable: Bools, up: Floats, down: Floats) -> None:
        self.table, self.movable, self.up, self.down = pool, movable, up, down
        self.programmes = 0
        self._near = OrderedDict()
        self._columns = 0
        self._ladders = {}
        self._unit = unit(pool)
        self._parts = [
            (Router(table, movable[cells], up[cells], down[cells]), cells)
            for table, cells in zip(pool.tables.values(), pool.cells_of.values(), strict=True)
        ]
        self._local = []
        for _, cells in self._parts:
            local = np.full(pool.size, -1, dtype=np.int64)
            local[cells] = np.arange(cells.size)
            self._local.append(local)

    def heights(self, cells: Ints) -> Ints:
        """The greatest height over the tables that show a cell."""
        found = np.zeros(cells.size, dtype=np.int64)
        for (part, _), local in zip(self._parts, self._local, strict=True):
            shown = np.flatnonzero(local[cells] >= 0)
            found[shown] = np.maximum(found[shown], part.heights(local[cells[shown]]))
        return found

    def families(self, cells: Ints) -> Ints:
        """Those of the first table that shows a cell."""
        found, start = np.full(cells.size, -1, dtype=np.int64), 0
        for (part, _), local in zip(self._parts, self._local, strict=True):
            shown = np.flatnonzero((local[cells] >= 0) & (found < 0))
            found[shown] = start + part.families(local[cells[shown]])
            start = int(found.max(initial=0)) + 1
        return found

    def _size(self, tops: Key) -> int:
        return sum(self._parts[t][0]._size(part) for t, part in tops) if tops else self.table.size

    def _ladder(self, cell: int) -> list[Key]:
        ladders = [
            (t, part._ladder(int(local[cell])))
            for t, ((part, _), local) in enumerate(zip(self._parts, self._local, strict=True))
            if local[cell] >= 0
        ]
        rungs = max(len(ladder) for _, ladder in ladders)
        found = [tuple((t, ladder[min(k, len(ladder) - 1)]) for t, ladder in ladders) for k in range(rungs)]
        return [*found, ()]

    def _inside(self, tops: Key) -> Bools:
        if not tops:
            return self.movable
        mask = np.zeros(self.table.size, dtype=np.bool_)
        for t, part in tops:
            router, cells = self._parts[t]
            mask[cells[router._inside(part).reshape(-1)]] = True
        return mask


def router_of(table: Table, movable: Bools, up: Floats, down: Floats) -> Router:
    """The router of a table or of a pool."""
    return PoolRouter(table, movable, up, down) if isinstance(table, Pool) else Router(table, movable, up, down)


class Neighbourhood:
    """One model: every cell rises or falls at a price, and all equations stay true."""

    def __init__(self, system: Equations) -> None:
        self.cells = system.cells
        self._system = system
        self._first, self._row, _ = system.by_column()
        self._all = np.arange(2 * system.cells.size, dtype=np.int32)
        self._model = _model(system)

    def solve(self, cell: int, rise: bool, amount: float, weight: Floats, up: Floats, down: Floats) -> Floats | None:
        """By how much every cell moves in the cheapest move of one cell; None if there is none."""
        n = self.cells.size
        at = int(np.searchsorted(self.cells, cell))
        if not self._thinkable(at, rise, amount, up, down):
            return None
        upper = np.minimum(np.concatenate([up, down]), FREE)
        lower = np.zeros(2 * n)
        upper[at], upper[n + at] = (amount, 0.0) if rise else (0.0, amount)
        lower[at], lower[n + at] = upper[at], upper[n + at]
        cost = np.concatenate([weight, weight])
        self._model.changeColsCost(2 * n, self._all, cost / max(float(cost.max()), 1e-300))
        self._model.changeColsBounds(2 * n, self._all, lower, upper)
        # a move has few cells: from nothing it is found sooner than from the last one, and whatever was solved before
        self._model.setBasis()
        self._model.run()
        status = self._model.getModelStatus()
        if status not in SETTLED:
            self._model.clearSolver()
            self._model.run()
            status = self._model.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        found = np.array(self._model.getSolution().col_value)
        moved: Floats = found[:n] - found[n:]
        return moved

    def _thinkable(self, at: int, rise: bool, amount: float, up: Floats, down: Floats) -> bool:
        """Whether in every equation of the cell the others can take as much as it gives; saves many programmes."""
        system = self._system
        for row in self._row[self._first[at] : self._first[at + 1]]:
            part = slice(system.start[row], system.start[row + 1])
            columns, sign = system.columns[part], system.coefficients[part]
            mine = float(sign[columns == at][0])
            falls = (sign * mine > 0) == rise
            room = np.where(falls, down[columns], up[columns])
            if room[columns != at].sum() < amount * (1 - 1e-9):
                return False
        return True


def _model(system: Equations) -> Any:
    n = system.cells.size
    start, row, value = system.by_column()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * n, system.rows
    lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(2 * n)
    lp.row_lower_ = lp.row_upper_ = np.zeros(system.rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([start, start[-1] + start[1:]]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([row, row]).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate([value, -value])
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("presolve", "off")
    model.setOptionValue("simplex_strategy", 1)
    model.passModel(lp)
    return model


def _snapped(moved: Floats, grid: float) -> Floats:
    """Without the solver's rounding, where all cells move in whole steps of the table."""
    if not grid:
        return moved
    steps = np.round(moved / grid) * grid
    return steps if (np.abs(steps - moved) <= TINY * np.maximum(1.0, np.abs(moved))).all() else moved
