"""Compiled sums over pairs of a part and its sum, for cells that are held one by one.

Pairs stand in such an order that a sum is complete before it is added to a higher one.
"""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def add_pairs(cells, part, whole, modulus):
    """Add every part to its sum; with a modulus above zero, modulo."""
    for i in range(part.size):
        t = cells[whole[i]] + cells[part[i]]
        cells[whole[i]] = t - modulus if 0 < modulus <= t else t


@numba.njit(cache=True, nogil=True)
def merge_pairs(largest, weights, part, whole):
    """Merge the descending lists of parts into those of their sums; equal contributions by weight, if there are any."""
    n, weighted = largest.shape[1], weights.size > 0
    for i in range(part.size):
        s, t = part[i], whole[i]
        for k in range(n):
            x = largest[s, k]
            w = weights[s, k] if weighted else 0.0
            if x < largest[t, n - 1] or (x == largest[t, n - 1] and (not weighted or w <= weights[t, n - 1])):
                break
            m = n - 1
            while m > 0 and (largest[t, m - 1] < x or (weighted and largest[t, m - 1] == x and weights[t, m - 1] < w)):
                largest[t, m] = largest[t, m - 1]
                if weighted:
                    weights[t, m] = weights[t, m - 1]
                m -= 1
            largest[t, m] = x
            if weighted:
                weights[t, m] = w


@numba.njit(cache=True, nogil=True)
def pass_owner_on(owner, largest, part, whole):
    """The owner of a sum is that of the part with the same largest contribution; of several the smallest."""
    known = largest.shape[1] > 0
    for i in range(part.size):
        s, t = part[i], whole[i]
        if owner[s] < 0 or (known and largest[s, 0] != largest[t, 0]):
            continue
        if owner[t] < 0 or owner[s] < owner[t]:
            owner[t] = owner[s]
