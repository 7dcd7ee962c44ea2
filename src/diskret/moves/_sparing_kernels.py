"""Kernels: doing without cells of a pattern. Moves through a cell are added up so that it drops out of the sum.

Every move that ever went through the cell will do, as long as all its cells may still move; what it takes to bring the
cell to rest may so be known from a move of long ago. Where no sum of two moves settles a demand, somebody else is asked
for a move (a programme), unless equations refute it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.compiled import kernel, part
from diskret.model.lent import lend
from diskret.moves._draft_kernels import INSIDE, MOVED, TOUCHED, clear
from diskret.moves._product_kernels import BASE, FREE, PRICE
from diskret.moves._refuting_kernels import Space, narrowed, refuted
from diskret.moves._store_kernels import (
    ALIVE,
    BEFORE,
    BY,
    CELL,
    DEMAND,
    DOWN,
    FIRST,
    FIRST_ENTRY,
    FIRST_ROW,
    FULL,
    KIND,
    LAST,
    LEFT,
    LENGTH,
    MOVE,
    MOVES,
    OBJECTORS,
    PIVOT,
    SETTLED,
    STEPS,
    USES,
    Store,
    _written,
    adopt,
    missing,
    switched,
    undo,
)  # fmt: skip
from diskret.moves._thinning_kernels import VICTIMS, WAITING, _open, _short, _victims

MAY = 2
LARGE = 1 << 20
"""Moves of more steps are not added up: whole numbers have an end."""
TRIED = 60
"""Sums that are tried for a demand at most."""
FOLLOWED = 120
"""Cells of the equations that are followed to refute a move at most."""
USERS, AT_ONCE = 24, 32
"""A cell that more moves go through, or more demands need, is kept."""
BUSY, NUMBER, OPEN, FIRST_NEW, WON = 0, 1, 2, 3, 4
"""What a task remembers: whether a cell is being done without, moves through it, demands still to be looked at, the
first new move; and how many cells were won."""


class Task(NamedTuple):
    """Cells to do without, one after the other."""

    store: Store
    space: Space
    order: Ints
    state: Ints


@part
def _closed(cell, rooms):
    """Whether a cell must not move any more."""
    return rooms[cell, MAY] <= 0.0 and rooms[cell, MAY + 1] <= 0.0


@part
def _drawn(move, times, steps, counts, lists, rooms, moves, entries):
    """Add a move so many times to the draft; False where a cell must not move any more, or steps are too many."""
    for e in range(moves[move, FIRST_ENTRY], moves[move + 1, FIRST_ENTRY]):
        cell = entries[e, CELL]
        if abs(entries[e, BY]) > LARGE or counts[0] == lists.shape[1] or _closed(cell, rooms):
            return False
        if not steps[cell, INSIDE]:
            steps[cell, INSIDE] = 1
            lists[TOUCHED, counts[0]] = cell
            counts[0] += 1
        steps[cell, MOVED] += times * entries[e, BY]
    return True


@part
def _through(move, cell, moves, entries):
    """By how many steps a move changes a cell."""
    for e in range(moves[move, FIRST_ENTRY], moves[move + 1, FIRST_ENTRY]):
        if entries[e, CELL] == cell:
            return entries[e, BY]
    return 0


@part
def _far_enough(pivot, kind, amount, steps, counts, lists, cells):
    """Whether the draft carries a cell far enough."""
    forth, back = np.inf, np.inf
    by = steps[pivot, MOVED]
    if by == 0:
        return False
    for i in range(counts[0]):
        cell = lists[TOUCHED, i]
        size = abs(steps[cell, MOVED])
        if size:
            way = int(steps[cell, MOVED] < 0)
            forth = min(forth, cells[cell, BASE + way] / size)
            back = min(back, cells[cell, BASE + 1 - way] / size)
    reach = forth + back if kind == LENGTH else (forth if (by > 0) == (kind != DOWN) else back)
    return abs(by) * reach >= amount * (1 - 1e-9)


@part
def _helps(demand, number, store):
    """Make the draft a move if it settles a demand, against one more at least of so many who object."""
    if adopt(store) == np.inf:
        return False
    now = missing(demand, store)
    if now >= 0 and (number < 0 or now < number):
        return True
    undo(store)
    return False


@part
def _summed(demand, number, cell, task):
    """Settle a demand by the sum of a move that did it and another one, both through a cell; False if none does."""
    store, tried, rooms = task.store, 0, task.space.rooms
    search, steps, counts = store.draft.search, store.draft.steps, store.draft.counts
    moves, entries, settled = store.moves, store.entries, store.settled
    lists, cells, pivot, kind = search.lists, search.cells, store.demands[demand, PIVOT], store.demands[demand, KIND]
    amount = store.demands[demand, STEPS] * store.units[demand]
    for i in range(task.state[NUMBER]):
        move, row = lists[VICTIMS, i], moves[lists[VICTIMS, i], FIRST_ROW]
        while row < moves[move + 1, FIRST_ROW] and settled[row, DEMAND] != demand:
            row += 1
        if row == moves[move + 1, FIRST_ROW]:
            continue
        mine, at = _through(move, cell, moves, entries), store.links[cell, LAST]
        while at >= 0 and tried < TRIED:
            other, his = entries[at, MOVE], entries[at, BY]
            at = entries[at, BEFORE]
            if other == move or abs(his) > LARGE:
                continue
            a, b = abs(mine), abs(his)
            while b:
                a, b = b, a % b
            tried += 1
            if (
                _drawn(move, his // a, steps, counts, lists, rooms, moves, entries)
                and _drawn(other, -mine // a, steps, counts, lists, rooms, moves, entries)
                and _far_enough(pivot, kind, amount, steps, counts, lists, cells)
                and _helps(demand, number, store)
            ):
                return True
            clear(store.draft)
    return False


@part
def _impossible(demand, person, everybody, cell, task):
    """Whether equations refute a move for a demand without a cell, against one or all of those who object."""
    store, space = task.store, task.space
    demands, kind = store.demands, store.demands[demand, KIND]
    narrowed(cell, 0.0, 0.0, space)
    for i in range(person, everybody):
        who = store.draft.search.lists[LEFT, i]
        for e in range(store.persons[who], store.persons[who + 1]):
            narrowed(store.known[e], store.narrow[e, 0], store.narrow[e, 1], space)
    amount = demands[demand, STEPS] * store.units[demand]
    return refuted(demands[demand, PIVOT], kind != DOWN, kind in (DOWN, LENGTH), amount, FOLLOWED, space)


@part
def _hopeless(cell, task):
    """Whether a demand that is open without a cell cannot be settled against somebody."""
    lists = task.store.draft.search.lists
    for i in range(task.state[OPEN]):
        demand = lists[WAITING, i]
        number = missing(demand, task.store)
        for who in range(max(number, 1 if number < 0 else 0)):
            if _impossible(demand, who, who + (number > 0), cell, task):
                return True
    return False


@part
def _begin(cell, task):
    """Take out all moves through a cell; False if there are none, or it is known that nothing replaces them."""
    store, state = task.store, task.state
    number = _victims(cell, np.bool_(True), store)
    if number == 0 or number > USERS:
        return False
    lists = store.draft.search.lists
    for i in range(number):
        switched(lists[VICTIMS, i], np.int64(-1), store)
    state[BUSY], state[NUMBER], state[FIRST_NEW] = 1, number, store.counts[MOVES]
    state[OPEN] = _open(number, store)
    if state[OPEN] <= AT_ONCE and not _hopeless(cell, task):
        return True
    _give_up(task)
    return False


@part
def _give_up(task):
    """Take everything back."""
    store, state = task.store, task.state
    while store.counts[MOVES] > state[FIRST_NEW]:
        move = store.counts[MOVES] - 1
        if not store.moves[move, ALIVE]:
            switched(move, np.int64(1), store)
        undo(store)
    for i in range(state[NUMBER]):
        switched(store.draft.search.lists[VICTIMS, i], np.int64(1), store)
    state[BUSY] = 0


@part
def _close(task):
    """Leave it at that: cells that nobody uses now must not move any more."""
    store, state = task.store, task.state
    cells, lists = store.draft.search.cells, store.draft.search.lists
    for i in range(state[NUMBER]):
        move = lists[VICTIMS, i]
        for e in range(store.moves[move, FIRST_ENTRY], store.moves[move + 1, FIRST_ENTRY]):
            cell = store.entries[e, CELL]
            hidden_anyway = cells[cell, PRICE] == cells[cell, FREE]
            if store.links[cell, USES] == 0 and not hidden_anyway and not _closed(cell, task.space.rooms):
                for way in range(4):
                    task.space.rooms[cell, way] = 0.0
                state[WON] += 1
    state[BUSY] = 0


@part
def _next_open(cell, task):
    """Settle demands by sums of moves, the largest first, up to one for which there is none; -1 after the last."""
    lists, state = task.store.draft.search.lists, task.state
    while state[OPEN] > 0:
        demand = lists[WAITING, state[OPEN] - 1]
        number = missing(demand, task.store)
        if number == 0:
            state[OPEN] -= 1
        elif not _summed(demand, number, cell, task):
            return demand
    return -1


@part
def _answered(demand, cell, cells, steps, task):
    """Take a move that was found for a demand; False if it does not help.

    What it differs by from one that did before goes through the cell: it is kept for others.
    """
    store = task.store
    search, moved, counts = store.draft.search, store.draft.steps, store.draft.counts
    number = missing(demand, store)
    for i in range(cells.size):
        if counts[0] == search.lists.shape[1] or _closed(cells[i], task.space.rooms):
            clear(store.draft)
            return False
        search.lists[TOUCHED, counts[0]], moved[cells[i], MOVED], moved[cells[i], INSIDE] = cells[i], steps[i], 1
        counts[0] += 1
    if not _helps(demand, number, store):
        return False
    _remember(demand, cell, task)
    return True


@part
def _remember(demand, cell, task):
    """Keep what the last move differs by from one that settled a demand before: that goes through the cell."""
    store = task.store
    pivot, new, counts = store.demands[demand, PIVOT], store.counts[MOVES] - 1, store.counts
    steps, drawn, lists = store.draft.steps, store.draft.counts, store.draft.search.lists
    moves, entries, rooms = store.moves, store.entries, task.space.rooms
    for i in range(task.state[NUMBER]):
        move = lists[VICTIMS, i]
        his, mine = _through(move, pivot, moves, entries), _through(new, pivot, moves, entries)
        if his == 0 or mine == 0 or abs(his) > LARGE or abs(mine) > LARGE or _short(store):
            continue
        a, b = abs(his), abs(mine)
        while b:
            a, b = b, a % b
        if _drawn(move, mine // a, steps, drawn, lists, rooms, moves, entries) and _drawn(
            new, -his // a, steps, drawn, lists, rooms, moves, entries
        ):
            _written(store)
            store.moves[counts[MOVES], FIRST_ROW], store.settled[counts[SETTLED], FIRST] = (
                counts[SETTLED], counts[OBJECTORS]
            )  # fmt: skip
            switched(counts[MOVES] - 1, np.int64(-1), store)
            clear(store.draft)
            return
        clear(store.draft)


@kernel
def load(start, cells, steps, at, store):
    """Add moves from ``at`` on, until the store is full; where that is."""
    store = lend(store)
    search, moved, counts = store.draft.search, store.draft.steps, store.draft.counts
    while at < start.size - 1 and not _short(store):
        for e in range(start[at], start[at + 1]):
            search.lists[TOUCHED, counts[0]], moved[cells[e], MOVED], moved[cells[e], INSIDE] = cells[e], steps[e], 1
            counts[0] += 1
        adopt(store)
        if store.counts[FULL]:
            break
        at += 1
    return at


@kernel
def spare(cells, steps, at, asking, task):
    """Go on from a place of the list, with a move that was asked for (or none) if a cell is being done without.

    Returns where it is, and the demand for which a move is asked (-1: none, the list is at its end or the store full).
    Without ``asking`` a cell is kept for which one would be needed.
    """
    task = lend(task)
    store, order, state = task.store, task.order, task.state
    while at < order.size:
        cell = order[at]
        lists = store.draft.search.lists
        if state[BUSY]:
            if not cells.size or not _answered(lists[WAITING, state[OPEN] - 1], cell, cells, steps, task):
                _give_up(task)
                at += 1 - store.counts[FULL]
                continue
        elif _short(store):
            break
        elif not _begin(cell, task):
            at += 1
            continue
        demand = _next_open(cell, task)
        if demand < 0:
            _close(task)
        else:
            number = max(missing(demand, store), 0)
            if asking and not _impossible(demand, 0 * number, number, cell, task):
                return at, demand, number
            _give_up(task)
        if store.counts[FULL]:
            break
        at += 1
    return at, np.int64(-1), np.int64(0)
