"""Kernels: what moves settle, which insiders can object, and who is left after several moves."""

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
def _asked(cells, moved, start, whos, ups, downs, whole, people, limits):
    """Everybody who knows something about cells of a move, once; how many they are.

    ``limits`` is how far the move can be made both ways without leaving what each thinks possible of any cell: one cell
    may hold him back one way, another the other way. Before the first it is how far at all.
    """
    number = 0
    for i in range(cells.size):
        known, width = cells[i], abs(moved[i])
        for e in range(start[known], start[known + 1]):
            at = 0
            while at < number and people[at] != whos[e]:
                at += 1
            if at == number:
                number += 1
                people[at], limits[at + 1, 0], limits[at + 1, 1] = whos[e], limits[0, 0], limits[0, 1]
            tight, tight_back = (ups[e], downs[e]) if moved[i] > 0 else (downs[e], ups[e])
            limits[at + 1, 0] = min(limits[at + 1, 0], _steps(tight / width, whole))
            limits[at + 1, 1] = min(limits[at + 1, 1], _steps(tight_back / width, whole))
    return number


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
        most += int(numbers[cells[place], 0] >= 0) + int(numbers[cells[place], 1] >= 0)
    # all of one type: every further one takes a tenth of a second to compile
    settled, tied, first = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most + 1, np.int64)
    people, limits = np.empty(entries, np.int64), np.empty((entries + 1, 2))
    limits[0, 0], limits[0, 1] = forth, reverse
    asked = _asked(cells, moved, start, whos, ups, downs, whole, people, limits)
    objectors = np.empty(most * asked, np.int64)
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
            for i in range(asked):
                who = people[i]
                against = _compared(_reach(kind, rises, size, limits[i + 1, 0], limits[i + 1, 1]), amount, strict)
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


@kernel
def _grown(array, used):
    """An array with room for so many numbers; it doubles, so that growing costs little."""
    if used <= array.size:
        return array
    bigger = np.empty(max(used, 2 * array.size), array.dtype)
    for i in range(array.size):
        bigger[i] = array[i]
    return bigger


@kernel
def _place(demand, cells, numbers):
    """Where a demand of one of some cells stands among all, or -1."""
    for cell in cells:
        for slot in range(2):
            if numbers[cell, slot] == demand:
                return cell, slot
    return -1, 0


@kernel
def judge_many(start, cells, moved, asked, own, alone):
    """`judge` for moves end to end, as rows: their ends, and of every row the demand, its objectors' end and these.

    ``asked`` is what `judge` takes after a move. A move with a tie anywhere is marked as doubtful; the rows of such a
    move do not count. If ``alone`` is given (as many numbers as `judge` takes, -1 all of them) every move is judged for
    its ``own`` demand only.
    """
    moves = start.size - 1
    ends, doubtful, rows, used = np.zeros(moves, np.int64), np.zeros(moves, np.bool_), 0, 0
    demands, last, who = np.empty(1024, np.int32), np.empty(1024, np.int64), np.empty(1024, np.int32)
    for move in range(moves):
        part = slice(start[move], start[move + 1])
        if alone.size:
            cell, slot = _place(own[move], cells[part], asked[2])
            if cell >= 0:
                alone[cell, slot] = own[move]
            settled, tied, first, objectors = judge(cells[part], moved[part], asked[0], asked[1], alone, *asked[3:])
            if cell >= 0:
                alone[cell, slot] = -1
        else:
            settled, tied, first, objectors = judge(cells[part], moved[part], *asked)
        demands, last = _grown(demands, rows + settled.size), _grown(last, rows + settled.size)
        who = _grown(who, used + objectors.size)
        for i in range(settled.size):
            doubtful[move] |= tied[i]
            demands[rows], last[rows] = settled[i], used + first[i + 1]
            rows += 1
        for i in range(objectors.size):
            doubtful[move] |= objectors[i] < 0
            who[used] = objectors[i]
            used += 1
        ends[move] = rows
    return ends, doubtful, demands[:rows], last[:rows], who[:used]


@kernel
def meet(demand, who, begin, end, left, pool, used, heard):
    """Whoever objects to all moves of a demand so far, and to one more; returns the pool and how much of it is used.

    ``left`` holds for every demand where its objectors begin in the pool and how many there are (-1: no move yet);
    ``heard`` holds for every insider the last number he was asked by, and at the end the last one given out.
    """
    first, number = left[demand]
    if number < 0:
        pool = _grown(pool, used + end - begin)
        left[demand, 0], left[demand, 1] = used, end - begin
        for i in range(begin, end):
            pool[used] = who[i]
            used += 1
        return pool, used
    heard[-1] += 1
    for i in range(begin, end):
        heard[who[i]] = heard[-1]
    kept = 0
    for i in range(first, first + number):
        if heard[pool[i]] == heard[-1]:
            pool[first + kept] = pool[i]
            kept += 1
    left[demand, 1] = kept
    return pool, used


@kernel
def sift(own, ends, doubtful, demands, last, who, left, pool, used, heard):
    """Which moves are worth keeping, one after the other: their own demand is not settled against everybody yet.

    ``own`` is the demand each move was made for (-1: it is kept for whatever it settles). What kept moves settle is
    noted down in ``left`` and the pool (see `meet`); doubtful ones are kept and not counted.
    """
    kept = np.zeros(ends.size, np.bool_)
    row, begin = np.int64(0), np.int64(0)
    for move in range(ends.size):
        waits = own[move] < 0 or left[own[move], 1] != 0
        kept[move] = waits and (doubtful[move] or ends[move] > row)
        for r in range(row, ends[move]):
            if kept[move] and not doubtful[move]:
                pool, used = meet(demands[r], who, begin, last[r], left, pool, used, heard)
            begin = last[r]
        row = ends[move]
    return kept, pool, used
