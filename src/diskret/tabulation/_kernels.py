"""Compiled loops of tabulation: adding records to cells, ranking contributions, joining the parts of a holding."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def add(cell, amount, total):
    """Add amounts to their cells."""
    for i in range(np.uint64(cell.size)):
        total[np.uint64(cell[i])] += amount[i]


@kernel
def add_one(cell, total):
    """Count each record in its cell."""
    for i in range(np.uint64(cell.size)):
        total[np.uint64(cell[i])] += 1


@kernel
def add_absolute(cell, amount, total):
    """Add absolute amounts to their cells."""
    for i in range(np.uint64(cell.size)):
        total[np.uint64(cell[i])] += abs(amount[i])


@kernel
def add_modulo(cell, amount, total, modulus):
    """Add amounts from 0 up to the modulus to their cells, modulo."""
    for i in range(np.uint64(cell.size)):
        c = np.uint64(cell[i])
        t = total[c] + amount[i]
        total[c] = t - modulus if t >= modulus else t


@kernel
def rank(cell, size, largest):
    """Enter contributions (by absolute size) into the descending lists of their cells."""
    n = largest.shape[1]
    for i in range(np.uint64(cell.size)):
        c = np.uint64(cell[i])
        for k in range(size.shape[1]):
            x = abs(size[i, k])
            if x <= largest[c, n - 1]:
                continue
            m = n - 1
            while m > 0 and largest[c, m - 1] < x:
                largest[c, m] = largest[c, m - 1]
                m -= 1
            largest[c, m] = x


@kernel
def rank_weighted(cell, size, weight, largest, weights):
    """The same, each contribution with its sampling weight; equal ones by weight, so that their order is no matter."""
    n = largest.shape[1]
    for i in range(np.uint64(cell.size)):
        c = np.uint64(cell[i])
        for k in range(size.shape[1]):
            x, w = abs(size[i, k]), weight[i, k]
            if x < largest[c, n - 1] or (x == largest[c, n - 1] and w <= weights[c, n - 1]):
                continue
            m = n - 1
            while m > 0 and (largest[c, m - 1] < x or (largest[c, m - 1] == x and weights[c, m - 1] < w)):
                largest[c, m] = largest[c, m - 1]
                weights[c, m] = weights[c, m - 1]
                m -= 1
            largest[c, m] = x
            weights[c, m] = w


@kernel
def merge_weighted_to_sums(largest, weights, parent, outer, inner):
    """Merge weighted lists along one axis, sums after their parts."""
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
                    x, w = largest[s, k], weights[s, k]
                    if x < largest[t, n - 1] or (x == largest[t, n - 1] and w <= weights[t, n - 1]):
                        break
                    m = n - 1
                    while m > 0 and (largest[t, m - 1] < x or (largest[t, m - 1] == x and weights[t, m - 1] < w)):
                        largest[t, m] = largest[t, m - 1]
                        weights[t, m] = weights[t, m - 1]
                        m -= 1
                    largest[t, m] = x
                    weights[t, m] = w


@kernel
def join_parts(number, cell, strides, chains, starts, offsets, slots, key, slot_of, out_cell, out_number):
    """Send every part of every holding to all cells above it, one entry per holding and cell.

    Parts stand sorted by holding number. ``chains`` and ``starts`` hold the ancestors of all axes end to end,
    ``offsets`` says where each axis begins. Entries get numbers in order of appearance; ``out_cell`` and ``out_number``
    are the cell and the holding of an entry, and
    ``slot_of`` for each (part, ancestor) pair, in order, the entry it adds to. ``key`` and ``slots`` are an open
    hash table stamped with the holding, so that it needs no clearing.
    """
    n_axes = strides.size
    mask = np.uint64(key.shape[0] - 1)
    entries = 0
    pairs = 0
    digit, first, length = np.empty(n_axes, np.int64), np.empty(n_axes, np.int64), np.empty(n_axes, np.int64)
    for p in range(cell.size):
        rest = cell[p]
        for a in range(n_axes):
            code = rest // strides[a]
            rest -= code * strides[a]
            first[a] = starts[offsets[a] + code]
            length[a] = starts[offsets[a] + code + 1] - first[a]
            digit[a] = 0
        stamp = number[p]
        while True:
            at = 0
            for a in range(n_axes):
                at += chains[first[a] + digit[a]] * strides[a]
            h = np.uint64(at) * np.uint64(0x9E3779B97F4A7C15)
            h = (h ^ (h >> np.uint64(29))) & mask
            while key[h, 0] == stamp and key[h, 1] != at:
                h = (h + np.uint64(1)) & mask
            if key[h, 0] != stamp:
                key[h, 0] = stamp
                key[h, 1] = at
                slots[h] = entries
                out_cell[entries] = at
                out_number[entries] = stamp
                entries += 1
            slot_of[pairs] = slots[h]
            pairs += 1
            a = n_axes - 1
            while a >= 0:
                digit[a] += 1
                if digit[a] < length[a]:
                    break
                digit[a] = 0
                a -= 1
            if a < 0:
                break
    return entries


@kernel
def add_parts(amount, fan, slot_of, joined):
    """Add what every part brings to the entries it feeds; ``fan`` is how many entries each part feeds."""
    at = 0
    for p in range(amount.size):
        for _ in range(fan[p]):
            joined[slot_of[at]] += amount[p]
            at += 1


@kernel
def own(cell, size, holding, largest, owner):
    """Enter holdings (in order) as owners of cells to which they contribute most, before they are ranked there.

    A cell whose owner is known holds his contribution in its list. Holdings come before whoever stands alone, whose
    numbers are below that of the cells: of equal contributions the holding counts, and the first of several. Without
    lists only the first counts.
    """
    ranked = largest.shape[1] > 0
    for i in range(cell.size):
        c = cell[i]
        at = owner[c]
        if at < -1:  # entered by this batch, under its place there
            higher = ranked and abs(size[i]) > abs(size[-2 - at])
        elif at < 0:
            higher = True
        else:
            most = largest[c, 0] if ranked else 0
            higher = ranked and (abs(size[i]) > most or (abs(size[i]) == most and at < owner.size))
        if higher:
            owner[c] = -2 - i
    for i in range(cell.size):
        if owner[cell[i]] == -2 - i:
            owner[cell[i]] = owner.size + holding[i]
