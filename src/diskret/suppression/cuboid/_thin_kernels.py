"""Compiled second look at a finished pattern: open again what no pivot needs.

A requirement is a pivot in a subtable with the cuboid, or the two cuboids, that protect it there. A secondary cell may
be opened if every requirement that uses it finds other cuboids among the hidden cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import kernel, part
from diskret.suppression._corner_kernels import HIDDEN, SINGLE, Asked, System, corners_of, extend, person, wide_enough

FIRST_HAND, INCOMING, OWN = 0, 1, 2
MOST_WITH_SINGLES = 256
MOST_TOGETHER = 4
MOST_TRIED = 2000
MOST_USERS = 64


class Requirements(NamedTuple):
    """Pivots, each in one subtable (a row of segments), and the diametral cells of the cuboids that protect them there.

    A second cuboid of -1 is none. ``kinds`` says whether a pivot is primary, a secondary from another subtable, for
    which any range will do, or one of this subtable, which only must not be computable.
    """

    pivots: Ints
    firsts: Ints
    seconds: Ints
    rows: Ints
    kinds: Ints


class Cells(NamedTuple):
    """The cells of the table: what is hidden, how far each can go, and what each needs."""

    state: npt.NDArray[np.uint8]
    up: Floats
    down: Floats
    needs: tuple[Floats, ...]


@part
def coordinates(place, strides, at):
    """Position on every axis of a flat place."""
    for a in range(strides.size):
        at[a] = place // strides[a]
        place -= at[a] * strides[a]


@part
def enter(requirement, pivot, diametral, strides, head, following, owner, used, cells):
    """Note for every cell of a cuboid that a requirement uses it; returns how many entries there are now."""
    for k in range(corners_of(pivot, diametral, strides, cells)):
        following[used] = head[cells[k]]
        owner[used] = requirement
        head[cells[k]] = used
        used += 1
    return used


@part
def lines_of(pivot, row, system, state, at, axis_of, totals, lines, numbers):
    """Hidden cells on the lines of a pivot, which a cuboid can begin with: how many axes vary, 0 if one has none."""
    first, items, strides = system.first, system.items, system.strides
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
    return n


@part
def singles_of(cells, number, row, system, state, own, singles):
    """Single contributors of a cuboid besides the pivot's own (into ``singles``); returns how many."""
    met = 0
    for k in range(1, number):
        if state[cells[k]] & SINGLE:
            who = person(cells[k], row, system, state)
            if who >= 0 and who != own:
                singles[met] = who
                met += 1
    return met


@part
def enough(diametral, met, singles, kept, stored, found):
    """Whether a cuboid protects: alone (1) if it meets no single, or with a stored one (2) that has none in common.

    If neither does (0), it is stored for later ones.
    """
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
    kept[stored, 0], kept[stored, 1] = diametral, met
    return 0


@kernel
def hidden_cuboids(pivot, row, system, cells_of, asked, single_rule, found, space):
    """Cuboids of hidden cells for a pivot: a clean one, or two with no single in common.

    Returns how many (0: none, 1, or 2); ``found`` holds their diametral places.
    """
    at, axis_of, totals, lines, numbers, cells, signs, rises, falls, index, kept, singles = space
    strides = system.strides
    state, up, down, _ = cells_of
    coordinates(pivot, strides, at)
    n = lines_of(pivot, row, system, state, at, axis_of, totals, lines, numbers)
    if n == 0:
        return 0
    cells[0], signs[0] = pivot, 1
    rises[0], falls[0] = up[pivot], down[pivot]
    stored = 0
    tried = 0
    own = person(pivot, row, system, state) if state[pivot] & SINGLE else pivot
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
        turn = 1 if code == totals[axis] or at[a] == totals[axis] else -1
        half = 1 << axis
        shift = (code - at[a]) * strides[a]
        rise, fall = extend(cells, signs, half, shift, turn, state, HIDDEN, up, down, rises[axis], falls[axis])
        if not wide_enough(rise, fall, asked):
            continue
        if axis < n - 1:
            axis += 1
            rises[axis], falls[axis] = rise, fall
            index[axis] = -1
            continue
        met = singles_of(cells, 2 * half, row, system, state, own, singles[stored]) if single_rule else 0
        number = enough(cells[2 * half - 1], met, singles, kept, stored, found)
        if number > 0:
            return number
        stored = min(stored + 1, MOST_WITH_SINGLES - 1)
    return 0


@part
def asked_of(r, pivots, kinds, needs, full_incoming):
    """What a requirement demands: primaries their range, secondaries only that they cannot be computed."""
    p = pivots[r]
    if kinds[r] == OWN or (kinds[r] == INCOMING and not full_incoming):
        return Asked(0.0, 0.0, 0.0)
    return Asked(needs[0][p], needs[1][p], needs[2][p])


@part
def is_hidden(pivot, diametral, strides, state, cells):
    """Whether all cells of a cuboid are hidden."""
    hidden = True
    for k in range(corners_of(pivot, diametral, strides, cells)):
        hidden = hidden and state[cells[k]] & HIDDEN != 0
    return hidden


@part
def try_to_open(cell, requirements, lists, system, cells_of, options, openable, group, changed, place_of, space, found,
                corner):  # fmt: skip
    """Open a cell, and with it every secondary that is left without a cuboid; undo it all if a primary would be.

    Returns how many cells were opened (``group``) and how many requirements found other cuboids (``changed``).
    """
    pivots, firsts, seconds, rows, kinds = requirements
    head, following, owner = lists
    strides = system.strides
    state, _, _, needs = cells_of
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
            cuboids = hidden_cuboids(p, rows[r], system, cells_of, asked, guarded, found, space)
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
                    cuboids = hidden_cuboids(p, rows[r], system, cells_of, asked, guarded, found, space)
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


@kernel
def reopen(order, requirements, system, cells_of, options, openable, widest):
    """Try to open secondary cells in the given order; returns how many were opened. Changes the state and the cuboids.

    ``requirements`` are `Requirements`, ``system`` a `System` and ``cells_of`` `Cells`, all as plain tuples: numba
    recognises those faster.
    """
    system = System(*system)
    pivots, firsts, seconds, _, _ = requirements
    strides, state = system.strides, cells_of[0]
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
