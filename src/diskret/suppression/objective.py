"""What is minimised: the price of every cell as the method says it, and what a search for moves looks at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.methods import Barriers, Method

TYPICAL = 4.0
"""Prices are measured by this many times what primary cells cost in the mean, here called typical."""
TIE = 0.01
"""What every cell costs besides its price, in typical prices: of two patterns at one price the one with fewer cells."""
GUIDE = 0.01
"""The same for a search for moves: with 1 patterns have no fewer cells to speak of, and 7 % more value.

Measured on `mid` of the benchmarks and on ten generated tables of 143 to 1,088 cells.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Objective:
    """What the cells of a table cost (flat)."""

    price: Floats
    """What was asked for, and next to nothing for the cell itself: what decides which of two patterns is kept."""
    guide: Floats
    """What a search for moves looks at, in typical prices: the price and a constant."""


def objective_of(table: Table, method: Method, usable: Bools) -> Objective:
    """The price of every cell, and what a search looks at."""
    price = exact_prices(table, method)
    typical = _typical(table, price, usable)
    return Objective(price=price + TIE * typical, guide=price / typical + GUIDE)


def exact_prices(table: Table, method: Method) -> Floats:
    """What every cell costs, leaning to or from sums as barriers say: what moves and the optimum minimise.

    Sums of a classification with a barrier cost twice as much, of one that is preferred half.
    """
    return prices(table, method) * _leaning(table, method.barriers)


def prices(table: Table, method: Method) -> Floats:
    """What every cell costs by its `Cost` alone; refuses negative prices."""
    found = method.price.of(table)
    if (found < 0).any():
        where = listed(table.name_cells(found.reshape(table.shape) < 0))
        raise BadOption("cells with a negative price", where=where, hint="weights are zero or more.")
    return found


def barrier_signs(table: Table, barriers: Barriers) -> Floats:
    """Per classification whether its sums are avoided (+1), preferred (-1) or neither."""
    if isinstance(barriers, str):
        if barriers not in ("on", "off"):
            raise BadOption(f"barriers {barriers!r}", hint="'on', 'off', or +1, 0, -1 per classification.")
        return np.full(len(table.names), 1.0 if barriers == "on" else 0.0)
    unknown = [n for n in barriers if n not in table.names]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    return np.array([float(barriers.get(n, 0)) for n in table.names])


def _leaning(table: Table, barriers: Barriers) -> Floats:
    factor = np.ones(table.size)
    if isinstance(barriers, str):
        return factor
    for name, sign in zip(table.names, barrier_signs(table, barriers).tolist(), strict=True):
        if sign:
            factor *= np.where(table.sums_along(name), 2.0**sign, 1.0)
    return factor


def _typical(table: Table, price: Floats, usable: Bools) -> float:
    """A price to measure prices by: from the primary cells, or else from those that may be hidden."""
    primary = table.status.reshape(-1) == Status.PRIMARY
    typical = TYPICAL * float(price[primary].mean()) if primary.any() else 0.0
    if not typical and usable.any():
        typical = float(price[usable].mean())
    return typical or 1.0
