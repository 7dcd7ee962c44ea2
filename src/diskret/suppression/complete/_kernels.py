"""Compiled search for the best cuboid, or pair of cuboids, among products of faces.

The cuboids of a pivot are walked classification by classification: choosing one more face multiplies the cells, and a
branch is left as soon as a cell cannot be used, the range is too small, or the branch cannot beat the best so far.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel
from diskret.suppression._corner_kernels import Asked, before, by_choice, can_win, wide_enough


@kernel
def open_lines(pivot, start, shifts, usable):
    """Which faces consist of usable cells on the pivot's own line: all others are in no cuboid."""
    good = np.ones(start.size - 1, np.bool_)
    for f in range(start.size - 1):
        for e in range(start[f], start[f + 1]):
            if not usable[pivot + shifts[e]]:
                good[f] = False
                break
    return good


@kernel
def walk(pivot, first, start, shifts, signs, bends, most_bends, cells_of, asked, prune_rank, best, found, kept, buffer):
    """All admissible cuboids in file order: the best without singles, and those with singles for pairs.

    ``first`` says where the faces of each classification begin. ``best`` = (count, rank, cost, up, down) and ``found``
    (faces, -1: none) describe the best clean cuboid; rows of ``kept`` the same, then the faces. Returns how many are
    kept, or -1 if there was no room.
    """
    usable, hidden, unit, rank, cost, up, down, person = cells_of
    asked = Asked(*asked)
    n = first.size - 1
    own = person[pivot]
    good = open_lines(pivot, start, shifts, usable)
    cells, parity = buffer
    filled = np.ones(n + 1, np.int64)
    counts, ranks, costs = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    rises, falls = np.full(n + 1, up[pivot]), np.full(n + 1, down[pivot])
    singles, bent = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    at = np.empty(n, np.int64)
    cells[0], parity[0] = pivot, 1
    found[0] = -1
    number, c = 0, 0
    at[0] = first[0] - 1
    while c >= 0:
        at[c] += 1
        f = at[c]
        if f >= first[c + 1]:
            c -= 1
            continue
        if not good[f] or bent[c] + bends[f] > most_bends:
            continue
        count, margin, price = counts[c], ranks[c], costs[c]
        rise, fall, alone = rises[c], falls[c], singles[c]
        here = filled[c]
        fine = True
        for e in range(start[f], start[f + 1]):
            for k in range(filled[c]):
                cell = cells[k] + shifts[e]
                if not usable[cell]:
                    fine = False
                    break
                if not hidden[cell]:
                    count += unit[cell]
                    margin += rank[cell]
                    price += cost[cell]
                if person[cell] >= 0 and person[cell] != own:
                    alone += 1
                sign = parity[k] * signs[e]
                if sign < 0:
                    rise, fall = min(rise, down[cell]), min(fall, up[cell])
                else:
                    rise, fall = min(rise, up[cell]), min(fall, down[cell])
                cells[here], parity[here] = cell, sign
                here += 1
            if not fine:
                break
        if not fine:
            continue
        if not wide_enough(rise, fall, asked):
            continue
        if found[0] >= 0 and not can_win(count, margin, price, best, prune_rank):
            continue
        if c < n - 1:
            c += 1
            filled[c], counts[c], ranks[c], costs[c] = here, count, margin, price
            rises[c], falls[c], singles[c], bent[c] = rise, fall, alone, bent[c - 1] + bends[f]
            at[c] = first[c] - 1
            continue
        if alone == 0:
            if found[0] < 0 or before(count, margin, price, best):
                best[0], best[1], best[2], best[3], best[4] = count, margin, price, rise, fall
                found[:n] = at
                if count == 0 and margin == 0:
                    return number
        else:
            if number == kept.shape[0]:
                return -1
            kept[number, 0], kept[number, 1], kept[number, 2] = count, margin, price
            kept[number, 3], kept[number, 4] = rise, fall
            kept[number, 5:] = at
            number += 1
    return number


@kernel
def product_cells(pivot, faces, start, shifts, signs, cells, parity):
    """The cells of a product of faces with their signs, pivot first; returns how many."""
    cells[0], parity[0] = pivot, 1
    here = 1
    for c in range(faces.size):
        f = faces[c]
        before = here
        for e in range(start[f], start[f + 1]):
            for k in range(before):
                cells[here], parity[here] = cells[k] + shifts[e], parity[k] * signs[e]
                here += 1
    return here


@kernel
def best_pair(pivot, start, shifts, signs, cells_of, prune_rank, best, found, kept, number, buffer):
    """The best pair of cuboids with no single in common, if it comes before the best clean cuboid.

    A pair never comes before either of its members, so members are taken in order until they cannot win. Returns the
    positions of both in ``kept``, or (-1, -1).
    """
    _, hidden, unit, rank, cost, _, _, person = cells_of
    own = person[pivot]
    cells, parity = buffer
    order = by_choice(kept, number)
    none = found[0] < 0
    win = (-1, -1)
    stamp = {np.int64(-1)}
    people = {np.int64(-1)}
    for jj in range(1, number):
        j = order[jj]
        if not none and not can_win(kept[j, 0], kept[j, 1], kept[j, 2], best, prune_rank):
            break
        size = product_cells(pivot, kept[j, 5:].astype(np.int64), start, shifts, signs, cells, parity)
        stamp.clear()
        people.clear()
        for k in range(size):
            stamp.add(cells[k])
            if person[cells[k]] >= 0 and person[cells[k]] != own:
                people.add(person[cells[k]])
        for ii in range(jj):
            i = order[ii]
            size = product_cells(pivot, kept[i, 5:].astype(np.int64), start, shifts, signs, cells, parity)
            count, margin, price = kept[j, 0], kept[j, 1], kept[j, 2]
            disjoint = True
            for k in range(size):
                cell = cells[k]
                if person[cell] in people:
                    disjoint = False
                    break
                if not hidden[cell] and cell not in stamp:
                    count += unit[cell]
                    margin += rank[cell]
                    price += cost[cell]
            if disjoint and (none or before(count, margin, price, best)):
                best[0], best[1], best[2] = count, margin, price
                win = (i, j)
                none = False
        if win[0] >= 0 and best[0] == 0:
            break
    return win
