"""Kernel: what a move settles, and which insiders can object."""

from __future__ import annotations

import numpy as np
from numba import njit

LENGTH, DOWN = 2, 1


@njit(cache=True)
def _steps(limit, times):
    """How many times a move can be made if only every ``times``-th part of it is a whole step (0: any part)."""
    return np.floor(limit * times * (1 + 1e-12)) / times if times else limit


@njit(cache=True)
def _reach(kind, rises, size, forth, reverse):
    """How far a cell is carried the way its demand asks for."""
    if kind == LENGTH:
        return size * (forth + reverse)
    return size * (forth if rises == (kind != DOWN) else reverse)


@njit(cache=True)
def _stands_behind(who, cell, home, below, offset, shape, behind, size):
    """Whether an insider contributes to a cell himself."""
    if behind.size:
        key = who * size + cell
        found = np.searchsorted(behind, key)
        return found < behind.size and behind[found] == key
    rest = cell
    for axis in range(shape.size - 1, -1, -1):
        at = rest % shape[axis]
        rest //= shape[axis]
        mine = home[who, axis]
        if mine > at or mine < below[offset[axis] + at]:
            return False
    return True


@njit(cache=True)
def judge(
    cells, moved, up, down, numbers, kinds, amounts, times, start, whos, ups, downs, home, below, offset, shape, behind
):
    """Demands that a move settles, and for each (from ``first`` on) the insiders who can object.

    ``numbers`` are the two demands of every cell; the insiders' entries stand cell by cell.
    """
    forth, reverse = np.inf, np.inf
    entries = np.int64(0)
    for i in range(cells.size):
        cell, size = cells[i], abs(moved[i])
        if moved[i] > 0:
            forth, reverse = min(forth, up[cell] / size), min(reverse, down[cell] / size)
        else:
            forth, reverse = min(forth, down[cell] / size), min(reverse, up[cell] / size)
        entries += start[cell + 1] - start[cell]
    forth, reverse = _steps(forth, times), _steps(reverse, times)
    most = 0
    for place in range(cells.size):
        most += (numbers[cells[place], 0] >= 0) + (numbers[cells[place], 1] >= 0)
    settled, first = np.empty(most, np.int64), np.zeros(most + 1, np.int64)
    objectors = np.empty(most * entries, np.int64)
    found, end = 0, 0
    for place in range(cells.size):
        cell, rises, size = cells[place], moved[place] > 0, abs(moved[place])
        for slot in range(2):
            number = numbers[cell, slot]
            if number < 0:
                continue
            kind, amount = kinds[number], amounts[number] * (1 - 1e-12)
            if not _reach(kind, rises, size, forth, reverse) >= amount:
                continue
            for i in range(cells.size):
                known, width = cells[i], abs(moved[i])
                for e in range(start[known], start[known + 1]):
                    tight, tight_back = (ups[e], downs[e]) if moved[i] > 0 else (downs[e], ups[e])
                    limit = min(forth, _steps(tight / width, times))
                    back = min(reverse, _steps(tight_back / width, times))
                    if _reach(kind, rises, size, limit, back) >= amount:
                        continue
                    who = whos[e]
                    # nor does a coalition find out what it was said to know
                    own = False
                    for f in range(start[cell], start[cell + 1]):
                        own = own or whos[f] == who
                    if not own and not _stands_behind(who, cell, home, below, offset, shape, behind, up.size):
                        objectors[end] = who
                        end += 1
            settled[found] = number
            found += 1
            first[found] = end
    return settled[:found], first[: found + 1], objectors[:end]
