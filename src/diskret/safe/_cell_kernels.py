"""Compiled loops over the rows of a file and the places they are counted in."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@part
def locate(row, level, parent, at, size, listed, value):
    """The values of all slots for a row."""
    codes, slots = level[row], np.uint64(parent.size)
    for i in range(np.uint64(1), slots):
        value[i] = value[np.uint64(parent[i])] * size[i] + np.int32(codes[np.uint64(at[i])])
    for e in range(np.uint64(listed.shape[1])):
        value[slots + e] = listed[row, e]


@kernel
def count_places(places, frequency, totals):
    """Add each row's frequency to its places."""
    level, parent, at, size, base, listed, slots = places
    value = np.zeros(base.size, np.int32)
    for j in range(level.shape[0]):
        x = frequency[j]
        if x != 0:
            locate(j, level, parent, at, size, listed, value)
            for t in range(slots.size):
                s = slots[t]
                totals[value[s] + base[s]] += x


@kernel
def number_places(places, rank, number):
    """The number of each row's cell in each table; ``rank`` numbers the places."""
    level, parent, at, size, base, listed, slots = places
    value = np.zeros(base.size, np.int32)
    for j in range(level.shape[0]):
        locate(j, level, parent, at, size, listed, value)
        for t in range(slots.size):
            s = slots[t]
            number[j, t] = rank[value[s] + base[s]]


@kernel
def rows_by_codes(level, a, b, size, start, rows):
    """The rows with each code at key level a, or with each two codes at a and b; ``start`` says where they begin."""
    start[:] = 0
    for j in range(level.shape[0]):
        v = np.int64(level[j, a])
        if b >= 0:
            v = v * size + np.int64(level[j, b])
        start[v + 1] += 1
    for v in range(1, start.size):
        start[v] += start[v - 1]
    place = start[:-1].copy()
    for j in range(level.shape[0]):
        v = np.int64(level[j, a])
        if b >= 0:
            v = v * size + np.int64(level[j, b])
        rows[place[v]] = j
        place[v] += 1


@kernel
def rows_by_cell(number, start, rows):
    """The rows of each cell, cell by cell; ``start`` says where the rows of a cell begin."""
    start[:] = 0
    for j in range(np.uint64(number.shape[0])):
        for t in range(np.uint64(number.shape[1])):
            start[np.uint64(number[j, t]) + np.uint64(1)] += 1
    for c in range(1, start.size):
        start[c] += start[c - 1]
    place = start[:-1].copy()
    for j in range(np.uint64(number.shape[0])):
        for t in range(np.uint64(number.shape[1])):
            c = np.uint64(number[j, t])
            rows[place[c]] = j
            place[c] += 1


@kernel
def largest_by_class(deviation, kind, most):
    """The largest absolute deviation of the places of each class."""
    for c in range(np.uint64(kind.size)):
        most[kind[c]] = max(most[kind[c]], abs(deviation[c]))
