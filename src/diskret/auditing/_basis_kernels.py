"""Kernel: sums of the moves of a basis that leave alone what somebody knows."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part

NONE, FOUND, UNKNOWN = 0, 1, 2
LARGE = 1 << 30
"""Numbers beyond this might not fit when multiplied."""


@part
def _candidates(rows, start, free, length, place, chosen):
    """Free unknowns of some rows, those of short moves first; ``place`` tells where each stands. How many there are."""
    number = 0
    for row in rows:
        for e in range(start[row], start[row + 1]):
            if place[free[e]] < 0:
                at = number
                while at > 0 and (length[chosen[at - 1]], chosen[at - 1]) > (length[free[e]], free[e]):
                    chosen[at] = chosen[at - 1]
                    at -= 1
                chosen[at] = free[e]
                place[free[e]] = 0
                number += 1
    for i in range(number):
        place[chosen[i]] = i
    return number


@part
def _reduced(parts, taken, pivots, pivot_at, pivot_parts, pivot_taken):
    """Take pivots off a candidate until it has nothing in common with them; whether numbers stayed small."""
    for p in range(pivots):
        b = parts[pivot_at[p]]
        if b == 0:
            continue
        a = pivot_parts[p, pivot_at[p]]
        largest = 0
        for i in range(parts.size):
            parts[i] = a * parts[i] - b * pivot_parts[p, i]
            largest = max(largest, abs(parts[i]))
        for i in range(taken.size):
            taken[i] = a * taken[i] - b * pivot_taken[p, i]
            largest = max(largest, abs(taken[i]))
        if largest > LARGE:
            return False
    return True


@part
def _combination(number, values, parts, taken, pivot_at, pivot_parts, pivot_taken, pivot_of):
    """Whether candidates (one per row of ``values``) add up to something that moves the first unknown and no other.

    Returns the answer, how many pivots there are, and the candidate beside them; ``taken`` says how many times each
    pivot (``pivot_of``) is taken, and at the end the candidate.
    """
    pivots, width = 0, values.shape[1]
    for i in range(number):
        for j in range(width):
            parts[j] = values[i, j]
            taken[j] = 0
        taken[width] = 1
        if not _reduced(parts, taken, pivots, pivot_at, pivot_parts, pivot_taken):
            return UNKNOWN, pivots, i
        at = 0
        for j in range(1, width):
            if at == 0 and parts[j] != 0:
                at = j
        if at == 0 and parts[0] != 0:
            return FOUND, pivots, i
        if at > 0:
            # the candidate becomes a pivot: its own number stands where pivots stand
            taken[pivots], taken[width] = taken[width], 0
            pivot_at[pivots], pivot_of[pivots] = at, i
            pivot_parts[pivots], pivot_taken[pivots] = parts, taken
            pivots += 1
    return NONE, pivots, 0


@part
def _gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@part
def _added(times, move, first, columns, steps, total, met, number):
    """Add a move so many times; which unknowns it met for the first time. How many were met."""
    for e in range(first[move], first[move + 1]):
        c = columns[e]
        if total[c] == 0:
            met[number] = c
            number += 1
        # what becomes nothing may come back: then it was met twice, and the second time nothing is left of it
        total[c] += times * steps[e]
    return number


@part
def _written(number, met, total, columns, steps, used):
    """Write what was added up in smallest whole numbers, and forget it; where it ends."""
    common = 0
    for i in range(number):
        common = _gcd(abs(total[met[i]]), common)
    for i in range(number):
        c = met[i]
        if total[c] != 0:
            columns[used], steps[used] = c, total[c] // common
            total[c] = 0
            used += 1
    return used


@kernel
def apart(column, first_known, known, basis, moves, space, columns, steps):
    """For pairs of an unknown and what somebody knows: an answer each, where its sum ends, up to where there is room.

    ``basis`` are rows (start, free, times), ``moves`` the moves (first, columns, steps, lengths), both of unknowns.
    Sums are written into ``columns`` and ``steps``. Returns how many pairs were done.
    """
    start, free, times = basis
    first, move_columns, move_steps, length = moves
    place, chosen, total, met, answers, ends = space
    used = 0
    for pair in range(column.size):
        width = 1 + first_known[pair + 1] - first_known[pair]
        rows = np.empty(width, np.int64)
        rows[0] = column[pair]
        for j in range(1, width):
            rows[j] = known[first_known[pair] + j - 1]
        number = _candidates(rows, start, free, length, place, chosen)
        values = np.zeros((number, width), np.int64)
        for j in range(width):
            for e in range(start[rows[j]], start[rows[j] + 1]):
                values[place[free[e]], j] = times[e]
        pivot_at, pivot_of = np.zeros(width, np.int64), np.zeros(width + 1, np.int64)
        pivot_parts, pivot_taken = np.zeros((width, width), np.int64), np.zeros((width, width + 1), np.int64)
        taken = np.zeros(width + 1, np.int64)
        answer, pivots, last = _combination(
            number, values, np.zeros(width, np.int64), taken, pivot_at, pivot_parts, pivot_taken, pivot_of
        )
        need = 0
        if answer == FOUND:
            pivot_of[pivots], taken[pivots] = last, taken[width]
            for p in range(pivots + 1):
                need += length[chosen[pivot_of[p]]] if taken[p] else 0
        for i in range(number):
            place[chosen[i]] = -1
        if used + need > columns.size:
            return pair
        if answer == FOUND:
            found = 0
            for p in range(pivots + 1):
                if taken[p] != 0:
                    found = _added(taken[p], chosen[pivot_of[p]], first, move_columns, move_steps, total, met, found)
            used = _written(found, met, total, columns, steps, used)
        answers[pair], ends[pair] = answer, used
    return column.size
