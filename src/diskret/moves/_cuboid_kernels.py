"""Compiled search for moves that are products of one elementary move per classification.

An elementary move of a code consists of a branch from the code down to a leaf, and of one of two things: the way up to
the total, or the way up to below some sum and from that sum another branch down to a leaf, along which everything
changes the other way. The classifications are taken one after the other: what was chosen so far is a list of cells (a
prefix, the pivot first), and a code can be chosen only if the whole prefix, shifted to that code, can take part. Ways
are walked breadth first, so that short ones come first, and left as soon as they meet a cell that cannot take part.

All codes of all classifications are numbered through. Rooms are pairs (how far a cell can rise, how far it can fall),
minus infinity for cells that must not take part. Insiders are marked by tickets, numbers that are given out once.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import inlined, kernel, part

DOWN, LENGTH = 1, 2
RISES, FALLS = 0, 1
CANNOT = -np.inf
NOTHING, CLIMBS = -1, -2
ANY = 1 << 60


@inlined
def _reach(kind, forth, back):
    """How far the pivot is carried the way its demand asks for."""
    if kind == LENGTH:
        return forth + back
    return back if kind == DOWN else forth


@part
def _copied(cells, signs, count, to_cells, to_signs):
    """Copy cells with their signs: slices assigned to slices would take seconds to compile."""
    for i in range(count):
        to_cells[i] = cells[i]
        to_signs[i] = signs[i]


@part
def _narrowed(cells, signs, count, shift, flip, room, forth, back, kind, amount):
    """How far one can still go forth and back if a prefix, shifted to another code, takes part; and cells looked at."""
    for i in range(count):
        cell = cells[i] + shift
        sign = signs[i] ^ flip
        forth = min(forth, room[cell, sign])
        back = min(back, room[cell, 1 - sign])
        if _reach(kind, forth, back) < amount:
            return CANNOT, CANNOT, i + 1
    return forth, back, count


@part
def _objectors(cells, signs, count, shift, flip, forth, back, kind, amount, people, asked, heard, ticket, mark, limit):
    """Number of insiders who object to a prefix shifted to another code and were not heard yet; stops above a limit.

    ``asked`` is (own, left): whoever holds the first ticket knows something about the pivot itself and is not asked; if
    there is a second, only its holders are. An insider was heard if he holds ``ticket``; with ``mark`` he gets it.
    """
    start, who, tight, own, left = people
    number = 0
    for i in range(count):
        cell = cells[i] + shift
        sign = signs[i] ^ flip
        for entry in range(start[cell], start[cell + 1]):
            person = who[entry]
            if heard[person] == ticket or own[person] == asked[0] or (asked[1] and left[person] != asked[1]):
                continue
            if _reach(kind, min(forth, tight[entry, sign]), min(back, tight[entry, 1 - sign])) < amount:
                if mark:
                    heard[person] = ticket
                number += 1
                if number > limit:
                    return number
    return number


@part
def _heard(cells, signs, count, forth, back, kind, amount, people, asked, heard, ticket, limit):
    """Give a new ticket to everybody who objects to the cells as they are; how many, up to one above the limit."""
    still = np.int64(0)
    mark = still == 0  # no constant either
    return _objectors(
        cells, signs, count, still, still, forth, back, kind, amount, people, asked, heard, ticket, mark, limit
    )


@part
def _whole(cells, signs, count, room, kind, amount):
    """How far one can go forth and back with the cells as they are."""
    forth, back, _ = _narrowed(cells, signs, count, np.int64(0), np.int64(RISES), room, np.inf, np.inf, kind, amount)
    return forth, back


@part
def _ways(
    step, code, flip, cells, signs, count, far, room, kind, amount, tree,
    full, people, asked, heard, ticket, ways, far_of, queue, far_queue,
):  # fmt: skip
    """Ways of one classification for a prefix, shortest first: down from the pivot's code, or (``flip``) up and across.

    A way is written as (leaf it ends at, code it stays below, number of codes); a way up to the total has no leaf.
    With ``full`` no further insider may object. Returns how many ways there are and how many cells were looked at.
    """
    parent, part_start, parts = tree
    found, looked, first, last = 0, 0, 0, 1
    queue[0, 0], queue[0, 1], queue[0, 2] = code, CLIMBS if flip else code, 0
    far_queue[0, 0], far_queue[0, 1] = far[0], far[1]
    while first < last:
        here, below, codes = queue[first, 0], queue[first, 1], queue[first, 2]
        forth, back = far_queue[first, 0], far_queue[first, 1]
        first += 1
        climbs = below == CLIMBS
        top = parent[here] if climbs else here
        if top < 0 or (not climbs and part_start[here] == part_start[here + 1]):
            ways[found, 0], ways[found, 1] = (NOTHING, NOTHING) if climbs else (here, below)
            ways[found, 2] = codes
            far_of[found, 0], far_of[found, 1] = forth, back
            found += 1
            continue
        # when climbing the sum itself, then its parts
        for at in range(part_start[top] - climbs, part_start[top + 1]):
            up = at < part_start[top]
            other = top if up else parts[at]
            if other == here:
                continue
            shift, turned = (other - code) * step, RISES if up else flip
            f, b, n = _narrowed(cells, signs, count, shift, turned, room, forth, back, kind, amount)
            looked += n
            if f == CANNOT:
                continue
            # as many as nobody, but no constant: for that one numba would compile all of it once more
            none = min(looked, 0)
            if full and _objectors(
                cells,
                signs,
                count,
                shift,
                turned,
                far[0],
                far[1],
                kind,
                amount,
                people,
                asked,
                heard,
                ticket,
                none > 0,
                none,
            ):
                continue
            queue[last, 0], queue[last, 2] = other, codes + 1
            queue[last, 1] = CLIMBS if up else top if climbs else below
            far_queue[last, 0], far_queue[last, 1] = f, b
            last += 1
    return found, looked


@part
def _shifted(cells, signs, count, code, step, parent, low, below, flip, to_cells, to_signs, used):
    """Append a prefix shifted to every code from ``low`` up to before ``below``, except to the pivot's own."""
    while low != below:
        if low != code:
            shift = (low - code) * step
            for i in range(count):
                to_cells[used] = cells[i] + shift
                to_signs[used] = signs[i] ^ flip
                used += 1
        low = parent[low]
    return used


@part
def _search(
    codes, kind, amount, limit, effort, tree, strides, room, people, asked, clock, space, best_cells, best_signs
):
    """The product with fewest objectors, at most ``limit``: its number of cells (0: none found) and of objectors.

    The pivot is the one cell of the first prefix. The classification with fewest ways comes first.
    """
    parent = tree[0]
    cells, signs, count, far, ways, far_of, found, sorting, queue, far_queue, heard, ticket = space
    cursor, order, number = sorting[0], sorting[1], sorting[2]
    axes = codes.size
    widest = cells.shape[1]
    best, objecting = 0, np.zeros(axes + 1, np.int64)
    guarded = people[1].size > 0
    far[0, 0], far[0, 1] = _whole(cells[0], signs[0], count[0], room, kind, amount)
    if far[0, 0] == CANNOT:
        return 0, 0
    for axis in range(axes):
        number[axis] = 1
        for way in range(2):
            ways_found, n = _ways(
                strides[axis], codes[axis], way, cells[0], signs[0], count[0], far[0], room, kind, amount, tree,
                guarded and limit == 0, people, asked, heard[0], ticket[0],
                ways[0, way], far_of[0, way], queue, far_queue,
            )  # fmt: skip
            effort -= n
            number[axis] *= ways_found
        if number[axis] == 0:
            return 0, 0
        at = axis
        while at > 0 and number[order[at - 1]] > number[axis]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = axis
    level, fresh = 0, True
    while level >= 0 and effort > 0:
        axis = order[level]
        code, step = codes[axis], strides[axis]
        if fresh:
            cursor[level], fresh = 0, False
            for way in range(2):
                found[level, way], n = _ways(
                    step, code, way, cells[level], signs[level], count[level], far[level], room, kind, amount, tree,
                    guarded and objecting[level] == limit, people, asked, heard[level], ticket[level],
                    ways[level, way], far_of[level, way], queue, far_queue,
                )  # fmt: skip
                effort -= n
                if found[level, way] == 0:
                    found[level, 0] = 0
                    break
        if cursor[level] >= found[level, 0] * found[level, 1] or objecting[level] > limit:
            level -= 1
            continue
        down, up = cursor[level] // found[level, 1], cursor[level] % found[level, 1]
        cursor[level] += 1
        forth = min(far_of[level, 0, down, 0], far_of[level, 1, up, 0])
        back = min(far_of[level, 0, down, 1], far_of[level, 1, up, 1])
        size = count[level] * (1 + ways[level, 0, down, 2] + ways[level, 1, up, 2])
        if size > widest or _reach(kind, forth, back) < amount:
            continue
        effort -= size
        above = level + 1
        _copied(cells[level], signs[level], count[level], cells[above], signs[above])
        used = count[level]
        for low, below, flip in (
            (ways[level, 0, down, 0], ways[level, 0, down, 1], RISES),
            (code, ways[level, 1, up, 1], RISES),
            (ways[level, 1, up, 0], ways[level, 1, up, 1], FALLS),
        ):
            used = _shifted(
                cells[level], signs[level], count[level], code, step, parent, low, below, flip,
                cells[above], signs[above], used,
            )  # fmt: skip
        count[above], far[above, 0], far[above, 1] = used, forth, back
        if guarded:
            clock[0] += 1
            ticket[above] = clock[0]
            objecting[above] = _heard(
                cells[above], signs[above], used, forth, back, kind, amount,
                people, asked, heard[above], ticket[above], limit,
            )  # fmt: skip
            if objecting[above] > limit:
                continue
        if above < axes:
            level, fresh = above, True
            continue
        best = used
        _copied(cells[above], signs[above], used, best_cells, best_signs)
        limit = objecting[above] - 1
        if limit < 0:
            break
    return best, limit + 1


@part
def _grown(array, used):
    if used <= array.size:
        return array
    bigger = np.empty(max(used, 2 * array.size), dtype=array.dtype)
    for i in range(array.size):
        bigger[i] = array[i]
    return bigger


@kernel
def certify(pivots, codes, kinds, amounts, effort, tree, strides, room, people, asked, clock, space, best):
    """Moves for demands (those of one pivot stand together): demand and end of each move, cells, signs.

    The first move of a demand has fewest objectors; if there are any, none of them objects to the second. Moves of the
    pivot's other demand are tried before searching. ``people`` and what comes after it are made by whoever calls:
    arrays made here would take seconds to compile.
    """
    start, who, _, own, left = people
    cells, heard = space[0], space[10]
    best_cells, best_signs = best
    demand, end, moves = np.empty(64, np.int64), np.empty(64, np.int64), 0
    all_cells, all_signs, used = np.empty(1024, np.int64), np.empty(1024, np.int8), 0
    first = 0
    for d in range(pivots.size):
        earlier = first if d > 0 and pivots[d - 1] == pivots[d] else moves
        first = moves
        kind, amount = kinds[d], amounts[d]
        cells[0, 0] = pivots[d]
        clock[0] += 1
        asked[0], asked[1] = clock[0], 0
        for entry in range(start[pivots[d]], start[pivots[d] + 1]):
            own[who[entry]] = asked[0]
        for second in range(2):
            size, limit = 0, 0 if second else ANY
            for move in range(earlier, first):
                begin = end[move - 1] if move else 0
                n = end[move] - begin
                had_cells, had_signs = all_cells[begin:], all_signs[begin:]
                f, b = _whole(had_cells, had_signs, n, room, kind, amount)
                if f == CANNOT or limit < 0:
                    continue
                clock[0] += 1
                objecting = _heard(
                    had_cells, had_signs, n, f, b, kind, amount, people, asked, heard[0], clock[0], limit
                )
                if objecting <= limit:
                    size, limit = n, objecting - 1
                    _copied(had_cells, had_signs, n, best_cells, best_signs)
            if limit >= 0:
                n, objecting = _search(
                    codes[d], kind, amount, limit, effort, tree, strides, room,
                    people, asked, clock, space, best_cells, best_signs,
                )  # fmt: skip
                if n > 0:
                    size, limit = n, objecting - 1
            if size == 0:
                break
            demand, end = _grown(demand, moves + 1), _grown(end, moves + 1)
            all_cells, all_signs = _grown(all_cells, used + size), _grown(all_signs, used + size)
            _copied(best_cells, best_signs, size, all_cells[used:], all_signs[used:])
            used += size
            demand[moves], end[moves] = d, used
            moves += 1
            if limit < 0:
                break
            # to the second move only those are asked who object to the first
            f, b = _whole(best_cells, best_signs, size, room, kind, amount)
            clock[0] += 1
            _heard(best_cells, best_signs, size, f, b, kind, amount, people, asked, left, clock[0], limit + 1)
            asked[1] = clock[0]
    return demand[:moves], end[:moves], all_cells[:used], all_signs[:used]
