"""The cheapest protecting move of one cell, by a linear programme over all cells that may take part."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.tolerances import POSITIVE, ROUNDING
from diskret.suppression.optimum.attackers import Attackers

NOTHING = 1e-6
"""Even a cell that costs nothing counts a little: short moves are wanted."""


class Routes:
    """A warm model of all cells, each with a way up and a way down."""

    def __init__(self, attackers: Attackers) -> None:
        self.attackers = attackers
        size = 2 * attackers.system.cells.size
        self._low, self._cost = np.zeros(size), np.zeros(size)
        self._high = np.concatenate([attackers.far_up, attackers.far_down])
        self._programme = Programme(
            Matrix(*attackers.system.by_column()).both_ways(),
            np.zeros(attackers.system.rows),
            lower=self._low,
            upper=self._high,
            way=Way(presolve=False),
        )

    def cheapest(
        self, allowed: Bools, price: Floats, attacker: int, column: int, kind: int, amount: float
    ) -> Floats | None:
        """Move one cell up (or down) by an amount over allowed cells the attacker does not know; None if impossible.

        ``price`` is per unit moved.
        """
        a, n = self.attackers, allowed.size
        high = np.concatenate([np.where(allowed, a.far_up, 0.0), np.where(allowed, a.far_down, 0.0)])
        high[a.knows[attacker]] = high[a.knows[attacker] + n] = 0.0
        if high[column + kind * n] < amount:
            return None
        low = np.zeros(2 * n)
        high[[column, column + n]] = 0.0
        low[column + kind * n] = high[column + kind * n] = amount
        self._change(low, high, np.tile(price / max(float(price.max()), POSITIVE) + NOTHING, 2))
        a.programmes += 1
        found = self._programme.best()
        if found is None:
            return None
        y: Floats = found[:n] - found[n:]
        y[np.abs(y) < ROUNDING * amount] = 0.0
        return y

    def _change(self, low: Floats, high: Floats, cost: Floats) -> None:
        """Tell the solver what is new."""
        (at,) = np.nonzero((low != self._low) | (high != self._high))
        if at.size:
            self._programme.set_bounds(low[at], high[at], at)
        (at,) = np.nonzero(cost != self._cost)
        if at.size:
            self._programme.set_costs(cost[at], at)
        self._low, self._high, self._cost = low, high, cost
