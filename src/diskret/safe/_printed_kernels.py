"""The compiled step of the printed method: the best combination of changes of a group of three or four rows.

A combination changes a cell by the sum of the changes of the rows that share it. Cells are therefore added up once per
set of rows that shares them and per change such a set can make; a combination is then priced by a handful of additions.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from diskret.model.compiled import inlined, kernel, part

AT_LIMIT = 500
"""Penalty of a cell at its limit in phase 2."""
MOST = 4
"""Rows in a group at most."""
Step = namedtuple("Step", "number deviation limit x total k phase")
"""What a pass works on. ``total`` holds deviation and limit of the number of objects; the last cell is free."""


@inlined
def _penalty(deviation, limit, k, phase):
    distance = limit - abs(deviation)
    if phase == 1:
        return (k - distance) ** 2 if distance < k else 0
    if distance <= 0:
        return AT_LIMIT
    return (k + 1 - distance) ** 2 if distance < k + 1 else 0


@inlined
def _offer(options, n, d, x, k, phase):
    """Enter a change into the options of a row unless it is there, below zero, or in phase 2 a case."""
    y = x + d
    if d == 0 or y < 0 or (phase == 2 and 0 < y < k):
        return n
    for i in range(n):
        if options[i] == d:
            return n
    options[n] = d
    return n + 1


@part
def _options(x, k, phase, options):
    n = _offer(options, 0, -1, x, k, phase)
    n = _offer(options, n, 1, x, k, phase)
    if x <= k:
        n = _offer(options, n, -x, x, k, phase)
        n = _offer(options, n, k - x, x, k, phase)
    return n


@part
def _enter(mask, deviation, limit, reached, reaches, half, k, phase, sums, used):
    """Add one cell to what its set of rows can do to it."""
    used[mask] = True
    before = abs(deviation)
    beyond = before > limit
    paid = _penalty(deviation, limit, k, phase)
    for i in range(reaches[mask]):
        d = reached[mask, i]
        if d == 0:
            continue
        after = abs(deviation + d)
        at = d + half
        if after > limit:
            sums[mask, at, 0] += 1
            continue
        sums[mask, at, 1] -= beyond
        sums[mask, at, 2] += _penalty(after, limit, k, phase) - paid
        sums[mask, at, 3] += after - before


@kernel
def run_pass(sequence, start, stop, size, step):
    """Slide a group along the sequence; carry out the best combination of each where it improves the goals.

    Returns the number of groups tested. One function, because cut into smaller ones the pass takes 40 % longer.
    """
    number, deviation, limit, x, total, k, phase = step
    half = MOST * k
    options = np.zeros((MOST, 8), np.int64)
    counts = np.zeros(MOST, np.int64)
    sums = np.zeros((1 << MOST, 2 * half + 1, 4), np.int64)
    reached = np.zeros((1 << MOST, 2 * half + 1), np.int64)
    reaches = np.zeros(1 << MOST, np.int64)
    seen = np.zeros(2 * half + 1, np.bool_)
    used = np.zeros(1 << MOST, np.bool_)
    at = np.zeros(MOST, np.int64)
    change = np.zeros(MOST, np.int64)
    best = np.zeros(MOST, np.int64)
    free = deviation.size - 1
    tested = 0
    for g in range(start, stop):
        rows = min(size, sequence.size - g)
        counts[0] = _options(x[sequence[g]], k, phase, options[0])
        if counts[0] == 0:
            continue
        for i in range(1, rows):
            counts[i] = _options(x[sequence[g + i]], k, phase, options[i])
            options[i, counts[i]] = 0
            counts[i] += 1
        tested += 1
        # what every set of rows can do to a cell they share
        for mask in range(1, 1 << rows):
            used[mask] = False
            low = 0
            while not (mask >> low) & 1:
                low += 1
            rest = mask & ~(1 << low)
            n = 0
            seen[:] = False
            before = reaches[rest] if rest else 1
            for i in range(before):
                base = reached[rest, i] if rest else 0
                for j in range(counts[low]):
                    d = base + options[low, j]
                    if not seen[d + half]:
                        seen[d + half] = True
                        reached[mask, n] = d
                        n += 1
            reaches[mask] = n
            for i in range(n):
                sums[mask, reached[mask, i] + half] = 0
        for t in range(number.shape[1]):
            done = 0
            for i in range(rows):
                if (done >> i) & 1:
                    continue
                c = number[sequence[g + i], t]
                mask = 1 << i
                for j in range(i + 1, rows):
                    if number[sequence[g + j], t] == c:
                        mask |= 1 << j
                done |= mask
                if c != free:
                    _enter(mask, deviation[c], limit[c], reached, reaches, half, k, phase, sums, used)
        _enter((1 << rows) - 1, total[0], total[1], reached, reaches, half, k, phase, sums, used)
        # all combinations, the first row slowest
        goal2 = goal3 = goal4 = 0
        found = False
        at[:] = 0
        while True:
            cases = 0
            for i in range(rows):
                change[i] = options[i, at[i]]
                if phase == 1:
                    y = x[sequence[g + i]]
                    cases += (0 < y + change[i] < k) - (0 < y < k)
            bad, near, off = 0, 0, 0
            for mask in range(1, 1 << rows):
                if not used[mask]:
                    continue
                d = 0
                for i in range(rows):
                    if (mask >> i) & 1:
                        d += change[i]
                if d != 0:
                    bad += sums[mask, d + half, 0]
                    cases += sums[mask, d + half, 1] if phase == 2 else 0
                    near += sums[mask, d + half, 2]
                    off += sums[mask, d + half, 3]
                if bad:
                    break
            if not bad and (cases < goal2 or (cases == goal2 and (near < goal3 or (near == goal3 and off < goal4)))):
                goal2, goal3, goal4 = cases, near, off
                best[:] = change
                found = True
            i = rows - 1
            while i >= 0:
                at[i] += 1
                if at[i] < counts[i]:
                    break
                at[i] = 0
                i -= 1
            if i < 0:
                break
        if found:
            for i in range(rows):
                row = sequence[g + i]
                x[row] += best[i]
                total[0] += best[i]
                for t in range(number.shape[1]):
                    deviation[number[row, t]] += best[i]
    return tested
