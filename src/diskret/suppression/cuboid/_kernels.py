"""Compiled search for protecting cuboids inside subtables.

A subtable is copied into local arrays, its total last on every axis. For each pivot the cuboids are walked axis by
axis: choosing the diametral index of one more axis doubles the cells, so that a branch is left as soon as a cell cannot
be used, the range is too small, or the branch cannot beat the best choice so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.compiled import inlined, kernel, part
from diskret.suppression._corner_kernels import (
    HIDDEN,
    PRIMARY,
    SINGLE,
    USABLE,
    Asked,
    System,
    ascending,
    before,
    by_choice,
    can_win,
    corners_of,
    extend,
    person,
    wide_enough,
)

# columns of what is known of a cuboid: new cells, their margin rank and cost, how far it goes up and down
COUNT, RANK, COST, RISE, FALL = 0, 1, 2, 3, 4
# counters of the results
MOVES, FAILURES, FRESH = 0, 1, 2


class Cells(NamedTuple):
    """Flat arrays over all cells of the table; state, creator, up and down are changed."""

    value: Floats
    up: Floats
    down: Floats
    state: npt.NDArray[np.uint8]
    cost: Floats
    creator: Ints


class Rules(NamedTuple):
    """How to choose: ranks of margins, powers of distances, and what single contributors and carried bounds mean."""

    barrier: Floats
    prune_rank: bool
    """Whether ranks are never negative: then they can end a branch of the search."""
    powers: Floats
    single_rule: bool
    mode: int
    """What is carried: 0 nothing, 1 every interval once, 2 always; then secondaries need the full range too."""


class Results(NamedTuple):
    """What comes back. Moves: pivot, diametral, up, down, subtable, second of a pair; failures: pivot, subtable, range.

    ``fresh`` holds the cells newly suppressed, ``filled`` how many of each there are, ``carry`` and ``carried`` the
    cells whose bounds were narrowed now, and ever.
    """

    moves: Floats
    failures: Floats
    fresh: Ints
    filled: Ints
    carry: npt.NDArray[np.uint8]
    carried: npt.NDArray[np.uint8]


class Subtable(NamedTuple):
    """One subtable: its segments, its number, the axes with more than one code, and where the pivot stands on them."""

    row: Ints
    name: int
    base: int
    volume: int
    used: Ints
    sizes: Ints
    steps: Ints
    at: Ints


class Scratch(NamedTuple):
    """Room to work in. It is flat, and functions take out only what they use: numba counts every reference."""

    where: Ints
    """Places in the table of the cells of a subtable; then what the search asks of them."""
    state: npt.NDArray[np.uint8]
    person: Ints
    """Who is alone in a cell; -1: nobody."""
    up: Floats
    down: Floats
    rank: Floats
    cost: Floats
    low: Floats
    high: Floats
    places: Floats
    plain: Floats
    """Prices before distances change them."""
    cells: Ints
    """A cuboid on its way: its cells and signs, and per axis the code chosen and what was counted before it."""
    signs: Ints
    step: Ints
    counts: Floats
    ranks: Floats
    costs: Floats
    rises: Floats
    falls: Floats
    singles: Ints
    best: Floats
    found: Ints
    """Diametral cells of the choice (-1: none), and where a pair stands among the kept."""
    reach: Floats
    stamp: Bools
    first: Ints
    second: Ints


@inlined
def _next_code(axis, at, sizes, index):
    """Go on to the next code of an axis that is not the pivot's; whether there is one."""
    index[axis] += 1
    if index[axis] == at[axis]:
        index[axis] += 1
    return index[axis] < sizes[axis]


@inlined
def _turn(code, at, size):
    """Whether cells change against each other on the way from one code to another (-1), or alike (1)."""
    return 1 if code == size - 1 or at == size - 1 else -1


@kernel
def walk(pivot, subtable, asked, prune_rank, scratch, kept):
    """All admissible cuboids of a pivot in file order; the best clean one, and those with singles for pairs.

    ``best`` of the scratch is (count, rank, cost, up, down) of the best clean cuboid, ``found`` its diametral cell.
    Cuboids with singles that could still win in a pair go to ``kept``; returns how many, or -1 if kept is full.
    """
    # taken out of their tuples here: inside the loop that would cost more than the search
    at, sizes, steps, n = subtable.at, subtable.sizes, subtable.steps, subtable.sizes.size
    state, person, up, down = scratch.state, scratch.person, scratch.up, scratch.down
    rank, cost, cells, signs, index = scratch.rank, scratch.cost, scratch.cells, scratch.signs, scratch.step
    counts, ranks, costs, singles = scratch.counts, scratch.ranks, scratch.costs, scratch.singles
    rises, falls, best, found = scratch.rises, scratch.falls, scratch.best, scratch.found
    own = person[pivot]
    _begin(pivot, cells, signs, index, up, down, rises, falls)
    counts[0], ranks[0], costs[0], singles[0], found[0] = 0.0, 0.0, 0.0, 0, -1
    number, axis = 0, 0
    while axis >= 0:
        if not _next_code(axis, at, sizes, index):
            axis -= 1
            continue
        half = 1 << axis
        shift, turn = (index[axis] - at[axis]) * steps[axis], _turn(index[axis], at[axis], sizes[axis])
        rise, fall = extend(cells, signs, half, shift, turn, state, USABLE | HIDDEN, up, down, rises[axis], falls[axis])
        if not wide_enough(rise, fall, asked):
            continue
        count, margin, price, alone = counts[axis], ranks[axis], costs[axis], singles[axis]
        for k in range(half, 2 * half):
            c = cells[k]
            if state[c] & HIDDEN == 0:
                count += 1
                margin += rank[c]
                price += cost[c]
            if person[c] >= 0 and person[c] != own:
                alone += 1
        if found[0] >= 0 and not can_win(count, margin, price, best, prune_rank):
            continue
        if axis < n - 1:
            axis += 1
            counts[axis], ranks[axis], costs[axis], singles[axis] = count, margin, price, alone
            rises[axis], falls[axis], index[axis] = rise, fall, -1
        elif alone == 0:
            if found[0] < 0 or before(count, margin, price, best):
                found[0] = cells[2 * half - 1]
                best[0], best[1], best[2], best[3], best[4] = count, margin, price, rise, fall
                if count == 0:
                    return number
        elif number == kept.shape[0]:
            return -1
        else:
            kept[number, 0], kept[number, 1], kept[number, 2] = count, margin, price
            kept[number, 3], kept[number, 4], kept[number, 5] = rise, fall, cells[2 * half - 1]
            number += 1
    return number


@inlined
def _begin(pivot, cells, signs, index, up, down, rises, falls):
    """A cuboid of the pivot alone."""
    cells[0], signs[0], index[0] = pivot, 1, -1
    rises[0], falls[0] = up[pivot], down[pivot]


@part
def best_range(pivot, subtable, scratch):
    """The largest range any cuboid of usable cells would give a pivot: what to tell about one that failed."""
    at, sizes, steps = subtable.at, subtable.sizes, subtable.steps
    state, up, down, cells, signs = scratch.state, scratch.up, scratch.down, scratch.cells, scratch.signs
    index, rises, falls = scratch.step, scratch.rises, scratch.falls
    _begin(pivot, cells, signs, index, up, down, rises, falls)
    best = 0.0
    axis = 0
    while axis >= 0:
        if not _next_code(axis, at, sizes, index):
            axis -= 1
            continue
        half = 1 << axis
        shift, turn = (index[axis] - at[axis]) * steps[axis], _turn(index[axis], at[axis], sizes[axis])
        rise, fall = extend(cells, signs, half, shift, turn, state, USABLE | HIDDEN, up, down, rises[axis], falls[axis])
        if rise + fall <= best:
            continue
        if axis == sizes.size - 1:
            best = rise + fall
            continue
        axis += 1
        rises[axis], falls[axis], index[axis] = rise, fall, -1
    return best


@part
def _stamp_second(second, own, person, stamp, someone):
    """Mark the cells of the second cuboid of a pair; returns how many of its singles went to ``someone``."""
    met = 0
    for c in second:
        stamp[c] = True
        if person[c] >= 0 and person[c] != own:
            someone[met] = person[c]
            met += 1
    return met


@part
def _add_first(first, someone, scratch, kept, j):
    """A pair's count, rank and cost from those of its second cuboid; False if the first has a single in common."""
    state, person, rank, cost, stamp = scratch.state, scratch.person, scratch.rank, scratch.cost, scratch.stamp
    count, margin, price = kept[j, COUNT], kept[j, RANK], kept[j, COST]
    disjoint = True
    for k in range(1, first.size):
        c = first[k]
        if person[c] >= 0:
            for m in range(someone.size):
                disjoint = disjoint and someone[m] != person[c]
        if not stamp[c] and state[c] & HIDDEN == 0:
            count += 1
            margin += rank[c]
            price += cost[c]
    return disjoint, count, margin, price


@kernel
def best_pair(pivot, subtable, prune_rank, scratch, kept, number):
    """The best pair of cuboids with no single in common, if it comes before the best clean cuboid.

    The union of a pair never comes before either member, so members are taken in order of rank until they cannot win
    (with negative barriers only its number of cells is sure to be no smaller).
    Returns the two diametral cells in ``found[0], found[1]`` and True if a pair wins.
    """
    size = 1 << subtable.sizes.size
    shared = (size >> 1) - 1
    first, second, someone = scratch.first[:size], scratch.second[:size], np.empty(size, np.int64)
    best, found, stamp, steps = scratch.best, scratch.found, scratch.stamp, subtable.steps
    person = scratch.person
    order = by_choice(kept, number)
    won = False
    for jj in range(1, number):
        j = order[jj]
        if found[0] >= 0 and not can_win(kept[j, COUNT], kept[j, RANK], kept[j, COST], best, prune_rank):
            break
        corners_of(pivot, np.int64(kept[j, 5]), steps, second)
        others = someone[: _stamp_second(second, person[pivot], person, stamp, someone)]
        for ii in range(jj):
            i = order[ii]
            if found[0] >= 0 and kept[i, COUNT] + kept[j, COUNT] - shared > best[COUNT]:
                break
            corners_of(pivot, np.int64(kept[i, 5]), steps, first)
            disjoint, count, rank, cost = _add_first(first, others, scratch, kept, j)
            if disjoint and (found[0] < 0 or before(count, rank, cost, best)):
                best[COUNT], best[RANK], best[COST] = count, rank, cost
                found[0], found[1], found[2], found[3] = np.int64(kept[i, 5]), np.int64(kept[j, 5]), i, j
                won = True
        for c in second:
            stamp[c] = False
        if won and best[COUNT] == 0:
            break
    return won


@part
def choose(pivot, subtable, asked, prune_rank, scratch, kept):
    """The best cuboid, or pair of cuboids, for one pivot.

    Returns how many cuboids (0: none protects it) and the buffer of cuboids with singles, which may have grown;
    ``found`` holds their diametral cells, ``reach`` how far up and down each can go.
    """
    best, found, reach = scratch.best, scratch.found, scratch.reach
    number = walk(pivot, subtable, asked, prune_rank, scratch, kept)
    while number < 0:
        kept = np.empty((2 * kept.shape[0], 6))
        number = walk(pivot, subtable, asked, prune_rank, scratch, kept)
    worth = number > 1 and (found[0] < 0 or best[COUNT] > 0)
    if worth and best_pair(pivot, subtable, prune_rank, scratch, kept, number):
        for half in range(2):
            reach[half, 0], reach[half, 1] = kept[found[2 + half], RISE], kept[found[2 + half], FALL]
        return 2, kept
    reach[0, 0], reach[0, 1] = best[RISE], best[FALL]
    return (1 if found[0] >= 0 else 0), kept


@part
def lay_out(row, name, system, axes):
    """A subtable by its segments: the axes that have more than one code, their sizes and local steps."""
    first, items, strides = system.first, system.items, system.strides
    used, sizes, steps, at = axes
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
    return Subtable(row, name, base, volume, used[:n], sizes[:n], steps[:n], at[:n])


@part
def _list_places(subtable, system, barrier, where, rank):
    """Where the cells of a subtable stand in the table, and their ranks as margins."""
    first, items, strides = system.first, system.items, system.strides
    row, used, sizes, steps = subtable.row, subtable.used, subtable.sizes, subtable.steps
    base = subtable.base
    for c in range(subtable.volume):
        place, margin = base, 0.0
        for i in range(sizes.size):
            k = (c // steps[i]) % sizes[i]
            axis = used[i]
            place += items[first[row[axis]] + k] * strides[axis]
            if k == sizes[i] - 1:
                margin += barrier[axis]
        where[c], rank[c] = place, margin


@part
def copy_in(subtable, system, cells, rules, scratch, pivots):
    """Copy a subtable into the local arrays; collect its pivots and return how many there are.

    Pivots are primaries, and secondaries that another subtable suppressed. A single in the margin is none if it is
    protected together with the single inside (see `person`).
    """
    state, up, down, cost, creator = cells.state, cells.up, cells.down, cells.cost, cells.creator
    where, l_state, l_person = scratch.where, scratch.state, scratch.person
    l_up, l_down, l_cost = scratch.up, scratch.down, scratch.cost
    row, name, single_rule = subtable.row, subtable.name, rules.single_rule
    _list_places(subtable, system, rules.barrier, where, scratch.rank)
    waiting = 0
    for c in range(subtable.volume):
        place = where[c]
        s = state[place]
        alone = single_rule and s & SINGLE
        who = person(place, row, system, state) if alone else -1
        l_state[c], l_person[c] = s, who
        l_up[c], l_down[c], l_cost[c] = up[place], down[place], cost[place]
        coming = s & HIDDEN and (s & PRIMARY or creator[place] != name)
        if coming and (who >= 0 or not alone):
            pivots[waiting] = c
            waiting += 1
    return waiting


@part
def turns(pivots, waiting, subtable, scratch, value):
    """Order of the pivots: primaries with the last axis outermost, then the others by ascending value."""
    sizes, steps, state, where = subtable.sizes, subtable.steps, scratch.state, scratch.where
    keys = np.empty((waiting, 1))
    for p in range(waiting):
        c = pivots[p]
        if state[c] & PRIMARY:
            key, weight = 0, 1
            for i in range(sizes.size):
                key += ((c // steps[i]) % sizes[i]) * weight
                weight *= sizes[i]
            keys[p, 0] = np.float64(key) - 1e15
        else:
            keys[p, 0] = abs(value[where[c]])
    return ascending(keys, waiting, np.int64(1))


@part
def note_places(subtable, system, scratch):
    """Positions of all codes and plain prices of all cells, before distances from a pivot change the prices."""
    for i in range(subtable.sizes.size):
        for k in range(subtable.sizes[i]):
            scratch.places[i, k] = system.items[system.first[subtable.row[subtable.used[i]]] + k]
    plain, cost = scratch.plain, scratch.cost
    for c in range(subtable.volume):
        plain[c] = cost[c]


@part
def price_by_distance(subtable, powers, scratch):
    """Prices for one pivot: the plain ones times the distance, a sum of powers over the axes (0 ** 0 counts 1)."""
    places, plain, cost, at = scratch.places, scratch.plain, scratch.cost, subtable.at
    used, sizes, steps = subtable.used, subtable.sizes, subtable.steps
    for c in range(subtable.volume):
        distance = 0.0
        for i in range(sizes.size):
            power = powers[used[i]]
            gap = abs(places[i, (c // steps[i]) % sizes[i]] - places[i, at[i]])
            if gap > 0:
                distance += gap**power
            elif power == 0:
                distance += 1.0
        cost[c] = plain[c] * distance


@inlined
def hide(corners, where, l_state, state, creator, name, fresh, filled):
    """Suppress the open cells of a cuboid."""
    for c in corners:
        if l_state[c] & HIDDEN == 0:
            place = where[c]
            l_state[c] |= HIDDEN
            state[place] |= HIDDEN
            creator[place] = name
            fresh[filled[FRESH]] = place
            filled[FRESH] += 1


@part
def widen(diametral, half, subtable, value, scratch):
    """Note what every cell of the cuboid in ``first`` can be."""
    where, low, high, reach = scratch.where, scratch.low, scratch.high, scratch.reach
    for c in scratch.first[: 1 << subtable.sizes.size]:
        same = _changes_alike(c, diametral, subtable)
        rise, fall = (reach[half, 0], reach[half, 1]) if same else (reach[half, 1], reach[half, 0])
        low[c] = min(low[c], value[where[c]] - fall)
        high[c] = max(high[c], value[where[c]] + rise)


@part
def _changes_alike(c, diametral, subtable):
    """Whether a cell of a cuboid changes like its pivot."""
    same = True
    for i in range(subtable.sizes.size):
        step, size, at = subtable.steps[i], subtable.sizes[i], subtable.at[i]
        if (c // step) % size != at and at != size - 1 and (diametral // step) % size != size - 1:
            same = not same
    return same


@part
def narrow(subtable, scratch, cells, always, results):
    """What an attacker learns here narrows what he may assume elsewhere."""
    value, up, down, carry, carried = cells.value, cells.up, cells.down, results.carry, results.carried
    where, low, high = scratch.where, scratch.low, scratch.high
    for c in range(subtable.volume):
        place = where[c]
        if high[c] >= low[c] and (always or not carried[place]):
            rise, fall = min(up[place], high[c] - value[place]), min(down[place], value[place] - low[c])
            if rise < up[place] or fall < down[place]:
                up[place], down[place] = rise, fall
                carry[place] = 1
                carried[place] = 1


@part
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


@part
def room_for(largest, widest, axes, rules):
    """Room to work in for subtables of at most this many cells."""
    bounds, prices = (largest if rules.mode else 0), (largest if rules.powers.size else 0)
    corners = 1 << axes
    return Scratch(
        np.empty(largest, np.int64), np.empty(largest, np.uint8), np.empty(largest, np.int64), np.empty(largest),
        np.empty(largest), np.empty(largest), np.empty(largest), np.empty(bounds), np.empty(bounds),
        np.zeros((axes, widest)), np.empty(prices),
        np.empty(corners, np.int64), np.empty(corners, np.int64), np.empty(axes + 1, np.int64), np.empty(axes + 1),
        np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1), np.empty(axes + 1, np.int64),
        np.empty(5), np.empty(4, np.int64), np.empty((2, 2)), np.zeros(largest, np.bool_),
        np.empty(corners, np.int64), np.empty(corners, np.int64),
    )  # fmt: skip


@part
def _has_room(waiting, subtable, results):
    """Whether everything that this many pivots can bring fits into the results."""
    filled = results.filled
    most = min(subtable.volume, (2 << subtable.sizes.size) * waiting)
    fits = filled[MOVES] + 2 * waiting <= len(results.moves) and filled[FAILURES] + waiting <= len(results.failures)
    return fits and filled[FRESH] + most <= results.fresh.size


@part
def secure_pivots(pivots, subtable, cells, needs, rules, scratch, kept, results):
    """Find a cuboid or a pair for every pivot and hide it, or note that there is none; the buffer may grow."""
    at, sizes, steps, name = subtable.at, subtable.sizes, subtable.steps, subtable.name
    where, l_state, found, reach = scratch.where, scratch.state, scratch.found, scratch.reach
    state, creator, first = cells.state, cells.creator, scratch.first[: 1 << sizes.size]
    moves, failures, fresh, filled = results.moves, results.failures, results.fresh, results.filled
    for pivot in pivots:
        place = where[pivot]
        for i in range(sizes.size):
            at[i] = (pivot // steps[i]) % sizes[i]
        asked = Asked(0.0, 0.0, 0.0)
        if l_state[pivot] & PRIMARY or rules.mode > 0:
            asked = Asked(needs.range[place], needs.down[place], needs.up[place])
        if rules.powers.size:
            price_by_distance(subtable, rules.powers, scratch)
        number, kept = choose(pivot, subtable, asked, rules.prune_rank, scratch, kept)
        if number == 0:
            f = filled[FAILURES]
            failures[f, 0], failures[f, 1], failures[f, 2] = place, name, best_range(pivot, subtable, scratch)
            filled[FAILURES] += 1
        for half in range(number):
            m, diametral = filled[MOVES], found[half]
            moves[m, 0], moves[m, 1], moves[m, 2], moves[m, 3] = place, where[diametral], reach[half, 0], reach[half, 1]
            moves[m, 4], moves[m, 5] = name, half
            filled[MOVES] += 1
            corners_of(pivot, diametral, steps, first)
            hide(first, where, l_state, state, creator, name, fresh, filled)
            if rules.mode:
                widen(diametral, half, subtable, cells.value, scratch)
    return kept


@kernel
def secure_subtables(subtables, names, given, results):
    """Secure every pivot of the given subtables, one after the other.

    ``subtables`` holds one segment per axis (a segment of one code fixes the axis). ``given`` are a `System`, `Cells`,
    what every cell asks for, and `Rules`, and ``results`` are `Results`, all as plain tuples: numba recognises those
    faster. Returns how many subtables are done: fewer if the results had no room for more.
    """
    system, cells, needs, rules = System(*given[0]), Cells(*given[1]), Asked(*given[2]), Rules(*given[3])
    results = Results(*results)
    axes = system.strides.size
    largest, widest = volumes(subtables, system.first)
    scratch = room_for(largest, widest, axes, rules)
    pivots, kept = np.empty(largest, np.int64), np.empty((256, 6))
    lists = (np.empty(axes, np.int64), np.empty(axes, np.int64), np.empty(axes, np.int64), np.empty(axes, np.int64))
    for t in range(subtables.shape[0]):
        subtable = lay_out(subtables[t], names[t], system, lists)
        if subtable.sizes.size == 0:
            continue
        waiting = copy_in(subtable, system, cells, rules, scratch, pivots)
        if waiting == 0:
            continue
        if not _has_room(waiting, subtable, results):
            return t
        if rules.powers.size:
            note_places(subtable, system, scratch)
        if rules.mode:
            scratch.low[: subtable.volume], scratch.high[: subtable.volume] = np.inf, -np.inf
        in_turn = pivots[turns(pivots, waiting, subtable, scratch, cells.value)]
        kept = secure_pivots(in_turn, subtable, cells, needs, rules, scratch, kept, results)
        if rules.mode:
            narrow(subtable, scratch, cells, rules.mode == 2, results)
    return subtables.shape[0]
