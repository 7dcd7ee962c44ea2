"""Compiled loops over the moves of a perturbation: their cells, the steps they may take, and who can tell an error.

A move is given by two finest codes per classification, g and d, or by g alone. It changes the cells of the product of
the chains above these codes, up to where the two chains meet: plus along g, minus along d. Sums above the meeting point
do not change; with g alone all sums up to the total do. So a table stays additive whatever moves are made.

All numbers are whole: values in units of their last decimal. ``leeway`` (see `Leeway`) says between which changes each
cell must stay, what it has been changed by so far, and what primary cells demand.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.compiled import kernel, part

USABLE, PRIMARY, SINGLE, SETTLED = 1, 2, 4, 8
FAR = np.int64(1) << np.int64(60)
Whole = npt.NDArray[np.integer]
"""Short whole numbers where they suffice: the moves of large tables have hundreds of cells each."""


class Tree(NamedTuple):
    """The hierarchies end to end: codes of classification a begin at ``offset[a]``, its finest ones in ``leaves``."""

    parent: Ints
    offset: Ints
    strides: Ints
    leaves: Ints
    leaf_from: Ints
    leaf_to: Ints
    first_part: Ints
    next_part: Ints


class Goal(NamedTuple):
    """What a move must do for its pivot.

    It must have room for ``up`` or ``down``. With ``fresh`` what the pivot changes by since it had changed by
    ``before`` must alone be as much as it demands. ``known`` is the signature of an error somebody knows already.
    """

    pivot: int
    up: int
    down: int
    fresh: bool
    before: int
    cap: int
    known: int


class Scratch(NamedTuple):
    """Room for one move: its cells, their signs, and the steps it may take."""

    cells: Ints
    signs: Ints
    gaps: Ints
    opened: Ints


class Candidates(NamedTuple):
    """Given moves, and those of every primary cell: ``move[first[p] : first[p + 1]]`` in the order to try them."""

    start: Ints
    cells: Whole
    signs: Whole
    first: Ints
    move: Ints


@part
def mixed(k):
    """A number that looks random, for move k: sums of them tell which moves a cell belongs to."""
    x = np.uint64(k) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(x ^ (x >> np.uint64(31)))


# --- the cells of a move ----------------------------------------------------------------------------------------------


@part
def _meeting(one, other, parent, o):
    """Where two chains meet: codes stand before their sums, so the lower one climbs."""
    while one != other:
        if one < other:
            one = parent[o + one]
        else:
            other = parent[o + other]
    return one


@kernel
def spread(g, d, tree, cells, signs):
    """All cells a move changes and their signs; returns how many.

    ``g`` and ``d`` hold one finest code per classification, d -1 where g moves alone.
    """
    parents, offset, strides = tree.parent, tree.offset, tree.strides
    cells[0], signs[0] = 0, 1
    count = 1
    for a in range(g.size - 1, -1, -1):
        o, stride = offset[a], strides[a]
        stop = _meeting(g[a], d[a], parents, o) if d[a] >= 0 else np.int64(-1)
        grown = count
        # the chain above g goes along, the one from d on against it
        for code, times in ((parents[o + g[a]], 1), (d[a], -1)):
            while code != stop and code >= 0:
                for k in range(count):
                    cells[grown] = cells[k] + code * stride
                    signs[grown] = times * signs[k]
                    grown += 1
                code = parents[o + code]
        for k in range(count):
            cells[k] += g[a] * stride
        count = grown
    return count


@kernel
def spread_all(made, tree, scratch, start, all_cells, all_signs):
    """The cells of all moves end to end; with no room for them only where each begins."""
    n, cells, signs = tree.strides.size, scratch.cells, scratch.signs
    start[0] = 0
    for m in range(made.shape[0]):
        size = spread(made[m, :n], made[m, n : 2 * n], tree, cells, signs)
        start[m + 1] = start[m] + size
        if all_cells.size:
            for k in range(size):
                all_cells[start[m] + k], all_signs[start[m] + k] = cells[k], signs[k]


@kernel
def nested(one, other, tree):
    """Whether one of two cells is, in every classification, the code of the other or above or below it."""
    parent, offset, strides = tree.parent, tree.offset, tree.strides
    for a in range(strides.size):
        o, stride = offset[a], strides[a]
        low, high = one // stride, other // stride
        one, other = one - low * stride, other - high * stride
        if low > high:
            low, high = high, low
        while low < high:
            low = parent[o + low]
        if low != high:
            return False
    return True


# --- the steps it may take --------------------------------------------------------------------------------------------


@part
def reach(number, cells, signs, leeway):
    """How far a move can go up and down before a cell leaves what it may be."""
    rise, fall = FAR, FAR
    change, low, high = leeway.change, leeway.low, leeway.high
    for k in range(number):
        c, times = cells[k], abs(signs[k])
        up, down = (high[c] - change[c]) // times, (change[c] - low[c]) // times
        if signs[k] < 0:
            up, down = down, up
        rise, fall = min(rise, up), min(fall, down)
    return rise, fall


@kernel
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


@part
def _insert(gaps, count, a, b):
    """Add a gap to those sorted by where they begin; returns how many there are now."""
    m = count
    while m > 0 and gaps[m - 1, 0] > a:
        gaps[m, 0], gaps[m, 1] = gaps[m - 1, 0], gaps[m - 1, 1]
        m -= 1
    gaps[m, 0], gaps[m, 1] = a, b
    return count + 1


@part
def _gaps(number, cells, signs, leeway, goal, gaps):
    """Steps that would take a cell back to within its demand: open from ``gaps[i, 0]`` down and ``gaps[i, 1]`` up."""
    count, pivot, state, place, changes = 0, goal.pivot, leeway.state, leeway.place, leeway.change
    need_up, need_down = leeway.need_up, leeway.need_down
    for k in range(number):
        c, times = cells[k], abs(signs[k])
        if c != pivot and state[c] & SETTLED == 0:
            continue
        p, change = place[c], changes[c]
        up, down = need_up[p], need_down[p]
        if signs[k] > 0:  # steps up to the first, and from the second on, are far enough
            count = _insert(gaps, count, (-down - change) // times, -((change - up) // times))
        else:
            count = _insert(gaps, count, (change - up) // times, -((-down - change) // times))
        if goal.fresh and c == pivot:
            count = _insert(gaps, count, goal.before - down - change, goal.before + up - change)
    return count


@kernel
def open_steps(number, cells, signs, leeway, goal, scratch):
    """The steps a move may take, as intervals (from, to) in ``scratch.opened``; returns how many intervals.

    Every cell stays within its bounds. The pivot and all primary cells that have changed enough already must not come
    back to within their demand: each leaves a gap.
    """
    gaps, opened = scratch.gaps, scratch.opened
    rise, fall = reach(number, cells, signs, leeway)
    first, last = -min(fall, goal.cap), min(rise, goal.cap)
    found = 0
    for m in range(_gaps(number, cells, signs, leeway, goal, gaps)):
        if gaps[m, 0] >= first:
            opened[found, 0], opened[found, 1] = first, min(gaps[m, 0], last)
            found += opened[found, 1] >= first
        first = max(first, gaps[m, 1])
        if first > last:
            return found
    opened[found, 0], opened[found, 1] = first, last
    return found + (last >= first)


@part
def _normal(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@part
def _share(a, b, sd):
    """How probable the steps from a to b are: by their number, or (with ``sd``) by the normal distribution."""
    return _normal((b + 0.5) / sd) - _normal((a - 0.5) / sd) if sd > 0 else np.float64(b - a + 1)


@kernel
def drawn(u, number, opened, sd):
    """A whole step from the open intervals: uniform, or (with ``sd``) normal, cut to them. u is uniform on [0, 1)."""
    whole = 0.0
    for i in range(number):
        whole += _share(opened[i, 0], opened[i, 1], sd)
    if sd > 0 and whole < 1e-12:
        return drawn(u, number, opened, 0.0)
    t, i = u * whole, 0
    while i < number - 1 and t >= _share(opened[i, 0], opened[i, 1], sd):
        t -= _share(opened[i, 0], opened[i, 1], sd)
        i += 1
    a, b = opened[i]
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


@part
def carry_out(step, number, cells, signs, leeway, mark, signature):
    """Change all cells of a move, and note which primary cells have changed enough by now."""
    change, state, place = leeway.change, leeway.state, leeway.place
    need_up, need_down = leeway.need_up, leeway.need_down
    for k in range(number):
        c = cells[k]
        change[c] += signs[k] * step
        if signature.size:
            signature[c] += signs[k] * mark
        if state[c] & (PRIMARY | SETTLED) == PRIMARY:
            p = place[c]
            if change[c] >= need_up[p] or -change[c] >= need_down[p]:
                state[c] |= SETTLED


# --- all moves --------------------------------------------------------------------------------------------------------


@kernel
def scratch_of(room):
    """Room for a move of this many cells."""
    cells, signs = np.empty(room, np.int64), np.empty(room, np.int64)
    return Scratch(cells, signs, np.empty((room + 2, 2), np.int64), np.empty((room + 3, 2), np.int64))


@part
def all_usable(number, cells, state):
    """Whether every cell of a move may change."""
    usable = True
    for k in range(number):
        usable = usable and state[cells[k]] & USABLE != 0
    return usable


@kernel
def sign(start, cells, signs, taken, signature):
    """Which of the moves taken every cell belongs to, as a sum of their numbers: equal for cells of the same moves."""
    for m in range(start.size - 1):
        if taken[m]:
            for k in range(start[m], start[m + 1]):
                signature[cells[k]] += signs[k] * mixed(m)


@kernel
def told_by_singles(start, cells, tree, state, signature, told):
    """Mark the primary cells whose error follows from that of a cell with a single contributor, who knows it.

    The error of a cell is a sum over its moves. Cells of the same moves, with the same or all opposite signs, have the
    same error; the signature tells. Cells below each other have the same single contributor, whose own business they
    are.
    """
    for m in range(start.size - 1):
        for k in range(start[m], start[m + 1]):
            c = np.int64(cells[k])
            if state[c] & SINGLE == 0:
                continue
            for j in range(start[m], start[m + 1]):
                p = np.int64(cells[j])
                same = abs(signature[p]) == abs(signature[c])
                if same and state[p] & PRIMARY and not nested(c, p, tree):
                    told[p] = True


@kernel
def perturb_along(draws, moves, leeway, sd_share, steps):
    """Move every primary cell in turn along the first given move that has a step open; returns the failures.

    Moves are tried within the cap first, then without. What each move has been taken by is added to ``steps``.
    """
    failures, unsigned = np.zeros(leeway.primary.size, np.bool_), np.empty(0, np.int64)
    scratch = scratch_of(np.diff(moves.start).max() if moves.start.size > 1 else 0)
    for p in range(leeway.primary.size):
        pivot = leeway.primary[p]
        failures[p] = leeway.state[pivot] & SETTLED == 0
        tries = moves.first[p + 1] - moves.first[p]
        for turn in range(2 * tries):
            if not failures[p]:
                break
            m = moves.move[moves.first[p] + turn % tries]
            cap = leeway.cap[p] if turn < tries else FAR
            cells, signs = (
                moves.cells[moves.start[m] : moves.start[m + 1]],
                moves.signs[moves.start[m] : moves.start[m + 1]],
            )
            goal = Goal(pivot, np.int64(0), np.int64(0), False, np.int64(0), cap, np.int64(0))
            if not all_usable(cells.size, cells, leeway.state):
                continue
            found = open_steps(cells.size, cells, signs, leeway, goal, scratch)
            if found:
                step = drawn(draws[p], found, scratch.opened, sd_share * min(cap, leeway.cap[p]))
                carry_out(step, cells.size, cells, signs, leeway, np.int64(0), unsigned)
                steps[m] += step
                failures[p] = False
    return failures
