"""Kernel: what a move settles, and which insiders can object."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part

LENGTH, DOWN = 2, 1
TIE = 1e-12
"""Nearer than this, relative to the demand, doubles do not decide."""
SHORT, TIED, FAR = 0, 1, 2


@part
def _steps(limit, whole):
    """How many times a move can be made, in whole numbers if it must."""
    return np.floor(limit) if whole else limit


@part
def _compared(reach, amount, strict):
    """Whether a cell is carried far enough, as far as doubles can tell: not moving at all is told for certain."""
    if reach > amount * (1 + TIE):
        return FAR
    if reach == 0 and strict:
        return SHORT
    return TIED if reach >= amount * (1 - TIE) else SHORT


@part
def _together(who, cells, moved, start, whos, ups, downs, whole, forth, reverse):
    """How far a move can be made both ways without leaving what somebody thinks possible of any cell."""
    for i in range(cells.size):
        known, width = cells[i], abs(moved[i])
        for e in range(start[known], start[known + 1]):
            if whos[e] == who:
                tight, tight_back = (ups[e], downs[e]) if moved[i] > 0 else (downs[e], ups[e])
                forth = min(forth, _steps(tight / width, whole))
                reverse = min(reverse, _steps(tight_back / width, whole))
    return forth, reverse


@part
def _reach(kind, rises, size, forth, reverse):
    """How far a cell is carried the way its demand asks for."""
    if kind == LENGTH:
        return size * (forth + reverse)
    return size * (forth if rises == (kind != DOWN) else reverse)


@part
def _contains(ascending, number):
    """Whether a number is among others: `np.searchsorted` would take longer to compile than to read."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < ascending.size and ascending[low] == number


@part
def _stands_behind(who, cell, home, below, offset, shape, behind, size):
    """Whether an insider contributes to a cell himself."""
    if behind.size:
        return _contains(behind, who * size + cell)
    rest = cell
    for axis in range(shape.size - 1, -1, -1):
        at = rest % shape[axis]
        rest //= shape[axis]
        mine = home[who, axis]
        if mine > at or mine < below[offset[axis] + at]:
            return False
    return True


@kernel
def judge(
    cells, moved, up, down, numbers, kinds, amounts, stricts, whole, start, whos, ups, downs,
    home, below, offset, shape, behind,
):  # fmt: skip
    """Demands that a move settles, whether that is a tie, and for each (from ``first`` on) the insiders who can object.

    ``numbers`` are the two demands of every cell; the insiders' entries stand cell by cell. Of an insider against whom
    it is a tie the number comes back as -1 minus it.
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
    forth, reverse = _steps(forth, whole), _steps(reverse, whole)
    most = 0
    for place in range(cells.size):
        most += (numbers[cells[place], 0] >= 0) + (numbers[cells[place], 1] >= 0)
    # all of one type: every further one takes a tenth of a second to compile
    settled, tied, first = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most + 1, np.int64)
    objectors = np.empty(most * entries, np.int64)
    first[0] = 0
    found, end = 0, 0
    for place in range(cells.size):
        cell, rises, size = cells[place], moved[place] > 0, abs(moved[place])
        for slot in range(2):
            number = numbers[cell, slot]
            if number < 0:
                continue
            kind, amount, strict = kinds[number], amounts[number], stricts[number]
            far = _compared(_reach(kind, rises, size, forth, reverse), amount, strict)
            if far == SHORT:
                continue
            for i in range(cells.size):
                known, width = cells[i], abs(moved[i])
                for e in range(start[known], start[known + 1]):
                    tight, tight_back = (ups[e], downs[e]) if moved[i] > 0 else (downs[e], ups[e])
                    limit = min(forth, _steps(tight / width, whole))
                    back = min(reverse, _steps(tight_back / width, whole))
                    who = whos[e]
                    if kind == LENGTH and limit + back > 0:
                        # one cell may hold him back one way, another the other way
                        limit, back = _together(who, cells, moved, start, whos, ups, downs, whole, forth, reverse)
                    against = _compared(_reach(kind, rises, size, limit, back), amount, strict)
                    if against == FAR:
                        continue
                    # nor does a coalition find out what it was said to know
                    own = False
                    for f in range(start[cell], start[cell + 1]):
                        own = own or whos[f] == who
                    if not own and not _stands_behind(who, cell, home, below, offset, shape, behind, up.size):
                        objectors[end] = who if against == SHORT else -1 - who
                        end += 1
            settled[found], tied[found] = number, far == TIED
            found += 1
            first[found] = end
    return settled[:found], tied[:found], first[: found + 1], objectors[:end]
