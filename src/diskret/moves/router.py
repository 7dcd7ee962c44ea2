"""Finding the cheapest protecting move of a cell, by a linear programme near the cell.

A protecting move changes the cell by a given amount and leaves every published equation true. It is looked for among
the nearest cells first; only if there is none the neighbourhood grows (see `model.near`). Programmes of one
neighbourhood share one model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.equations import Equations
from diskret.model.lp import UNCLEAR, Matrix, Programme, Start, Way
from diskret.model.near import Key
from diskret.model.rational import Exactly
from diskret.model.tolerances import POSITIVE, ROUNDING, WHOLE

Rooms = tuple[Ints, Floats, Floats]
"""Cells (ascending) with how far each may rise and fall."""
Weight = Callable[[Ints, float], Floats]
MOST_COLUMNS = 600_000
"""Models are kept up to this many unknowns altogether,"""
AT_LEAST = 500
"""each counting as this many at least: the solver's own memory, about 0.2 MB."""
MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 30, 60, 100, 120, 1000, 5040, 10_000, 100_000, 1_000_000)
"""By which a solver's move is multiplied until it is in whole numbers: fractions of corners, decimals of rooms."""
LARGE = 2.0**20
"""Amounts beyond this are counted in coarser steps (what is not a decimal, in steps of which it has so many),"""
FAR = 1e9
"""and rooms beyond this cut off, unless the amount needs more: the solver loses its way among larger numbers."""
MANY = 64.0
"""No cell of a move changes by more than this many times the amount, where rooms are that large."""


class Router:
    """Models of neighbourhoods of the cells of one table, pool or system; ``movable`` cells may take part in moves."""

    def __init__(self, table: Cells, movable: Bools, up: Floats, down: Floats) -> None:
        self.table, self.movable, self.up, self.down = table, movable, up, down
        self.programmes = self.unknowns = 0
        self._near = table.near(movable)
        self._models: OrderedDict[Key, Neighbourhood] = OrderedDict()
        self._columns = 0

    def route(
        self, cell: int, rise: bool, amount: float, weight: Weight, rooms: Rooms | None = None,
        widest: float = np.inf, share: float = 1.0,
    ) -> tuple[Ints, Floats] | None:  # fmt: skip
        """Cells and whole steps of the cheapest move; None if there is none in neighbourhoods up to ``widest`` cells.

        ``weight(cells, amount)`` says what a unit costs in each cell; ``rooms`` narrows the rooms of some cells (0: the
        cell is not to be used). Of the amount only ``share`` has to be possible one way, the rest the other way.
        """
        room_up, room_down = self._rooms(np.array([cell]), rooms, share)
        if amount > (room_up if rise else room_down)[0]:
            return None
        for key in self._near.ladder(cell):
            if self._near.size(key) > widest:
                return None
            near = self._neighbourhood(key)
            up, down = self._rooms(near.cells, rooms, share)
            self.programmes += 1
            self.unknowns += near.cells.size
            steps = near.solve(cell, rise, amount, weight(near.cells, amount), up, down)
            if steps is not None:
                return near.cells[steps != 0], steps[steps != 0]
        return None

    def among(self, movable: Bools, up: Floats | None = None, down: Floats | None = None) -> Router:
        """A router over other cells (with other rooms) that goes on counting."""
        found = Router(self.table, movable, self.up if up is None else up, self.down if down is None else down)
        found.count(self)
        return found

    def count(self, other: Router) -> None:
        """Count on from where another router is."""
        self.programmes, self.unknowns = other.programmes, other.unknowns

    def heights(self, cells: Ints) -> Ints:
        """How high each cell stands: sums are higher than their parts."""
        return self._near.heights(cells)

    def families(self, cells: Ints) -> Ints:
        """A number for every cell, the same for cells with the same smallest neighbourhood."""
        return self._near.families(cells)

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

    def _neighbourhood(self, key: Key) -> Neighbourhood:
        if key in self._models:
            self._models.move_to_end(key)
            return self._models[key]
        system = self.table.equations(self._near.inside(key))
        model = self._models[key] = Neighbourhood(system, self._near.tangled, self.table.decimals)
        self._columns += max(model.cells.size, AT_LEAST)
        while self._columns > MOST_COLUMNS and len(self._models) > 1:
            _, old = self._models.popitem(last=False)
            self._columns -= max(old.cells.size, AT_LEAST)
        return model


class Neighbourhood:
    """One model: every cell rises or falls at a price, and all equations stay true.

    Where equations are ``tangled`` most follow from others, and the model is made smaller before it is solved.
    """

    def __init__(self, system: Equations, tangled: bool = False, decimals: int | None = 0) -> None:
        self.cells = system.cells
        self._decimals = decimals
        self._system = system
        self._exactly = Exactly(system)
        self._first, self._row, _ = system.by_column()
        nothing = np.zeros(2 * self.cells.size)
        matrix = Matrix(*system.by_column()).both_ways()
        way = Way(presolve=tangled, doubted=UNCLEAR)
        self._start: Start = "scratch" if tangled else "slack"
        self._programme = Programme(matrix, np.zeros(system.rows), lower=nothing, upper=nothing, way=way)

    def solve(self, cell: int, rise: bool, amount: float, weight: Floats, up: Floats, down: Floats) -> Floats | None:
        """The whole steps of the cheapest move of one cell by an amount (or a part of it); None if there is none."""
        n = self.cells.size
        at = int(np.searchsorted(self.cells, cell))
        if not self._thinkable(at, rise, amount, up, down):
            return None
        if amount > LARGE or self._decimals is None:
            # in steps of our own: a little more is asked for, a little less allowed
            step = 2.0 ** np.ceil(np.log2(amount / LARGE))
            amount, up, down = np.ceil(amount / step), np.floor(up / step), np.floor(down / step)
        lower, upper = np.zeros(2 * n), _cut(np.concatenate([up, down]), max(FAR, MANY * amount))
        upper[at], upper[n + at] = (amount, 0.0) if rise else (0.0, amount)
        lower[at], lower[n + at] = upper[at], upper[n + at]
        cost = np.concatenate([weight, weight])
        self._programme.set_costs(cost / max(float(cost.max()), POSITIVE))
        self._programme.set_bounds(lower, upper)
        # a move has few cells: from nothing it is found sooner than from the last one, and whatever was solved before
        found = self._programme.best(self._start)
        return None if found is None else self._whole(found[:n] - found[n:], amount)

    def _whole(self, moved: Floats, amount: float) -> Floats | None:
        """The direction of a move in whole numbers; None if it cannot be found by rounding.

        All equations are added up in whole numbers: what the solver found does not count, this does.
        """
        moved = np.where(np.abs(moved) > ROUNDING * max(1.0, amount), moved, 0.0)
        for times in MULTIPLES:
            scaled = times * moved
            steps = np.rint(scaled)
            if (np.abs(scaled - steps) > WHOLE * np.maximum(1.0, np.abs(scaled))).any():
                continue
            if steps.any() and not self._exactly.sums(steps.astype(np.int64)).any():
                divisor = np.gcd.reduce(np.abs(steps).astype(np.int64))
                return steps / float(divisor)
        return None

    def _thinkable(self, at: int, rise: bool, amount: float, up: Floats, down: Floats) -> bool:
        """Whether in every equation of the cell the others can take as much as it gives; saves many programmes."""
        system = self._system
        for row in self._row[self._first[at] : self._first[at + 1]]:
            part = slice(system.start[row], system.start[row + 1])
            columns, sign = system.columns[part], system.coefficients[part]
            mine = float(sign[columns == at][0])
            falls = (sign * mine > 0) == rise
            room = np.abs(sign) * np.where(falls, down[columns], up[columns])
            if room[columns != at].sum() < abs(mine) * amount * (1 - ROUNDING):
                return False
        return True


def _cut(rooms: Floats, most: float) -> Floats:
    """Rooms without those beyond what anybody needs; endless ones stay endless."""
    return np.where(np.isfinite(rooms), np.minimum(rooms, most), rooms)
