"""Equations of a small part, solved for some of its unknowns: pushes take microseconds where a solver takes longer."""

from __future__ import annotations

from copy import copy

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.equations import Equations
from diskret.model.tolerances import ROUNDING, WHOLE
from diskret.suppression.optimum import _tableau_kernels as kernels

LARGEST = 500_000
"""Coefficients, zeros included, up to which it is quicker than a sparse solver."""
FRESH = 200
"""After this many steps the tableau is made anew: it fills up, and rounding errors add up,"""
SELDOM = 2000
"""and where it is to remember its basis, after this many (measured on tables of 300 to 500 cells)."""
LARGEST_DENOMINATOR = 12
"""Combinations of equations are made of small fractions."""


NO_COST = np.empty(0)


class Tableau:
    """A system solved once, then again and again from its last basis."""

    def __init__(self, system: Equations) -> None:
        matrix = np.zeros((system.rows, system.cells.size))
        matrix[system.row_of(), system.columns] = system.coefficients
        basic, free = np.empty(system.rows, np.int64), np.empty(system.cells.size, np.int64)
        rank = kernels.solved(matrix, basic, free)
        self._basic0, self._free0 = basic[:rank], free[: system.cells.size - rank]
        table = -matrix[:rank][:, self._free0]
        self._table0 = np.where(np.abs(table) < kernels.NOTHING, 0.0, table)
        self.fresh = FRESH
        self._renew()

    @staticmethod
    def suits(system: Equations) -> bool:
        """Whether a system is small enough."""
        return system.rows * system.cells.size <= LARGEST

    def again(self) -> Tableau:
        """The same system with a basis of its own, kept longer."""
        other = copy(self)
        other.fresh = SELDOM
        other._renew()
        return other

    def _renew(self) -> None:
        self._table, self._basic, self._free = self._table0.copy(), self._basic0.copy(), self._free0.copy()
        self._since = 0

    def push(
        self, target: int, sign: float, low: Floats, high: Floats, enough: float = -1.0, cost: Floats = NO_COST
    ) -> tuple[Floats, Floats] | None:
        """How one unknown moves farthest, and as which combination of others it does; None if that was not found.

        With ``enough`` it need not be the farthest: what shows that the unknown cannot get that far will do.
        """
        if self._since > self.fresh:
            self._renew()
        most = (20 if enough < 0 else 1) * (self._basic.size + self._free.size)
        table, basic, free = self._table, self._basic, self._free
        moved, share, steps = kernels.push(table, basic, free, target, sign, low, high, cost, enough, most)
        self._since += steps
        if steps > most and enough < 0:
            self._renew()
            return None
        return moved, self._exact(share)

    @staticmethod
    def _exact(share: Floats) -> Floats:
        """A combination in small fractions, if it is one: then no rounding error makes a cut wrong."""
        for parts in range(1, LARGEST_DENOMINATOR + 1):
            whole = np.round(share * parts)
            if np.abs(share * parts - whole).max(initial=0.0) < WHOLE:
                exact: Floats = whole / parts
                return exact
        rounded: Floats = np.where(np.abs(share) < ROUNDING, 0.0, share)
        return rounded

    def cheapest(self, target: int, amount: float, low: Floats, high: Floats, cost: Floats) -> Floats | None:
        """Move one unknown by an amount at little cost (per unit, both ways); None if it cannot move so far."""
        sign = 1.0 if amount > 0 else -1.0
        low[target], high[target] = min(amount, 0.0), max(amount, 0.0)
        pushed = self.push(target, sign, low, high, cost=cost)
        if pushed is None or abs(pushed[0][target] - amount) > ROUNDING * abs(amount):
            return None
        moved = pushed[0]
        low[target] = high[target] = moved[target]
        most = 2 * (self._basic.size + self._free.size)
        self._since += kernels.cheapen(self._table, self._basic, self._free, low, high, cost, moved, most)
        return moved
