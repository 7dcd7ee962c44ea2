"""A compiled walk through all originals that are possible: row by row, cut off where a cell cannot be met any more."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from diskret.model.compiled import kernel, part

Room = namedtuple("Room", "number low high least most total")
"""The cells of each row, least and most a row may hold, least and most a cell may hold, and the number of objects."""
Told = namedtuple("Told", "centre dimension histogram uniques")
"""What more is told: the published count and the dimension of each cell, numbers of cells by dimension and absolute
deviation (none if empty), and the number of ones among the rows (none if negative)."""


@part
def _matches(x, count, met, centre, dimension, histogram, uniques):
    """Whether a possible original fits the figures that are told beyond bounds."""
    if uniques >= 0:
        alone = 0
        for j in range(x.size):
            alone += x[j] == 1
        if alone != uniques:
            return False
    if histogram.shape[1] == 0:
        return True
    left = histogram.copy()
    for c in range(count.size):
        d = dimension[c]
        if met[c] == 0 or left[d, 0] < 0:
            continue
        size = abs(count[c] - centre[c])
        if size >= left.shape[1] or left[d, size] == 0:
            return False
        left[d, size] -= 1
    open_cells = 0
    for d in range(left.shape[0]):
        for size in range(left.shape[1]):
            open_cells += max(left[d, size], 0)
    return open_cells == 0


@part
def _note(values, value):
    """Add a value to those met, as long as there is room."""
    for i in range(values.size):
        if values[i] == value:
            return
        if values[i] < 0:
            values[i] = value
            return


@kernel
def walk(room, told, most_nodes, rows, cells):
    """Visit every possible original; ``rows`` and ``cells`` take the values each has in them, as many as there is room.

    There may be gaps between the values. Gives the number of originals; -1 if there are too many nodes to visit.
    """
    number, low, high, least, most, total = room
    centre, dimension, histogram, uniques = told
    n, tables = number.shape
    count, met = np.zeros(least.size, np.int64), np.zeros(least.size, np.int64)
    rest = np.zeros(least.size, np.int64)  # what the rows to come can add at most
    to_come, still = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for j in range(n - 1, -1, -1):
        to_come[j], still[j] = to_come[j + 1] + high[j], still[j + 1] + low[j]
        for t in range(tables):
            rest[number[j, t]] += high[j]
    x, begun = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    at, held, nodes, found = 0, 0, 0, 0
    while at >= 0:
        if at == n:
            good = True
            for c in range(least.size):
                good &= least[c] <= count[c] <= most[c]
            if good and _matches(x, count, met, centre, dimension, histogram, uniques):
                found += 1
                for j in range(n):
                    _note(rows[j], x[j])
                for c in range(least.size):
                    _note(cells[c], count[c])
            at -= 1
            continue
        if not begun[at]:
            begun[at] = True
            step = low[at]
            for t in range(tables):
                rest[number[at, t]] -= high[at]
            x[at] = 0
        else:
            step = 1
        if x[at] + step > high[at] or held + step + still[at + 1] > total:
            held -= x[at]
            for t in range(tables):
                c = number[at, t]
                count[c] -= x[at]
                met[c] -= x[at] > 0
                rest[c] += high[at]
            begun[at] = False
            at -= 1
            continue
        before = x[at]
        x[at] += step
        held += step
        fits, full = held + to_come[at + 1] >= total, False
        for t in range(tables):
            c = number[at, t]
            count[c] += step
            met[c] += (before == 0) & (x[at] > 0)
            full |= count[c] > most[c]
            fits &= count[c] + rest[c] >= least[c]
        nodes += 1
        if nodes > most_nodes:
            return -1
        if full:  # one more would be no better
            held -= x[at]
            for t in range(tables):
                c = number[at, t]
                count[c] -= x[at]
                met[c] -= x[at] > 0
                rest[c] += high[at]
            begun[at] = False
            at -= 1
        elif fits:
            at += 1
    return found
