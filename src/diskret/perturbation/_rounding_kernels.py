"""Compiled search for a controlled rounding: which cells go up, so that every sum is within one base.

Unknown are the finest cells that are no multiples of the base: 1 goes up, 0 goes down. Every sum is a constraint: so
many of the cells below it go up, or one more. Cells are flipped at random, alone or with a partner that takes the
change back in one of their sums; what breaks more sums than it mends is kept with a chance that falls.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _next(state):
    """The next of a stream of random numbers (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@numba.njit(cache=True, nogil=True)
def _below(state, n):
    return np.int64((_next(state) >> np.uint64(11)) % np.uint64(n))


@numba.njit(cache=True, nogil=True)
def _off(total, low, high):
    return max(low - total, total - high, 0)


@numba.njit(cache=True, nogil=True)
def _turn(cell, up, first, rows, total, low, high):
    """Flip a cell; returns by how much the violations grow."""
    turn = 1 - 2 * up[cell]
    grown = 0
    for k in range(first[cell], first[cell + 1]):
        r = rows[k]
        before = total[r]
        after = before + turn
        total[r] = after
        grown += _off(after, low[r], high[r]) - _off(before, low[r], high[r])
    up[cell] += turn
    return grown


@numba.njit(cache=True, nogil=True)
def search(up, first, rows, start, cells, low, high, seed, sweeps, warm, cold):
    """Anneal: flip a cell, or two opposite cells of one constraint, and keep it if it breaks little; ``up`` is changed.

    Cell k is in the constraints ``rows[first[k] : first[k + 1]]``, constraint r holds
    ``cells[start[r] : start[r + 1]]``. The tolerance falls from ``warm`` to ``cold``. Returns the violations left.
    """
    state = np.array([seed], np.uint64)
    count = low.size
    total = np.zeros(count, np.int32)
    for c in range(up.size):
        for k in range(first[c], first[c + 1]):
            total[rows[k]] += up[c]
    amount = np.int64(0)
    for r in range(count):
        amount += _off(total[r], low[r], high[r])
    best, best_up = amount, up.copy()
    n = up.size
    for sweep in range(sweeps):
        heat = warm * (cold / warm) ** (sweep / max(sweeps - 1, 1))
        accept = np.empty(64)
        for g in range(64):
            accept[g] = np.exp(-g / heat)
        for _ in range(n):
            c = _below(state, n)
            grown = _turn(c, up, first, rows, total, low, high)
            other = -1
            if grown > 0:
                # a partner in one of its constraints that takes the change back there
                r = rows[first[c] + _below(state, first[c + 1] - first[c])]
                other = cells[start[r] + _below(state, start[r + 1] - start[r])]
                if other != c and up[other] == up[c]:
                    grown += _turn(other, up, first, rows, total, low, high)
                else:
                    other = -1
            if grown <= 0 or (grown < 64 and (_next(state) >> np.uint64(11)) * 1.1102230246251565e-16 < accept[grown]):
                amount += grown
            else:
                _turn(c, up, first, rows, total, low, high)
                if other >= 0:
                    _turn(other, up, first, rows, total, low, high)
        if amount < best:
            best = amount
            best_up[:] = up
            if best == 0:
                break
    up[:] = best_up
    return best
