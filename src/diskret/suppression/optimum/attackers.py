"""The attackers of a small table as linear programmes: how far each hidden cell can move, and the cuts that follow.

Unknowns are deviations ``y`` from the true values. Published sums demand ``M y = 0``; a cell that is open does not
move, a hidden one moves within the room the attacker leaves it. A combination ``z`` of the equations turns this into a
statement about one cell: ``y_p = d y`` with ``d = e_p + M' z``, so ``y_p`` is at most ``sum(room * |d| * x)``, where
``x`` says which cells are hidden. Whoever must move by ``need`` therefore needs ``sum(min(room * |d|, need) * x) >=
need``, the capacity cut of Fischetti and Salazar. It holds for every ``z``; the solver only finds good ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.lp import ALL_BUT_OPTIMAL, Matrix, Programme, Simplex, Way
from diskret.model.tolerances import ROUNDING, WHOLE
from diskret.suppression.optimum.tableau import LARGEST_DENOMINATOR, Tableau

UP, DOWN, RANGE = 0, 1, 2
SIGN = (1.0, -1.0, 1.0)
WAY = Way(presolve=False, simplex=Simplex.PRIMAL, tolerance=ROUNDING, iterations=5_000, doubted=ALL_BUT_OPTIMAL)
"""Sharper than usual: what a programme proves becomes a cut. One that takes longer is not worth it."""
FAR = 1e3
"""Rooms without end are cut off at this many times the largest number there is: farther nobody needs to go."""


class Pushed(NamedTuple):
    """Deviations that move a cell farthest, and which others it follows how: that proves that there are none better."""

    moved: Floats
    follows: Floats


class Cut(NamedTuple):
    """``sum(weight * x[columns]) >= rhs``: true for every safe pattern."""

    columns: Ints
    weight: Floats
    rhs: float

    def missing(self, x: Floats) -> float:
        """By how much a point breaks the cut."""
        return self.rhs - float(self.weight @ x[self.columns])


@dataclass(frozen=True, kw_only=True, eq=False)
class Goals:
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

    def lacking(self, target: int, rise: float, fall: float) -> list[int]:
        """What one target lacks: some of UP, DOWN and RANGE."""
        reached = (rise, fall, rise + fall)
        return [kind for kind, need in enumerate(self.need[:, target].tolist()) if reached[kind] < need]


class Attackers:
    """One warm model of the whole table for outsiders and for everyone who knows some hidden cells exactly."""

    def __init__(
        self, system: Equations, up: Floats, down: Floats, *, always: Bools, demands: Goals, knows: list[Ints]
    ) -> None:
        self.system, self.up, self.down = system, up, down
        self.always = always
        """Columns hidden in every pattern."""
        self.demands = demands
        self.knows = knows
        """Per attacker the columns he knows; the first one knows none."""
        self.programmes = 0
        finite = np.concatenate([up[np.isfinite(up)], down[np.isfinite(down)], demands.need.reshape(-1)])
        far = FAR * max(float(finite.max(initial=0.0)), 1.0)
        self.far_up, self.far_down = np.minimum(up, far), np.minimum(down, far)
        self._low = self._high = np.zeros(system.cells.size)
        self.tableau = Tableau(system) if Tableau.suits(system) else None
        self._aim = -1

    @cached_property
    def _programme(self) -> Programme:
        """For large systems, and where a tableau fails."""
        matrix = Matrix(*self.system.by_column())
        return Programme(matrix, np.zeros(self.system.rows), lower=self._low, upper=self._high, way=WAY)

    # --- programmes ---------------------------------------------------------------------------------------------------

    def within(self, low: Floats, high: Floats, attacker: int) -> None:
        """Let every cell that the attacker does not know move between these deviations from now on."""
        low[self.knows[attacker]] = high[self.knows[attacker]] = 0.0
        self._low, self._high = low, high

    def hide(self, hidden: Bools, attacker: int) -> None:
        """Let the hidden cells move as far as the attacker thinks possible."""
        self.within(np.where(hidden, -self.far_down, 0.0), np.where(hidden, self.far_up, 0.0), attacker)

    def push(self, column: int, sign: float, enough: float = -1.0) -> Pushed | None:
        """Move one cell as far as it goes; None if the solver fails.

        With ``enough`` it may end as soon as it is clear that the cell does not get that far.
        """
        self.programmes += 1
        found = None if self.tableau is None else self.tableau.push(column, sign, self._low, self._high, enough)
        return self._solved(column, sign) if found is None else Pushed(*found)

    def _solved(self, column: int, sign: float) -> Pushed | None:
        if self._aim >= 0:
            self._programme.set_costs(np.zeros(1), np.array([self._aim]))
        self._programme.set_costs(np.array([-sign]), np.array([column]))
        self._programme.set_bounds(self._low, self._high)
        self._aim = column
        moved = self._programme.best()
        return None if moved is None else Pushed(moved, self._combined(column, sign * self._programme.multipliers))

    # --- cuts ---------------------------------------------------------------------------------------------------------

    def limits(self, kind: int, d: Floats) -> Floats:
        """How much each cell lets a target that follows others move up, down, or along its range at most."""
        share = np.abs(d)
        room = self.up + self.down if kind == RANGE else np.where((d > 0) == (kind == UP), self.up, self.down)
        # rooms may be without end, shares zero
        result: Floats = np.where(share > 0, room * np.maximum(share, ROUNDING), 0.0)
        return result

    def cut(self, target: int, kind: int, limits: Floats, attacker: int) -> Cut | None:
        """The capacity cut: hidden cells together let the target move as far as it needs; None if it says nothing."""
        need = float(self.demands.need[kind, target])
        limits[self.knows[attacker]] = 0.0
        rest = need - float(limits[self.always].sum())
        if not rest > ROUNDING * need:
            return None
        (columns,) = np.nonzero((limits > 0) & ~self.always)
        return Cut(columns, np.minimum(limits[columns] / rest, 1.0), 1.0)

    def _combined(self, column: int, combination: Floats) -> Floats:
        """Which others a cell follows, by a combination of equations.

        It is rounded to small fractions first, so that ``d`` is exact and no tolerance makes a cut wrong.
        """
        for parts in range(1, LARGEST_DENOMINATOR + 1):
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
