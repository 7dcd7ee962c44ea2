"""The cheapest protecting move of one cell, by a linear programme over all cells that may take part."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.tolerances import POSITIVE, ROUNDING
from diskret.suppression.optimum.attackers import SIGN, Attackers

NOTHING = 1e-6
"""Even a cell that costs nothing counts a little: short moves are wanted."""


class Routes:
    """A warm model of all cells, each with a way up and a way down."""

    def __init__(self, attackers: Attackers) -> None:
        self.attackers = attackers
        self._tableau = None if attackers.tableau is None else attackers.tableau.again()
        """A basis of its own: moves go over few cells, what is pushed to find cuts over all."""
        size = 2 * attackers.system.cells.size
        self._low, self._cost = np.zeros(size), np.zeros(size)
        self._high = np.concatenate([attackers.far_up, attackers.far_down])

    @cached_property
    def _programme(self) -> Programme:
        """For systems too large for a tableau."""
        a = self.attackers
        matrix = Matrix(*a.system.by_column()).both_ways()
        return Programme(
            matrix, np.zeros(a.system.rows), lower=self._low, upper=self._high, cost=self._cost, way=Way(presolve=False)
        )

    def cheapest(
        self, allowed: Bools, price: Floats, attacker: int, column: int, kind: int, amount: float
    ) -> Floats | None:
        """Move one cell up (or down) by an amount over allowed cells the attacker does not know; None if impossible.

        ``price`` is per unit moved.
        """
        a = self.attackers
        high, low = np.where(allowed, a.far_up, 0.0), np.where(allowed, a.far_down, 0.0)
        high[a.knows[attacker]] = low[a.knows[attacker]] = 0.0
        if (high, low)[kind][column] < amount:
            return None
        a.programmes += 1
        cost = price / max(float(price.max()), POSITIVE) + NOTHING
        if self._tableau is None:
            y = self._solved(high, low, column + kind * allowed.size, amount, cost)
        else:
            y = self._tableau.cheapest(column, SIGN[kind] * amount, -low, high, cost)
        if y is not None:
            y[np.abs(y) < ROUNDING * amount] = 0.0
        return y

    def _solved(self, up: Floats, down: Floats, way: int, amount: float, cost: Floats) -> Floats | None:
        """The same by the solver: every cell has a way up and a way down."""
        n = up.size
        low, high = np.zeros(2 * n), np.concatenate([up, down])
        high[[way, (way + n) % (2 * n)]] = 0.0
        low[way] = high[way] = amount
        self._change(low, high, np.tile(cost, 2))
        found = self._programme.best()
        return None if found is None else found[:n] - found[n:]

    def _change(self, low: Floats, high: Floats, cost: Floats) -> None:
        """Tell the solver what is new."""
        (at,) = np.nonzero((low != self._low) | (high != self._high))
        if at.size:
            self._programme.set_bounds(low[at], high[at], at)
        (at,) = np.nonzero(cost != self._cost)
        if at.size:
            self._programme.set_costs(cost[at], at)
        self._low, self._high, self._cost = low, high, cost
