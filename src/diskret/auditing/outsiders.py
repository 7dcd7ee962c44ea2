"""The attack of an outsider: which primary cells can move as far as they must, by programmes that push many at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from diskret.auditing.attacker import Attacker, Proof
from diskret.auditing.crowd import Crowd
from diskret.auditing.verdicts import Need, Verdict, verdict
from diskret.model.arrays import Ints
from diskret.model.equations import Equations
from diskret.model.grid import Whole, fitting
from diskret.model.processes import cores
from diskret.model.rational import Ratio
from diskret.model.workers import Threads, Workers

WORTH_A_BATCH = 0.3
WORTH_A_MODEL = 500
SIMILAR = 20
"""Goals within this many powers of two are pushed together."""


Model = tuple[Equations, Whole, Whole]
"""A system with what is thought possible of its unknowns."""


@dataclass(eq=False)
class OutsideAttack:
    """Attackers of groups of connected components; each knows only its own unknowns."""

    group: Ints
    """For every unknown the attacker it belongs to."""
    place: Ints
    """For every unknown its number among those of the attacker."""
    own: list[Ints]
    """The unknowns of every attacker."""
    models: list[Model]
    """What every attacker works with."""
    rows: list[Ints]
    """The equations of every attacker."""
    met: dict[int, Attacker] = field(default_factory=dict)
    """Attackers that somebody asked for."""
    pushed: int = 0
    """Programmes of those who pushed many unknowns at once."""

    @property
    def programmes(self) -> int:
        """Linear programmes so far."""
        return self.pushed + sum(a.programmes for a in self.met.values())

    def on(self, column: int) -> tuple[Attacker, int, Ints]:
        """The attacker of an unknown, its place there, and all unknowns of that attacker."""
        number = int(self.group[column])
        if number not in self.met:
            self.met[number] = Attacker(*self.models[number])
        return self.met[number], int(self.place[column]), self.own[number]

    def lines(self, column: int) -> Ints:
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
    owned, models, rows, row = [], [], [], system.row_of()
    for each in range(large.size + 1):
        own = np.flatnonzero(group == each)
        place[own] = np.arange(own.size)
        owned.append(own)
        rows.append(np.unique(row[group[system.columns] == each]))
        models.append((system.part(own), up[own], down[own]))
    return OutsideAttack(group, place, owned, models, rows)


def attack(
    attackers: OutsideAttack, columns: Ints, needs: list[Need], workers: Workers | None = None
) -> dict[int, Verdict]:
    """Attack all targets (columns with what each must keep), groups side by side: a verdict on every one."""
    jobs, targets = [], []
    for number, model in enumerate(attackers.models):
        mine = np.flatnonzero(attackers.group[columns] == number)
        if mine.size:
            jobs.append(Job(model, attackers.place[columns[mine]], [needs[k] for k in mine.tolist()]))
            targets.append(mine.tolist())
    done = (workers or Threads(cores())).map(_pushed, None, jobs)
    attackers.pushed += sum(programmes for _, programmes in done)
    found = {k: each for mine, (some, _) in zip(targets, done, strict=True) for k, each in zip(mine, some, strict=True)}
    return {k: found[k] for k in sorted(found)}


class Job(NamedTuple):
    """The targets in one group of unknowns: everything that is needed to attack them, wherever that is done."""

    model: Model
    columns: Ints
    needs: list[Need]


def _pushed(_: None, job: Job) -> tuple[list[Verdict], int]:
    """Verdicts on the targets of a job, and how many programmes that took."""
    attacker = Attacker(*job.model)
    return _Push(attacker, job.columns, job.needs).all(), attacker.programmes


class _Best(NamedTuple):
    """How far a target was seen to go one way, and by which point."""

    reach: Fraction = Fraction(0)
    point: Ratio | None = None


class _Push:
    """The targets of one attacker, pushed up and down in batches, then the stubborn ones alone."""

    def __init__(self, attacker: Attacker, columns: Ints, needs: list[Need]) -> None:
        self.attacker, self.columns, self.needs = attacker, columns, needs
        self.best = {True: [_Best()] * columns.size, False: [_Best()] * columns.size}
        self.proof: dict[tuple[int, bool], Proof] = {}

    def all(self) -> list[Verdict]:
        """A verdict on every target."""
        for batch in self._batches():
            self._push(batch)
        return [self._verdict(k) for k in range(self.columns.size)]

    def _batches(self) -> list[Ints]:
        """Targets with similar goals together."""
        by_size: dict[int, list[int]] = {}
        for k in range(self.columns.size):
            by_size.setdefault(self._goal(k).bit_length() // SIMILAR, []).append(k)
        return [np.array(some) for _, some in sorted(by_size.items())]

    def _goal(self, k: int) -> int:
        """How far a target is pushed: to its levels, or as long as its interval must be."""
        need = self.needs[k]
        return max(need.up, need.down) or need.length + need.strict

    def _waits(self, k: int, upward: bool) -> bool:
        """Whether a target still has to go farther this way."""
        need = self.needs[k]
        rise, fall = self.best[True][k].reach, self.best[False][k].reach
        if need.kept(rise, fall):
            return False
        level = need.up if upward else need.down
        return (rise if upward else fall) < level or (not need.up and not need.down)

    def _push(self, batch: Ints) -> None:
        """Push a batch again and again while many get there, then the others one by one."""
        crowd = Crowd(self.attacker, self.columns[batch], fitting([self._goal(k) for k in batch.tolist()]))
        for upward in (True, False):
            room = self.attacker.up if upward else self.attacker.down
            before = np.inf
            while True:
                waiting = np.array(
                    [at for at, k in enumerate(batch.tolist()) if self._waits(k, upward)], dtype=np.int64
                )
                waiting = waiting[room[crowd.columns[waiting]] != 0]
                if waiting.size <= 1 or waiting.size > (1 - WORTH_A_BATCH) * before:
                    break
                before = waiting.size
                self._see(crowd.push(waiting, upward))
        for at, k in enumerate(batch.tolist()):
            for upward in (True, False):
                if self._waits(k, upward):
                    self._see(crowd.push(np.array([at]), upward))
                    proof = crowd.proof(at, upward) if self._waits(k, upward) else None
                    if proof is not None:
                        self.proof[k, upward] = proof
        self.attacker.programmes += crowd.attacker.programmes

    def _see(self, point: Ratio | None) -> None:
        """Every point widens what is possible for all targets."""
        if point is None:
            return
        moved = point.x[self.columns]
        for k in np.flatnonzero(moved).tolist():
            upward = bool(moved[k] > 0)
            reach = Fraction(abs(int(moved[k])), point.q)
            if reach > self.best[upward][k].reach:
                self.best[upward][k] = _Best(reach, point)

    def _verdict(self, k: int) -> Verdict:
        need, (rise, fall) = self.needs[k], (self.best[way][k] for way in (True, False))
        if need.kept(rise.reach, fall.reach):
            return Verdict(safe=True, points=tuple(side.point for side in (rise, fall) if side.point is not None))
        proofs = {way: self.proof.get((k, way)) for way in (True, False)}
        known = tuple(
            side.reach if (proof := proofs[way]) is not None and proof.reach == side.reach else None
            for way, side in ((True, rise), (False, fall))
        )
        ends = known[0], known[1]
        for way, goal in ((True, need.up), (False, need.down)):
            proof = proofs[way]
            if proof is not None and proof.refutes(goal):
                return Verdict(exposed=True, proofs=(proof,), ends=ends)
        up, down = proofs[True], proofs[False]
        if up is not None and down is not None and not need.long_enough(up.reach + down.reach):
            return Verdict(exposed=True, proofs=(up, down), ends=ends)
        return verdict(self.attacker, int(self.columns[k]), need)
