"""The attack of an outsider: which primary cells can move as far as they must, by programmes that push many at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.moves.demands import Demands

WORTH_A_BATCH = 0.3
LEAST = 1e-3
WORTH_A_MODEL = 500
DOUBTFUL = 1e-5
"""Relative distance from a limit within which a result is solved again from scratch."""


@dataclass(eq=False)
class OutsideAttack:
    """Attackers of groups of connected components; each knows only its own unknowns."""

    group: Ints
    """For every unknown the attacker it belongs to."""
    place: Ints
    """For every unknown its number among those of the attacker."""
    attackers: list[Attacker]

    @property
    def programmes(self) -> int:
        """Linear programmes so far."""
        return sum(a.programmes for a in self.attackers)

    @property
    def reached_up(self) -> Floats:
        """How far every unknown was seen to rise."""
        return self._gathered([a.reached_up for a in self.attackers])

    @property
    def reached_down(self) -> Floats:
        """How far every unknown was seen to fall."""
        return self._gathered([a.reached_down for a in self.attackers])

    def _gathered(self, parts: list[Floats]) -> Floats:
        result = np.zeros(self.group.size)
        for number, part in enumerate(parts):
            mine = self.group == number
            result[mine] = part[self.place[mine]]
        return result

    def extremes(self, column: int, near: tuple[float, float] = (np.inf, np.inf)) -> tuple[float, float]:
        """How far an unknown can rise and fall; not a number where the solver gives up.

        Whatever comes near the limits ``near`` is solved again from scratch.
        """
        attacker, at = self.attackers[int(self.group[column])], int(self.place[column])
        found = []
        for upward, limit in ((True, near[0]), (False, near[1])):
            reach = attacker.extreme(at, upward)
            if reach is not None and limit < np.inf and abs(reach - limit) <= DOUBTFUL * max(1.0, limit):
                reach = attacker.extreme(at, upward, cold=True)
            found.append(np.nan if reach is None else reach)
        return found[0], found[1]


def attack(
    system: Equations, up: Floats, down: Floats, columns: Ints, demands: Demands
) -> tuple[OutsideAttack, set[int]]:
    """Attack all targets (columns with demands), components side by side; also those a solver gave up on."""
    label = system.components()
    size = np.bincount(label, minlength=1)
    # large components have an attacker of their own, the small ones share one
    large = np.flatnonzero(size >= WORTH_A_MODEL)
    number = np.full(size.size, large.size)
    number[large] = np.arange(large.size)
    group = number[label]
    place = np.zeros(system.cells.size, dtype=np.int64)
    jobs = []
    for each in range(large.size + 1):
        own = np.flatnonzero(group == each)
        place[own] = np.arange(own.size)
        mine = np.flatnonzero(group[columns] == each)
        jobs.append((system.part(own), up[own], down[own], place[columns[mine]], demands.some(mine), mine))
    with ThreadPoolExecutor(max_workers=min(len(jobs), os.cpu_count() or 1)) as pool:
        done = list(pool.map(lambda job: _push_all(*job[:5]), jobs))
    given_up = {int(job[5][k]) for job, (_, lost) in zip(jobs, done, strict=True) for k in lost}
    return OutsideAttack(group, place, [attacker for attacker, _ in done]), given_up


def _push_all(
    system: Equations, up: Floats, down: Floats, columns: Ints, demands: Demands
) -> tuple[Attacker, set[int]]:
    """Push all targets up and down in batches, then the stubborn ones alone; the rest is exposed or undecided."""
    least = np.maximum(demands.size, 1.0) * LEAST
    cap_up = np.maximum(np.maximum(demands.up, demands.length) * (1 + 1e-6), least)
    cap_down = np.maximum(np.maximum(demands.down, demands.length) * (1 + 1e-6), least)
    attacker = Attacker(system, up, down, columns, cap_up, cap_down)
    undecided: set[int] = set()
    for upward in (True, False):
        waiting = _waiting(attacker, columns, demands)
        while waiting.size > 1:
            attacker.push(waiting, upward)
            still = _waiting(attacker, columns, demands)
            reached = attacker.reached_up if upward else attacker.reached_down
            cap = cap_up if upward else cap_down
            still = still[reached[columns[still]] < cap[still] * (1 - 1e-9)]
            if still.size > (1 - WORTH_A_BATCH) * waiting.size:
                break
            waiting = still
    for k in _waiting(attacker, columns, demands):
        for upward in (True, False):
            done = k not in _waiting(attacker, columns, demands)
            if not done and attacker.push(np.array([k]), upward) is None:
                undecided.add(int(k))
    return attacker, undecided


def _waiting(attacker: Attacker, columns: Ints, demands: Demands) -> Ints:
    return np.flatnonzero(~demands.kept(attacker.reached_up[columns], attacker.reached_down[columns]))
