"""Compiled search for cuboids of finest cells: for every pivot the cheapest of the nearest kind that does enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import kernel, part
from diskret.perturbation._move_kernels import (
    FAR,
    PRIMARY,
    SETTLED,
    SINGLE,
    USABLE,
    Goal,
    all_usable,
    carry_out,
    drawn,
    mixed,
    nested,
    open_steps,
    rebooked,
    scratch_of,
    spread,
)

ENOUGH = 6
"""This many cuboids are compared before the best is taken."""
LOOKS = 3000
"""This many partial cuboids are looked at before a kind of cuboid is given up, or the best so far is taken."""
FIRST, AGAIN, SECOND = 0, 1, 2
CORNERS = 200
"""This many finest cells below a sum are tried before it is given up."""
ALONE = 1e6
"""Price of a partner with one contributor, who would know the error."""
NO_PARTNER, EXHAUSTED = -1, -2


class Behind(NamedTuple):
    """Who is behind the cells: contributors that can be rebooked, and which moves a cell belongs to (or empty)."""

    counts: Ints
    least: int
    signature: Ints


class Path(NamedTuple):
    """A partial cuboid: its corners, and per classification how far it goes, its price, its partner and kind."""

    corner: Ints
    sign: Ints
    rises: Ints
    falls: Ints
    prices: Floats
    tried: Ints
    sizes: Ints
    d: Ints
    kind: Ints
    levels: Ints
    ranges: Ints
    best: Floats


# --- the search for one move ------------------------------------------------------------------------------------------


@part
def corner_below(pivot, at, tree, leeway, g):
    """A finest cell below a pivot: down the largest parts. False if there is none that may change."""
    offset, strides, first_part, next_part = tree.offset, tree.strides, tree.first_part, tree.next_part
    state, value = leeway.state, leeway.value
    here = pivot
    for a in range(at.size):
        code, o, stride = at[a], offset[a], strides[a]
        while first_part[o + code] >= 0:
            best, size = -1, -1
            part = first_part[o + code]
            while part >= 0:
                c = here + (part - code) * stride
                if state[c] & USABLE and abs(value[c]) > size:
                    best, size = part, abs(value[c])
                part = next_part[o + part]
            if best < 0:
                return False
            here += (best - code) * stride
            code = best
        g[a] = code
    return state[here] & USABLE != 0


@part
def next_corner(at, tree, state, turn, g):
    """The finest cells below a pivot, one per turn; whether this one may change, and whether there are more."""
    origin = np.int64(0)
    for a in range(at.size - 1, -1, -1):
        code = tree.offset[a] + at[a]
        start, stop = tree.leaf_from[code], tree.leaf_to[code]
        g[a] = tree.leaves[start + turn % (stop - start)]
        turn //= stop - start
        origin += g[a] * tree.strides[a]
    return state[origin] & USABLE != 0, turn == 0


@part
def _partner(axis, path, leaves, tired):
    """The next code that can be a partner along a classification, none if it was looked at enough.

    ``ranges`` gives the leaves that are partners: from, up to, leaving out from, up to; the first is -1 where g moves
    alone. Partners are tried from the nearest following code on.
    """
    tried = path.tried[axis]
    from_, to, skip_from, skip_to = path.ranges[axis]
    if from_ < 0:
        return NO_PARTNER if tried == 0 else EXHAUSTED
    after = to - skip_to
    if tired or tried >= after + skip_from - from_:
        return EXHAUSTED
    return leaves[skip_to + tried if tried < after else from_ + tried - after]


@part
def _extended(axis, shift, path, leeway, goal):
    """Add to a partial cuboid the corners opposite to its own; False if they cannot change, or cost too much."""
    half, rise, fall, price = path.sizes[axis], path.rises[axis], path.falls[axis], path.prices[axis]
    corner, sign = path.corner, path.sign
    # arrays are taken out of their tuples before the loop: inside it that would cost more than the loop
    state, value, change, low, high = leeway.state, leeway.value, leeway.change, leeway.low, leeway.high
    for k in range(half):
        c = corner[k] + shift
        s = state[c]
        if s & USABLE == 0:
            return False
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
    path.rises[axis + 1], path.falls[axis + 1], path.prices[axis + 1] = rise, fall, price
    path.sizes[axis + 1] = 2 * half
    return price < path.best[0] and (rise >= goal.up or fall >= goal.down)


@part
def walk(goal, g, tree, leeway, behind, looks_left, path, scratch):
    """Cuboids of one kind that hold a finest cell: the best by price goes to ``path.best`` (price, d). True if any."""
    last = g.size - 1
    axis, found, looks = 0, 0, 0
    path.tried[0] = -1
    while axis >= 0 and found < ENOUGH:
        path.tried[axis] += 1
        code = _partner(axis, path, tree.leaves, looks > looks_left)
        if code == EXHAUSTED:
            axis -= 1
            continue
        path.d[axis] = code
        if code == NO_PARTNER:
            path.rises[axis + 1], path.falls[axis + 1] = path.rises[axis], path.falls[axis]
            path.prices[axis + 1], path.sizes[axis + 1] = path.prices[axis], path.sizes[axis]
        else:
            looks += 1
            if not _extended(axis, (code - g[axis]) * tree.strides[axis], path, leeway, goal):
                continue
        if axis < last:
            axis += 1
            path.tried[axis] = -1
        elif path.prices[axis + 1] < path.best[0] and _fits(goal, g, path.d, tree, leeway, behind, scratch):
            path.best[0] = path.prices[axis + 1]
            path.best[1:] = path.d
            found += 1
    return found > 0


@part
def _known_elsewhere(number, goal, tree, state, behind, cells):
    """Whether a move holds a cell elsewhere whose single contributor knows the pivot's error so far."""
    for k in range(number):
        c = cells[k]
        if state[c] & SINGLE and abs(behind.signature[c]) == abs(goal.known) and not nested(c, goal.pivot, tree):
            return True
    return False


@part
def _fits(goal, g, d, tree, leeway, behind, scratch):
    """Whether a step is open, the contributors suffice, and nobody who knows the pivot's error so far is in it."""
    cells, signs = scratch.cells, scratch.signs
    number = spread(g, d, tree, cells, signs)
    if not all_usable(number, cells, leeway.state):
        return False
    if open_steps(number, cells, signs, leeway, goal, scratch) == 0:
        return False
    if behind.counts.size and rebooked(number, cells, signs, behind.counts, behind.least) < 0:
        return False
    return goal.known == 0 or not _known_elsewhere(number, goal, tree, leeway.state, behind, cells)


@part
def _levels(at, tree, levels):
    """How many sums lie above a cell, in each classification."""
    parent, offset = tree.parent, tree.offset
    for a in range(at.size):
        levels[a] = 0
        code = parent[offset[a] + at[a]]
        while code >= 0:
            levels[a] += 1
            code = parent[offset[a] + code]


@part
def _advanced(kind, levels):
    """The next combination of kinds, the last classification first; False after the last one."""
    for a in range(kind.size - 1, -1, -1):
        kind[a] += 1
        if kind[a] <= levels[a]:
            return True
        kind[a] = 0
    return False


@part
def _total(numbers):
    total = 0
    for number in numbers:
        total += number
    return total


@part
def _set_ranges(at, tree, kind, ranges):
    """Which leaves are partners, for a kind per classification: 0 is under the nearest sum that splits the pivot off.

    1 is one sum further up and so on; the last is no partner at all, which is all a total has.
    """
    parent, offset, leaf_from, leaf_to = tree.parent, tree.offset, tree.leaf_from, tree.leaf_to
    for a in range(at.size):
        o = offset[a]
        code, above = at[a], parent[o + at[a]]
        for _ in range(kind[a]):
            if above >= 0:
                code, above = above, parent[o + above]
        ranges[a, 0] = -1
        if above >= 0:
            ranges[a, 0], ranges[a, 1] = leaf_from[o + above], leaf_to[o + above]
            ranges[a, 2], ranges[a, 3] = leaf_from[o + code], leaf_to[o + code]


@part
def best_cuboid(goal, g, at, tree, leeway, behind, looks, path, scratch):
    """The cheapest cuboid of the nearest kind that does what the pivot demands; False if there is none."""
    kind, levels, strides = path.kind, path.levels, tree.strides
    _levels(at, tree, levels)
    origin = np.int64(0)
    for a in range(at.size):
        origin += g[a] * strides[a]
    path.corner[0], path.sign[0], path.sizes[0], path.prices[0] = origin, 1, 1, 0.0
    path.rises[0] = leeway.high[origin] - leeway.change[origin]
    path.falls[0] = leeway.change[origin] - leeway.low[origin]
    path.best[0] = np.inf
    for weight in range(_total(levels) + 1):
        found, more = False, True
        kind[:] = 0
        while more:
            if _total(kind) == weight:
                _set_ranges(at, tree, kind, path.ranges)
                found |= walk(goal, g, tree, leeway, behind, looks, path, scratch)
            more = _advanced(kind, levels)
        if found:
            return True
    return False


@part
def _found_from_any_corner(goal, g, at, tree, leeway, behind, mode, path, scratch):
    """A cuboid for a pivot, from the largest finest cell below it; AGAIN looks longer, and tries others too."""
    pivot = goal.pivot
    if leeway.state[pivot] & USABLE == 0 or not corner_below(pivot, at, tree, leeway, g):
        return False
    if mode != AGAIN:
        return best_cuboid(goal, g, at, tree, leeway, behind, LOOKS, path, scratch)
    if best_cuboid(goal, g, at, tree, leeway, behind, 100 * LOOKS, path, scratch):
        return True
    for other in range(CORNERS):
        usable, more = next_corner(at, tree, leeway.state, other, g)
        if not more:
            return False
        if usable and best_cuboid(goal, g, at, tree, leeway, behind, LOOKS, path, scratch):
            return True
    return False


# --- all cells in turn ------------------------------------------------------------------------------------------------


@part
def _path_of(n):
    return Path(
        np.empty(2 << n, np.int64), np.empty(2 << n, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64),
        np.empty(n + 1), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 4), np.int64), np.empty(n + 1),
    )  # fmt: skip


@part
def _unmet(pivot, before, mode, leeway, behind):
    """Whether a pivot needs a move: an error of its own, a second one, or contributors."""
    p, done = leeway.place[pivot], leeway.change[pivot] - before
    if mode == SECOND:
        return done < leeway.need_up[p] and -done < leeway.need_down[p]
    booked = behind.counts.size == 0 or behind.counts[pivot] >= behind.least
    return leeway.state[pivot] & SETTLED == 0 or not booked


@part
def _goal_of(pivot, before, mode, leeway, behind):
    p, done = leeway.place[pivot], leeway.change[pivot] - before
    fresh = mode == SECOND
    up, down, known = np.int64(0), np.int64(0), np.int64(0)
    if fresh or leeway.state[pivot] & SETTLED == 0:
        up, down = leeway.need_up[p] - done, leeway.need_down[p] + done
    if fresh:
        known = behind.signature[pivot]
    cap = leeway.cap[p] if mode != AGAIN else FAR
    return Goal(pivot, up, down, fresh, before, cap, known)


@part
def _take(goal, u, sd, g, tree, leeway, behind, mark, path, scratch):
    """Draw the step of the cuboid that was found, and change its cells; returns the step."""
    for a in range(g.size):
        path.d[a] = np.int64(path.best[1 + a])
    size = spread(g, path.d, tree, scratch.cells, scratch.signs)
    if behind.counts.size:
        m = rebooked(size, scratch.cells, scratch.signs, behind.counts, behind.least)
        for k in range(size):
            behind.counts[scratch.cells[k]] += scratch.signs[k] * m
    intervals = open_steps(size, scratch.cells, scratch.signs, leeway, goal, scratch)
    step = drawn(u, intervals, scratch.opened, sd)
    carry_out(step, size, scratch.cells, scratch.signs, leeway, mark, behind.signature)
    return step


@kernel
def perturb_cells(order, draws, tree, leeway, behind, mode, earlier, sd_share, room, first_number, made, steps):
    """Move every pivot in turn along the best cuboid of the nearest kind; returns how many moves, and the failures.

    ``mode`` FIRST: every pivot that has not changed enough. AGAIN: the same, with any finest cell below it, without a
    cap, and looking longer. SECOND: another move, independent of whoever knows the first ones, after which pivots had
    changed by ``earlier``. A row of ``made`` holds g, d and the pivot.
    """
    n = tree.strides.size
    g, at = np.empty(n, np.int64), np.empty(n, np.int64)
    path, scratch = _path_of(n), scratch_of(room)
    failures = np.zeros(order.size, np.bool_)
    number = 0
    for turn in range(order.size):
        pivot = order[turn]
        before = earlier[turn] if mode == SECOND else np.int64(0)
        if not _unmet(pivot, before, mode, leeway, behind):
            continue
        rest = pivot
        for a in range(n):
            at[a] = rest // tree.strides[a]
            rest -= at[a] * tree.strides[a]
        goal = _goal_of(pivot, before, mode, leeway, behind)
        if not _found_from_any_corner(goal, g, at, tree, leeway, behind, mode, path, scratch):
            failures[turn] = True
            continue
        sd = sd_share * min(goal.cap, leeway.cap[leeway.place[pivot]])
        mark = mixed(first_number + number)
        steps[number] = _take(goal, draws[turn], sd, g, tree, leeway, behind, mark, path, scratch)
        made[number, :n], made[number, n : 2 * n], made[number, 2 * n] = g, path.d, pivot
        number += 1
    return number, failures
