"""Compiled loops over the rows of a file and the cells they are counted in."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel


@kernel
def count_cells(number, frequency, totals):
    """Add each row's frequency to its cells."""
    for j in range(number.shape[0]):
        x = frequency[j]
        if x != 0:
            for t in range(number.shape[1]):
                totals[number[j, t]] += x


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
