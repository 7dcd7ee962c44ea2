"""Compiled loop of record swapping: a partner for every target."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def match(targets, most, key, area, pool, start, partner):
    """Give each target the first free unit of its pool that lives in another area, until ``most`` pairs are made.

    ``pool`` lists units sorted by key, inside a key in the order of preference; those of key c stand at
    start[c]..start[c + 1]. ``partner`` is -1 for free units. Returns how many pairs were made.
    """
    head = start.copy()
    made = 0
    for t in targets:
        if partner[t] >= 0:
            continue
        if made == most:
            break
        c = key[t]
        end = start[c + 1]
        while head[c] < end and partner[pool[head[c]]] >= 0:
            head[c] += 1
        for at in range(head[c], end):
            u = pool[at]
            if partner[u] < 0 and area[u] != area[t]:
                partner[t] = u
                partner[u] = t
                made += 1
                break
    return np.int64(made)
