"""Building a safe pattern: the cheapest protecting move for every target and attacker, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import highspy
import numpy as np

from diskret.suppression.attackers import DOWN, UP, Attackers, Bools, Floats, quiet
from diskret.suppression.witnesses import Witnesses

NOTHING = 1e-6
"""Moving a hidden cell costs next to nothing, but not nothing: short moves are wanted."""


class Routes:
    """A warm model of all cells, each with a way up and a way down."""

    def __init__(self, attackers: Attackers) -> None:
        self.attackers = attackers
        self.size = attackers.system.cells.size
        self._model = self._make()

    def _make(self) -> Any:
        a, n = self.attackers, self.size
        start, row, sign = a.system.by_column()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n, a.system.rows
        lp.col_cost_ = np.ones(2 * n)
        lp.col_lower_, lp.col_upper_ = np.zeros(2 * n), np.concatenate([a.far_up, a.far_down])
        lp.row_lower_ = lp.row_upper_ = np.zeros(a.system.rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.concatenate([start, start[-1] + start[1:]]).astype(np.int32)
        lp.a_matrix_.index_ = np.concatenate([row, row]).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate([sign, -sign])
        model = quiet()
        model.setOptionValue("presolve", "off")
        model.passModel(lp)
        return model

    def pattern(self, witnesses: Witnesses, price: Floats, late: Callable[[], bool]) -> Bools | None:
        """A safe pattern; None if there was no time. Small needs come first: they take cheap cells, large ones reuse."""
        a, demands = self.attackers, self.attackers.demands
        hidden = a.always.copy()
        order = np.argsort(demands.need.max(axis=0), kind="stable").tolist()
        for attacker in range(len(a.knows)):
            rise, fall = witnesses.reach(witnesses.alive(hidden), attacker)
            for target in order:
                if not demands.asked[attacker, target] or demands.met(rise, fall)[target]:
                    continue
                if late():
                    return None
                hidden |= self._protect(witnesses, hidden, price, attacker, target)
                rise, fall = witnesses.reach(witnesses.alive(hidden), attacker)
                if not demands.met(rise, fall)[target]:
                    return np.ones(self.size, dtype=np.bool_)  # no such simple moves: let thinning find a way
        return hidden

    def _protect(self, witnesses: Witnesses, hidden: Bools, price: Floats, attacker: int, target: int) -> Bools:
        """The cells of the moves that give a target what it needs."""
        up, down, span = (float(v) for v in self.attackers.demands.need[:, target])
        column = int(self.attackers.demands.columns[target])
        more = hidden.copy()
        for ways in ([(UP, up), (DOWN, down)], [(UP, span)], [(DOWN, span)], [(UP, span / 2), (DOWN, span / 2)]):
            for kind, amount in ways:
                if amount > 0:
                    y = self._cheapest(more, price, attacker, column, kind, amount * (1 + 1e-9))
                    if y is None:
                        break
                    witnesses.add(y)
                    more |= y != 0
            rise, fall = witnesses.reach(witnesses.alive(more), attacker)
            if self.attackers.demands.met(rise, fall)[target]:
                break
        return more

    def _cheapest(
        self, hidden: Bools, price: Floats, attacker: int, column: int, kind: int, amount: float
    ) -> Floats | None:
        a, n = self.attackers, self.size
        room = np.minimum(np.maximum(np.minimum(a.far_up, a.far_down), 1e-9 * amount), amount)
        weight = np.where(hidden, 0.0, price / room)
        weight = weight / max(float(weight.max()), 1e-300) + NOTHING
        high = np.concatenate([a.far_up, a.far_down])
        high[a.knows[attacker]] = high[a.knows[attacker] + n] = 0.0
        low = np.zeros(2 * n)
        if high[column + kind * n] < amount:
            return None
        high[[column, column + n]] = 0.0
        low[column + kind * n] = high[column + kind * n] = amount
        everyone = np.arange(2 * n, dtype=np.int32)
        self._model.changeColsBounds(2 * n, everyone, low, high)
        self._model.changeColsCost(2 * n, everyone, np.concatenate([weight, weight]))
        self._model.run()
        a.programmes += 1
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found = np.array(self._model.getSolution().col_value)
        y = found[:n] - found[n:]
        y[np.abs(y) < 1e-9 * amount] = 0.0
        return y
