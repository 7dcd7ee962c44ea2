"""The attackers of a small table as linear programmes: how far each hidden cell can move, and the cuts that follow.

Unknowns are deviations ``y`` from the true values. Published sums demand ``M y = 0``; a cell that is open does not
move, a hidden one moves within the room the attacker leaves it. A combination ``z`` of the equations turns this into a
statement about one cell: ``y_p = d y`` with ``d = e_p + M' z``, so ``y_p`` is at most ``sum(room * |d| * x)``, where
``x`` says which cells are hidden. Whoever must move by ``need`` therefore needs ``sum(min(room * |d|, need) * x) >=
need``, the capacity cut of Fischetti and Salazar. It holds for every ``z``; the solver only finds good ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import highspy
import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations

UP, DOWN, RANGE = 0, 1, 2
SIGN = (1.0, -1.0, 1.0)
PRIMAL = 4
TINY = 1e-9


Pushed = tuple[Floats, Floats]
"""Deviations, and the combination of equations that proves that there are none farther."""


class Cut(NamedTuple):
    """``sum(weight * x[columns]) >= rhs``: true for every safe pattern."""

    columns: Ints
    weight: Floats
    rhs: float

    def missing(self, x: Floats) -> float:
        """By how much a point breaks the cut."""
        return self.rhs - float(self.weight @ x[self.columns])


@dataclass(frozen=True, eq=False)
class Demands:
    """What every target must keep: one entry per target in each of ``need[UP]``, ``need[DOWN]``, ``need[RANGE]``.

    A need of zero asks for nothing. ``asked[a, t]`` says whether attacker ``a`` is a danger to target ``t`` at all.
    """

    columns: Ints
    need: Floats
    asked: Bools

    def met(self, rise: Floats, fall: Floats) -> Bools:
        """Which targets keep what they need if they can move so far up and down."""
        result: Bools = (rise >= self.need[UP]) & (fall >= self.need[DOWN]) & (rise + fall >= self.need[RANGE])
        return result


class Attackers:
    """One warm model of the whole table for outsiders and for everyone who knows some hidden cells exactly."""

    def __init__(self, system: Equations, up: Floats, down: Floats, always: Bools, demands: Demands,
                 knows: list[Ints]) -> None:  # fmt: skip
        self.system, self.up, self.down = system, up, down
        self.always = always
        """Columns hidden in every pattern."""
        self.demands = demands
        self.knows = knows
        """Per attacker the columns he knows; the first one knows none."""
        self.programmes = 0
        finite = np.concatenate([up[np.isfinite(up)], down[np.isfinite(down)], demands.need.reshape(-1)])
        far = 1e3 * max(float(finite.max(initial=0.0)), 1.0)
        self.far_up, self.far_down = np.minimum(up, far), np.minimum(down, far)
        self._start, self._row, self._sign = system.by_column()
        self._model = self._make()
        n = system.cells.size
        self._low, self._high = np.zeros(n), np.zeros(n)
        self._aim = -1

    def _make(self) -> Any:
        n = self.system.cells.size
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, self.system.rows
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(n)
        lp.row_lower_ = lp.row_upper_ = np.zeros(self.system.rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = self._start.astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = self._row.astype(np.int32), self._sign
        model = quiet()
        model.setOptionValue("presolve", "off")
        model.setOptionValue("simplex_strategy", PRIMAL)
        model.setOptionValue("primal_feasibility_tolerance", TINY)
        model.setOptionValue("dual_feasibility_tolerance", TINY)
        model.passModel(lp)
        return model

    # --- programmes ---------------------------------------------------------------------------------------------------

    def within(self, low: Floats, high: Floats) -> None:
        """Let every cell move between these deviations from now on."""
        (changed,) = np.nonzero((low != self._low) | (high != self._high))
        if changed.size:
            self._model.changeColsBounds(changed.size, changed.astype(np.int32), low[changed], high[changed])
            self._low[changed], self._high[changed] = low[changed], high[changed]

    def hide(self, hidden: Bools, attacker: int = 0) -> None:
        """Let the hidden cells move as far as the attacker thinks possible."""
        free = hidden.copy()
        free[self.knows[attacker]] = False
        self.within(np.where(free, -self.far_down, 0.0), np.where(free, self.far_up, 0.0))

    def push(self, column: int, sign: float) -> Pushed | None:
        """The deviations that move one cell farthest, and the combination of equations that proves it; or None."""
        self.programmes += 1
        if self._aim >= 0:
            self._model.changeColCost(self._aim, 0.0)
        self._model.changeColCost(column, -sign)
        self._aim = column
        self._model.run()
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._model.clearSolver()
            self._model.run()
            if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return None
        solution = self._model.getSolution()
        return np.array(solution.col_value), sign * np.array(solution.row_dual)

    # --- cuts ---------------------------------------------------------------------------------------------------------

    def cut(self, target: int, kind: int, combination: Floats, attacker: int) -> Cut | None:
        """The capacity cut of a combination of equations; None if it says nothing.

        The combination is rounded to small fractions first, so that ``d`` is exact and no tolerance makes a cut wrong.
        """
        d = self._combined(int(self.demands.columns[target]), combination)
        weight = _times(self.up + self.down, np.abs(d)) if kind == RANGE else self._limit(d, kind == UP)
        return self._capacity(weight, float(self.demands.need[kind, target]), attacker)

    def cut_of(self, target: int, kind: int, ways: Mapping[int, Pushed | None], attacker: int) -> Cut | None:
        """The cut that the farthest ways up and down prove."""
        if kind == RANGE:
            above, below = ways[UP], ways[DOWN]
            return None if above is None or below is None else self._joint_cut(target, above[1], below[1], attacker)
        pushed = ways[kind]
        return None if pushed is None else self.cut(target, kind, pushed[1], attacker)

    def _joint_cut(self, target: int, above: Floats, below: Floats, attacker: int) -> Cut | None:
        """The same for a range: what limits the way up and what limits the way down, together."""
        column = int(self.demands.columns[target])
        weight = self._limit(self._combined(column, above), True) + self._limit(self._combined(column, below), False)
        return self._capacity(weight, float(self.demands.need[RANGE, target]), attacker)

    def _limit(self, d: Floats, upward: bool) -> Floats:
        """How much each cell lets the target move up (or down) at most."""
        return _times(np.where((d > 0) == upward, self.up, self.down), np.abs(d))

    def _capacity(self, weight: Floats, need: float, attacker: int) -> Cut | None:
        weight[self.knows[attacker]] = 0.0
        rest = need - float(weight[self.always].sum())
        if not rest > TINY * need:
            return None
        (columns,) = np.nonzero((weight > 0) & ~self.always)
        return Cut(columns, np.minimum(weight[columns] / rest, 1.0), 1.0)

    def _combined(self, column: int, combination: Floats) -> Floats:
        for parts in range(1, 13):
            whole = np.round(combination * parts)
            if np.abs(combination * parts - whole).max(initial=0.0) < 1e-6:
                d = self.system.transposed_times(whole)
                d[column] += parts
                exact: Floats = d / parts
                return exact
        d = self.system.transposed_times(combination)
        d[column] += 1.0
        rounded: Floats = np.where(np.abs(d) < TINY, 0.0, d)
        return rounded


def quiet() -> Any:
    """A solver that says nothing and gives the same answer every time."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model


def _times(room: Floats, share: Floats) -> Floats:
    """Rooms may be without end, shares zero."""
    result: Floats = np.where(share > 0, room * np.maximum(share, TINY), 0.0)
    return result
