"""The compiled rematching: pairs anonymous objects with original records, in the order of the method."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _compare(a, b, first):
    """Order of two rows in their first columns: -1, 0, 1."""
    for i in range(first):
        if a[i] < b[i]:
            return -1
        if a[i] > b[i]:
            return 1
    return 0


@numba.njit(cache=True, nogil=True)
def match(anonymous, original, partner, level, equal):
    """Match sorted rows; ``partner`` of each anonymous row, where it was matched, and in how many columns they agree.

    For i = m, m-1, ..., 0: rows that agree in the first i columns form a group; in it each anonymous row in turn takes
    the original that agrees in most columns, the first of several.
    """
    n, m = anonymous.shape
    left_a = np.arange(n)
    left_b = np.arange(original.shape[0])
    follow = np.empty(original.shape[0], np.int64)
    for i in range(m, -1, -1):
        # rows of one group differ in column i, or they would have met before
        most = m if i == m else m - 1
        keep_a, keep_b = np.empty(left_a.size, np.int64), np.empty(left_b.size, np.int64)
        rest_a = rest_b = 0
        p = q = 0
        while p < left_a.size or q < left_b.size:
            if p == left_a.size:
                order = 1
            elif q == left_b.size:
                order = -1
            else:
                order = _compare(anonymous[left_a[p]], original[left_b[q]], i)
            if order < 0:
                keep_a[rest_a] = left_a[p]
                rest_a += 1
                p += 1
                continue
            if order > 0:
                keep_b[rest_b] = left_b[q]
                rest_b += 1
                q += 1
                continue
            end_p, end_q = p, q
            while end_p < left_a.size and _compare(anonymous[left_a[end_p]], anonymous[left_a[p]], i) == 0:
                end_p += 1
            while end_q < left_b.size and _compare(original[left_b[end_q]], original[left_b[q]], i) == 0:
                end_q += 1
            # originals of the group as a chain, so that taken ones are left out in passing
            for s in range(q, end_q):
                follow[s] = s + 1
            head = q
            while p < end_p:
                if head == end_q:
                    keep_a[rest_a] = left_a[p]
                    rest_a += 1
                    p += 1
                    continue
                a = anonymous[left_a[p]]
                best, best_before, agreed = -1, -1, -1
                before, s = -1, head
                while s != end_q:
                    b = original[left_b[s]]
                    same = i
                    for c in range(i, m):
                        same += a[c] == b[c]
                    if same > agreed:
                        best, best_before, agreed = s, before, same
                        if agreed == most:
                            break
                    before = s
                    s = follow[s]
                if best_before < 0:
                    head = follow[best]
                else:
                    follow[best_before] = follow[best]
                partner[left_a[p]] = left_b[best]
                level[left_a[p]] = i
                equal[left_a[p]] = agreed
                p += 1
            s = head
            while s != end_q:
                keep_b[rest_b] = left_b[s]
                rest_b += 1
                s = follow[s]
            q = end_q
        left_a, left_b = keep_a[:rest_a], keep_b[:rest_b]
