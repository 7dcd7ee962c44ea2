"""The attack of an outsider: which primary cells can move as far as they must, by programmes that push many at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.auditing.verdicts import Need, Verdict, verdict
from diskret.model.arrays import Ints
from diskret.model.equations import Equations
from diskret.model.grid import Whole
from diskret.model.rational import Ratio

WORTH_A_BATCH = 0.3
WORTH_A_MODEL = 500
SIMILAR = 10
"""Goals within this many powers of two are pushed together."""


@dataclass(eq=False)
class OutsideAttack:
    """Attackers of groups of connected components; each knows only its own unknowns."""

    group: Ints
    """For every unknown the attacker it belongs to."""
    place: Ints
    """For every unknown its number among those of the attacker."""
    own: list[Ints]
    """The unknowns of every attacker."""
    attackers: list[Attacker]
    rows: list[tuple[Ints, Ints]]
    """The equations of every attacker: along which axis, and their sums."""

    @property
    def programmes(self) -> int:
        """Linear programmes so far."""
        return sum(a.programmes for a in self.attackers)

    def on(self, column: int) -> tuple[Attacker, int, Ints]:
        """The attacker of an unknown, its place there, and all unknowns of that attacker."""
        number = int(self.group[column])
        return self.attackers[number], int(self.place[column]), self.own[number]

    def lines(self, column: int) -> tuple[Ints, Ints]:
        """The equations of the attacker of an unknown."""
        return self.rows[int(self.group[column])]

    def spread(self, column: int, point: Ratio) -> tuple[Ints, Whole]:
        """A point of the attacker of an unknown: the unknowns that move, and by how many steps each."""
        moving = np.flatnonzero(point.x)
        return self.own[int(self.group[column])][moving], point.x[moving]


def attackers_of(system: Equations, up: Whole, down: Whole) -> OutsideAttack:
    """Large components have an attacker of their own, the small ones share one."""
    label = system.components()
    size = np.bincount(label, minlength=1)
    large = np.flatnonzero(size >= WORTH_A_MODEL)
    number = np.full(size.size, large.size)
    number[large] = np.arange(large.size)
    group = number[label]
    place = np.zeros(system.cells.size, dtype=np.int64)
    owned, attackers, rows = [], [], []
    for each in range(large.size + 1):
        own = np.flatnonzero(group == each)
        place[own] = np.arange(own.size)
        owned.append(own)
        part = system.part(own)
        rows.append((part.axis, part.sum_cell))
        attackers.append(Attacker(part, up[own], down[own]))
    return OutsideAttack(group, place, owned, attackers, rows)


def attack(attackers: OutsideAttack, columns: Ints, needs: list[Need]) -> dict[int, Verdict]:
    """Attack all targets (columns with what each must keep), groups side by side: a verdict on every one."""
    jobs = []
    for number, attacker in enumerate(attackers.attackers):
        mine = np.flatnonzero(attackers.group[columns] == number)
        if mine.size:
            jobs.append((attacker, attackers.place[columns[mine]], [needs[k] for k in mine.tolist()], mine))
    with ThreadPoolExecutor(max_workers=max(1, min(len(jobs), os.cpu_count() or 1))) as pool:
        done = list(pool.map(lambda job: _Push(*job[:3]).all(), jobs))
    found = {int(k): each for job, some in zip(jobs, done, strict=True) for k, each in zip(job[3], some, strict=True)}
    return {k: found[k] for k in sorted(found)}


class _Best(NamedTuple):
    """How far a target was seen to go one way, and by which point."""

    reach: Fraction = Fraction(0)
    point: Ratio | None = None


class _Push:
    """The targets of one attacker, pushed up and down in batches, then the stubborn ones alone."""

    def __init__(self, attacker: Attacker, columns: Ints, needs: list[Need]) -> None:
        self.attacker, self.columns, self.needs = attacker, columns, needs
        self.best = {True: [_Best()] * columns.size, False: [_Best()] * columns.size}

    def all(self) -> list[Verdict]:
        """A verdict on every target."""
        for upward in (True, False):
            for batch in self._batches(upward):
                self._push(batch, upward)
        return [self._verdict(k) for k in range(self.columns.size)]

    def _kept(self, k: int) -> bool:
        return self.needs[k].kept(self.best[True][k].reach, self.best[False][k].reach)

    def _goal(self, k: int, upward: bool) -> int:
        """How far a target is pushed: to its level, or as long as its interval must be."""
        need = self.needs[k]
        level = need.up if upward else need.down
        return level or (need.length + need.strict if not (need.up or need.down) else 0)

    def _batches(self, upward: bool) -> list[Ints]:
        """Targets that still have to go this way, those with similar goals together."""
        waiting = [k for k in range(self.columns.size) if not self._kept(k) and self._goal(k, upward)]
        by_size: dict[int, list[int]] = {}
        for k in waiting:
            by_size.setdefault(self._goal(k, upward).bit_length() // SIMILAR, []).append(k)
        return [np.array(some) for _, some in sorted(by_size.items())]

    def _push(self, waiting: Ints, upward: bool) -> None:
        """Push a batch again and again while many get there."""
        room = self.attacker.up if upward else self.attacker.down
        waiting = waiting[room[self.columns[waiting]] != 0]
        while waiting.size > 1:
            goals = np.array([self._goal(k, upward) for k in waiting.tolist()], dtype=object)
            point = self.attacker.together(self.columns[waiting], _narrow(goals), upward)
            if point is None:
                return
            self._see(point)
            arrived = [self.best[upward][k].reach >= goal for k, goal in zip(waiting.tolist(), goals, strict=True)]
            still = waiting[~np.array(arrived)]
            if still.size > (1 - WORTH_A_BATCH) * waiting.size:
                return
            waiting = still

    def _see(self, point: Ratio) -> None:
        """Every point widens what is possible for all targets."""
        moved = point.x[self.columns]
        for k in np.flatnonzero(moved).tolist():
            upward = bool(moved[k] > 0)
            reach = Fraction(abs(int(moved[k])), point.q)
            if reach > self.best[upward][k].reach:
                self.best[upward][k] = _Best(reach, point)

    def _verdict(self, k: int) -> Verdict:
        if not self._kept(k):
            return verdict(self.attacker, int(self.columns[k]), self.needs[k])
        seen = (self.best[True][k].point, self.best[False][k].point)
        return Verdict(safe=True, points=tuple(point for point in seen if point is not None))


def _narrow(goals: Whole) -> Whole:
    """In 64 bits where all fit."""
    return goals.astype(np.int64) if max(goals) < 2**61 else goals
