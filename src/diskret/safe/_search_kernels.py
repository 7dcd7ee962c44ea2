"""Compiled moves of the search: three rows change together, the number of objects stays.

With d1 + d2 + d3 = 0 a cell shared by rows 1 and 2 only changes by -d3, a cell shared by all three not at all. So for
any penalty the price of a move separates into h1(d1) + h2(d2) + h3(d3): one walk over the cells of the group prices all
moves.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from diskret.model.compiled import inlined, kernel, part
from diskret.safe._cell_kernels import locate

WIDE = 8
GAIN = np.float32(1e-3)
"""A move must gain more than rounding."""
ODD = np.uint64(0x9E3779B97F4A7C15)

Ground = namedtuple("Ground", "order place reach swaps key codes touched k")
"""What stays the same during a search: sort orders of the rows and each row's place in them, how far neighbours may be
apart there, of 256 groups how many try a swap, a number per combination that rises along the file, the codes, for every
set of attributes the slots of the tables over any of them (their number first), and k."""
Penalty = namedtuple("Penalty", "state base limit span heavy weight step")
"""What deviations cost at the moment. ``state[c]`` is the row of cell c in the table ``step`` of penalty differences:
its class and its deviation in one number, so that a deviation that grows
by one is a state that grows by one; ``base`` is the state without deviation, and up to ``span`` from there deviations
are in the table. If it is empty, squares are priced without a table, those of a slot ``heavy`` times."""
Chance = namedtuple("Chance", "seed warmth noise")
"""Random numbers of a round, and how freely they decide."""
Groups = namedtuple("Groups", "rows which wanted")
"""The first row of each group, the sort order of its neighbours (-1: any), and whether it wants to move."""
Exits = namedtuple("Exits", "attribute crossed attributes orders")
"""Per table the ``crossed`` attributes that lead out of its cells."""
LONGEST, LOOKED = 64, 4_000_000
"""Rows looked at for one that is in a cell; where none was, so many in a round are looked at for all such cells. With
64 only, the search of a file of 83 million persons gave its last cells up, since none of 64 rows was in them."""
DEEPEST = 64
"""Key levels crossed in a table at most."""


@inlined
def _mixed(z):
    """Well-mixed bits of a number (splitmix64)."""
    z = np.uint64(z) * ODD
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def _near(here, drawn, reach, n):
    """A place up to ``reach`` from here, never here; beyond an end of the file as far on the other side."""
    at = here + drawn - reach + (drawn >= reach)
    if at < 0:
        return at + 2 * reach + 1
    return at - 2 * reach - 1 if at >= n else at


@kernel
def _neighbours(row, which, bits, order, place, reach):
    """Two rows close to a row in one of the sort orders; any order if none is named."""
    n = order.shape[1]
    if which < 0:
        which = np.int64(bits % np.uint64(order.shape[0]))
    bits = bits >> np.uint64(16)
    one = np.int64(bits % np.uint64(2 * reach))
    two = np.int64((bits >> np.uint64(8)) % np.uint64(2 * reach - 1))
    if two >= one:
        two += 1
    here = np.int64(place[which, row])
    a, b = _near(here, one, reach, n), _near(here, two, reach, n)
    if min(a, b) < 0 or max(a, b) >= n or a == b:
        return np.int64(-1), np.int64(-1)
    return np.int64(order[which, a]), np.int64(order[which, b])


@inlined
def _tables(r1, r2, r3, codes, touched):
    """The tables that see a difference between the rows, their number first."""
    differ = 0
    if touched.shape[0] > 1:
        for a in range(codes.shape[1]):
            differ |= np.int64((codes[r1, a] != codes[r2, a]) | (codes[r1, a] != codes[r3, a])) << a
    return touched[differ]


@part
def _sum(listed, n, state, weight, step, h):
    """Add the rows of a penalty table that belong to the listed cells."""
    if step.shape[1] != WIDE:
        for i in range(n):
            c = np.uint64(listed[i])
            at, w = np.uint64(state[c]), weight[c]
            for d in range(step.shape[1]):
                h[d] += w * step[at, d]
        return
    # eight sums that stay in registers
    a0, a1, a2, a3, a4, a5, a6, a7 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    for i in range(np.uint64(n)):
        c = np.uint64(listed[i])
        at, w = np.uint64(state[c]), weight[c]
        a0 += w * step[at, 0]
        a1 += w * step[at, 1]
        a2 += w * step[at, 2]
        a3 += w * step[at, 3]
        a4 += w * step[at, 4]
        a5 += w * step[at, 5]
        a6 += w * step[at, 6]
        a7 += w * step[at, 7]
    h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7] = a0, a1, a2, a3, a4, a5, a6, a7


@inlined
def _turn(h, k):
    """What changes of the opposite sign cost."""
    for d in range(k):
        h[d], h[2 * k - d] = h[2 * k - d], h[d]


@part
def _walk(r1, r2, r3, k, codes, touched, base, value, state, weight, step, lists, h):
    """What each change of each row costs.

    The cells are first sorted into lists without a branch, because the processor cannot guess which rows share a cell.
    A cell shared by the two others moves against the third row.
    """
    h[:] = 0.0
    tables = _tables(r1, r2, r3, codes, touched)
    one, two, three, with1, with2, with3 = lists[0], lists[1], lists[2], lists[3], lists[4], lists[5]
    v1, v2, v3 = value[0], value[1], value[2]
    n1, n2, n3, m1, m2, m3 = (
        np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    )  # fmt: skip
    for i in range(np.uint64(1), np.uint64(tables[0]) + np.uint64(1)):
        t = np.uint64(tables[i])
        first = base[t]
        c1, c2, c3 = v1[t] + first, v2[t] + first, v3[t] + first
        same12, same13, same23 = c1 == c2, c1 == c3, c2 == c3
        one[n1], two[n2], three[n3], with1[m1], with2[m2], with3[m3] = c1, c2, c3, c2, c1, c1
        n1 += np.uint64(not (same12 | same13))
        n2 += np.uint64(not (same12 | same23))
        n3 += np.uint64(not (same13 | same23))
        m1 += np.uint64(same23 & (not same12))
        m2 += np.uint64(same13 & (not same12))
        m3 += np.uint64(same12 & (not same13))
    _sum(with1, m1, state, weight, step, h[0])
    _sum(with2, m2, state, weight, step, h[1])
    _sum(with3, m3, state, weight, step, h[2])
    for g in range(3):
        _turn(h[g], k)
    _sum(one, n1, state, weight, step, h[0])
    _sum(two, n2, state, weight, step, h[1])
    _sum(three, n3, state, weight, step, h[2])


@inlined
def _price_squares(deviations, cells, k, h):
    """A change d costs 2 d sum(f) + d d n."""
    for d in range(-k, k + 1):
        h[d + k] = 2 * d * deviations + d * d * cells


@part
def _walk_squares(r1, r2, r3, k, codes, touched, base, value, deviation, heavy, lists, h):
    """The same for the sum of squares, which needs only sums of deviations.

    Fetched first, added up after: so the processor adds many at once.
    """
    tables = _tables(r1, r2, r3, codes, touched)
    n, free = np.uint64(tables[0]), np.int32(deviation.size - 1)
    c1, c2, c3, f1, f2, f3, w = lists[0], lists[1], lists[2], lists[3], lists[4], lists[5], lists[6]
    v1, v2, v3 = value[0], value[1], value[2]
    for i in range(n):
        t = np.uint64(tables[i + np.uint64(1)])
        first = base[t]
        c1[i], c2[i], c3[i], w[i] = v1[t] + first, v2[t] + first, v3[t] + first, heavy[t]
    for i in range(n):
        f1[i] = deviation[np.uint64(c1[i])]
        f2[i] = deviation[np.uint64(c2[i])]
        f3[i] = deviation[np.uint64(c3[i])]
    s1, s2, s3, n1, n2, n3 = 0, 0, 0, 0, 0, 0
    for i in range(n):
        same12, same13, same23 = c1[i] == c2[i], c1[i] == c3[i], c2[i] == c3[i]
        counted1, counted2, counted3 = c1[i] != free, c2[i] != free, c3[i] != free
        own1 = np.int32((not (same12 | same13)) & counted1) * w[i]
        own2 = np.int32((not (same12 | same23)) & counted2) * w[i]
        own3 = np.int32((not (same13 | same23)) & counted3) * w[i]
        # a cell shared by the two others moves against the third
        with1 = np.int32(same23 & (not same12) & counted2) * w[i]
        with2 = np.int32(same13 & (not same12) & counted1) * w[i]
        with3 = np.int32(same12 & (not same13) & counted1) * w[i]
        s1 += own1 * f1[i] - with1 * f2[i]
        s2 += own2 * f2[i] - with2 * f1[i]
        s3 += own3 * f3[i] - with3 * f1[i]
        n1 += own1 + with1
        n2 += own2 + with2
        n3 += own3 + with3
    _price_squares(s1, n1, k, h[0])
    _price_squares(s2, n2, k, h[1])
    _price_squares(s3, n3, k, h[2])


@inlined
def _allowed(x, k):
    return x == 0 or x >= k


@inlined
def _drawn(warmth, noise, bits):
    """What warmth takes off a price."""
    return warmth * noise[np.int64(bits >> np.uint64(52))]


@inlined
def _next(bits):
    return bits * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@part
def _choose(x1, x2, x3, k, h, warmth, noise, bits):
    """The cheapest move; with warmth one drawn with probability proportional to exp(-price / warmth)."""
    best = -_drawn(warmth, noise, bits) if warmth > 0 else -GAIN
    e1, e2 = 0, 0
    for d1 in range(-k, k + 1):
        if not _allowed(x1 + d1, k):
            continue
        for d2 in range(max(-k, -k - d1), min(k, k - d1) + 1):
            d3 = -d1 - d2
            if (d1 == 0 and d2 == 0) or not _allowed(x2 + d2, k) or not _allowed(x3 + d3, k):
                continue
            price = h[0, d1 + k] + h[1, d2 + k] + h[2, d3 + k]
            if warmth > 0:
                bits = _next(bits)
                price -= _drawn(warmth, noise, bits)
            if price < best:
                best, e1, e2 = price, d1, d2
    return e1, e2


@kernel
def _fourth(r1, r2, r3, codes, key):
    """The row that differs from row 3 as row 2 does from row 1, so that the four make a swap; -1 if there is none.

    Rows 1 and 3 must agree where rows 1 and 2 differ.
    """
    apart = False
    for a in range(codes.shape[1]):
        if codes[r1, a] != codes[r2, a]:
            if codes[r1, a] != codes[r3, a]:
                return -1
        elif codes[r1, a] != codes[r3, a]:
            apart = True
    if not apart:
        return -1
    wanted = key[r3] + key[r2] - key[r1]
    low, high = 0, key.size
    while low < high:
        middle = (low + high) >> 1
        if key[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < key.size and key[low] == wanted else -1


@kernel
def _walk_swap(r1, r2, k, codes, touched, base, value, state, heavy, weight, step, lists, h):
    """What it costs that rows 1 and 4 get d more and rows 2 and 3 get d less.

    Objects exchange the attributes in which rows 1 and 2 differ: only tables change that see this difference and the
    one between rows 1 and 3, and in these all four cells are different.
    """
    h[:] = 0.0
    tables = _tables(r1, r2, r1, codes, touched)
    free = np.int32(state.size - 1)
    more, less, w = lists[0], lists[1], lists[2]
    v1, v2, v3, v4 = value[0], value[1], value[2], value[3]
    n = np.uint64(0)
    for i in range(np.uint64(1), np.uint64(tables[0]) + np.uint64(1)):
        t = np.uint64(tables[i])
        first = base[t]
        c1, c2, c3 = v1[t] + first, v2[t] + first, v3[t] + first
        more[n], more[n + np.uint64(1)], less[n], less[n + np.uint64(1)] = c1, v4[t] + first, c2, c3
        w[n] = t
        n += np.uint64(2) * np.uint64((c1 != c2) & (c1 != c3))
    if heavy.size == 0:
        _sum(less, n, state, weight, step, h)
        _turn(h, k)
        _sum(more, n, state, weight, step, h)
        return
    total, cells = 0, 0
    for i in range(n):
        each = heavy[np.uint64(w[i - (i & np.uint64(1))])]
        total += each * (state[np.uint64(more[i])] - state[np.uint64(less[i])])
        cells += each * (np.int64(more[i] != free) + np.int64(less[i] != free))
    _price_squares(total, cells, k, h)


@kernel
def _choose_swap(x, k, h, warmth, noise, bits):
    """How many objects swap: the cheapest number, or one drawn as in `_choose`. ``x`` are the four frequencies."""
    x1, x2, x3, x4 = x
    best = -_drawn(warmth, noise, bits) if warmth > 0 else -GAIN
    chosen = 0
    for d in range(-k, k + 1):
        if d == 0 or not (_allowed(x1 + d, k) and _allowed(x4 + d, k) and _allowed(x2 - d, k) and _allowed(x3 - d, k)):
            continue
        price = h[d + k]
        if warmth > 0:
            bits = _next(bits)
            price -= _drawn(warmth, noise, bits)
        if price < best:
            best, chosen = price, d
    return chosen


# Inside, arrays are handed on one by one: taken out of a tuple for every group they would be counted up and down in
# memory that all threads share, which made the search 45 % slower.
@part
def _group(
    row, which, bits, order, place, reach, swaps, key, codes, touched, level, parent, at, size, base, listed, slots,
    state, heavy, weight, step, x, k, warmth, noise, lists, h, rows, change, value):  # fmt: skip
    """Form a group around a row and choose its move: ``rows`` and ``change`` of three rows, or four for a swap."""
    change[:] = 0
    rows[0], rows[3] = row, row
    r2, r3 = _neighbours(row, which, bits, order, place, reach)
    if r2 < 0:
        return False
    bits = _mixed(bits)
    if np.int64(bits & np.uint64(255)) < swaps:
        # row 3 of a swap is a neighbour in any other order
        _, other = _neighbours(row, -1, _mixed(bits), order, place, reach)
        r4 = _fourth(row, r2, other, codes, key) if other >= 0 else -1
        if r4 >= 0:
            locate(row, level, parent, at, size, listed, value[0])
            locate(r2, level, parent, at, size, listed, value[1])
            locate(other, level, parent, at, size, listed, value[2])
            locate(r4, level, parent, at, size, listed, value[3])
            _walk_swap(row, r2, k, codes, touched, base, value, state, heavy, weight, step, lists, h[0])
            d = _choose_swap((x[row], x[r2], x[other], x[r4]), k, h[0], warmth, noise, bits)
            rows[1], rows[2], rows[3] = r2, other, r4
            change[0], change[1], change[2], change[3] = d, -d, -d, d
            return d != 0
    locate(row, level, parent, at, size, listed, value[0])
    locate(r2, level, parent, at, size, listed, value[1])
    locate(r3, level, parent, at, size, listed, value[2])
    if heavy.size:
        _walk_squares(row, r2, r3, k, codes, touched, base, value, state, heavy, lists, h)
    else:
        _walk(row, r2, r3, k, codes, touched, base, value, state, weight, step, lists, h)
    d1, d2 = _choose(x[row], x[r2], x[r3], k, h, warmth, noise, bits)
    rows[1], rows[2] = r2, r3
    change[0], change[1], change[2] = d1, d2, -d1 - d2
    return d1 != 0 or d2 != 0


@part
def _shift(change, sign, slots, base, value, state):
    """Change the rows of a group in all their cells; the cell that is not controlled stays as it is."""
    for g in range(4):
        d = sign * change[g]
        if d != 0:
            for t in range(slots.size):
                s = slots[t]
                state[value[g, s] + base[s]] += d
    state[state.size - 1] = 0


@part
def _outside(slots, base, value, state, origin, span):
    """Whether a cell of the group has left the penalty table."""
    for g in range(4):
        for t in range(slots.size):
            s = slots[t]
            c = value[g, s] + base[s]
            if c < origin.size and abs(state[c] - origin[c]) > span - 1:
                return True
    return False


@kernel
def run_groups(groups, start, stop, ground, places, penalty, chance, x, carry_out):
    """Mark the groups that want to move, judged on the state as it stands; or carry the marked moves out.

    Moves are carried out one after the other, each priced again on what it finds.
    """
    order, place, reach, swaps, key, codes, touched, k = ground
    level, parent, at, size, base, listed, slots = places
    state, origin, _, span, heavy, weight, step = penalty
    seed, warmth, noise = chance
    of, which, wanted = groups
    h, lists = np.empty((3, step.shape[1]), np.float32), np.empty((7, 2 * slots.size + 2), np.int32)
    rows, change = np.empty(4, np.int64), np.empty(4, np.int64)
    value = np.zeros((4, base.size), np.int32)
    for i in range(start, stop):
        if carry_out and not wanted[i]:
            continue
        bits = _mixed(np.uint64(seed) + np.uint64(i))
        wanted[i] = _group(
            np.int64(of[i]), np.int64(which[i]), bits, order, place, reach, swaps, key, codes, touched, level, parent,
            at, size, base, listed, slots, state, heavy, weight, step, x, k, warmth, noise, lists, h, rows,
            change, value,
        )  # fmt: skip
        if carry_out and wanted[i]:
            _shift(change, 1, slots, base, value, state)
            if heavy.size == 0 and _outside(slots, base, value, state, origin, span):
                _shift(change, -1, slots, base, value, state)
            else:
                for g in range(4):
                    x[rows[g]] += change[g]


@kernel
def find_over(state, base, limit, found):
    """List the cells beyond their limit; returns how many there are."""
    n = 0
    for c in range(np.uint64(base.size)):
        if abs(state[c] - base[c]) > limit[c]:
            found[n] = c
            n += 1
    return n


@inlined
def _table_of(c, first):
    """The table whose places begin at or before a place."""
    low, high = 0, first.size - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if first[middle] <= c:
            low = middle
        else:
            high = middle
    return low


@inlined
def _fitting(c, slot, parent, at, size, base, index, path, codes, most):
    """The codes of a place, and the fewest rows of the index that hold all of its rows: from, to and whose."""
    depth, v, s = 0, c - base[slot], slot
    while s > 0:  # the deepest level stands first
        path[depth], codes[depth], most[depth] = at[s], v % size[s], size[s]
        v, s, depth = v // size[s], np.int64(parent[s]), depth + 1
    start, offset, single, pair = index.start, index.offset, index.single, index.pair
    best, low, high = -1, 0, 0
    if depth == 1:
        best = single[path[0]]
        p = offset[best] + codes[0]
        low, high = start[p], start[p + 1]
    for one in range(depth):
        for two in range(one):
            i = pair[path[one], path[two]]
            p = offset[i] + codes[one] * most[two] + codes[two]
            if best < 0 or start[p + 1] - start[p] < high - low:
                best, low, high = i, start[p], start[p + 1]
    return depth, best, low, high


@inlined
def _inside(row, depth, path, codes, level):
    fits = True
    for a in range(depth):
        fits &= np.int64(level[row, path[a]]) == codes[a]
    return fits


@kernel
def draw(cells, each, seed, penalty, places, index, exits, x):
    """Draw rows of the cells, and for each row a sort order whose last attribute is one of the cell's.

    From a cell with a surplus only occupied rows are drawn. Rows are looked for among those that share two of the
    cell's codes, from one drawn at random on.
    """
    level, parent, at, size, base, _, _ = places
    rows, which = np.empty(cells.size * each, np.int32), np.empty(cells.size * each, np.int16)
    path, codes, most = np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64)
    n, longest = 0, LOOKED // max(1, cells.size * each)
    for i in range(cells.size):
        c = np.int64(cells[i])
        t = _table_of(c, index.first)
        slot = index.slot[t]
        surplus = penalty.state[c] > penalty.base[c]
        depth, which_index = 0, 0
        low, high = index.listed_start[0], index.listed_start[0]
        if slot < parent.size:
            depth, which_index, low, high = _fitting(c, slot, parent, at, size, base, index, path, codes, most)
        else:
            low, high = index.listed_start[c], index.listed_start[c + 1]
        if high == low:
            continue
        before = n
        for tried in (min(LONGEST, high - low), min(longest, high - low)):
            if n > before:
                break
            for e in range(each):
                bits = _mixed(np.uint64(seed) + np.uint64(i * each + e))
                place = low + np.int64(bits % np.uint64(high - low))
                row = np.int64(-1)
                for _ in range(tried):
                    r = np.int64(index.rows[which_index, place] if depth else index.listed_rows[place])
                    if (not surplus or x[r] > 0) and _inside(r, depth, path, codes, level):
                        row = r
                        break
                    place = place + 1 if place + 1 < high else low
                if row < 0:
                    continue
                bits = _mixed(bits)
                last = exits.attribute[t, np.int64(bits % np.uint64(exits.crossed[t]))]
                rows[n] = row
                which[n] = last + exits.attributes * np.int64((bits >> np.uint64(32)) % np.uint64(exits.orders))
                n += 1
    # shuffle, so that moves for one cell do not stand together
    for i in range(n - 1, 0, -1):
        j = np.int64(_mixed(np.uint64(seed) ^ np.uint64(i * 7919)) % np.uint64(i + 1))
        rows[i], rows[j] = rows[j], rows[i]
        which[i], which[j] = which[j], which[i]
    return rows[:n], which[:n]
