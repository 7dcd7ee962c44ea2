"""Many unknowns pushed at once, towards goals of similar size.

Every unknown that is pushed has three parts: what lies below its goal downwards, what lies between both goals, and what
lies above the goal upwards. Going as far as the goal is worth something, going beyond is not, so that one programme
carries many of them and stops. Only what is worth something changes from programme to programme: each takes few steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.auditing.attacker import FAR, Attacker, Frame, Proof, shrunk, violation
from diskret.model.arrays import Ints
from diskret.model.equations import Equations
from diskret.model.grid import ENDLESS, Whole
from diskret.model.lp import Simplex
from diskret.model.rational import Ratio, wide

ZOOMS = 2
FEW = 8
"""So few are pushed from the last point on, more from the best basis for all of them: tuned on h3."""


class Crowd:
    """The unknowns of an attacker, some of which (``columns``) have goals upwards and downwards."""

    def __init__(self, attacker: Attacker, columns: Ints, goals: Whole) -> None:
        self.judge, self.columns, self.goals = attacker, columns, goals
        count = attacker.up.size
        self.count = count
        large = goals.dtype == object
        up, down = (wide(room) if large else room for room in (attacker.up, attacker.down))
        up, down = (np.concatenate([room, room[columns], room[columns]]) for room in (up, down))
        below, above = slice(count, count + columns.size), slice(count + columns.size, None)
        for room, beyond, other in ((up, above, below), (down, below, above)):
            own = room[columns]
            endless = own == ENDLESS
            room[columns] = np.where(endless, goals, np.minimum(own, goals))
            room[beyond] = np.where(endless, ENDLESS, own - room[columns])
            room[other] = 0
        self.attacker = Attacker(_tripled(attacker.system, columns), up, down)

    def push(self, chosen: Ints, upward: bool) -> Ratio | None:
        """A point that carries the chosen ones (places among ``columns``) as near to their goals as they get together.

        None if the solver finds none.
        """
        goals = self.goals[chosen]
        share = (int(goals.min()) / goals).astype(np.float64)
        cost = np.zeros(self.attacker.up.size)
        inner, side = self.columns[chosen], self.count + chosen + (0 if upward else self.columns.size)
        cost[inner] = cost[side] = -share if upward else share
        few = chosen.size <= FEW
        frame = Frame.of(self.attacker, int(self.goals.min()), FAR * int(self.goals.max()))
        point = None
        for zoom in range(1 + ZOOMS):
            point = self.attacker.run(frame, cost, Simplex.PRIMAL if few else Simplex.DUAL)
            if point is None or self.attacker.keeps(point):
                break
            if zoom < ZOOMS:
                frame = Frame.at(self.attacker, point, violation(point, self.attacker.up, self.attacker.down))
        return None if point is None else shrunk(self._added(point), self.judge.up, self.judge.down)

    def proof(self, place: int, upward: bool) -> Proof | None:
        """Why the one that was pushed last, alone, goes no farther."""
        return self.attacker.proof_of_last(self.judge, int(self.columns[place]), upward)

    def _added(self, point: Ratio) -> Ratio:
        """The three parts of every unknown together."""
        parts = point.x
        x = parts[: self.count].copy()
        x[self.columns] += parts[self.count : self.count + self.columns.size] + parts[self.count + self.columns.size :]
        return Ratio(point.q, x)


def _tripled(system: Equations, columns: Ints) -> Equations:
    """The same equations with two more unknowns for some, which stand wherever these do."""
    start, row, value = system.by_column()
    extra = np.tile(columns, 2)
    entries = np.concatenate([np.empty(0, np.int64), *(np.arange(start[c], start[c + 1]) for c in extra)])
    rows = np.concatenate([system.row_of(), row[entries]])
    number = np.repeat(system.cells.size + np.arange(extra.size), np.diff(start)[extra])
    order = np.argsort(rows, kind="stable")
    return replace(
        system,
        cells=np.concatenate([system.cells, system.cells[extra]]),
        start=np.searchsorted(rows[order], np.arange(system.rows + 1)),
        columns=np.concatenate([system.columns, number])[order],
        coefficients=np.concatenate([system.coefficients, value[entries]])[order],
    )
