"""Compiled search for a controlled rounding: which cells go up, so that every sum is within one base.

Unknown are the finest cells that are not multiples of the base: 1 goes up, 0 goes down. Every sum is a constraint: so
many of the cells below it go up, or one more. A move turns a cell and takes the change back in some classifications:
two opposite cells of a line, four of a rectangle, eight of a box, up and down in turn. Sums over all of them stay, so
a rectangle changes few sums and a box hardly any: these are the moves that are left when nearly everything holds. Half
of the moves begin below a sum that is off and take the change back outside of it. What breaks more sums than it mends
is kept with a chance that falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.compiled import kernel, part

NEVER = 100
"""The price of turning a cell that cannot be turned (it is not free, or stands there already)."""
SPARE = 3
"""A move is given up unfinished once it breaks this many sums more than chance allows."""


class Annealing(NamedTuple):
    """How many sweeps of how many moves, with a tolerance that falls from ``warm`` to ``cold``.

    A move is drawn from the 256 ``masks`` (bit a: take the change back in classification a), changes at most ``widest``
    cells and sums, and draws each partner at most ``tries`` times.
    """

    masks: Ints
    widest: int
    sweeps: int
    moves: int
    warm: float
    cold: float
    tries: int


@part
def _next(state):
    """The next of a stream of random numbers (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@part
def _pick(bits, n):
    """One of n, from the lower 32 of random bits."""
    return np.int64(((bits & np.uint64(0xFFFFFFFF)) * np.uint64(n)) >> np.uint64(32))


@part
def _leaf_below(axis, code, bits, begin, leaves, first, stop):
    """A finest code below a code, at random."""
    at = begin[axis] + code
    return leaves[first[at] + _pick(bits, stop[at] - first[at])]


@part
def _renew(r, total, low, high, finest, price, off, place, length):
    """What one down (0) or one up (1) would cost at a cell or sum; a sum enters or leaves the list of those off."""
    t = total[r]
    if finest[r]:
        price[r, 0], price[r, 1] = NEVER * (t <= low[r]), NEVER * (t >= high[r])
        return
    price[r, 0], price[r, 1] = (t <= low[r]) - (t > high[r]), (t >= high[r]) - (t < low[r])
    outside = t < low[r] or t > high[r]
    if outside and place[r] < 0:
        place[r] = length[0]
        off[length[0]] = r
        length[0] += 1
    elif not outside and place[r] >= 0:
        length[0] -= 1
        last = off[length[0]]
        off[place[r]] = last
        place[last] = place[r]
        place[r] = -1


@part
def _partners(
    mask, code, within, other, step, tries, cells, signs, price, state, stride, begin, parent, leaves, first, stop
):  # fmt: skip
    """For each classification of the move another finest code, near by, so that all corners can turn; else False.

    It is not below the code ``within``; below the total of a classification there is no other, and none is taken.
    """
    corners = 1
    signs[0] = step
    for a in range(code.size):
        other[a] = -1
        nearest = parent[begin[a] + within[a]]
        if nearest < 0 or not (mask >> a) & 1:
            continue
        lowest = leaves[first[begin[a] + within[a]]]
        for _ in range(tries):
            bits = _next(state)
            above = nearest
            climb = bits >> np.uint64(40)
            while (climb & np.uint64(3)) == 0 and parent[begin[a] + above] >= 0:
                above = parent[begin[a] + above]
                climb >>= np.uint64(2)
            there = _leaf_below(a, above, bits, begin, leaves, first, stop)
            away = (there - code[a]) * stride[a]
            fits = there < lowest or there > within[a]
            for k in range(corners):
                if not fits:
                    break
                fits = price[cells[k] + away, 1 if signs[k] < 0 else 0] == 0
            if fits:
                for k in range(corners):
                    cells[corners + k] = cells[k] + away
                    signs[corners + k] = -signs[k]
                corners *= 2
                other[a] = there
                break
        if other[a] < 0:
            return False
    return True


@kernel
def changed(code, other, step, rows, signs, stride, begin, parent):
    """Cells and sums that a move changes, each by one up or down; returns how many.

    Along a classification these are the codes above its own, or those above it and above the other one (with the
    opposite sign) up to where they meet.
    """
    rows[0], signs[0] = 0, step
    size = 1
    for a in range(code.size):
        one, two = code[a], other[a]
        grown = size
        while one != two:
            if two < 0 or one < two:
                at, way = one, 1
                one = parent[begin[a] + one]
            else:
                at, way = two, -1
                two = parent[begin[a] + two]
            if at != code[a]:
                for k in range(size):
                    rows[grown] = rows[k] + at * stride[a]
                    signs[grown] = way * signs[k]
                    grown += 1
        for k in range(size):
            rows[k] += code[a] * stride[a]
        size = grown
    return size


@kernel
def search(total, bounds, free, codes, tree, plan, seed):
    """Anneal ``total`` (ups of all cells and sums, flat), in place; returns by how much sums are off in the end.

    ``bounds`` are the lowest and highest ups and which cells are finest; ``free`` are the finest cells that may turn,
    ``codes`` theirs, one column per classification. Arrays are taken out of their tuples once: inside the loop that
    would cost as much as the search itself (measured: 2.8 times the time).
    """
    low, high, finest = bounds
    begin, stride, parent, leaves = tree.offset, tree.strides, tree.parent, tree.leaves
    first, stop = tree.leaf_from, tree.leaf_to
    masks, widest, sweeps, moves, warm, cold, tries = plan
    state = np.array([seed], np.uint64)
    price = np.empty((total.size, 2), np.int8)
    off, place = np.empty(total.size, np.int32), np.full(total.size, -1, np.int32)
    length = np.zeros(1, np.int64)
    amount = np.int64(0)
    for r in range(total.size):
        _renew(r, total, low, high, finest, price, off, place, length)
        amount += max(low[r] - total[r], total[r] - high[r], 0)
    best, best_total = amount, total.copy()
    rows, signs = np.empty(widest, np.int64), np.empty(widest, np.int64)
    code, within = np.empty(stride.size, np.int64), np.empty(stride.size, np.int64)
    other = np.empty(stride.size, np.int64)
    for sweep in range(sweeps):
        heat = warm * (cold / warm) ** (sweep / max(sweeps - 1, 1))
        for _ in range(moves):
            if amount == 0:
                return amount
            bits = _next(state)
            mask = masks[bits & np.uint64(0xFF)]
            if bits & np.uint64(0x100):
                # a cell below a sum that is off, in the direction that mends it
                left = np.int64(off[_pick(bits >> np.uint64(16), length[0])])
                step = 1 if total[left] < low[left] else -1
                cell = 0
                for a in range(stride.size):
                    within[a] = left // stride[a]
                    left -= within[a] * stride[a]
                    code[a] = _leaf_below(a, within[a], _next(state) >> np.uint64(16), begin, leaves, first, stop)
                    cell += code[a] * stride[a]
                if price[cell, (step + 1) >> 1] != 0:
                    continue
            else:
                at = _pick(bits >> np.uint64(16), free.size)
                cell = np.int64(free[at])
                for a in range(stride.size):
                    code[a] = within[a] = codes[at, a]
                step = 1 if price[cell, 1] == 0 else -1
            rows[0] = cell
            if not _partners(
                mask, code, within, other, step, tries, rows, signs, price, state, stride, begin, parent, leaves,
                first, stop,
            ):  # fmt: skip
                continue
            chance = ((_next(state) >> np.uint64(11)) + np.uint64(1)) * 1.1102230246251565e-16
            bar = -heat * np.log(chance)
            size = changed(code, other, step, rows, signs, stride, begin, parent)
            grown = 0
            for k in range(size):
                grown += price[rows[k], (signs[k] + 1) >> 1]
                if grown > bar + SPARE:
                    break
            if grown > bar:
                continue
            amount += grown
            for k in range(size):
                total[rows[k]] += signs[k]
                _renew(rows[k], total, low, high, finest, price, off, place, length)
        if amount < best:
            best = amount
            best_total[:] = total
    total[:] = best_total
    return best
