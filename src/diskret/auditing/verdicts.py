"""The verdict on one primary cell, given what somebody knows: safe by points, exposed by proofs, or undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.auditing.integers import Tree, farthest_whole
from diskret.model.rational import Ratio
from diskret.moves.demands import Demands


class Need(NamedTuple):
    """What one cell must keep, in whole steps."""

    up: int
    down: int
    length: int
    strict: bool
    """Whether the length must be exceeded."""

    def kept(self, rise: Fraction | int, fall: Fraction | int) -> bool:
        """Whether it keeps that, given how far it can rise and fall."""
        return rise >= self.up and fall >= self.down and self.long_enough(rise + fall)

    def long_enough(self, length: Fraction | int) -> bool:
        """Whether an interval is long enough."""
        return length > self.length or (length == self.length and not self.strict)


def needs_of(demands: Demands) -> list[Need]:
    """The demands of all cells, in whole steps."""
    up, down, length = (each.tolist() for each in demands.steps)
    return [Need(*each) for each in zip(up, down, length, (~demands.sliding).tolist(), strict=True)]


Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """Safe, exposed or (neither) undecided."""

    safe: bool = False
    exposed: bool = False
    points: tuple[Ratio, ...] = ()
    """What shows that it is safe,"""
    proofs: tuple[Tree, ...] = ()
    """or exposed."""
    ends: Ends = (None, None)
    """How far it can rise and fall, where that is known exactly besides."""


class _Side(NamedTuple):
    """One direction of a cell: how far it goes at least and at most (None: not known), and what shows it."""

    least: Fraction
    most: Fraction | None
    point: Ratio | None
    proof: Tree | None


Look = Callable[[bool, int, bool], _Side]
"""How far a cell goes in a direction, if asked whether it reaches (or exceeds) a goal."""


def verdict(attacker: Attacker, column: int, need: Need, *, counts: bool = False, seconds: float = np.inf) -> Verdict:
    """What an attacker finds out about a cell."""

    def look(upward: bool, goal: int, strict: bool) -> _Side:
        if not counts:
            # how long an interval is takes both ends as they are; a level only whether it is reached
            ends = not (need.up or need.down) or strict
            found = attacker.farthest(column, upward, goal, strict, exactly=ends)
            return _Side(found.reach, None if found.proof is None else found.proof.reach, found.point, found.proof)
        counted = farthest_whole(attacker, column, upward, goal + strict, seconds)
        if counted.proof is not None:
            # too far: how far then, in whole numbers
            counted = farthest_whole(attacker, column, upward, seconds=seconds)
        most = None if counted.proof is None else Fraction(counted.reach)
        return _Side(Fraction(counted.reach), most, counted.point, counted.proof)

    return _judged(look, need)


def _judged(look: Look, need: Need) -> Verdict:
    sides = []
    for upward, goal in ((True, need.up), (False, need.down)):
        if goal:
            side = look(upward, goal, False)
            if side.least < goal:
                return _too_short(side.most is not None and side.most < goal, side)
            sides.append(side)
    if need.long_enough(sum((side.least for side in sides), Fraction(0))):
        return _far_enough(*sides)
    rise = look(True, need.length, need.strict)
    if need.long_enough(rise.least):
        return _far_enough(*sides, rise)
    fall = look(False, ceil(need.length - rise.least), need.strict)
    if need.long_enough(rise.least + fall.least):
        return _far_enough(*sides, rise, fall)
    both = None if rise.most is None or fall.most is None else rise.most + fall.most
    return _too_short(both is not None and not need.long_enough(both), rise, fall)


def _far_enough(*sides: _Side) -> Verdict:
    return Verdict(safe=True, points=tuple(side.point for side in sides if side.point is not None))


def _too_short(proved: bool, *sides: _Side) -> Verdict:
    return Verdict(exposed=proved, proofs=tuple(s.proof for s in sides if proved and s.proof is not None))
