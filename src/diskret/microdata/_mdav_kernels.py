"""Compiled loops of MDAV: groups of whole records around the two records farthest from the middle and each other."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import inlined, kernel, part


@inlined
def _distance(x, r, point):
    """Squared distance of record r from a point."""
    d = 0.0
    for k in range(x.shape[1]):
        e = x[r, k] - point[k]
        d += e * e
    return d


@part
def _farthest(x, left, n, point):
    """Position among the first ``n`` of ``left`` of the record farthest from ``point``; the first of equals."""
    best, place = -1.0, 0
    for i in range(n):
        d = _distance(x, left[i], point)
        if d > best:
            best, place = d, i
    return place


@part
def _insert(d, r, near, who):
    """Put record r into the list of the nearest so far, longest distance last; equals by the lower record number."""
    at = near.size - 1
    if d > near[at] or (d == near[at] and r > who[at]):
        return
    while at > 0 and (near[at - 1] > d or (near[at - 1] == d and who[at - 1] > r)):
        near[at], who[at] = near[at - 1], who[at - 1]
        at -= 1
    near[at], who[at] = d, r


@part
def _take_group(x, left, n, centre, m, group, number):
    """Give the record at position ``centre`` and its m - 1 nearest the group ``number``; returns how many are left."""
    near, who = np.full(m, np.inf), np.full(m, -1, dtype=np.int64)
    point = x[left[centre]]
    for i in range(n):
        _insert(-1.0 if i == centre else _distance(x, left[i], point), left[i], near, who)
    group[who] = number
    kept = 0
    for i in range(n):
        if group[left[i]] < 0:
            left[kept] = left[i]
            kept += 1
    return kept


@kernel
def mdav(x, m):
    """Group number of every record, and how many groups there are (Domingo-Ferrer and Torra 2005)."""
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
        first = _farthest(x, left, n, middle)
        point = x[left[first]].copy()
        n = _take_group(x, left, n, first, m, group, number)
        number += 1
        if n >= 2 * m:
            n = _take_group(x, left, n, _farthest(x, left, n, point), m, group, number)
            number += 1
    group[left[:n]] = number
    return group, number + 1
