"""Strands: chains of primary cells that feed a primary cell of a higher level (Quaderverfahren, 7.2).

A cuboid that holds the whole strand protects its cells along with the pivot, and there are far fewer such cuboids. Each
step changes one elementary index only, so that any cuboid with these diametral indices holds all cells of the strand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.model.arrays import Bools
from diskret.suppression.complete.space import IndexSpace

Index = tuple[int, ...]


def strand_of(spaces: Sequence[IndexSpace], pivot: Index, primary: Bools) -> list[Index]:
    """The primary cells below a pivot, one level after the other, the first found of each segment.

    Indices in which the pivot is not a sum are left free. Inside a level an index without success is tried again after
    another one succeeded.
    """
    now = pivot
    strand: list[Index] = []
    top = max(space.dimension for space in spaces)
    for level in range(top, 0, -1):
        waiting = [
            c
            for c, space in enumerate(spaces)
            if level <= space.dimension and space.tuples[pivot[c], level - 1] > space.lengths[level - 1]
        ]
        again = True
        while again:
            again = False
            for c in list(waiting):
                below = _first_primary(spaces[c], now, c, level, primary)
                if below is not None:
                    now = below
                    strand.append(now)
                    waiting.remove(c)
                    again = True
    return strand


def _first_primary(space: IndexSpace, now: Index, c: int, level: int, primary: Bools) -> Index | None:
    """Vary one elementary index inside its segment until a primary cell is met."""
    here = space.tuples[now[c]]
    line = np.tile(here, (space.lengths[level - 1], 1))
    line[:, level - 1] = np.arange(1, space.lengths[level - 1] + 1)
    for code in space.codes_at(line).tolist():
        candidate = (*now[:c], code, *now[c + 1 :])
        if code >= 0 and candidate != now and primary[candidate]:
            return candidate
    return None
