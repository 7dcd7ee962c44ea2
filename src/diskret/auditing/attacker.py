"""The attacker's linear programme: hidden cells as unknowns, published equations as rows, prior knowledge as bounds.

Unknowns are deviations from the true values, so that doing nothing is always possible, and every point the solver finds
widens what is possible for all cells at once. Aimed-at cells are split into three columns (below, within and above the
level asked for): a column within reach is worth something, a column beyond is not, so one programme raises many cells
at once and stops at their levels.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.lp import ALL_BUT_OPTIMAL, Answer, Matrix, Programme, Simplex, Start, Way
from diskret.model.tolerances import NARROW, SOLVER


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
        self.up, self.down = up, down
        self.cap_up, self.cap_down = cap_up, cap_down
        self._programme = _programme(system, up, down, aims, cap_up, cap_down)

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
        return self._run(cost, Simplex.PRIMAL if chosen.size == 1 else Simplex.DUAL)

    def extreme(self, column: int, upward: bool, cold: bool = False) -> float | None:
        """How far one unknown can go at most, whatever its level; None if the solver fails, infinite if it is free.

        ``cold`` solves from scratch with narrow tolerances: where a limit is near, no old basis shall decide.
        """
        cost = np.zeros(self.count + 2 * self.aims.size)
        cost[column] = -1.0 if upward else 1.0
        for at in np.flatnonzero(self.aims == column):
            cost[self.count + 2 * at : self.count + 2 * at + 2] = cost[column]
        if cold:
            self._programme.tolerate(NARROW)
            y = self._run(cost, Simplex.DUAL, "scratch")
            self._programme.tolerate(SOLVER)
        else:
            y = self._run(cost, Simplex.PRIMAL)
        if y is None:
            return np.inf if self._programme.answer is Answer.UNBOUNDED else None
        return float(abs(y[column]))

    def narrow(self, up: Floats, down: Floats) -> None:
        """Change what is thought possible for all unknowns; only without aims."""
        self.up, self.down = up, down
        self.reached_up[:], self.reached_down[:] = 0.0, 0.0
        self._programme.set_bounds(-down, up)

    def _run(self, cost: Floats, simplex: Simplex, start: Start = "last") -> Floats | None:
        """Solve for a cost: batches by the dual simplex, single cells by the primal, from the last point on."""
        self.programmes += 1
        self._programme.use(simplex)
        self._programme.set_costs(cost)
        found = self._programme.best(start)
        if found is None:
            return None
        y = found[: self.count].copy()
        y[self.aims] += found[self.count :: 2] + found[self.count + 1 :: 2]
        y = np.maximum(np.minimum(y, self.up), -self.down)
        np.maximum(self.reached_up, y, out=self.reached_up)
        np.maximum(self.reached_down, -y, out=self.reached_down)
        moved: Floats = y
        return moved


def _programme(system: Equations, up: Floats, down: Floats, aims: Ints, cap_up: Floats, cap_down: Floats) -> Programme:
    """Columns: every unknown (an aim: the part within its levels), then for each aim the parts below and above."""
    start, row, value = system.by_column()
    extra = np.repeat(aims, 2)
    entries = np.concatenate([np.empty(0, np.int64), *(np.arange(start[a], start[a + 1]) for a in extra)])
    lower, upper = -down, up.copy()
    lower[aims], upper[aims] = np.maximum(-down[aims], -cap_down), np.minimum(up[aims], cap_up)
    below, above = np.zeros((aims.size, 2)), np.zeros((aims.size, 2))
    below[:, 0] = np.minimum(-down[aims] - lower[aims], 0.0)
    above[:, 1] = np.maximum(up[aims] - upper[aims], 0.0)
    matrix = Matrix(
        np.concatenate([start, start[-1] + np.cumsum(np.diff(start)[extra])]),
        np.concatenate([row, row[entries]]),
        np.concatenate([value, value[entries]]),
    )
    return Programme(
        matrix,
        np.zeros(system.rows),
        lower=np.concatenate([lower, below.reshape(-1)]),
        upper=np.concatenate([upper, above.reshape(-1)]),
        way=Way(presolve=False, doubted=ALL_BUT_OPTIMAL),
    )
