"""The attacker's linear programme: hidden cells as unknowns, published equations as rows, prior knowledge as bounds.

Unknowns are deviations from the true values, so that doing nothing is always possible, and every point the solver finds
widens what is possible for all cells at once. Aimed-at cells are split into three columns (below, within and above the
level asked for): a column within reach is worth something, a column beyond is not, so one programme raises many cells
at once and stops at their levels.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations

FREE = 1e30
DUAL, PRIMAL = 1, 4
USUAL, NARROW = 1e-7, 1e-10


class Attacker:
    """One warm model of a system of equations; aims at some of its columns."""

    def __init__(
        self, system: Equations, up: Floats, down: Floats, aims: Ints, cap_up: Floats, cap_down: Floats
    ) -> None:
        self.aims = aims
        self.count = system.cells.size
        self.reached_up = np.zeros(self.count)
        self.reached_down = np.zeros(self.count)
        self.programmes = 0
        self.given_up = 0
        self.up, self.down = up, down
        self.cap_up, self.cap_down = cap_up, cap_down
        self._model = _model(system, up, down, aims, cap_up, cap_down)

    def push(self, chosen: Ints, upward: bool) -> Floats | None:
        """Move the chosen aims (positions among the aims) as far as their levels, together; None if the solver fails.

        Returns how far every unknown moved. The sum of the shares reached is largest possible; a single aim is pushed
        exactly as far as it goes, up to its level.
        """
        cap = (self.cap_up if upward else self.cap_down)[chosen]
        worth = -1.0 / cap if upward else 1.0 / cap
        inner = self.aims[chosen]
        below, above = self.count + 2 * chosen, self.count + 2 * chosen + 1
        side = below if upward else above
        cost = np.zeros(self.count + 2 * self.aims.size)
        cost[inner], cost[side] = worth, worth
        return self._run(cost, alone=chosen.size == 1)

    def extreme(self, column: int, upward: bool, cold: bool = False) -> float | None:
        """How far one unknown can go at most, whatever its level; None if the solver fails, infinite if it is free.

        ``cold`` solves from scratch with narrow tolerances: where a limit is near, no old basis shall decide.
        """
        if cold:
            self._model.clearSolver()
            self._tolerate(NARROW)
        cost = np.zeros(self.count + 2 * self.aims.size)
        cost[column] = -1.0 if upward else 1.0
        for at in np.flatnonzero(self.aims == column):
            cost[self.count + 2 * at : self.count + 2 * at + 2] = cost[column]
        y = self._run(cost, alone=not cold)
        if cold:
            self._tolerate(USUAL)
        if y is None:
            return np.inf if self._model.getModelStatus() in UNBOUNDED else None
        return float(abs(y[column]))

    def _tolerate(self, size: float) -> None:
        self._model.setOptionValue("primal_feasibility_tolerance", size)
        self._model.setOptionValue("dual_feasibility_tolerance", size)

    def narrow(self, up: Floats, down: Floats) -> None:
        """Change what is thought possible for all unknowns; only without aims."""
        self.up, self.down = up, down
        self.reached_up[:], self.reached_down[:] = 0.0, 0.0
        columns = np.arange(self.count, dtype=np.int32)
        self._model.changeColsBounds(self.count, columns, _bounded(-down), _bounded(up))

    def _run(self, cost: Floats, alone: bool) -> Floats | None:
        """Solve for a cost: batches by the dual simplex, single cells by the primal, from the last point on."""
        self.programmes += 1
        self._model.setOptionValue("simplex_strategy", PRIMAL if alone else DUAL)
        self._model.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)
        self._model.run()
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._model.clearSolver()
            self._model.run()
            if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                self.given_up += 1
                return None
        found = np.array(self._model.getSolution().col_value)
        y = found[: self.count].copy()
        y[self.aims] += found[self.count :: 2] + found[self.count + 1 :: 2]
        y = np.maximum(np.minimum(y, self.up), -self.down)
        np.maximum(self.reached_up, y, out=self.reached_up)
        np.maximum(self.reached_down, -y, out=self.reached_down)
        moved: Floats = y
        return moved


UNBOUNDED = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)


def _model(system: Equations, up: Floats, down: Floats, aims: Ints, cap_up: Floats, cap_down: Floats) -> Any:
    """Columns: every unknown (an aim: the part within its levels), then for each aim the parts below and above."""
    start, row, value = system.by_column()
    lengths = np.diff(start)
    extra = np.repeat(aims, 2)
    entries = (
        np.concatenate([np.arange(start[a], start[a + 1]) for a in extra]) if extra.size else np.empty(0, np.int64)
    )
    lower, upper = -down, up.copy()
    lower[aims], upper[aims] = np.maximum(-down[aims], -cap_down), np.minimum(up[aims], cap_up)
    below_low = np.minimum(-down[aims] - lower[aims], 0.0)
    above_high = np.maximum(up[aims] - upper[aims], 0.0)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = system.cells.size + extra.size, system.rows
    lp.col_cost_ = np.zeros(lp.num_col_)
    lp.col_lower_ = _bounded(np.concatenate([lower, np.stack([below_low, np.zeros(aims.size)], axis=1).reshape(-1)]))
    lp.col_upper_ = _bounded(np.concatenate([upper, np.stack([np.zeros(aims.size), above_high], axis=1).reshape(-1)]))
    lp.row_lower_ = lp.row_upper_ = np.zeros(lp.num_row_)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([start, start[-1] + np.cumsum(lengths[extra])]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([row, row[entries]]).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate([value, value[entries]])
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("presolve", "off")
    model.passModel(lp)
    return model


def _bounded(bounds: Floats) -> Floats:
    """HiGHS has its own infinity."""
    return np.clip(bounds, -FREE, FREE)
