"""Compiled sums over hierarchies. Arrays are flat; an axis is seen as (outer, codes, inner)."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def add_to_sums(cells, parent, outer, inner):
    """Add every code's slab to its sum's slab along one axis; codes stand with sums after their parts."""
    codes = np.uint64(parent.size)
    width = np.uint64(inner)
    for o in range(np.uint64(outer)):
        base = o * codes * width
        for i in range(codes):
            if parent[i] < 0:
                continue
            source = base + i * width
            target = base + np.uint64(parent[i]) * width
            for j in range(width):
                cells[target + j] += cells[source + j]


@kernel
def add_to_sums_modulo(cells, parent, outer, inner, modulus):
    """The same for numbers from 0 up to a modulus, modulo."""
    codes = np.uint64(parent.size)
    width = np.uint64(inner)
    for o in range(np.uint64(outer)):
        base = o * codes * width
        for i in range(codes):
            if parent[i] < 0:
                continue
            source = base + i * width
            target = base + np.uint64(parent[i]) * width
            for j in range(width):
                t = cells[target + j] + cells[source + j]
                cells[target + j] = t - modulus if t >= modulus else t


@kernel
def merge_largest_to_sums(largest, parent, outer, inner):
    """Merge every code's descending list of largest contributions into its sum's list along one axis."""
    codes = np.uint64(parent.size)
    width = np.uint64(inner)
    n = largest.shape[1]
    for o in range(np.uint64(outer)):
        base = o * codes * width
        for i in range(codes):
            if parent[i] < 0:
                continue
            source = base + i * width
            target = base + np.uint64(parent[i]) * width
            for j in range(width):
                s, t = source + j, target + j
                for k in range(n):
                    x = largest[s, k]
                    if x <= largest[t, n - 1]:
                        break
                    m = n - 1
                    while m > 0 and largest[t, m - 1] < x:
                        largest[t, m] = largest[t, m - 1]
                        m -= 1
                    largest[t, m] = x


@kernel
def pass_owner_to_sums(owner, largest, parent, outer, inner):
    """The owner of a sum is that of the part with the same largest contribution (all filled already); -1 is nobody.

    Of several such parts, or of all of them if no contributions are known, the smallest number counts.
    """
    codes = np.uint64(parent.size)
    width = np.uint64(inner)
    known = largest.shape[1] > 0
    for o in range(np.uint64(outer)):
        base = o * codes * width
        for i in range(codes):
            if parent[i] < 0:
                continue
            source = base + i * width
            target = base + np.uint64(parent[i]) * width
            for j in range(width):
                s, t = source + j, target + j
                if owner[s] < 0 or (known and largest[s, 0] != largest[t, 0]):
                    continue
                if owner[t] < 0 or owner[s] < owner[t]:
                    owner[t] = owner[s]
