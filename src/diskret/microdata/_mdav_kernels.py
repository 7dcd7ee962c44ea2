"""Compiled loops of MDAV: groups of whole records around the two records farthest from the middle and each other."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def farthest(x, left, n, point):
    """Position among the first ``n`` of ``left`` of the record farthest from ``point``; the first of equals."""
    best, place = -1.0, 0
    for i in range(n):
        r = left[i]
        d = 0.0
        for k in range(x.shape[1]):
            e = x[r, k] - point[k]
            d += e * e
        if d > best:
            best, place = d, i
    return place


@numba.njit(cache=True, nogil=True)
def take_group(x, left, n, centre, m, group, number):
    """Give the record at position ``centre`` and its m - 1 nearest the group ``number``; returns how many are left.

    A list of the m nearest so far, longest distance last, is kept by insertion; equals by the lower record number.
    """
    near = np.full(m, np.inf)
    who = np.full(m, -1, dtype=np.int64)
    point = x[left[centre]]
    for i in range(n):
        r = left[i]
        d = 0.0
        for k in range(x.shape[1]):
            e = x[r, k] - point[k]
            d += e * e
        if i == centre:
            d = -1.0
        if d > near[m - 1] or (d == near[m - 1] and r > who[m - 1]):
            continue
        at = m - 1
        while at > 0 and (near[at - 1] > d or (near[at - 1] == d and who[at - 1] > r)):
            near[at] = near[at - 1]
            who[at] = who[at - 1]
            at -= 1
        near[at] = d
        who[at] = r
    for i in range(m):
        group[who[i]] = number
    kept = 0
    for i in range(n):
        if group[left[i]] < 0:
            left[kept] = left[i]
            kept += 1
    return kept


@numba.njit(cache=True, nogil=True)
def mdav(x, m):
    """Group number of every record (Domingo-Ferrer and Torra 2005)."""
    n, columns = x.shape
    group = np.full(n, -1, dtype=np.int64)
    left = np.arange(n)
    number = 0
    middle = np.empty(columns)
    while n >= 2 * m:
        middle[:] = 0.0
        for i in range(n):
            for k in range(columns):
                middle[k] += x[left[i], k]
        middle /= n
        first = farthest(x, left, n, middle)
        point = x[left[first]].copy()
        n = take_group(x, left, n, first, m, group, number)
        number += 1
        if n >= 2 * m:
            second = farthest(x, left, n, point)
            n = take_group(x, left, n, second, m, group, number)
            number += 1
    for i in range(n):
        group[left[i]] = number
    return group, number + 1
