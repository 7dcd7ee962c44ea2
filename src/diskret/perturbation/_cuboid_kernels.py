"""Compiled search for cuboids of finest cells, and the errors that move them.

A move is given by two finest codes per classification, g and d, or by g alone. It changes the cells of the product of
the chains above these codes, up to where the two chains meet: plus along g, minus along d. Sums above the meeting point
do not change; with g alone all sums up to the total do. So a table stays additive whatever moves are made.

All numbers are whole: values in units of their last decimal. ``low`` and ``high`` say between which changes each cell
must stay, ``change`` what it has been changed by so far.
"""

from __future__ import annotations

import math

import numba
import numpy as np

USABLE, PRIMARY, SINGLE, SETTLED = 1, 2, 4, 8
ENOUGH = 6
"""So many cuboids are compared before the best is taken."""
LOOKS = 3000
"""So many partial cuboids are looked at before a kind of cuboid is given up, or the best so far is taken."""
FAR = np.int64(1) << np.int64(60)
FIRST, AGAIN, SECOND = 0, 1, 2
CORNERS = 200
"""So many finest cells below a sum are tried before it is given up."""
ALONE = 1e6
"""Price of a partner with one contributor: he would know the error."""


@numba.njit(cache=True, nogil=True)
def mixed(k):
    """A number that looks random, for move k: sums of them tell which moves a cell belongs to."""
    x = np.uint64(k) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(x ^ (x >> np.uint64(31)))


@numba.njit(cache=True, nogil=True)
def spread(g, d, tree, cells, signs, corners):
    """All cells a move changes, their signs, and from which corner each stems; returns how many.

    ``g`` and ``d`` hold one finest code per classification, d -1 where g moves alone.
    """
    parent, offset, strides = tree[0], tree[1], tree[2]
    cells[0], signs[0], corners[0] = 0, 1, 0
    count = 1
    for a in range(g.size):
        stop = -1
        if d[a] >= 0:  # where the chains meet: codes stand before their sums, so the lower one climbs
            stop, other = g[a], d[a]
            while stop != other:
                if stop < other:
                    stop = parent[offset[a] + stop]
                else:
                    other = parent[offset[a] + other]
        fresh, head = count, g[a]
        for side in range(2 if d[a] >= 0 else 1):
            code = d[a] if side else g[a]
            while code != stop and code >= 0:
                if side or code != head:  # g itself goes into the cells that are there
                    for k in range(count):
                        cells[fresh] = cells[k] + code * strides[a]
                        signs[fresh] = -signs[k] if side else signs[k]
                        corners[fresh] = corners[k] | (1 << a) if side else corners[k]
                        fresh += 1
                code = parent[offset[a] + code]
        for k in range(count):
            cells[k] += head * strides[a]
        count = fresh
    return count


@numba.njit(cache=True, nogil=True)
def reach(number, cells, signs, change, low, high):
    """How far a move can go up and down before a cell leaves what it may be."""
    rise, fall = FAR, FAR
    for k in range(number):
        c = cells[k]
        up, down = (high[c] - change[c]) // abs(signs[k]), (change[c] - low[c]) // abs(signs[k])
        if signs[k] > 0:
            rise, fall = min(rise, up), min(fall, down)
        else:
            rise, fall = min(rise, down), min(fall, up)
    return rise, fall


@numba.njit(cache=True, nogil=True)
def rebooked(number, cells, signs, count, least):
    """How many contributors must move to the plus cells so that all have enough; -1 if the others cannot spare them.

    Minus cells keep at least ``least``: their smallest surplus is m_max of (12), and (13) is asked for all plus cells.
    """
    wanted, spare = 0, FAR
    for k in range(number):
        n = count[cells[k]]
        if signs[k] > 0:
            wanted = max(wanted, least - n)
        else:
            spare = min(spare, n - least)
    return wanted if wanted == 0 or wanted <= spare else -1


@numba.njit(cache=True, nogil=True)
def open_steps(number, cells, signs, cellwise, demands, pivot, fresh, before, cap, gaps, opened):
    """The steps a move may take, as intervals (from, to) in ``opened``; returns how many intervals.

    Every cell stays within its bounds. The pivot and all primary cells that have changed enough already must not come
    back to within their demand: each leaves a gap. With ``fresh`` what the pivot changes by since it had changed by
    ``before`` must alone be as much as it demands.
    """
    change, low, high, state = cellwise
    place, need_up, need_down = demands
    rise, fall = reach(number, cells, signs, change, low, high)
    first, last = -min(fall, cap), min(rise, cap)
    count = 0
    for k in range(number):
        c = cells[k]
        if c == pivot or state[c] & SETTLED:
            p, times = place[c], abs(signs[k])
            if signs[k] > 0:  # steps up to a, and from b on, are far enough
                a, b = (-need_down[p] - change[c]) // times, -((change[c] - need_up[p]) // times)
            else:
                a, b = (change[c] - need_up[p]) // times, -((-need_down[p] - change[c]) // times)
            for _ in range(2 if fresh and c == pivot else 1):
                m = count
                while m > 0 and gaps[m - 1, 0] > a:
                    gaps[m, 0], gaps[m, 1] = gaps[m - 1, 0], gaps[m - 1, 1]
                    m -= 1
                gaps[m, 0], gaps[m, 1] = a, b
                count += 1
                a, b = before - need_down[p] - change[c], before + need_up[p] - change[c]
    found = 0
    for m in range(count):
        if gaps[m, 0] >= first:
            opened[found, 0], opened[found, 1] = first, min(gaps[m, 0], last)
            found += opened[found, 1] >= first
        first = max(first, gaps[m, 1])
        if first > last:
            return found
    opened[found, 0], opened[found, 1] = first, last
    return found + (last >= first)


@numba.njit(cache=True, nogil=True)
def _normal(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@numba.njit(cache=True, nogil=True)
def drawn(u, number, opened, sd):
    """A whole step from the open intervals: uniform, or (with ``sd``) normal, cut to them. u is uniform on [0, 1)."""
    whole = 0.0
    for i in range(number):
        a, b = opened[i]
        whole += _normal((b + 0.5) / sd) - _normal((a - 0.5) / sd) if sd > 0 else np.float64(b - a + 1)
    if sd > 0 and whole < 1e-12:
        return drawn(u, number, opened, 0.0)
    t = u * whole
    for i in range(number):
        a, b = opened[i]
        share = _normal((b + 0.5) / sd) - _normal((a - 0.5) / sd) if sd > 0 else np.float64(b - a + 1)
        if t < share or i == number - 1:
            break
        t -= share
    if sd <= 0:
        return min(a + np.int64(t), b)
    base = _normal((a - 0.5) / sd)
    while a < b:  # the first step whose share of the distribution reaches t
        middle = (a + b) >> 1
        if _normal((middle + 0.5) / sd) - base >= t:
            b = middle
        else:
            a = middle + 1
    return a


@numba.njit(cache=True, nogil=True)
def carry_out(step, number, cells, signs, cellwise, demands, mark, signature):
    """Change all cells of a move, and note which primary cells have changed enough by now."""
    change, state = cellwise[0], cellwise[3]
    place, need_up, need_down = demands
    for k in range(number):
        c = cells[k]
        change[c] += signs[k] * step
        if signature.size:
            signature[c] += signs[k] * mark
        if state[c] & (PRIMARY | SETTLED) == PRIMARY:
            p = place[c]
            if change[c] >= need_up[p] or -change[c] >= need_down[p]:
                state[c] |= SETTLED


@numba.njit(cache=True, nogil=True)
def corner_below(pivot, at, tree, value, state, g):
    """A finest cell below a pivot: down the largest parts. False if there is none that may change."""
    offset, strides, first_part, next_part = tree[1], tree[2], tree[6], tree[7]
    here = pivot
    for a in range(at.size):
        code = at[a]
        while first_part[offset[a] + code] >= 0:
            best, size = -1, -1
            part = first_part[offset[a] + code]
            while part >= 0:
                c = here + (part - code) * strides[a]
                if state[c] & USABLE and abs(value[c]) > size:
                    best, size = part, abs(value[c])
                part = next_part[offset[a] + part]
            if best < 0:
                return False
            here += (best - code) * strides[a]
            code = best
        g[a] = code
    return state[here] & USABLE != 0


@numba.njit(cache=True, nogil=True)
def walk(pivot, origin, g, ranges, tree, cellwise, demands, value, goal, looks_left, work, best):
    """Cuboids of one kind that hold a finest cell: the best by price goes to ``best`` (d, price). True if one is found.

    ``ranges`` gives per classification the leaves that are partners: from, up to, leaving out from, up to; the first is
    -1 where g moves alone. Partners are tried from the nearest following code on.
    """
    leaves, strides = tree[3], tree[2]
    change, low, high, state = cellwise
    wanted_up, wanted_down = goal[0], goal[1]
    corner, sign, rises, falls, prices, index, sizes, d = work[0]
    n = g.size
    corner[0], sign[0] = origin, 1
    rises[0], falls[0], prices[0] = high[origin] - change[origin], change[origin] - low[origin], 0.0
    sizes[0] = 1
    axis, found, looks = 0, 0, 0
    index[0] = -1
    while axis >= 0:
        index[axis] += 1
        from_, to, skip_from, skip_to = ranges[axis, 0], ranges[axis, 1], ranges[axis, 2], ranges[axis, 3]
        half = sizes[axis]
        if from_ < 0:
            if index[axis] > 0:
                axis -= 1
                continue
            d[axis] = -1
            rise, fall, price, full = rises[axis], falls[axis], prices[axis], half
        else:
            after = to - skip_to
            if index[axis] >= after + skip_from - from_ or looks > looks_left:
                axis -= 1
                continue
            looks += 1
            at = skip_to + index[axis] if index[axis] < after else from_ + index[axis] - after
            d[axis] = leaves[at]
            shift = (d[axis] - g[axis]) * strides[axis]
            rise, fall, price = rises[axis], falls[axis], prices[axis]
            usable = True
            for k in range(half):
                c = corner[k] + shift
                s = state[c]
                if s & USABLE == 0:
                    usable = False
                    break
                up, down = high[c] - change[c], change[c] - low[c]
                if sign[k] < 0:
                    rise, fall = min(rise, up), min(fall, down)
                else:
                    rise, fall = min(rise, down), min(fall, up)
                if s & (PRIMARY | SETTLED) != PRIMARY:
                    price += 1.0 / (1.0 + abs(value[c]))
                if s & SINGLE:
                    price += ALONE
                corner[half + k], sign[half + k] = c, -sign[k]
            if not usable or price >= best[0] or (rise < wanted_up and fall < wanted_down):
                continue
            full = 2 * half
        if axis < n - 1:
            axis += 1
            rises[axis], falls[axis], prices[axis], sizes[axis] = rise, fall, price, full
            index[axis] = -1
            continue
        if price < best[0] and _fits(pivot, g, d, tree, cellwise, demands, goal, work[1]):
            best[0] = price
            for a in range(n):
                best[1 + a] = d[a]
            found += 1
            if found >= ENOUGH:
                return True
    return found > 0


@numba.njit(cache=True, nogil=True)
def _fits(pivot, g, d, tree, cellwise, demands, goal, space):
    """Whether a step is open, the contributors suffice, and nobody who knows the pivot's error so far is in it."""
    state = cellwise[3]
    _, _, fresh, before, cap, count, least, signature, known = goal
    cells, signs, corners, gaps, opened = space
    number = spread(g, d, tree, cells, signs, corners)
    for k in range(number):
        if state[cells[k]] & USABLE == 0:
            return False
    if open_steps(number, cells, signs, cellwise, demands, pivot, fresh, before, cap, gaps, opened) == 0:
        return False
    if count.size and rebooked(number, cells, signs, count, least) < 0:
        return False
    if known != 0:
        for k in range(number):
            c = cells[k]
            if corners[k] and state[c] & SINGLE and (signature[c] == known or signature[c] == -known):
                return False
    return True


@numba.njit(cache=True, nogil=True)
def kinds(g, at, tree, kind, weight, ranges, first):
    """Next combination of how far partners are, at a total ``weight``; False if there is none.

    Per classification 0 is a partner under the nearest sum that splits the pivot off, 1 one sum further up and so on;
    the last is no partner at all. A pivot that is the total of a classification has no partner there.
    """
    parent, offset, leaf_from, leaf_to = tree[0], tree[1], tree[4], tree[5]
    n = g.size
    a = n - 1
    while True:
        if first:
            first = False
        else:
            while a >= 0:
                kind[a] += 1
                if kind[a] <= _levels(at[a], parent, offset[a]):
                    break
                kind[a] = 0
                a -= 1
            if a < 0:
                return False
            a = n - 1
        total = 0
        for i in range(n):
            total += kind[i]
        if total == weight:
            break
    for i in range(n):
        code, steps = at[i], kind[i]
        above = parent[offset[i] + code]
        while steps > 0 and above >= 0:
            code, above = above, parent[offset[i] + above]
            steps -= 1
        if above < 0:
            ranges[i, 0] = -1
        else:
            o = offset[i]
            ranges[i, 0], ranges[i, 1] = leaf_from[o + above], leaf_to[o + above]
            ranges[i, 2], ranges[i, 3] = leaf_from[o + code], leaf_to[o + code]
    return True


@numba.njit(cache=True, nogil=True)
def _levels(code, parent, offset):
    steps = 0
    while parent[offset + code] >= 0:
        code = parent[offset + code]
        steps += 1
    return steps


@numba.njit(cache=True, nogil=True)
def best_cuboid(pivot, g, at, tree, cellwise, demands, value, goal, looks, kind, ranges, work, best):
    """The cheapest cuboid of the nearest kind that does what the pivot demands; False if there is none."""
    most, origin = 0, np.int64(0)
    for a in range(at.size):
        most += _levels(at[a], tree[0], tree[1][a])
        origin += g[a] * tree[2][a]
    best[0] = np.inf
    found = False
    for weight in range(most + 1):
        kind[:] = 0
        first = True
        while kinds(g, at, tree, kind, weight, ranges, first):
            first = False
            found |= walk(pivot, origin, g, ranges, tree, cellwise, demands, value, goal, looks, work, best)
        if found:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def next_corner(at, tree, state, turn, g):
    """The finest cells below a pivot, one per turn; whether this one may change, and whether there are more."""
    offset, strides, leaves, leaf_from, leaf_to = tree[1], tree[2], tree[3], tree[4], tree[5]
    origin = np.int64(0)
    for a in range(at.size - 1, -1, -1):
        start, stop = leaf_from[offset[a] + at[a]], leaf_to[offset[a] + at[a]]
        g[a] = leaves[start + turn % (stop - start)]
        turn //= stop - start
        origin += g[a] * strides[a]
    return state[origin] & USABLE != 0, turn == 0


@numba.njit(cache=True, nogil=True)
def perturb_cells(order, draws, tree, value, cellwise, demands, caps, options, count, signature, mode, earlier,
                  first_number, made, made_steps):  # fmt: skip
    """Move every pivot in turn along the best cuboid of the nearest kind; returns how many moves, and the failures.

    ``mode`` FIRST: every pivot that has not changed enough. AGAIN: the same, with any finest cell below it, without a
    cap, and looking longer. SECOND: another move, independent of whoever knows the first ones, after which pivots had
    changed by ``earlier``.
    """
    strides = tree[2]
    change, state = cellwise[0], cellwise[3]
    place, need_up, need_down = demands
    sd_share, least, room = options
    n = strides.size
    cells, signs, corners = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    gaps, opened = np.empty((room + 2, 2), np.int64), np.empty((room + 3, 2), np.int64)
    space = (cells, signs, corners, gaps, opened)
    d, g, at, kind = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    work = (
        (np.empty(2 << n, np.int64), np.empty(2 << n, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64),
         np.empty(n + 1), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), d), space,
    )  # fmt: skip
    ranges, best = np.empty((n, 4), np.int64), np.empty(n + 1)
    failures = np.zeros(order.size, np.bool_)
    number = 0
    for turn in range(order.size):
        pivot = order[turn]
        settled = state[pivot] & SETTLED != 0
        booked = count.size == 0 or count[pivot] >= least
        if settled and booked and mode != SECOND:
            continue
        p = place[pivot]
        fresh = mode == SECOND
        before = earlier[turn] if fresh else np.int64(0)
        done = change[pivot] - before
        if fresh and (done >= need_up[p] or -done >= need_down[p]):
            continue
        rest = pivot
        for a in range(n):
            at[a] = rest // strides[a]
            rest -= at[a] * strides[a]
        cap = caps[p] if mode != AGAIN else FAR
        unmet = fresh or not settled
        known = signature[pivot] if fresh else np.int64(0)
        goal = (need_up[p] - done if unmet else np.int64(0), need_down[p] + done if unmet else np.int64(0), fresh,
                before, cap, count, least, signature, known)  # fmt: skip
        found = False
        if state[pivot] & USABLE and corner_below(pivot, at, tree, value, state, g):
            looks = LOOKS if mode != AGAIN else 100 * LOOKS
            found = best_cuboid(pivot, g, at, tree, cellwise, demands, value, goal, looks, kind, ranges, work, best)
            other = 0
            while mode == AGAIN and not found and other < CORNERS:
                usable, more = next_corner(at, tree, state, other, g)
                other += 1
                if not more:
                    break
                if usable:
                    found = best_cuboid(pivot, g, at, tree, cellwise, demands, value, goal, LOOKS, kind, ranges, work,
                                        best)  # fmt: skip
        if not found:
            failures[turn] = True
            continue
        for a in range(n):
            d[a] = np.int64(best[1 + a])
        size = spread(g, d, tree, cells, signs, corners)
        if count.size:
            m = rebooked(size, cells, signs, count, least)
            for k in range(size):
                count[cells[k]] += signs[k] * m
        intervals = open_steps(size, cells, signs, cellwise, demands, pivot, fresh, before, cap, gaps, opened)
        step = drawn(draws[turn], intervals, opened, sd_share * min(cap, caps[p]))
        carry_out(step, size, cells, signs, cellwise, demands, mixed(first_number + number), signature)
        for a in range(n):
            made[number, a], made[number, n + a] = g[a], d[a]
        made[number, 2 * n] = pivot
        made_steps[number] = step
        number += 1
    return number, failures


@numba.njit(cache=True, nogil=True)
def sign(made, tree, room, signature):
    """Which moves every cell belongs to, as a sum of their numbers: equal for cells of the same moves."""
    n = tree[2].size
    cells, signs, corners = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    for m in range(made.shape[0]):
        size = spread(made[m, :n], made[m, n : 2 * n], tree, cells, signs, corners)
        for k in range(size):
            signature[cells[k]] += signs[k] * mixed(m)


@numba.njit(cache=True, nogil=True)
def told_by_singles(made, tree, room, state, signature, told):
    """Mark the primary cells whose error follows from that of a cell with a single contributor, who knows it.

    The error of a cell is a sum over its moves. Cells of the same moves, with the same or all opposite signs, have the
    same error; the signature tells. Cells of one corner have the same single contributor, whose own business they are.
    """
    n = tree[2].size
    cells, signs, corners = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    for m in range(made.shape[0]):
        size = spread(made[m, :n], made[m, n : 2 * n], tree, cells, signs, corners)
        for k in range(size):
            c = cells[k]
            if state[c] & SINGLE == 0:
                continue
            for j in range(size):
                p = cells[j]
                same = signature[p] == signature[c] or signature[p] == -signature[c]
                if same and state[p] & PRIMARY and corners[j] != corners[k]:
                    told[p] = True


@numba.njit(cache=True, nogil=True)
def perturb_along(order, draws, first_move, moves_of, start, all_cells, all_signs, cellwise, demands, caps, sd_share,
                  steps):  # fmt: skip
    """Move every pivot in turn along the first given move that has a step open; returns the failures.

    The moves of a pivot are ``moves_of[first_move[turn] : first_move[turn + 1]]``, the cells of move m lie between
    ``start[m]`` and ``start[m + 1]``. What each move has been taken by is added to ``steps``.
    """
    state = cellwise[3]
    failures, unsigned = np.zeros(order.size, np.bool_), np.empty(0, np.int64)
    longest = 0
    for m in range(start.size - 1):
        longest = max(longest, start[m + 1] - start[m])
    gaps, opened = np.empty((longest + 2, 2), np.int64), np.empty((longest + 3, 2), np.int64)
    for turn in range(order.size):
        pivot = order[turn]
        if state[pivot] & SETTLED:
            continue
        failures[turn] = True
        for capped in range(1, -1, -1):
            for at in range(first_move[turn], first_move[turn + 1]):
                m = moves_of[at]
                cells, signs = all_cells[start[m] : start[m + 1]], all_signs[start[m] : start[m + 1]]
                usable = True
                for k in range(cells.size):
                    usable = usable and state[cells[k]] & USABLE != 0
                cap = caps[demands[0][pivot]] if capped else FAR
                found = 0
                if usable:
                    found = open_steps(cells.size, cells, signs, cellwise, demands, pivot, False, np.int64(0), cap,
                                       gaps, opened)  # fmt: skip
                if found:
                    step = drawn(draws[turn], found, opened, sd_share * min(cap, caps[demands[0][pivot]]))
                    carry_out(step, cells.size, cells, signs, cellwise, demands, np.int64(0), unsigned)
                    steps[m] += step
                    failures[turn] = False
                    break
            if not failures[turn]:
                break
    return failures
