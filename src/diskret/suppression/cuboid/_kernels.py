"""Compiled search for protecting cuboids inside subtables.

A subtable is copied into local arrays, its total last on every axis. For each pivot the cuboids are walked axis by
axis: choosing the diametral index of one more axis doubles the cells, so that a branch is left as soon as a cell cannot
be used, the range is too small, or the branch cannot beat the best choice so far.
"""

from __future__ import annotations

import numba
import numpy as np

USABLE, HIDDEN, PRIMARY, SINGLE = 1, 2, 4, 8
# Ranges are sums of decimals held in floats: equal up to rounding counts as equal, and equal is not enough.
SLACK = 1e-12


@numba.njit(cache=True, nogil=True, inline="always")
def _before(count_a, rank_a, cost_a, count_b, rank_b, cost_b):
    """Whether choice a comes before choice b: fewest new cells, lowest margin rank, smallest cost.

    Costs that differ by rounding only are equal, so that the order of adding up decides nothing.
    """
    if count_a != count_b:
        return count_a < count_b
    if rank_a != rank_b:
        return rank_a < rank_b
    return cost_b - cost_a > SLACK * abs(cost_a)


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
def walk(pivot, at, sizes, steps, local, asked, prune_rank, single_rule, best, found, kept, work):
    """All admissible cuboids of a pivot in file order; the best clean one, and those with singles for pairs.

    ``best`` is (count, rank, cost, up, down) of the best clean cuboid, ``found`` its diametral cell (-1: none).
    Cuboids with singles that could still win in a pair go to ``kept``; returns how many, or -1 if kept is full.
    """
    n = sizes.size
    _, state, persons, up, down, rank, cost = local
    own = persons[pivot]
    need, need_down, need_up = asked
    cells, signs, counts, ranks, costs, rises, falls, singles, index = work
    cells[0] = pivot
    signs[0] = 0
    counts[0] = 0
    ranks[0] = 0.0
    costs[0] = 0.0
    rises[0] = up[pivot]
    falls[0] = down[pivot]
    singles[0] = 0
    found[0] = -1
    number = 0
    axis = 0
    index[0] = -1
    while axis >= 0:
        index[axis] += 1
        if index[axis] == at[axis]:
            index[axis] += 1
        if index[axis] >= sizes[axis]:
            axis -= 1
            continue
        shift = (index[axis] - at[axis]) * steps[axis]
        last = sizes[axis] - 1
        flip = 0 if index[axis] == last or at[axis] == last else 1
        half = 1 << axis
        count, margin, price = counts[axis], ranks[axis], costs[axis]
        rise, fall, alone = rises[axis], falls[axis], singles[axis]
        usable = True
        for k in range(half):
            c = cells[k] + shift
            s = state[c]
            if s & (USABLE | HIDDEN) == 0:
                usable = False
                break
            if s & HIDDEN == 0:
                count += 1
                margin += rank[c]
                price += cost[c]
            if single_rule and s & SINGLE and persons[c] >= 0 and persons[c] != own:
                alone += 1
            sign = signs[k] ^ flip
            if sign:
                rise, fall = min(rise, down[c]), min(fall, up[c])
            else:
                rise, fall = min(rise, up[c]), min(fall, down[c])
            cells[half + k] = c
            signs[half + k] = sign
        if not usable:
            continue
        reach = rise + fall
        if not reach > need + SLACK * max(need, reach if reach < np.inf else 0.0):
            continue
        if rise < need_up or fall < need_down:
            continue
        if found[0] >= 0:
            if prune_rank:
                if not _before(count, margin, price, best[0], best[1], best[2]):
                    continue
            elif count > best[0]:
                continue
        if axis < n - 1:
            axis += 1
            counts[axis], ranks[axis], costs[axis] = count, margin, price
            rises[axis], falls[axis], singles[axis] = rise, fall, alone
            index[axis] = -1
            continue
        diametral = cells[2 * half - 1]
        if alone == 0:
            if found[0] < 0 or _before(count, margin, price, best[0], best[1], best[2]):
                found[0] = diametral
                best[0], best[1], best[2], best[3], best[4] = count, margin, price, rise, fall
                if count == 0:
                    return number
        else:
            if number == kept.shape[0]:
                return -1
            kept[number, 0], kept[number, 1], kept[number, 2] = count, margin, price
            kept[number, 3], kept[number, 4], kept[number, 5] = rise, fall, diametral
            number += 1
    return number


@numba.njit(cache=True, nogil=True)
def cuboid_cells(pivot, diametral, at, sizes, steps, cells):
    """The 2**n cells spanned by two diametral cells, pivot first."""
    cells[0] = pivot
    for axis in range(sizes.size):
        shift = ((diametral // steps[axis]) % sizes[axis] - at[axis]) * steps[axis]
        for k in range(1 << axis):
            cells[(1 << axis) + k] = cells[k] + shift


@numba.njit(cache=True, nogil=True)
def best_pair(pivot, at, sizes, steps, local, kept, number, prune_rank, best, found, stamp, first, second):
    """The best pair of cuboids with no single in common, if it comes before the best clean cuboid.

    The union of a pair never comes before either member, so members are taken in order of rank until they cannot win
    (with negative barriers only its number of cells is sure to be no smaller).
    Returns the two diametral cells in ``found[0], found[1]`` and True if a pair wins.
    """
    _, state, persons, _, _, rank, cost = local
    own = persons[pivot]
    size = 1 << sizes.size
    order = np.argsort(kept[:number, 2], kind="mergesort")
    order = order[np.argsort(kept[:number, 1][order], kind="mergesort")]
    order = order[np.argsort(kept[:number, 0][order], kind="mergesort")]
    none = found[0] < 0
    won = False
    shared = (size >> 1) - 1
    someone = np.empty(size, np.int64)
    for jj in range(1, number):
        j = order[jj]
        if not none and (kept[j, 0] > best[0] if not prune_rank else
                         not _before(kept[j, 0], kept[j, 1], kept[j, 2], best[0], best[1], best[2])):  # fmt: skip
            break
        cuboid_cells(pivot, np.int64(kept[j, 5]), at, sizes, steps, second)
        met = 0
        for k in range(size):
            c = second[k]
            stamp[c] = 1
            if state[c] & SINGLE and persons[c] >= 0 and persons[c] != own:
                someone[met] = persons[c]
                met += 1
        for ii in range(jj):
            i = order[ii]
            if not none and kept[i, 0] + kept[j, 0] - shared > best[0]:
                break
            cuboid_cells(pivot, np.int64(kept[i, 5]), at, sizes, steps, first)
            count, margin, price = kept[j, 0], kept[j, 1], kept[j, 2]
            disjoint = True
            for k in range(1, size):
                c = first[k]
                if state[c] & SINGLE and persons[c] >= 0:
                    for m in range(met):
                        disjoint = disjoint and someone[m] != persons[c]
                if stamp[c] == 0 and state[c] & HIDDEN == 0:
                    count += 1
                    margin += rank[c]
                    price += cost[c]
            if disjoint and (none or _before(count, margin, price, best[0], best[1], best[2])):
                best[0], best[1], best[2] = count, margin, price
                found[0], found[1] = np.int64(kept[i, 5]), np.int64(kept[j, 5])
                found[2], found[3] = i, j
                none = False
                won = True
        for k in range(size):
            stamp[second[k]] = 0
        if won and best[0] == 0:
            break
    return won


@numba.njit(cache=True, nogil=True)
def lay_out(row, first, items, strides, used, sizes, steps):
    """The axes of a subtable that have more than one code, their sizes and local steps; its size and first place."""
    n, base, volume = 0, 0, 1
    for a in range(strides.size):
        if first[row[a] + 1] - first[row[a]] > 1:
            used[n] = a
            n += 1
        else:
            base += items[first[row[a]]] * strides[a]
    for i in range(n - 1, -1, -1):
        sizes[i] = first[row[used[i]] + 1] - first[row[used[i]]]
        steps[i] = volume
        volume *= sizes[i]
    return n, base, volume


@numba.njit(cache=True, nogil=True)
def copy_in(row, name, base, volume, used, sizes, steps, first, items, strides, cells, creator, barrier, single_rule,
            local, pivots):  # fmt: skip
    """Copy a subtable into the local arrays; collect its pivots and return how many there are.

    Pivots are primaries, and secondaries that another subtable suppressed. A single in the margin is none if it is
    protected together with the single inside (see `person`).
    """
    up, down, state, cost = cells
    where, l_state, l_person, l_up, l_down, l_rank, l_cost = local
    waiting = 0
    for c in range(volume):
        place = base
        inner = True
        margin = 0.0
        for i in range(sizes.size):
            k = (c // steps[i]) % sizes[i]
            place += items[first[row[used[i]]] + k] * strides[used[i]]
            if k == sizes[i] - 1:
                inner = False
                margin += barrier[used[i]]
        s = state[place]
        who = place
        if single_rule and s & SINGLE and not inner:
            who = person(place, row, first, items, strides, state)
        where[c], l_state[c], l_person[c] = place, s, who
        l_up[c], l_down[c] = up[place], down[place]
        l_rank[c], l_cost[c] = margin, cost[place]
        coming = s & HIDDEN and (s & PRIMARY or creator[place] != name)
        if coming and who >= 0:
            pivots[waiting] = c
            waiting += 1
    return waiting


@numba.njit(cache=True, nogil=True)
def turns(pivots, waiting, sizes, steps, state, where, value):
    """Order of the pivots: primaries with the last axis outermost, then the others by ascending value."""
    keys = np.empty(waiting)
    for p in range(waiting):
        c = pivots[p]
        if state[c] & PRIMARY:
            key, weight = 0, 1
            for i in range(sizes.size):
                key += ((c // steps[i]) % sizes[i]) * weight
                weight *= sizes[i]
            keys[p] = np.float64(key) - 1e15
        else:
            keys[p] = abs(value[where[c]])
    return np.argsort(keys, kind="mergesort")


@numba.njit(cache=True, nogil=True)
def price_by_distance(at, sizes, steps, volume, places, powers, plain, cost):
    """Prices for one pivot: the plain ones times the distance, a sum of powers over the axes (0 ** 0 counts 1)."""
    for c in range(volume):
        distance = 0.0
        for a in range(sizes.size):
            gap = abs(places[a, (c // steps[a]) % sizes[a]] - places[a, at[a]])
            if gap > 0:
                distance += gap ** powers[a]
            elif powers[a] == 0:
                distance += 1.0
        cost[c] = plain[c] * distance


@numba.njit(cache=True, nogil=True)
def choose(pivot, at, sizes, steps, local, asked, prune_rank, single_rule, kept, work, space):
    """The best cuboid, or pair of cuboids, for one pivot.

    Returns how many cuboids (0: none protects it) and the buffer of cuboids with singles, which may have grown;
    ``found`` holds their diametral cells, ``reach`` how far up and down each can go.
    """
    best, found, reach, stamp, cells_a, cells_b = space
    number = -1
    while number < 0:
        number = walk(pivot, at, sizes, steps, local, asked, prune_rank, single_rule, best, found, kept, work)
        if number < 0:
            kept = np.empty((2 * kept.shape[0], 6))
    worth = number > 1 and (found[0] < 0 or best[0] > 0)
    if worth and best_pair(
        pivot, at, sizes, steps, local, kept, number, prune_rank, best, found, stamp, cells_a, cells_b
    ):
        for half in range(2):
            reach[half, 0], reach[half, 1] = kept[found[2 + half], 3], kept[found[2 + half], 4]
        return 2, kept
    reach[0, 0], reach[0, 1] = best[3], best[4]
    return (1 if found[0] >= 0 else 0), kept


@numba.njit(cache=True, nogil=True)
def hide(pivot, diametral, at, sizes, steps, rise, fall, name, value, state, creator, local, cells, low, high, fresh,
         n_fresh):  # fmt: skip
    """Suppress the open cells of a cuboid; note what every cell of it can be, if anybody wants to know."""
    where, l_state = local[0], local[1]
    cuboid_cells(pivot, diametral, at, sizes, steps, cells)
    for k in range(1 << sizes.size):
        c = cells[k]
        place = where[c]
        if l_state[c] & HIDDEN == 0:
            l_state[c] |= HIDDEN
            state[place] |= HIDDEN
            creator[place] = name
            fresh[n_fresh] = place
            n_fresh += 1
        if low.size:
            same = True
            for i in range(sizes.size):
                last = sizes[i] - 1
                if (c // steps[i]) % sizes[i] != at[i] and at[i] != last and (diametral // steps[i]) % sizes[i] != last:
                    same = not same
            low[c] = min(low[c], value[place] - (fall if same else rise))
            high[c] = max(high[c], value[place] + (rise if same else fall))
    return n_fresh


@numba.njit(cache=True, nogil=True)
def narrow(volume, where, low, high, value, up, down, always, carry, carried):
    """What an attacker learns here narrows what he may assume elsewhere."""
    for c in range(volume):
        place = where[c]
        if high[c] >= low[c] and (always or not carried[place]):
            rise, fall = min(up[place], high[c] - value[place]), min(down[place], value[place] - low[c])
            if rise < up[place] or fall < down[place]:
                up[place], down[place] = rise, fall
                carry[place] = 1
                carried[place] = 1


@numba.njit(cache=True, nogil=True)
def volumes(subtables, first):
    """Cells of the largest subtable, and codes of the longest segment."""
    largest, widest = 1, 1
    for t in range(subtables.shape[0]):
        volume = 1
        for a in range(subtables.shape[1]):
            width = first[subtables[t, a] + 1] - first[subtables[t, a]]
            volume *= width
            widest = max(widest, width)
        largest = max(largest, volume)
    return largest, widest


@numba.njit(cache=True, nogil=True)
def secure_subtables(subtables, names, first, items, strides, value, cells, creator, needs, barrier, powers, options,
                     carry, carried, moves, failures, fresh):  # fmt: skip
    """Secure every pivot of the given subtables, one after the other.

    ``subtables`` holds one segment per axis, ``first`` and ``items`` the codes of each segment with its total last (a
    segment of one code fixes the axis). ``cells`` = (up, down, state, cost), ``needs`` = (range, down, up),
    ``options`` = (single rule, incoming secondaries need the full range, carry mode 0/1/2). Rows of ``moves``: pivot,
    diametral, up, down, subtable, 1 if second of a pair; of ``failures``: pivot, subtable, best range; ``fresh`` holds
    the cells newly suppressed. Returns how many of each, and how many subtables are done (fewer if there was no room).
    """
    up, down, state, _ = cells
    axes = strides.size
    single_rule, full_incoming, mode = options
    largest, widest = volumes(subtables, first)
    local = (np.empty(largest, np.int64), np.empty(largest, np.uint8), np.empty(largest, np.int64), np.empty(largest),
             np.empty(largest), np.empty(largest), np.empty(largest))  # fmt: skip
    where, l_state, l_up, l_down = local[0], local[1], local[3], local[4]
    low, high = np.empty(largest if mode else 0), np.empty(largest if mode else 0)
    pivots = np.empty(largest, np.int64)
    places, plain = np.zeros((axes, widest)), np.empty(largest if powers.size else 0)
    kept = np.empty((256, 6))
    work = (np.empty(1 << axes, np.int64), np.empty(1 << axes, np.int64), np.empty(axes + 1), np.empty(axes + 1),
            np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1, np.int64),
            np.empty(axes + 1, np.int64))  # fmt: skip
    found, reach, corner = np.empty(4, np.int64), np.empty((2, 2)), np.empty(1 << axes, np.int64)
    space = (np.empty(5), found, reach, np.zeros(largest, np.uint8), corner, np.empty(1 << axes, np.int64))
    all_used, all_sizes, all_steps = np.empty(axes, np.int64), np.empty(axes, np.int64), np.empty(axes, np.int64)
    all_at = np.empty(axes, np.int64)
    prune_rank = barrier.min() >= 0
    n_moves, n_failures, n_fresh = 0, 0, 0
    for t in range(subtables.shape[0]):
        row = subtables[t]
        n, base, volume = lay_out(row, first, items, strides, all_used, all_sizes, all_steps)
        if n == 0:
            continue
        used, sizes, steps, at = all_used[:n], all_sizes[:n], all_steps[:n], all_at[:n]
        waiting = copy_in(row, names[t], base, volume, used, sizes, steps, first, items, strides, cells, creator,
                          barrier, single_rule, local, pivots)  # fmt: skip
        if waiting == 0:
            continue
        no_room = n_moves + 2 * waiting > moves.shape[0] or n_failures + waiting > failures.shape[0]
        if no_room or n_fresh + min(volume, (2 << n) * waiting) > fresh.shape[0]:
            return n_moves, n_failures, n_fresh, t
        bent = powers[used] if powers.size else powers
        for i in range(bent.size):
            for k in range(sizes[i]):
                places[i, k] = items[first[row[used[i]]] + k]
        if bent.size:
            plain[:volume] = local[6][:volume]
        if mode:
            low[:volume], high[:volume] = np.inf, -np.inf
        turn = turns(pivots, waiting, sizes, steps, l_state, where, value)
        for p in range(waiting):
            pivot = pivots[turn[p]]
            place = where[pivot]
            for i in range(n):
                at[i] = (pivot // steps[i]) % sizes[i]
            if l_state[pivot] & PRIMARY or full_incoming:
                asked = (needs[0][place], needs[1][place], needs[2][place])
            else:
                asked = (0.0, 0.0, 0.0)
            if bent.size:
                price_by_distance(at, sizes, steps, volume, places, bent, plain, local[6])
            number, kept = choose(pivot, at, sizes, steps, local, asked, prune_rank, single_rule, kept, work, space)
            if number == 0:
                failures[n_failures, 0], failures[n_failures, 1] = place, names[t]
                failures[n_failures, 2] = best_range(pivot, at, sizes, steps, l_state, l_up, l_down, work)
                n_failures += 1
            for half in range(number):
                rise, fall = reach[half, 0], reach[half, 1]
                moves[n_moves, 0], moves[n_moves, 1] = place, where[found[half]]
                moves[n_moves, 2], moves[n_moves, 3] = rise, fall
                moves[n_moves, 4], moves[n_moves, 5] = names[t], half
                n_moves += 1
                n_fresh = hide(pivot, found[half], at, sizes, steps, rise, fall, names[t], value, state, creator, local,
                               corner, low, high, fresh, n_fresh)  # fmt: skip
        if mode:
            narrow(volume, where, low, high, value, up, down, mode == 2, carry, carried)
    return n_moves, n_failures, n_fresh, subtables.shape[0]


@numba.njit(cache=True, nogil=True)
def best_range(pivot, at, sizes, steps, state, up, down, work):
    """The largest range any cuboid of usable cells would give a pivot: what to tell about one that failed."""
    n = sizes.size
    cells, signs, _, _, _, rises, falls, _, index = work
    cells[0], signs[0] = pivot, 0
    rises[0], falls[0] = up[pivot], down[pivot]
    best = 0.0
    axis = 0
    index[0] = -1
    while axis >= 0:
        index[axis] += 1
        if index[axis] == at[axis]:
            index[axis] += 1
        if index[axis] >= sizes[axis]:
            axis -= 1
            continue
        shift = (index[axis] - at[axis]) * steps[axis]
        last = sizes[axis] - 1
        flip = 0 if index[axis] == last or at[axis] == last else 1
        half = 1 << axis
        rise, fall = rises[axis], falls[axis]
        usable = True
        for k in range(half):
            c = cells[k] + shift
            if state[c] & (USABLE | HIDDEN) == 0:
                usable = False
                break
            sign = signs[k] ^ flip
            if sign:
                rise, fall = min(rise, down[c]), min(fall, up[c])
            else:
                rise, fall = min(rise, up[c]), min(fall, down[c])
            cells[half + k], signs[half + k] = c, sign
        if not usable or rise + fall <= best:
            continue
        if axis < n - 1:
            axis += 1
            rises[axis], falls[axis] = rise, fall
            index[axis] = -1
            continue
        best = rise + fall
    return best
