"""Kernels: what equations say about how far cells can go, without a solver.

What the other cells of an equation can take at most narrows each of them, and what is narrowed narrows others. Where
nothing is left for a cell, there is no such move: so most programmes that would find nothing need not be solved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import inlined, kernel, part
from diskret.model.lent import lend

RISE, FALL = 0, 1
"""Columns of rooms: how far a cell can rise and fall as equations say; after them how far it may."""
SLACK = 1e-9
"""Rooms are wider than they are, by this part of the amount: rounding refutes nothing,"""
STEP = 1e-2
"""and what is narrowed by less than this part of the amount is not followed."""
CHANGES, NEXT, LAST = 0, 1, 2
"""Where numbers hold how many changes are written down, and which part of the ring waits."""


class Space(NamedTuple):
    """Cells that may move, the equations between them, and the room of each."""

    first: Ints
    """Where the equations of every cell of the table begin."""
    rows: Ints
    start: Ints
    """Where the cells of every equation begin."""
    members: Ints
    signs: Floats
    rooms: Floats
    trail: Ints
    """Cells that were narrowed,"""
    saved: Floats
    """and what they had."""
    ring: Ints
    """Equations that wait to be looked at; and of every equation whether it does."""
    numbers: Ints


@inlined
def _note(cell, rise, fall, rooms, trail, saved, numbers, first, rows, ring):
    """Narrow the room of a cell, write down what it had, and let its equations wait."""
    at = numbers[CHANGES]
    if at < trail.size and (rise < rooms[cell, RISE] or fall < rooms[cell, FALL]):
        trail[at], saved[at, RISE], saved[at, FALL] = cell, rooms[cell, RISE], rooms[cell, FALL]
        numbers[CHANGES] = at + 1
        rooms[cell, RISE], rooms[cell, FALL] = min(rooms[cell, RISE], rise), min(rooms[cell, FALL], fall)
        for e in range(first[cell], first[cell + 1]):
            row = rows[e]
            if not ring[row, 1]:
                ring[row, 1] = 1
                ring[numbers[LAST] % len(ring), 0] = row
                numbers[LAST] += 1


@part
def narrowed(cell, rise, fall, space):
    """Narrow the room of a cell before a move is refuted."""
    first, rows, rooms, trail, saved = space.first, space.rows, space.rooms, space.trail, space.saved
    ring, numbers = space.ring, space.numbers
    _note(cell, rise, fall, rooms, trail, saved, numbers, first, rows, ring)


@inlined
def _left(total, endless, own):
    """How far the others of an equation go, given how far all of them go apart from those that go without end."""
    if endless == 0:
        return total - own
    return total if endless == 1 and own == np.inf else np.inf


@part
def _followed(amount, most, space):
    """Follow what was narrowed, over equations with so many cells at most; False if there is no such move."""
    first, rows, rooms, trail, saved = space.first, space.rows, space.rooms, space.trail, space.saved
    start, members, signs, ring, numbers = space.start, space.members, space.signs, space.ring, space.numbers
    slack, step, possible = SLACK * amount, STEP * amount, True
    while numbers[NEXT] < numbers[LAST]:
        row = ring[numbers[NEXT] % len(ring), 0]
        ring[row, 1] = 0
        numbers[NEXT] += 1
        most -= start[row + 1] - start[row]
        if not possible or most < 0:
            continue
        down, up, endless_down, endless_up = 0.0, 0.0, 0, 0
        for e in range(start[row], start[row + 1]):
            falls = int(signs[e] < 0)
            rise, fall = rooms[members[e], RISE + falls], rooms[members[e], FALL - falls]
            endless_down += int(fall == np.inf)
            endless_up += int(rise == np.inf)
            down += 0.0 if fall == np.inf else fall
            up += 0.0 if rise == np.inf else rise
        if endless_down > 1 and endless_up > 1:
            continue
        for e in range(start[row], start[row + 1]):
            cell = members[e]
            rise, fall = rooms[cell, RISE], rooms[cell, FALL]
            # it goes up as far as the others go down; where it counts the other way round, as far as they go up
            if signs[e] < 0:
                top, bottom = _left(up, endless_up, fall) + slack, _left(down, endless_down, rise) + slack
            else:
                top, bottom = _left(down, endless_down, fall) + slack, _left(up, endless_up, rise) + slack
            if top + fall < -slack or bottom + rise < -slack:
                possible = False
                break
            if top + step < rise or bottom + step < fall:
                _note(cell, max(top, -fall), max(bottom, -rise), rooms, trail, saved, numbers, first, rows, ring)
    numbers[NEXT] = numbers[LAST] = 0
    return possible


@part
def refuted(cell, rises, falls, amount, most, space):
    """Whether a cell cannot move by an amount one way (both: altogether) in what is left; all is widened again."""
    rooms, numbers, trail, saved = space.rooms, space.numbers, space.trail, space.saved
    if rises != falls:
        narrowed(cell, np.inf if rises else -amount, -amount if rises else np.inf, space)
    possible = _followed(amount, most, space)
    least = amount * (1 - SLACK) if rises and falls else -SLACK * amount
    found = not possible or rooms[cell, RISE] + rooms[cell, FALL] < least
    while numbers[CHANGES] > 0:
        numbers[CHANGES] -= 1
        at = numbers[CHANGES]
        for way in range(2):
            rooms[trail[at], way] = saved[at, way]
    return found


@kernel
def refutes(cell, rises, falls, amount, most, space):
    """`refuted` for whoever is not compiled."""
    return refuted(cell, rises, falls, amount, most, lend(space))
