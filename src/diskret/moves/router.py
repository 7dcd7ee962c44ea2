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
from diskret.model.tolerances import POSITIVE, ROUNDING
from diskret.moves.demands import unit

Rooms = tuple[Ints, Floats, Floats]
"""Cells (ascending) with how far each may rise and fall."""
Weight = Callable[[Ints, float], Floats]
MOST_COLUMNS = 600_000
"""Models are kept up to this many unknowns altogether."""


class Router:
    """Models of neighbourhoods of the cells of one table, pool or system; ``movable`` cells may take part in moves."""

    def __init__(self, table: Cells, movable: Bools, up: Floats, down: Floats) -> None:
        self.table, self.movable, self.up, self.down = table, movable, up, down
        self.programmes = 0
        self._near = table.near(movable)
        self._models: OrderedDict[Key, Neighbourhood] = OrderedDict()
        self._columns = 0
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
        for key in self._near.ladder(cell):
            if self._near.size(key) > widest:
                return None
            near = self._neighbourhood(key)
            up, down = self._rooms(near.cells, rooms, share)
            self.programmes += 1
            moved = near.solve(cell, rise, amount, weight(near.cells, amount), up, down)
            if moved is not None:
                chosen = np.abs(moved) > ROUNDING * max(1.0, amount)
                return near.cells[chosen], _snapped(moved[chosen], self._unit)
        return None

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
        model = self._models[key] = Neighbourhood(self.table.equations(self._near.inside(key)), self._near.tangled)
        self._columns += model.cells.size
        while self._columns > MOST_COLUMNS and len(self._models) > 1:
            _, old = self._models.popitem(last=False)
            self._columns -= old.cells.size
        return model


class Neighbourhood:
    """One model: every cell rises or falls at a price, and all equations stay true.

    Where equations are ``tangled`` most follow from others, and the model is made smaller before it is solved.
    """

    def __init__(self, system: Equations, tangled: bool = False) -> None:
        self.cells = system.cells
        self._system = system
        self._first, self._row, _ = system.by_column()
        nothing = np.zeros(2 * self.cells.size)
        matrix = Matrix(*system.by_column()).both_ways()
        way = Way(presolve=tangled, doubted=UNCLEAR)
        self._start: Start = "scratch" if tangled else "slack"
        self._programme = Programme(matrix, np.zeros(system.rows), lower=nothing, upper=nothing, way=way)

    def solve(self, cell: int, rise: bool, amount: float, weight: Floats, up: Floats, down: Floats) -> Floats | None:
        """By how much every cell moves in the cheapest move of one cell; None if there is none."""
        n = self.cells.size
        at = int(np.searchsorted(self.cells, cell))
        if not self._thinkable(at, rise, amount, up, down):
            return None
        lower, upper = np.zeros(2 * n), np.concatenate([up, down])
        upper[at], upper[n + at] = (amount, 0.0) if rise else (0.0, amount)
        lower[at], lower[n + at] = upper[at], upper[n + at]
        cost = np.concatenate([weight, weight])
        self._programme.set_costs(cost / max(float(cost.max()), POSITIVE))
        self._programme.set_bounds(lower, upper)
        # a move has few cells: from nothing it is found sooner than from the last one, and whatever was solved before
        found = self._programme.best(self._start)
        return None if found is None else found[:n] - found[n:]

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


def _snapped(moved: Floats, grid: float) -> Floats:
    """Without the solver's rounding, where all cells move in whole steps of the table."""
    if not grid:
        return moved
    steps = np.round(moved / grid) * grid
    return steps if (np.abs(steps - moved) <= ROUNDING * np.maximum(1.0, np.abs(moved))).all() else moved
