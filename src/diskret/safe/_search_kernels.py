"""Compiled moves of the search: three rows change together, the number of objects stays.

With d1 + d2 + d3 = 0 a cell shared by rows 1 and 2 only changes by -d3, a cell shared by all three not at all. So for
any penalty the price of a move separates into h1(d1) + h2(d2) + h3(d3): one walk over the cells of the group prices all
moves.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from diskret.model.compiled import inlined, kernel, part

WIDE = 8
GAIN = np.float32(1e-3)
"""A move must gain more than rounding."""
ODD = np.uint64(0x9E3779B97F4A7C15)

Ground = namedtuple("Ground", "order place reach swaps key codes touched number k")
"""What stays the same during a search: sort orders of the rows and each row's place in them, how far neighbours may be
apart there, of 256 groups how many try a swap, a number per combination that rises along the file, the codes, for every
set of attributes the tables over any of them (their number first), the cell of each row in each table, and k."""
Penalty = namedtuple("Penalty", "state base limit span heavy weight step turned")
"""What deviations cost at the moment. ``state[c]`` is the row of cell c in the table ``step`` of penalty differences
(``turned`` for changes of the opposite sign): its class and its deviation in one number, so that a deviation that grows
by one is a state that grows by one; ``base`` is the state without deviation, and up to ``span`` from there deviations
are in the table. If ``heavy`` is not negative, squares are priced without a table, and the tables before that one
(one-way) three times."""
Chance = namedtuple("Chance", "seed warmth noise")
"""Random numbers of a round, and how freely they decide."""
Groups = namedtuple("Groups", "rows which wanted")
"""The first row of each group, the sort order of its neighbours (-1: any), and whether it wants to move."""
Members = namedtuple("Members", "start rows attribute crossed attributes orders")
"""The rows of each cell from ``start`` on, and the ``crossed`` attributes that lead out of it."""


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


@part
def _walk(r1, r2, r3, codes, touched, number, state, weight, step, turned, lists, h):
    """What each change of each row costs.

    The cells are first sorted into lists without a branch, because the processor cannot guess which rows share a cell.
    """
    h[:] = 0.0
    tables = _tables(r1, r2, r3, codes, touched)
    one, two, three = number[r1], number[r2], number[r3]
    n1, n2, n3, m1, m2, m3 = 0, 0, 0, 0, 0, 0
    for i in range(1, np.uint64(tables[0]) + np.uint64(1)):
        t = np.uint64(tables[np.uint64(i)])
        c1, c2, c3 = one[t], two[t], three[t]
        same12, same13, same23 = c1 == c2, c1 == c3, c2 == c3
        lists[0, n1], lists[1, n2], lists[2, n3] = c1, c2, c3
        lists[3, m1], lists[4, m2], lists[5, m3] = c2, c1, c1
        n1 += not (same12 | same13)
        n2 += not (same12 | same23)
        n3 += not (same13 | same23)
        m1 += same23 & (not same12)
        m2 += same13 & (not same12)
        m3 += same12 & (not same13)
    _sum(lists[0], n1, state, weight, step, h[0])
    _sum(lists[3], m1, state, weight, turned, h[0])
    _sum(lists[1], n2, state, weight, step, h[1])
    _sum(lists[4], m2, state, weight, turned, h[1])
    _sum(lists[2], n3, state, weight, step, h[2])
    _sum(lists[5], m3, state, weight, turned, h[2])


@inlined
def _price_squares(deviations, cells, k, h):
    """A change d costs 2 d sum(f) + d d n."""
    for d in range(-k, k + 1):
        h[d + k] = 2 * d * deviations + d * d * cells


@part
def _walk_squares(r1, r2, r3, k, codes, touched, number, deviation, heavy, h):
    """The same for the sum of squares, which needs only sums of deviations."""
    tables = _tables(r1, r2, r3, codes, touched)
    free = np.uint64(deviation.size - 1)
    one, two, three = number[r1], number[r2], number[r3]
    s1, s2, s3, n1, n2, n3 = 0, 0, 0, 0, 0, 0
    for i in range(1, np.uint64(tables[0]) + np.uint64(1)):
        t = np.uint64(tables[np.uint64(i)])
        c1, c2, c3 = np.uint64(one[t]), np.uint64(two[t]), np.uint64(three[t])
        f1, f2, f3 = np.int64(deviation[c1]), np.int64(deviation[c2]), np.int64(deviation[c3])
        weight = 3 if t < heavy else 1
        same12, same13, same23 = c1 == c2, c1 == c3, c2 == c3
        own1 = (not (same12 | same13)) & (c1 != free)
        own2 = (not (same12 | same23)) & (c2 != free)
        own3 = (not (same13 | same23)) & (c3 != free)
        # a cell shared by the two others moves against the third
        with1 = same23 & (not same12) & (c2 != free)
        with2 = same13 & (not same12) & (c1 != free)
        with3 = same12 & (not same13) & (c1 != free)
        s1 += weight * (own1 * f1 - with1 * f2)
        s2 += weight * (own2 * f2 - with2 * f1)
        s3 += weight * (own3 * f3 - with3 * f1)
        n1 += weight * (np.int64(own1) + with1)
        n2 += weight * (np.int64(own2) + with2)
        n3 += weight * (np.int64(own3) + with3)
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
def _walk_swap(r1, r2, r3, r4, k, codes, touched, number, state, heavy, weight, step, turned, h):
    """What it costs that rows 1 and 4 get d more and rows 2 and 3 get d less.

    Objects exchange the attributes in which rows 1 and 2 differ: only tables change that see this difference and the
    one between rows 1 and 3, and in these all four cells are different.
    """
    h[:] = 0.0
    tables = _tables(r1, r2, r1, codes, touched)
    free = np.uint64(state.size - 1)
    total, cells = 0, 0
    for i in range(1, np.uint64(tables[0]) + np.uint64(1)):
        t = np.uint64(tables[np.uint64(i)])
        c1, c2, c3 = np.uint64(number[r1, t]), np.uint64(number[r2, t]), np.uint64(number[r3, t])
        if c1 in (c2, c3):
            continue
        c4 = np.uint64(number[r4, t])
        if heavy >= 0:
            w = 3 if t < heavy else 1
            total += w * (np.int64(state[c1]) - state[c2] - state[c3] + state[c4])
            cells += w * (np.int64(c1 != free) + (c2 != free) + (c3 != free) + (c4 != free))
        else:
            s1, s2, s3, s4 = np.uint64(state[c1]), np.uint64(state[c2]), np.uint64(state[c3]), np.uint64(state[c4])
            for d in range(2 * k + 1):
                h[d] += weight[c1] * step[s1, d] + weight[c2] * turned[s2, d]
                h[d] += weight[c3] * turned[s3, d] + weight[c4] * step[s4, d]
    if heavy >= 0:
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
    row, which, bits, order, place, reach, swaps, key, codes, touched, number, state, heavy, weight, step, turned, x, k,
    warmth, noise, lists, h, rows, change):  # fmt: skip
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
            _walk_swap(row, r2, other, r4, k, codes, touched, number, state, heavy, weight, step, turned, h[0])
            d = _choose_swap((x[row], x[r2], x[other], x[r4]), k, h[0], warmth, noise, bits)
            rows[1], rows[2], rows[3] = r2, other, r4
            change[0], change[1], change[2], change[3] = d, -d, -d, d
            return d != 0
    if heavy >= 0:
        _walk_squares(row, r2, r3, k, codes, touched, number, state, heavy, h)
    else:
        _walk(row, r2, r3, codes, touched, number, state, weight, step, turned, lists, h)
    d1, d2 = _choose(x[row], x[r2], x[r3], k, h, warmth, noise, bits)
    rows[1], rows[2] = r2, r3
    change[0], change[1], change[2] = d1, d2, -d1 - d2
    return d1 != 0 or d2 != 0


@part
def _shift(rows, change, sign, number, state):
    """Change the rows of a group in all their cells; the cell that is not controlled stays as it is."""
    for g in range(4):
        d = sign * change[g]
        if d != 0:
            for t in range(number.shape[1]):
                state[number[rows[g], t]] += d
    state[state.size - 1] = 0


@part
def _outside(rows, number, state, base, span):
    """Whether a cell of the group has left the penalty table."""
    for g in range(4):
        for t in range(number.shape[1]):
            c = number[rows[g], t]
            if c < base.size and abs(state[c] - base[c]) > span - 1:
                return True
    return False


@kernel
def run_groups(groups, start, stop, ground, penalty, chance, x, carry_out):
    """Mark the groups that want to move, judged on the state as it stands; or carry the marked moves out.

    Moves are carried out one after the other, each priced again on what it finds.
    """
    order, place, reach, swaps, key, codes, touched, number, k = ground
    state, base, _, span, heavy, weight, step, turned = penalty
    seed, warmth, noise = chance
    of, which, wanted = groups
    h, lists = np.empty((3, step.shape[1]), np.float32), np.empty((6, number.shape[1] + 1), np.uint32)
    rows, change = np.empty(4, np.int64), np.empty(4, np.int64)
    for i in range(start, stop):
        if carry_out and not wanted[i]:
            continue
        bits = _mixed(np.uint64(seed) + np.uint64(i))
        wanted[i] = _group(
            np.int64(of[i]), np.int64(which[i]), bits, order, place, reach, swaps, key, codes, touched, number, state,
            heavy, weight, step, turned, x, k, warmth, noise, lists, h, rows, change,
        )  # fmt: skip
        if carry_out and wanted[i]:
            _shift(rows, change, 1, number, state)
            if heavy < 0 and _outside(rows, number, state, base, span):
                _shift(rows, change, -1, number, state)
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
def _member(start, rows, c, bits):
    size = np.uint64(start[c + np.uint64(1)] - start[c])
    return rows[start[c] + np.int64(bits % size)]


@kernel
def draw(cells, each, seed, penalty, members, x):
    """Draw rows of the cells, and for each row a sort order whose last attribute is one of the cell's.

    From a cell with a surplus only occupied rows are drawn.
    """
    start, of_cells, attribute, crossed = members.start, members.rows, members.attribute, members.crossed
    rows, which = np.empty(cells.size * each, np.int32), np.empty(cells.size * each, np.int16)
    n = 0
    for i in range(cells.size):
        c = np.uint64(cells[i])
        surplus = penalty.state[c] > penalty.base[c]
        for e in range(each):
            bits = _mixed(np.uint64(seed) + np.uint64(i * each + e))
            row = _member(start, of_cells, c, bits)
            tries = 0
            while surplus and x[row] == 0 and tries < 8:
                bits = _mixed(bits)
                row = _member(start, of_cells, c, bits)
                tries += 1
            if surplus and x[row] == 0:
                continue
            bits = _mixed(bits)
            last = attribute[c, np.int64(bits % np.uint64(crossed[c]))]
            rows[n] = row
            which[n] = last + members.attributes * np.int64((bits >> np.uint64(32)) % np.uint64(members.orders))
            n += 1
    # shuffle, so that moves for one cell do not stand together
    for i in range(n - 1, 0, -1):
        j = np.int64(_mixed(np.uint64(seed) ^ np.uint64(i * 7919)) % np.uint64(i + 1))
        rows[i], rows[j] = rows[j], rows[i]
        which[i], which[j] = which[j], which[i]
    return rows[:n], which[:n]
