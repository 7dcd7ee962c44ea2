"""Compiled loops over the rows of a file and the cells they are counted in."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def number_cells(key, number, table, first, size):
    """Number the occurring keys of one table from ``first`` on; the key ``size`` means that a row is not counted."""
    place = np.zeros(size + 1, np.int64)
    for j in range(key.size):
        place[key[j]] = 1
    found = 0
    for i in range(size):
        if place[i]:
            place[i] = first + found
            found += 1
    for j in range(key.size):
        if key[j] < size:
            number[j, table] = place[key[j]]
    return found


@numba.njit(cache=True, nogil=True)
def count_cells(number, frequency, totals):
    """Add each row's frequency to its cells."""
    for j in range(number.shape[0]):
        x = frequency[j]
        if x != 0:
            for t in range(number.shape[1]):
                totals[number[j, t]] += x
