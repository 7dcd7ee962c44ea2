"""Products of elementary moves in a sparse table whose equal cells are one.

Products are looked for among the cells themselves, where they are products; what was found is a move of those that
stand for equal ones. Demands are those of the first of equal cells: a move of one is a move of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.merged import Merged
from diskret.moves.cover import Cover
from diskret.moves.demands import Ways
from diskret.moves.insiders import Insiders
from diskret.moves.move import MoveSet
from diskret.moves.products import EFFORT, KICKS, Products

LOOKS = 60_000_000
"""Cells that are looked at for all demands together at most,"""
LEAST, MOST_DOUBLED = 64, 6
"""and for one of them at least, doubled with every classification (of six): so many cells a product has. (79,296 cells
in three classifications: with four times as much it took three times as long and hid 23 % less value; 336,931 in eight:
with four times as much it took twice as long and hid 0.3 % less.)"""
DETOURS = 16
"""Detours that are tried at a time: moves in many classifications have hundreds of cells. (No fewer in three of them;
336,931 cells in eight: 0.1 % dearer, a fifth sooner done.)"""
CODES = 2
"""Nor fewer than this many times all codes: the first look is at each of them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """What moves are judged by, for all cells."""

    ways: Ways
    insiders: Insiders
    up: Floats
    down: Floats
    whole: bool
    homes: tuple[Ints, Ints, Ints, Ints, Ints]


def products_of(small: Merged, cover: Cover, movable: Bools, hidden: Bools, price: Floats, number: int) -> Products:
    """The compiled pattern over all cells, for so many demands; a price is shared by equal ones."""
    of = small.number_of
    members = np.bincount(of, minlength=small.size)
    least = max(LEAST << min(len(small.names), MOST_DOUBLED), CODES * sum(len(h) for h in small.whole.hierarchies))
    effort = max(min(LOOKS // max(number, 1), EFFORT), least)
    kicks = KICKS if EFFORT * number < LOOKS else 0
    judging = _spread(small, cover)
    shared = (price / members)[of]
    return Products(small.whole, judging, movable[of], hidden[of], shared, effort=effort, kicks=kicks, detours=DETOURS)


def of_equal(small: Merged, moves: MoveSet) -> MoveSet:
    """Moves of cells as moves of those that stand for them."""
    key, first = np.unique(moves.number() * small.size + small.number_of[moves.cells], return_index=True)
    number, cells = np.divmod(key, small.size)
    start = np.searchsorted(number, np.arange(len(moves) + 1))
    return replace(moves, start=start, cells=cells, coefficients=moves.coefficients[first])


def _spread(small: Merged, cover: Cover) -> Spread:
    of, first, ways, people = small.number_of, small.first, cover.ways, cover.insiders
    at = np.full((of.size, 2), -1, dtype=np.int32)
    at[first] = ways.at
    length = np.diff(people.start)[of]
    start = np.append(0, np.cumsum(length))
    entry = np.repeat(people.start[:-1][of] - start[:-1], length) + np.arange(int(start[-1]))
    home, below, offset, _, behind = cover.homes
    known = behind >= 0
    behind = np.where(known, behind // small.size * of.size + first[behind % small.size], behind)
    return Spread(
        ways=ways._replace(cell=first[ways.cell], at=at),
        insiders=replace(people, start=start, who=people.who[entry], up=people.up[entry], down=people.down[entry]),
        up=cover.up[of], down=cover.down[of], whole=cover.whole,
        homes=(home, below, offset, np.array([of.size]), behind),
    )  # fmt: skip
