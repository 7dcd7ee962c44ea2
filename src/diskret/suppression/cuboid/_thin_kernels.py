"""Compiled second look at a finished pattern: open again what no pivot needs.

A requirement is a pivot in a subtable with the cuboid, or the two cuboids, that protect it there. A secondary cell may
be opened if every requirement that uses it finds other cuboids among the hidden cells.
"""

from __future__ import annotations

import numba
import numpy as np

USABLE, HIDDEN, PRIMARY, SINGLE = 1, 2, 4, 8
FIRST_HAND, INCOMING, OWN = 0, 1, 2
SLACK = 1e-12
MOST_WITH_SINGLES = 256
MOST_TOGETHER = 4
MOST_TRIED = 2000
MOST_USERS = 64


@numba.njit(cache=True, nogil=True)
def coordinates(place, strides, at):
    """Position on every axis of a flat place."""
    for a in range(strides.size):
        at[a] = place // strides[a]
        place -= at[a] * strides[a]


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def enter(requirement, pivot, diametral, strides, head, following, owner, used, cells):
    """Note for every cell of a cuboid that a requirement uses it; returns how many entries there are now."""
    for k in range(corners_of(pivot, diametral, strides, cells)):
        following[used] = head[cells[k]]
        owner[used] = requirement
        head[cells[k]] = used
        used += 1
    return used


@numba.njit(cache=True, nogil=True)
def person(place, row, first, items, strides, state):
    """Who the single contributor of a cell is, named by the cell inside the subtable; -1 if it need not be looked at.

    A single in the margin is the single inside that feeds it. If that one is primary and nothing else can hide among
    the parts, the two are suppressed and protected together, and the margin is an ordinary cell (rule 3).
    """
    n = 0
    base = place
    rest = place
    free = np.empty(strides.size, np.int64)
    for a in range(strides.size):
        code = rest // strides[a]
        rest -= code * strides[a]
        start, stop = first[row[a]], first[row[a] + 1]
        if stop - start > 1 and code == items[stop - 1]:
            free[n] = a
            n += 1
            base += (items[start] - code) * strides[a]
    if n == 0:
        return place
    digit = np.zeros(n, np.int64)
    here, twin, twins, others = base, -1, 0, 0
    i = 0
    while i < n:
        s = state[here]
        if s & SINGLE:
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
    if twins != 1:
        return -1  # counts that do not add up: that is what tables of totals are for
    return -1 if others == 0 and state[twin] & PRIMARY else twin


@numba.njit(cache=True, nogil=True)
def hidden_cuboids(pivot, row, first, items, strides, state, up, down, asked, single_rule, found, space):
    """Cuboids of hidden cells for a pivot: a clean one, or two with no single in common.

    Returns how many (0: none, 1, or 2); ``found`` holds their diametral places.
    """
    at, axis_of, totals, lines, numbers, cells, signs, rises, falls, index, kept, singles = space
    need, need_down, need_up = asked
    coordinates(pivot, strides, at)
    n = 0
    for a in range(strides.size):
        start, stop = first[row[a]], first[row[a] + 1]
        if stop - start < 2:
            continue
        axis_of[n] = a
        totals[n] = items[stop - 1]
        numbers[n] = 0
        for i in range(start, stop):
            if items[i] != at[a] and state[pivot + (items[i] - at[a]) * strides[a]] & HIDDEN:
                lines[n, numbers[n]] = items[i]
                numbers[n] += 1
        if numbers[n] == 0:
            return 0
        n += 1
    cells[0], signs[0] = pivot, 0
    rises[0], falls[0] = up[pivot], down[pivot]
    stored = 0
    tried = 0
    own = person(pivot, row, first, items, strides, state) if state[pivot] & SINGLE else pivot
    axis = 0
    index[0] = -1
    while axis >= 0:
        index[axis] += 1
        if index[axis] >= numbers[axis]:
            axis -= 1
            continue
        tried += 1
        if tried > MOST_TRIED:
            return 0  # looking longer is not worth a cell: it stays hidden
        a = axis_of[axis]
        code = lines[axis, index[axis]]
        shift = (code - at[a]) * strides[a]
        flip = 0 if code == totals[axis] or at[a] == totals[axis] else 1
        half = 1 << axis
        rise, fall = rises[axis], falls[axis]
        usable = True
        for k in range(half):
            c = cells[k] + shift
            if state[c] & HIDDEN == 0:
                usable = False
                break
            sign = signs[k] ^ flip
            if sign:
                rise, fall = min(rise, down[c]), min(fall, up[c])
            else:
                rise, fall = min(rise, up[c]), min(fall, down[c])
            cells[half + k], signs[half + k] = c, sign
        if not usable:
            continue
        reach = rise + fall
        if not reach > need + SLACK * max(need, reach if reach < np.inf else 0.0) or rise < need_up or fall < need_down:
            continue
        if axis < n - 1:
            axis += 1
            rises[axis], falls[axis] = rise, fall
            index[axis] = -1
            continue
        diametral = cells[2 * half - 1]
        met = 0
        if single_rule:
            for k in range(1, 2 * half):
                if state[cells[k]] & SINGLE:
                    who = person(cells[k], row, first, items, strides, state)
                    if who >= 0 and who != own:
                        singles[stored, met] = who
                        met += 1
        if met == 0:
            found[0] = diametral
            return 1
        for other in range(stored):
            common = False
            for i in range(met):
                for j in range(kept[other, 1]):
                    common = common or singles[stored, i] == singles[other, j]
            if not common:
                found[0], found[1] = kept[other, 0], diametral
                return 2
        if stored < MOST_WITH_SINGLES - 1:
            kept[stored, 0], kept[stored, 1] = diametral, met
            stored += 1
    return 0


@numba.njit(cache=True, nogil=True)
def asked_of(r, pivots, kinds, needs, full_incoming):
    """What a requirement demands: primaries their range, secondaries only that they cannot be computed."""
    p = pivots[r]
    if kinds[r] == OWN or (kinds[r] == INCOMING and not full_incoming):
        return 0.0, 0.0, 0.0
    return needs[0][p], needs[1][p], needs[2][p]


@numba.njit(cache=True, nogil=True)
def is_hidden(pivot, diametral, strides, state, cells):
    """Whether all cells of a cuboid are hidden."""
    hidden = True
    for k in range(corners_of(pivot, diametral, strides, cells)):
        hidden = hidden and state[cells[k]] & HIDDEN != 0
    return hidden


@numba.njit(cache=True, nogil=True)
def try_to_open(cell, requirements, lists, system, cells_of, options, openable, group, changed, place_of, space, found,
                corner):  # fmt: skip
    """Open a cell, and with it every secondary that is left without a cuboid; undo it all if a primary would be.

    Returns how many cells were opened (``group``) and how many requirements found other cuboids (``changed``).
    """
    pivots, firsts, seconds, rows, kinds = requirements
    head, following, owner = lists
    first, items, strides = system
    state, up, down, needs = cells_of
    single_rule, full_incoming = options
    entry, users = head[cell], 0
    while entry >= 0 and users <= MOST_USERS:
        users += 1
        entry = following[entry]
    if users > MOST_USERS:
        return 0, 0  # a cell so many cuboids run through is hardly ever free
    size, number, done = 1, 0, 0
    group[0] = cell
    state[cell] &= ~HIDDEN & 0xFF
    possible = True
    while possible and done < size:
        entry = head[group[done]]
        done += 1
        while entry >= 0 and possible:
            r = owner[entry]
            entry = following[entry]
            p = pivots[r]
            if state[p] & HIDDEN == 0:
                continue
            k = place_of[r]
            one, two = (firsts[r], seconds[r]) if k < 0 else (changed[k, 1], changed[k, 2])
            if is_hidden(p, one, strides, state, corner) and (two < 0 or is_hidden(p, two, strides, state, corner)):
                continue
            guarded = single_rule and kinds[r] != OWN
            asked = asked_of(r, pivots, kinds, needs, full_incoming)
            cuboids = hidden_cuboids(p, rows[r], first, items, strides, state, up, down, asked, guarded, found,
                                     space)  # fmt: skip
            if cuboids == 0:
                possible = openable[p] and size < group.size
                if possible:
                    group[size] = p
                    state[p] &= ~HIDDEN & 0xFF
                    size += 1
                continue
            if k < 0:
                k = number
                place_of[r] = k
                changed[k, 0] = r
                number += 1
            changed[k, 1] = found[0]
            changed[k, 2] = found[1] if cuboids == 2 else -1
        if possible and done == size:
            # a cuboid found early may have lost a cell since: look at it again through the cell that it lost
            for k in range(number):
                r = changed[k, 0]
                p = pivots[r]
                two = changed[k, 2]
                whole = is_hidden(p, changed[k, 1], strides, state, corner)
                if state[p] & HIDDEN and not (whole and (two < 0 or is_hidden(p, two, strides, state, corner))):
                    guarded = single_rule and kinds[r] != OWN
                    asked = asked_of(r, pivots, kinds, needs, full_incoming)
                    cuboids = hidden_cuboids(p, rows[r], first, items, strides, state, up, down, asked, guarded,
                                             found, space)  # fmt: skip
                    if cuboids > 0:
                        changed[k, 1] = found[0]
                        changed[k, 2] = found[1] if cuboids == 2 else -1
                    elif openable[p] and size < group.size:
                        group[size] = p
                        state[p] &= ~HIDDEN & 0xFF
                        size += 1
                    else:
                        possible = False
                        break
    for k in range(number):
        place_of[changed[k, 0]] = -1
    if not possible:
        for k in range(size):
            state[group[k]] |= HIDDEN
        return 0, 0
    return size, number


@numba.njit(cache=True, nogil=True)
def reopen(order, requirements, system, cells_of, options, openable, widest):
    """Try to open secondary cells in the given order; returns how many were opened. Changes the state and the cuboids.

    Requirement r: ``pivots[r]`` in the subtable ``rows[r]``, protected by the cuboids to ``firsts[r]`` and, if not -1,
    ``seconds[r]``; ``kinds[r]`` says whether the pivot is primary, a secondary from another subtable, for which any
    range will do, or one of this subtable, which only must not be computable.
    """
    pivots, firsts, seconds, _, _ = requirements
    strides, state = system[2], cells_of[0]
    axes = strides.size
    corners = 1 << axes
    head = np.full(state.size, -1, np.int64)
    room = 4 * corners * pivots.size + 1024
    lists = (head, np.empty(room, np.int64), np.empty(room, np.int64))
    corner = np.empty(corners, np.int64)
    used = 0
    for r in range(pivots.size):
        used = enter(r, pivots[r], firsts[r], strides, head, lists[1], lists[2], used, corner)
        if seconds[r] >= 0:
            used = enter(r, pivots[r], seconds[r], strides, head, lists[1], lists[2], used, corner)
    space = (np.empty(axes, np.int64), np.empty(axes, np.int64), np.empty(axes, np.int64),
             np.empty((axes, widest), np.int64), np.empty(axes, np.int64), np.empty(corners, np.int64),
             np.empty(corners, np.int64), np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1, np.int64),
             np.empty((MOST_WITH_SINGLES, 2), np.int64), np.empty((MOST_WITH_SINGLES, corners), np.int64))  # fmt: skip
    found = np.empty(2, np.int64)
    group = np.empty(MOST_TOGETHER * corners, np.int64)
    changed = np.empty((pivots.size, 3), np.int64)
    place_of = np.full(pivots.size, -1, np.int64)
    opened = 0
    for o in range(order.size):
        if state[order[o]] & HIDDEN == 0:
            continue
        size, number = try_to_open(order[o], requirements, lists, system, cells_of, options, openable, group, changed,
                                   place_of, space, found, corner)  # fmt: skip
        opened += size
        for k in range(number):
            r = changed[k, 0]
            firsts[r], seconds[r] = changed[k, 1], changed[k, 2]
            if used + 2 * corners > room:
                return opened  # the next round starts with tidy lists
            used = enter(r, pivots[r], firsts[r], strides, head, lists[1], lists[2], used, corner)
            if seconds[r] >= 0:
                used = enter(r, pivots[r], seconds[r], strides, head, lists[1], lists[2], used, corner)
    return opened
