"""The search for the nearest adjusted table: starts, turns, the proof, and whole steps at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from diskret.model.arrays import Ints
from diskret.perturbation.adjustment_bound import bound_of
from diskret.perturbation.adjustment_room import Room
from diskret.perturbation.directions import Choice, balanced, dived, turned
from diskret.perturbation.nearest import Nearest, Point
from diskret.perturbation.proved import Tangents, proved
from diskret.perturbation.snapping import snapped
from diskret.suppression.optimum.clock import Clock

STARTS, TURNS, PROOF = 0.25, 0.35, 0.92
"""Shares of the time after which each stage ends."""
ALL_TRIED = 4
"""Squares: of so few primary cells all directions are tried."""
TOUCHED = 30
"""Squares: how often tangents are added,"""
NEAR = 1e-6
"""and how near they come to the square, relative to it, to be enough."""
SAME = 1e-9
"""Values that differ by less, relative to them, are the same."""
SMALL = 3_000
"""Cells of which the nearest change in whole steps is looked for by a programme of its own."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """A change in whole steps, and what is known about all others."""

    change: Ints
    directions: Ints
    bound: float
    finished: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class _Chosen:
    """Directions with their nearest change in units, and what is known about all others."""

    choice: Choice
    bound: float
    finished: bool


class Stuck(Exception):
    """No change with these directions was found: primary cells (by position) that stay behind."""

    def __init__(self, behind: Ints) -> None:
        super().__init__("no change was found")
        self.behind = behind


def search(room: Room, given: Ints, seconds: float) -> Found:
    """The nearest change in whole steps; primary cells go as ``given`` (1 up, -1 down, 0: either way)."""
    clock = Clock(seconds)
    if (given != 0).all():
        nearest = Nearest(room)
        point = _feasible(nearest.solve(given))
        bound = bound_of(room, point.pull, given, point.value)
        chosen = _Chosen(choice=Choice(directions=given, point=point), bound=bound, finished=True)
    else:
        chosen = _by_squares(room, given, clock) if room.distance == "L2" else _by_sums(room, given, clock)
    return _whole(room, given, chosen, clock)


def _feasible(point: Point) -> Point:
    if point.behind.any():
        raise Stuck(np.flatnonzero(point.behind))
    return point


def _started(room: Room, given: Ints, clock: Clock) -> tuple[Nearest, Choice]:
    """The best of several starts, with turns."""
    nearest = Nearest(room)
    clock.end_after(STARTS)
    up = np.where(given != 0, given, np.where(room.possible[1], 1, -1))
    starts = lambda: up, lambda: balanced(room, given), lambda: dived(nearest, given, clock)
    choices: list[Choice] = []
    for start in starts:
        if not (choices and clock.late):
            directions = start()
            choice = Choice(directions=directions, point=nearest.solve(directions))
            choices.append(turned(nearest, choice, given, clock, mending=True))
    clock.end_after(TURNS)
    best = min(choices, key=lambda choice: choice.point.value)
    return nearest, turned(nearest, best, given, clock)


def _by_sums(room: Room, given: Ints, clock: Clock) -> _Chosen:
    nearest, best = _started(room, given, clock)
    hurt = bool(best.point.behind.any())
    left = max(PROOF * clock.limit - clock.past, 0.1)
    proof = proved(room, given, None if hurt else best, seconds=left)
    if proof.change is not None:
        choice = Choice(directions=proof.directions, point=nearest.solve(proof.directions))
        best = min((choice, best), key=lambda each: each.point.value)
    if not proof.finished:
        clock.end_after(1.0)
        best = turned(nearest, best, given, clock)
    _feasible(best.point)
    # judged cell by cell a bound is weak, but it is one where the programme did not get so far
    nothing = bound_of(room, np.zeros(room.size), given, best.point.value)
    bound = min(max(proof.bound, nothing), best.point.value)
    return _Chosen(choice=best, bound=bound, finished=proof.finished)


def _by_squares(room: Room, given: Ints, clock: Clock) -> _Chosen:
    """Squares: beginning with what is nearest by absolute changes; then programmes with more and more tangents."""
    _, begin = _started(replace(room, distance="L1"), given, clock)
    _feasible(begin.point)
    nearest = Nearest(room)
    if (given == 0).sum() <= ALL_TRIED:
        return _all_tried(nearest, given)
    best = Choice(directions=begin.directions, point=nearest.solve(begin.directions))
    clock.end_after((TURNS + PROOF) / 2)
    best = turned(nearest, best, given, clock)
    clock.end_after(PROOF)
    bound, finished = bound_of(room, np.zeros(room.size), given, best.point.value), False
    fine = room.steps.fine
    tangents = Tangents(np.tile(room.primary, 2), np.concatenate([room.down, room.up]) / fine)
    for share in (0.5, 1.0, 2.0):
        tangents = tangents.and_those(share * best.point.change)
    for _ in range(TOUCHED):
        if clock.late or bound >= best.point.value * (1 - NEAR):
            break
        proof = proved(room, given, best, seconds=max(clock.left, 0.1), tangents=tangents)
        bound, finished = max(bound, proof.bound), proof.finished
        if proof.change is None or not finished:
            break
        point = nearest.solve(proof.directions)
        choice = Choice(directions=proof.directions, point=point)
        best = min((choice, best), key=lambda each: each.point.value)
        tangents = tangents.and_those(proof.change).and_those(point.change)
    return _Chosen(choice=best, bound=min(bound, best.point.value), finished=finished and not clock.late)


def _all_tried(nearest: Nearest, given: Ints) -> _Chosen:
    choices, bounds, free = [], [], np.flatnonzero(given == 0)
    can_fall, can_rise = nearest.room.possible
    for ways in product(*([1] * bool(can_rise[i]) + [-1] * bool(can_fall[i]) for i in free)):
        directions = given.copy()
        directions[free] = ways
        point = nearest.solve(directions)
        if not point.behind.any():
            choices.append(Choice(directions=directions, point=point))
            bounds.append(bound_of(nearest.room, point.pull, directions, point.value))
    best = min(choices, key=lambda choice: choice.point.value)
    return _Chosen(choice=best, bound=min(*bounds, best.point.value), finished=True)


def _whole(room: Room, given: Ints, chosen: _Chosen, clock: Clock) -> Found:
    """The change in whole steps; of few cells the nearest, by a programme of its own."""
    clock.end_after(1.0)
    directions, point = chosen.choice.directions, chosen.choice.point
    change = snapped(room, directions, point.change, clock)
    if change is None and room.distance == "L2":
        # corners of a linear programme are nearer to whole numbers
        corner = Nearest(replace(room, distance="L1")).solve(directions)
        change = snapped(room, directions, corner.change, clock)
    far = change is None or room.cost(change) > chosen.bound * (1 + SAME)
    bound, finished = chosen.bound, chosen.finished
    if room.distance == "L1" and room.steps.fine == 1 and room.size <= SMALL and finished and far:
        known = None
        if change is not None:
            own = replace(point, change=change.astype(np.float64), value=room.cost(change))
            known = Choice(directions=directions, point=own)
        proof = proved(room, given, known, seconds=max(clock.left, 0.1), whole=True)
        better = None if proof.change is None else snapped(room, proof.directions, proof.change, clock)
        if better is not None and (change is None or room.cost(better) < room.cost(change)):
            change, directions = better, proof.directions
        bound, finished = max(bound, proof.bound), proof.finished
    if change is None:
        raise Stuck(np.empty(0, dtype=np.int64))
    return Found(change=change, directions=directions, bound=min(bound, room.cost(change)), finished=finished)
