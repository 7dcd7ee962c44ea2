"""Where a long column can be cut so that the best groups on both sides are best for the whole.

No group is longer than 2m - 1 values, so every grouping has a cut among any 2m - 1 neighbouring places. If the best
ways from each of them to each of 2m - 1 later places all cut at one place, a best grouping of the whole cuts there too.
What lies between two such places can be grouped alone: in less memory, and by somebody else.
"""

from __future__ import annotations

import numpy as np

from diskret.microdata import _kernels as kernels
from diskret.model.arrays import Floats, Ints

STRETCH = 1 << 20
"""Values between the places where a cut is looked for."""


def window(m: int) -> int:
    """How many values are looked at to find a cut: ways that begin apart have long met by then."""
    return max(256, 32 * m)


def looked_at(n: int, m: int) -> Ints:
    """Where windows begin in a column of ``n`` values.

    >>> looked_at(3 * STRETCH, 3).tolist()
    [1048576, 2097152]
    """
    begins = np.arange(STRETCH, n, STRETCH, dtype=np.int64)
    return begins[begins + window(m) <= n]


def certain_cut(ascending: Floats, m: int) -> int:
    """The first place in a window of a column at which a best grouping of the whole column cuts; -1 if none is certain.

    >>> certain_cut(np.array([float(i // 3) * 10 + i % 3 for i in range(60)]), 3) % 3
    0
    """
    shared: set[int] | None = None
    for begin in range(2 * m - 1):
        size = np.zeros(ascending.size - begin + 1, dtype=np.int32)
        kernels.optimal_sizes(ascending[begin:], m, size)
        for end in range(ascending.size - begin - 2 * m + 2, ascending.size - begin + 1):
            way = {begin + int(place) for place in kernels.starts_from(size, end)}
            shared = way if shared is None else shared & way
    return min(shared, default=-1) if shared else -1


def cuts_of(ascending: Floats, m: int) -> Ints:
    """Where a column is cut: places of values that begin a stretch, the first and the last place among them."""
    found = [0]
    for begin in looked_at(ascending.size, m).tolist():
        place = certain_cut(np.ascontiguousarray(ascending[begin : begin + window(m)]), m)
        if place >= 0:
            found.append(begin + place)
    return np.array([*found, ascending.size], dtype=np.int64)
