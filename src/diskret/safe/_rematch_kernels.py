"""The compiled rematching: pairs anonymous objects with original records, in the order of the method."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@part
def _compare(a, b, first):
    """Order of two rows in their first columns: -1, 0, 1."""
    for i in range(first):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


@part
def _end(rows, left, begin, first):
    """Where the rows end that agree in the first columns with the one at ``begin``."""
    end = begin + 1
    while end < left.size and _compare(rows[left[end]], rows[left[begin]], first) == 0:
        end += 1
    return end


@part
def _closest(a, original, left, chain, head, end, first):
    """The original on the chain that agrees with a row in most columns, the one before it, and in how many."""
    m = a.size
    # rows of one group differ in the next column, or they would have met before
    most = m if first == m else m - 1
    best, best_before, agreed = -1, -1, -1
    before, s = -1, head
    while s != end and agreed < most:
        b = original[left[s]]
        same = first
        for c in range(first, m):
            same += a[c] == b[c]
        if same > agreed:
            best, best_before, agreed = s, before, same
        before, s = s, chain[s]
    return best, best_before, agreed


@kernel
def match(anonymous, original, partner, level, equal):
    """Match sorted rows; ``partner`` of each anonymous row, where it was matched, and in how many columns they agree.

    For i = m, m-1, ..., 0: rows that agree in the first i columns form a group; in it each anonymous row in turn takes
    the original that agrees in most columns, the first of several.
    """
    partner[:] = -1
    left_a = np.arange(anonymous.shape[0])
    left_b = np.arange(original.shape[0])
    chain = np.empty(original.shape[0], np.int64)
    for i in range(anonymous.shape[1], -1, -1):
        taken = np.zeros(left_b.size, np.bool_)
        p = q = 0
        while p < left_a.size and q < left_b.size:
            order = _compare(anonymous[left_a[p]], original[left_b[q]], i)
            if order != 0:
                p, q = p + (order < 0), q + (order > 0)
                continue
            end_p, end_q = _end(anonymous, left_a, p, i), _end(original, left_b, q, i)
            # originals of the group as a chain, so that taken ones are left out in passing
            chain[q:end_q] = np.arange(q + 1, end_q + 1)
            head = q
            while p < end_p and head < end_q:
                a = left_a[p]
                best, before, equal[a] = _closest(anonymous[a], original, left_b, chain, head, end_q, i)
                if before < 0:
                    head = chain[best]
                else:
                    chain[before] = chain[best]
                taken[best] = True
                partner[a], level[a] = left_b[best], i
                p += 1
            p, q = end_p, end_q
        left_a, left_b = left_a[partner[left_a] < 0], left_b[~taken]
