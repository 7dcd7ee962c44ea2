"""The cheapest protecting move of one cell, by a linear programme over all cells that may take part."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.suppression.optimum.attackers import Attackers, quiet

NOTHING = 1e-6
"""Even a cell that costs nothing counts a little: short moves are wanted."""


class Routes:
    """A warm model of all cells, each with a way up and a way down."""

    def __init__(self, attackers: Attackers) -> None:
        self.attackers = attackers
        self.size = attackers.system.cells.size
        self._cost = np.zeros(2 * self.size)
        self._high = np.concatenate([attackers.far_up, attackers.far_down])
        self._low = np.zeros(2 * self.size)
        self._model = self._make()

    def _make(self) -> Any:
        a, n = self.attackers, self.size
        start, row, sign = a.system.by_column()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n, a.system.rows
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = self._cost, self._low, self._high
        lp.row_lower_ = lp.row_upper_ = np.zeros(a.system.rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.concatenate([start, start[-1] + start[1:]]).astype(np.int32)
        lp.a_matrix_.index_ = np.concatenate([row, row]).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate([sign, -sign])
        model = quiet()
        model.setOptionValue("presolve", "off")
        model.passModel(lp)
        return model

    def cheapest(
        self, allowed: Bools, price: Floats, attacker: int, column: int, kind: int, amount: float
    ) -> Floats | None:
        """Move one cell up (or down) by an amount over allowed cells the attacker does not know; None if impossible.

        ``price`` is per unit moved.
        """
        a, n = self.attackers, self.size
        high = np.concatenate([np.where(allowed, a.far_up, 0.0), np.where(allowed, a.far_down, 0.0)])
        high[a.knows[attacker]] = high[a.knows[attacker] + n] = 0.0
        if high[column + kind * n] < amount:
            return None
        low = np.zeros(2 * n)
        high[[column, column + n]] = 0.0
        low[column + kind * n] = high[column + kind * n] = amount
        weight = price / max(float(price.max()), 1e-300) + NOTHING
        self._change(low, high, np.concatenate([weight, weight]))
        self._model.run()
        a.programmes += 1
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = np.array(self._model.getSolution().col_value)
        y: Floats = found[:n] - found[n:]
        y[np.abs(y) < 1e-9 * amount] = 0.0
        return y

    def _change(self, low: Floats, high: Floats, cost: Floats) -> None:
        (at,) = np.nonzero((low != self._low) | (high != self._high))
        if at.size:
            self._model.changeColsBounds(at.size, at.astype(np.int32), low[at], high[at])
        (at,) = np.nonzero(cost != self._cost)
        if at.size:
            self._model.changeColsCost(at.size, at.astype(np.int32), cost[at])
        self._low, self._high, self._cost = low, high, cost
