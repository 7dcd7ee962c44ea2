"""The attack of an outsider: which primary cells can move as far as they must, by programmes that push many at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.promise import Promise
from diskret.model.table import Table

TOLERANCE = 1e-7
WORTH_A_BATCH = 0.3
LEAST = 1e-3
WORTH_A_MODEL = 500
DOUBTFUL = 1e-5
"""Relative distance from a limit within which a result is solved again from scratch."""


@dataclass(frozen=True, eq=False)
class Needs:
    """What each target must keep: how far its interval reaches up and down, and how long it is (strictly)."""

    columns: Ints
    up: Floats
    down: Floats
    range: Floats
    size: Floats

    @classmethod
    def of(cls, table: Table, promise: Promise, system: Equations, columns: Ints) -> Needs:
        """What the promise asks for some unknowns."""
        need, below, above = promise.needs(table)
        cells = system.cells[columns]
        size = np.abs(table.value.reshape(-1)[cells])
        length = need[cells]
        if promise.levels and promise.sliding and table.below is not None and table.above is not None:
            # levels need only be reached: what is a hair short of their sum is long enough
            only_reach = length < (table.below + table.above).reshape(-1)[cells]
            length = np.where(only_reach, length - 2 * TOLERANCE * np.maximum(size, 1.0), length)
        return cls(columns, above[cells], below[cells], length, size)

    def some(self, chosen: Ints | Bools) -> Needs:
        """The same for some of the targets."""
        return Needs(self.columns[chosen], self.up[chosen], self.down[chosen], self.range[chosen], self.size[chosen])

    def met(self, reached_up: Floats, reached_down: Floats) -> Bools:
        """Which targets keep what they need, given how far every unknown was seen to move."""
        return self.enough(reached_up[self.columns], reached_down[self.columns])

    def enough(self, rise: Floats, fall: Floats) -> Bools:
        """The same, given how far the targets themselves move."""
        slack = TOLERANCE * np.maximum(self.size, 1.0)
        long_enough = rise + fall > self.range + slack
        result: Bools = (rise >= self.up - slack) & (fall >= self.down - slack) & long_enough
        return result

    def times(self, rise: Floats, fall: Floats) -> Floats:
        """How many times over the targets keep what they need; infinite where no range is asked for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = [
                np.where(need > 0, has / need, np.inf)
                for has, need in ((rise, self.up), (fall, self.down), (rise + fall, self.range))
            ]
        result: Floats = np.minimum.reduce(shares)
        return result


@dataclass(eq=False)
class Attack:
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


def attack(system: Equations, up: Floats, down: Floats, needs: Needs) -> tuple[Attack, set[int]]:
    """Attack all targets, components side by side; also those targets a solver gave up on."""
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
        columns = np.flatnonzero(group == each)
        place[columns] = np.arange(columns.size)
        mine = np.flatnonzero(group[needs.columns] == each)
        own = needs.some(mine)
        inside = Needs(place[own.columns], own.up, own.down, own.range, own.size)
        jobs.append((system.part(columns), up[columns], down[columns], inside, mine))
    with ThreadPoolExecutor(max_workers=min(len(jobs), os.cpu_count() or 1)) as pool:
        done = list(pool.map(lambda job: _push_all(*job[:4]), jobs))
    given_up = {int(job[4][k]) for job, (_, lost) in zip(jobs, done, strict=True) for k in lost}
    return Attack(group, place, [attacker for attacker, _ in done]), given_up


def _push_all(system: Equations, up: Floats, down: Floats, needs: Needs) -> tuple[Attacker, set[int]]:
    """Push all targets up and down in batches, then the stubborn ones alone; the rest is exposed or undecided."""
    least = np.maximum(needs.size, 1.0) * LEAST
    cap_up = np.maximum(np.maximum(needs.up, needs.range) * (1 + 1e-6), least)
    cap_down = np.maximum(np.maximum(needs.down, needs.range) * (1 + 1e-6), least)
    attacker = Attacker(system, up, down, needs.columns, cap_up, cap_down)
    undecided: set[int] = set()
    for upward in (True, False):
        waiting = _waiting(attacker, needs)
        while waiting.size > 1:
            attacker.push(waiting, upward)
            still = _waiting(attacker, needs)
            reached = attacker.reached_up if upward else attacker.reached_down
            cap = cap_up if upward else cap_down
            still = still[reached[needs.columns[still]] < cap[still] * (1 - 1e-9)]
            if still.size > (1 - WORTH_A_BATCH) * waiting.size:
                break
            waiting = still
    for k in _waiting(attacker, needs):
        for upward in (True, False):
            done = needs.met(attacker.reached_up, attacker.reached_down)[k]
            if not done and attacker.push(np.array([k]), upward) is None:
                undecided.add(int(k))
    return attacker, undecided


def _waiting(attacker: Attacker, needs: Needs) -> Ints:
    return np.flatnonzero(~needs.met(attacker.reached_up, attacker.reached_down))
