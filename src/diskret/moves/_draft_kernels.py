"""Compiled drafting of one move: products added up in whole steps, and detours around cells that cost much.

A draft says for every cell by how many steps it changes. While a product is looked for, cells of the draft cost nothing
if they go farther the same way, and what they cost is given back if the product brings them to rest. How far they can
go is what the draft leaves of their rooms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.compiled import part
from diskret.moves._product_kernels import (
    AHEAD,
    BASE,
    BEST_CELLS,
    BEST_SIGNS,
    COST,
    NOW,
    ROOM,
    Search,
    cheapest,
)  # fmt: skip

NOBODY = -1
EXACT = 1 - 1e-12
GAIN = -1e-9
SIXTEENTH, EIGHTH = 16, 8
LOSS = 4.0
"""A cell is forced out of a draft for at most this many times its price."""
MOVED, INSIDE = 0, 1
TOUCHED, COPY = 4, 5
"""Where lists hold the cells of the draft, and from where on two copies of it, cells and steps."""
EFFORT, KICKS, OPEN_PRICE, STEP, DETOURS = 3, 4, 5, 6, 8
"""Where numbers hold the effort of a search, cells to be forced out, what open cells cost at least, the step, and how
many detours are tried at a time."""


class Draft(NamedTuple):
    """A draft on top of a search."""

    search: Search
    steps: Ints
    """Of every cell by how many steps it changes, and whether it is listed."""
    counts: Ints
    """Cells of the draft, and of its two copies."""


@part
def _weigh(amount, fixed, draft):
    """Rooms and costs of the cells of a draft, for a product of so many steps; 0 steps: as if there were no draft."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    cells, lists, step = search.cells, search.lists, search.numbers[STEP]
    for i in range(counts[0]):
        cell = lists[TOUCHED, i]
        by = steps[cell, MOVED] if amount else 0
        now = cells[cell, NOW]
        cells[cell, ROOM] = cells[cell, BASE] - by * step
        cells[cell, ROOM + 1] = cells[cell, BASE + 1] + by * step
        cells[cell, COST] = cells[cell, COST + 1] = now if by == 0 else 0.0
        if by != 0 and abs(by) == amount:
            cells[cell, COST + (by > 0)] = -now
    if fixed >= 0:
        # the pivot stays as far as it was carried
        for way in range(2):
            cells[fixed, ROOM + way] = -np.inf if amount else cells[fixed, BASE + way]


@part
def _carry(cell, sign, amount, fixed, limit, draft):
    """Add the cheapest product that moves a cell by so many steps to a draft; what it costs, infinity for none."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    lists, numbers = search.lists, search.numbers
    _weigh(amount, fixed, draft)
    numbers[AHEAD] = amount * numbers[STEP] * EXACT
    size, total = cheapest(cell, sign, limit, numbers[EFFORT], search)
    _weigh(0 * amount, fixed, draft)
    if size == 0 or counts[0] + size > lists.shape[1]:
        return np.inf
    for i in range(size):
        at = lists[BEST_CELLS, i]
        steps[at, MOVED] += -amount if lists[BEST_SIGNS, i] else amount
        if not steps[at, INSIDE]:
            steps[at, INSIDE] = 1
            lists[TOUCHED, counts[0]] = at
            counts[0] += 1
    return total


@part
def clear(draft):
    """Forget a draft."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    for i in range(counts[0]):
        cell = search.lists[TOUCHED, i]
        steps[cell, MOVED] = steps[cell, INSIDE] = 0
    counts[0] = 0


@part
def _keep(slot, draft):
    """Write a copy of a draft."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    lists, at = search.lists, COPY + 2 * slot
    for i in range(counts[0]):
        lists[at, i], lists[at + 1, i] = lists[TOUCHED, i], steps[lists[TOUCHED, i], MOVED]
    counts[1 + slot] = counts[0]


@part
def _back_to(slot, draft):
    """Go back to the copy of a draft."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    lists, at = search.lists, COPY + 2 * slot
    clear(draft)
    counts[0] = counts[1 + slot]
    for i in range(counts[0]):
        cell = lists[at, i]
        lists[TOUCHED, i], steps[cell, MOVED], steps[cell, INSIDE] = cell, lists[at + 1, i], 1


@part
def _price(draft):
    """What the cells of a draft cost."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    total = 0.0
    for i in range(counts[0]):
        cell = search.lists[TOUCHED, i]
        if steps[cell, MOVED]:
            total += search.cells[cell, NOW]
    return total


@part
def _bring(cell, sign, amount, fixed, limit, parts, draft):
    """Carry a cell by so many steps, by one product or the sum of few, for less than a limit; whether that is found.

    A cell of the draft that comes to rest gives back what it costs, so that until then it may cost as much more.
    """
    cells = draft.search.cells
    piece, left, spent = amount, amount, 0.0
    while left > 0:
        piece = min(piece, left)
        spare = limit - spent
        if fixed >= 0 and piece < left:
            spare += cells[cell, NOW]
        found = _carry(cell, sign, piece, fixed, spare, draft)
        if found < np.inf:
            left -= piece
            spent += found
        elif piece == 1 or piece * parts <= amount:
            return False
        else:
            piece = (piece + 1) // 2
    return True


@part
def _around(cell, fixed, limit, draft):
    """Bring a cell of a draft to rest by further products, for less than a limit in all; False if that is not found."""
    by = draft.steps[cell, MOVED]
    slot = np.int64(0)
    _keep(slot, draft)
    if _bring(cell, np.int64(by > 0), abs(by), fixed, limit, np.int64(EIGHTH), draft):
        return True
    _back_to(slot, draft)
    return False


@part
def _dearest(draft, below, begin):
    """The dearest open cell from ``begin`` on of a draft that is cheaper than the last one; -1 after the last."""
    search, steps, counts = draft.search, draft.steps, draft.counts
    best, found = search.numbers[OPEN_PRICE], -1
    for i in range(begin, counts[0]):
        cell = search.lists[TOUCHED, i]
        price = search.cells[cell, NOW]
        if steps[cell, MOVED] and best < price < below:
            best, found = price, cell
    return found


@part
def _downhill(fixed, begin, draft):
    """Take detours around open cells, the dearest first, as long as that makes the draft cheaper.

    Only around cells listed from ``begin`` on. Those below the last one that was left were looked at since then.
    """
    left, again, tries = 0.0, True, draft.search.numbers[DETOURS]
    while again:
        again = False
        cell = _dearest(draft, np.inf, begin)
        while cell >= 0 and tries > 0 and (again or draft.search.cells[cell, NOW] >= left):
            tries -= 1
            price = draft.search.cells[cell, NOW]
            if _around(cell, fixed, GAIN, draft):
                again, left = True, price
            cell = _dearest(draft, price, begin)


@part
def drafted(pivot, sign, amount, limit, draft):
    """Draft a cheap move that carries a cell by so many steps for less than a limit; False if none is found.

    One product, else the sum of few; then detours; then the dearest cells are forced out one after the other, at a
    loss, in case something cheaper lies behind: with detours around the cells that came in instead.
    """
    search, every = draft.search, np.int64(0)
    if not _bring(pivot, sign, amount, np.int64(NOBODY), limit, np.int64(SIXTEENTH), draft):
        clear(draft)
        return False
    _downhill(pivot, every, draft)
    below, best, slot = np.inf, _price(draft), np.int64(1)
    for _ in range(int(search.numbers[KICKS])):
        cell = _dearest(draft, below, every)
        if cell < 0:
            break
        below = search.cells[cell, NOW]
        _keep(slot, draft)
        begin = draft.counts[0]
        if _around(cell, pivot, LOSS * below, draft):
            _downhill(pivot, begin, draft)
            price = _price(draft)
            if price < best + GAIN:
                best, below = price, np.inf
            else:
                _back_to(slot, draft)
    if best < limit:
        return True
    clear(draft)
    return False
