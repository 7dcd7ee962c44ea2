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
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.lp import ALL_BUT_OPTIMAL, Matrix, Programme, Simplex, Way
from diskret.model.tolerances import ROUNDING, WHOLE

UP, DOWN, RANGE = 0, 1, 2
SIGN = (1.0, -1.0, 1.0)
WAY = Way(presolve=False, simplex=Simplex.PRIMAL, tolerance=ROUNDING, doubted=ALL_BUT_OPTIMAL)
"""Sharper than usual: what a programme proves becomes a cut."""


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
        nothing = np.zeros(system.cells.size)
        self._low, self._high = nothing, nothing
        self._aim = -1
        matrix = Matrix(*system.by_column())
        self._programme = Programme(matrix, np.zeros(system.rows), lower=nothing, upper=nothing, way=WAY)

    # --- programmes ---------------------------------------------------------------------------------------------------

    def within(self, low: Floats, high: Floats) -> None:
        """Let every cell move between these deviations from now on."""
        (changed,) = np.nonzero((low != self._low) | (high != self._high))
        if changed.size:
            self._programme.set_bounds(low[changed], high[changed], changed)
            self._low, self._high = low, high

    def hide(self, hidden: Bools, attacker: int = 0) -> None:
        """Let the hidden cells move as far as the attacker thinks possible."""
        free = hidden.copy()
        free[self.knows[attacker]] = False
        self.within(np.where(free, -self.far_down, 0.0), np.where(free, self.far_up, 0.0))

    def push(self, column: int, sign: float) -> Pushed | None:
        """The deviations that move one cell farthest, and the combination of equations that proves it; or None."""
        self.programmes += 1
        if self._aim >= 0:
            self._programme.set_costs(np.zeros(1), np.array([self._aim]))
        self._programme.set_costs(np.array([-sign]), np.array([column]))
        self._aim = column
        y = self._programme.best()
        return None if y is None else (y, sign * self._programme.multipliers)

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
        if not rest > ROUNDING * need:
            return None
        (columns,) = np.nonzero((weight > 0) & ~self.always)
        return Cut(columns, np.minimum(weight[columns] / rest, 1.0), 1.0)

    def _combined(self, column: int, combination: Floats) -> Floats:
        for parts in range(1, 13):
            whole = np.round(combination * parts)
            if np.abs(combination * parts - whole).max(initial=0.0) < WHOLE:
                d = self.system.transposed_times(whole)
                d[column] += parts
                exact: Floats = d / parts
                return exact
        d = self.system.transposed_times(combination)
        d[column] += 1.0
        rounded: Floats = np.where(np.abs(d) < ROUNDING, 0.0, d)
        return rounded


def _times(room: Floats, share: Floats) -> Floats:
    """Rooms may be without end, shares zero."""
    result: Floats = np.where(share > 0, room * np.maximum(share, ROUNDING), 0.0)
    return result
