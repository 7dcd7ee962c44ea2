"""Compiled steps that all searches for cuboids share: growing a cuboid by one index, judging it, naming its singles.

Other kernels call these functions. A compiled kernel on disk does not notice that a function it calls has changed, so
whoever edits this file removes the compiled kernels (CONTRIBUTING.md says how; a test finds stale ones).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import inlined, kernel, part

USABLE, HIDDEN, PRIMARY, SINGLE = 1, 2, 4, 8
# Ranges are sums of decimals held in floats: equal up to rounding counts as equal, and equal is not enough.
SLACK = 1e-12


class System(NamedTuple):
    """How codes of subtables become places: the codes of segment s are ``items[first[s]:first[s + 1]]``, total last."""

    first: Ints
    items: Ints
    strides: Ints
    person: Ints
    """Who is alone in a cell, where somebody is: a number that only compares."""


class Asked(NamedTuple):
    """What a pivot needs, or all cells: a range, and how far down and up it must reach at least."""

    range: Floats
    down: Floats
    up: Floats


@inlined
def before(count_a, rank_a, cost_a, best):
    """Whether a choice comes before the best (count, rank, cost): fewest new cells, lowest margin rank, smallest cost.

    Costs that differ by rounding only are equal, so that the order of adding up decides nothing.
    """
    if count_a != best[0]:
        return count_a < best[0]
    if rank_a != best[1]:
        return rank_a < best[1]
    return best[2] - cost_a > SLACK * abs(cost_a)


@inlined
def can_win(count, rank, cost, best, prune_rank):
    """Whether a choice that can only get worse may still beat the best; without ``prune_rank`` ranks can get better."""
    return before(count, rank, cost, best) if prune_rank else count <= best[0]


@inlined
def wide_enough(rise, fall, asked):
    """Whether a cuboid that goes so far up and down gives a pivot what it needs."""
    reach = rise + fall
    if not reach > asked.range + SLACK * max(asked.range, reach if reach < np.inf else 0.0):
        return False
    return rise >= asked.up and fall >= asked.down


@inlined
def extend(cells, signs, filled, shift, turn, state, wanted, up, down, rise, fall):
    """Repeat the first ``filled`` cells of a cuboid at a distance, behind them; ``turn`` = -1 changes their signs.

    Returns how far up and down the pivot can go then; less than nothing if a cell has none of the ``wanted`` bits.
    """
    for k in range(filled):
        c = cells[k] + shift
        if state[c] & wanted == 0:
            return -np.inf, -np.inf
        sign = signs[k] * turn
        if sign < 0:
            rise, fall = min(rise, down[c]), min(fall, up[c])
        else:
            rise, fall = min(rise, up[c]), min(fall, down[c])
        cells[filled + k], signs[filled + k] = c, sign
    return rise, fall


@kernel
def corners_of(pivot, diametral, strides, cells):
    """The cells of the cuboid of two cells, pivot first; returns how many (axes that are fixed do not double them)."""
    number = 1
    cells[0] = pivot
    for a in range(strides.size):
        g, d = pivot // strides[a], diametral // strides[a]
        pivot -= g * strides[a]
        diametral -= d * strides[a]
        if g != d:
            for k in range(number):
                cells[number + k] = cells[k] + (d - g) * strides[a]
            number *= 2
    return number


@part
def _before(keys, one, other, columns):
    """Whether a row comes before another by its first columns."""
    for k in range(columns):
        if keys[one, k] != keys[other, k]:
            return keys[one, k] < keys[other, k]
    return False


@part
def ascending(keys, number, columns):
    """Order of rows by their first columns, equal ones as they stand: sorting by numpy takes a second to compile."""
    order, merged = np.empty(number, np.int64), np.empty(number, np.int64)
    for i in range(number):
        order[i] = i
    width = 1
    while width < number:
        for start in range(0, number, 2 * width):
            middle, end = min(start + width, number), min(start + 2 * width, number)
            one, other = start, middle
            for at in range(start, end):
                if one < middle and (other >= end or not _before(keys, order[other], order[one], columns)):
                    merged[at] = order[one]
                    one += 1
                else:
                    merged[at] = order[other]
                    other += 1
        order, merged = merged, order
        width *= 2
    return order


@part
def by_choice(kept, number):
    """Order of cuboids (count, rank, cost, ...) from the first choice to the last."""
    return ascending(kept, number, np.int64(3))


@part
def _margins_of(place, row, system, free):
    """Axes on which a cell of a subtable is a margin (into ``free``): how many, and the first cell that feeds it."""
    first, items, strides = system.first, system.items, system.strides
    n = 0
    base = place
    rest = place
    for a in range(strides.size):
        code = rest // strides[a]
        rest -= code * strides[a]
        start, stop = first[row[a]], first[row[a] + 1]
        if stop - start > 1 and code == items[stop - 1]:
            free[n] = a
            n += 1
            base += (items[start] - code) * strides[a]
    return n, base


@kernel
def person(place, row, system, state):
    """Who the single contributor of a cell is, by his number; -1 if it need not be looked at.

    A single in the margin is the single inside that feeds it, or the one owner of all singles inside. If a lone one is
    primary and nothing else can hide among the parts, the two are suppressed and protected together, and the margin is
    an ordinary cell (rule 3).
    """
    first, items, strides, number = system.first, system.items, system.strides, system.person
    free = np.empty(strides.size, np.int64)
    n, here = _margins_of(place, row, system, free)
    if n == 0:
        return number[place]
    digit = np.zeros(n, np.int64)
    twin, twins, others, several = -1, 0, 0, False
    i = 0
    while i < n:
        s = state[here]
        if s & SINGLE:
            several = several or (twins > 0 and number[twin] != number[here])
            twin = here
            twins += 1
        elif s & (USABLE | HIDDEN):
            others += 1
        i = 0
        while i < n:
            a = free[i]
            start, parts = first[row[a]], first[row[a] + 1] - first[row[a]] - 1
            digit[i] += 1
            if digit[i] < parts:
                here += (items[start + digit[i]] - items[start + digit[i] - 1]) * strides[a]
                break
            here += (items[start] - items[start + parts - 1]) * strides[a]
            digit[i] = 0
            i += 1
    if twins == 0 or several:
        return -1  # counts that do not add up: that is what tables of totals are for
    return -1 if twins == 1 and others == 0 and state[twin] & PRIMARY else number[twin]
