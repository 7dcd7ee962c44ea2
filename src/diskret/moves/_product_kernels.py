"""Compiled search for the cheapest product of one elementary move per classification.

An elementary move of a code consists of a branch from the code down to a leaf, and of one of two things: the way up to
the total, or the way up to below some sum and from there another branch down to a leaf, along which everything changes
the other way. Above and below the code everything changes as the code does, elsewhere against it. A product of such
moves, one per classification, leaves every equation of the table true.

The classifications are taken one after the other. What was chosen so far is a list of cells (a prefix, the pivot
first). For every code of every other classification its margin is known: what the prefix, shifted to that code, would
cost. Margins of different classifications are different cells, so that the cheapest ways of all of them together are a
bound. Codes are numbered through over all classifications, parts before their sum.

Few arrays with named columns: every further one would take longer to compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import kernel, part

DEAD = np.inf
ROOM, COST, BASE, NOW, PRICE, FREE = 0, 2, 4, 6, 7, 8
"""Columns of cells: how far they can rise and fall and what that costs at the moment, how far at all; what they cost
now, when nobody else uses them, when somebody does."""
PARENT, FIRST = 0, 1
"""Columns of codes: the sum above (-1 for totals), and where the codes below begin."""
LOW, HIGH, STRIDE, CODE = 0, 1, 2, 3
"""Columns of classifications: their codes, how far apart neighbours are in the table, the code of the pivot."""
MARGIN, WAY = 0, 1
AXIS, COUNT, UP_CODE, DOWN_CODE, OPEN = 0, 1, 2, 3, 4
SPENT, UP_COST, DOWN_COST, REST, BEST_DOWN = 0, 1, 2, 3, 4
CELLS, SIGNS, BEST_CELLS, BEST_SIGNS = 0, 1, 2, 3
AHEAD, BOUND_DOWN, BOUND_UP = 0, 1, 2


class Search(NamedTuple):
    """What a search looks at and writes into."""

    cells: Floats
    codes: Ints
    axes: Ints
    margins: Floats
    """Margins and ways of every level and code; those of the first level are zero."""
    levels: Ints
    costs: Floats
    lists: Ints
    """The prefix (places, and whether they fall), the best product, and what drafts need."""
    numbers: Floats
    """How far every cell must be able to go; bounds of one classification."""
    places: Ints
    """Where only some cells of the product are held, the place of each; else nothing: cells are their places."""
    slots: Ints
    """The cells by their places, hashed: place and cell, -1 for none."""


@part
def _slot(place, slots):
    """Where a place stands among the slots, or would stand."""
    mask = np.uint64(len(slots) - 1)
    at = np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    at = (at ^ (at >> np.uint64(29))) & mask
    while slots[at, 0] != place and slots[at, 0] >= 0:
        at = (at + np.uint64(1)) & mask
    return at


@part
def _cell_at(place, slots):
    """The cell at a place of the product; -1 where none is held."""
    return slots[_slot(place, slots), 1] if len(slots) else place


@kernel
def fill(places, cells, slots):
    """Enter cells by their places; there are at least twice as many slots, a power of two, all -1 before."""
    for i in range(cells.size):
        at = _slot(places[cells[i]], slots)
        slots[at, 0], slots[at, 1] = places[cells[i]], cells[i]


@part
def _look(level, axis, begin, top, search):
    """Margins of one classification one level deeper: with the cells of the prefix from ``begin`` on.

    A code dies where a cell cannot go far enough, above the cost ``top``, or with the sum it hangs below. Returns how
    many cells were looked at.
    """
    cells, codes, axes, margins, levels = search.cells, search.codes, search.axes, search.margins, search.levels
    lists, numbers, slots = search.lists, search.numbers, search.slots
    end, looked, deeper = levels[level + 1, COUNT], 0, level + 1
    low, code, stride, ahead = axes[axis, LOW], axes[axis, CODE], axes[axis, STRIDE], numbers[AHEAD]
    for x in range(axes[axis, HIGH] - 1, low - 1, -1):
        total = margins[MARGIN, level, x]
        if x == code or total == DEAD:
            margins[MARGIN, deeper, x] = total
            continue
        related = codes[x, FIRST] <= code <= x
        above = codes[x, PARENT]
        if not related and margins[MARGIN, deeper, above] == DEAD and not codes[above, FIRST] <= code <= above:
            margins[MARGIN, deeper, x] = DEAD
            continue
        flip = 0 if related or codes[code, FIRST] <= x < code else 1
        shift = (x - code) * stride
        for i in range(begin, end):
            cell, sign = _cell_at(lists[CELLS, i] + shift, slots), lists[SIGNS, i] ^ flip
            looked += 1
            if cell < 0:
                total = DEAD
                break
            total += cells[cell, COST + sign]
            if cells[cell, ROOM + sign] < ahead or total > top:
                total = DEAD
                break
        margins[MARGIN, deeper, x] = total
    return looked


@part
def _hang(level, axis, search):
    """What the codes between the pivot's and each other one cost together, and the cheapest way down and up.

    The way to the total stands at the total. Returns the number of ways.
    """
    codes, axes, margins, numbers = search.codes, search.axes, search.margins, search.numbers
    low, high, code = axes[axis, LOW], axes[axis, HIGH], axes[axis, CODE]
    run, at = 0.0, code
    margins[WAY, level, code] = 0.0
    while codes[at, PARENT] >= 0:
        at = codes[at, PARENT]
        margins[WAY, level, at] = run
        run += margins[MARGIN, level, at]
    down, up, downs, ups = DEAD, run, 0, int(run < DEAD)
    for x in range(high - 1, low - 1, -1):
        if codes[x, FIRST] <= code <= x:
            continue
        way = margins[WAY, level, codes[x, PARENT]] + margins[MARGIN, level, x]
        margins[WAY, level, x] = way
        if codes[x, FIRST] == x and way < DEAD:
            if codes[code, FIRST] <= x < code:
                downs += 1
                down = min(down, way)
            else:
                ups += 1
                up = min(up, way)
    margins[WAY, level, at] = run
    if codes[code, FIRST] == code:
        downs, down = 1, 0.0
    numbers[BOUND_DOWN], numbers[BOUND_UP] = down, up
    return downs * ups


@part
def _following(level, low, high, without, total, last, last_code, search):
    """The next dearer way to a leaf of a range (except below one code), or to the total; its code, -1 for none."""
    codes, margins = search.codes, search.margins
    found, least = -1, DEAD
    for x in range(low, high):
        if x != total and (codes[x, FIRST] != x or (without >= 0 and codes[without, FIRST] <= x <= without)):
            continue
        way = margins[WAY, level, x]
        if way < least and (way > last or (way == last and x > last_code)):
            found, least = x, way
    return found


@part
def _append(level, code, low, below, flip, used, stride, search):
    """Write the prefix shifted to every code from ``low`` up to before ``below``; returns how many cells there are."""
    codes, levels, lists = search.codes, search.levels, search.lists
    while low != below:
        if low != code:
            shift = (low - code) * stride
            for i in range(levels[level, COUNT]):
                lists[CELLS, used] = lists[CELLS, i] + shift
                lists[SIGNS, used] = lists[SIGNS, i] ^ flip
                used += 1
        low = codes[low, PARENT]
    return used


@part
def _extend(level, search):
    """The prefix with one more elementary move: down to one leaf, and up to the total or across to another leaf.

    Returns how many cells it would have; without writing them if that is too many.
    """
    codes, axes, levels, lists = search.codes, search.axes, search.levels, search.lists
    axis, used, up, down = levels[level, AXIS], levels[level, COUNT], levels[level, UP_CODE], levels[level, DOWN_CODE]
    code, stride, top, low, number = axes[axis, CODE], axes[axis, STRIDE], -1, -1, 0
    if codes[up, PARENT] >= 0:
        # the lowest sum above both
        low, top = up, codes[up, PARENT]
        while not codes[top, FIRST] <= code <= top:
            top = codes[top, PARENT]
    at = down
    while at != top:
        number += 1
        at = codes[at, PARENT]
    at = low
    while at != top:
        number += 1
        at = codes[at, PARENT]
    if number * used > lists.shape[1]:
        return number * used
    used = _append(level, code, down, top, np.int64(0), used, stride, search)
    return _append(level, code, low, top, np.int64(1), used, stride, search)


@part
def _prepare(level, limit, search):
    """Look along the open classifications and choose the one with fewest ways.

    Returns how many cells were looked at, and what all of the ways cost at least: more than a limit as soon as some do.
    """
    axes, levels, costs, numbers = search.axes, search.levels, search.costs, search.numbers
    rest, fewest, chosen, up, down, looked = 0.0, np.int64(1) << 60, 0, 0.0, 0.0, 0
    top, begin = limit - costs[level, SPENT], levels[level - 1, COUNT]
    for axis in range(len(axes)):
        if levels[level, OPEN] >> axis & 1 and rest < top:
            looked += _look(level - 1, axis, begin, top, search)
            number = _hang(level, axis, search)
            rest += numbers[BOUND_DOWN] + numbers[BOUND_UP]
            if number < fewest:
                fewest, chosen, down, up = number, axis, numbers[BOUND_DOWN], numbers[BOUND_UP]
    levels[level, AXIS], levels[level, UP_CODE], levels[level, DOWN_CODE] = chosen, -1, -1
    costs[level, UP_COST], costs[level, DOWN_COST], costs[level, BEST_DOWN] = -DEAD, -DEAD, down
    costs[level, REST] = rest - up - down
    return looked, rest


@part
def _advance(level, limit, search):
    """Go to the next pair of ways of a level, cheapest first; False after the last that stays below the limit."""
    codes, axes, margins, levels, costs = search.codes, search.axes, search.margins, search.levels, search.costs
    axis = levels[level, AXIS]
    low, high, code = axes[axis, LOW], axes[axis, HIGH], axes[axis, CODE]
    leaf, spare = codes[code, FIRST] == code, limit - costs[level, SPENT] - costs[level, REST]
    while True:
        if levels[level, UP_CODE] >= 0:
            # the next way down for the same way up
            down, last = np.int64(-1), levels[level, DOWN_CODE]
            if not leaf:
                first = codes[code, FIRST]
                down = _following(level, first, code, down, down, costs[level, DOWN_COST], last, search)
            elif last < 0:
                down = code
            way = 0.0 if leaf or down < 0 else margins[WAY, level, down]
            if down >= 0 and costs[level, UP_COST] + way < spare:
                levels[level, DOWN_CODE], costs[level, DOWN_COST] = down, way
                return True
        up = _following(level, low, high, code, high - 1, costs[level, UP_COST], levels[level, UP_CODE], search)
        if up < 0 or margins[WAY, level, up] + costs[level, BEST_DOWN] >= spare:
            return False
        levels[level, UP_CODE], costs[level, UP_COST] = up, margins[WAY, level, up]
        levels[level, DOWN_CODE], costs[level, DOWN_COST] = -1, -DEAD


@part
def _start(pivot, sign, search):
    """Begin with the pivot alone."""
    cells, axes, levels, costs, lists = search.cells, search.axes, search.levels, search.costs, search.lists
    places = search.places
    place = places[pivot] if places.size else pivot
    rest = place
    for axis in range(len(axes)):
        axes[axis, CODE] = axes[axis, LOW] + rest // axes[axis, STRIDE]
        rest %= axes[axis, STRIDE]
    lists[CELLS, 0], lists[SIGNS, 0] = place, sign
    costs[1, SPENT] = cells[pivot, COST + sign]
    levels[0, COUNT], levels[1, COUNT], levels[1, OPEN] = 0, 1, (1 << len(axes)) - 1


@part
def cheapest(pivot, sign, limit, effort, search):
    """The cheapest product that moves a cell and costs less than a limit; its number of cells (0: none) and its cost.

    Every cell must be able to go ``numbers[AHEAD]`` far. After ``effort`` cells the best found counts. It is left in
    the lists.
    """
    cells, levels, costs, lists, numbers = search.cells, search.levels, search.costs, search.lists, search.numbers
    slots = search.slots
    best, level, fresh = 0, np.int64(1), True  # no constant: all below would be compiled once more for it
    if cells[pivot, ROOM + sign] < numbers[AHEAD]:
        return best, limit
    _start(pivot, sign, search)
    while level > 0 and effort > 0:
        if fresh:
            fresh = False
            looked, rest = _prepare(level, limit, search)
            effort -= looked
            if not costs[level, SPENT] + rest < limit:
                level -= 1
                continue
        if not _advance(level, limit, search):
            level -= 1
            continue
        used = _extend(level, search)
        effort -= 1
        if used > lists.shape[1]:
            continue
        total = costs[level, SPENT] + costs[level, UP_COST] + costs[level, DOWN_COST]
        levels[level + 1, COUNT], costs[level + 1, SPENT] = used, total
        levels[level + 1, OPEN] = levels[level, OPEN] & ~(1 << levels[level, AXIS])
        if levels[level + 1, OPEN]:
            level, fresh = level + 1, True
            continue
        best, limit = used, total
        for i in range(used):
            lists[BEST_CELLS, i], lists[BEST_SIGNS, i] = _cell_at(lists[CELLS, i], slots), lists[SIGNS, i]
    return best, limit
