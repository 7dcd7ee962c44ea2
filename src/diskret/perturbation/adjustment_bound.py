"""What no adjustment can cost less than: every cell judged on its own, at prices that the equations pay.

Whatever the prices ``pull`` of the equations are, an additive change gains nothing by them; so the least that each cell
could cost after its price, over all changes it may have, adds up to something that no additive change can be below.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.perturbation.adjustment_room import Room


def least(room: Room, pull: Floats, low: Floats, high: Floats) -> Floats:
    """Per cell the least cost after its price between two changes, in units.

    >>> import numpy as np
    >>> from diskret.perturbation.adjustment_room import small_room
    >>> least(small_room(), np.array([0.0, 0.5]), np.array([2.0, -1.0]), np.array([9.0, 4.0])).tolist()
    [2.0, 0.0]
    """
    best = np.zeros(low.size) if room.distance == "L1" else pull / (2 * room.weight)
    ends = [np.clip(best, low, high), low, high] if room.distance == "L1" else [np.clip(best, low, high)]
    found: Floats = np.minimum.reduce([room.costs(z) - pull * z for z in ends])
    return found


def reach_of(room: Room, value: float) -> Floats:
    """How far any cell goes in a change that costs no more than some value, in units."""
    with np.errstate(divide="ignore"):
        farthest = value / room.weight if room.distance == "L1" else np.sqrt(value / room.weight)
    return farthest * (1 + 1e-9)


def both_ways(room: Room, pull: Floats, value: float) -> tuple[Floats, Floats]:
    """The same for every primary cell, if it goes down and if it goes up; infinite where it cannot."""
    ends = []
    for way, can in zip((-1, 1), room.possible, strict=True):
        low, high = _limited(room, np.full(room.primary.size, way), value)
        found = least(room, pull, low, high)[room.primary]
        ends.append(np.where(can, found, np.inf))
    return ends[0], ends[1]


def bound_of(room: Room, pull: Floats, given: Ints, value: float) -> float:
    """What no change costs less than if primary cells go as ``given`` (0: either way), and one costs ``value``."""
    low, high = _limited(room, given, value)
    total = least(room, pull, low, high)
    down, up = both_ways(room, pull, value)
    total[room.primary] = np.where(given < 0, down, np.where(given > 0, up, np.minimum(down, up)))
    return float(total.sum())


def _limited(room: Room, directions: Ints, value: float) -> tuple[Floats, Floats]:
    """Least and largest changes, no farther than what a change that costs ``value`` can reach."""
    low, high = room.within(directions)
    far = reach_of(room, value)
    # a demand beyond all reach stays: no such change is as good
    return np.maximum(low, np.minimum(-far, high)), np.minimum(high, np.maximum(far, low))
