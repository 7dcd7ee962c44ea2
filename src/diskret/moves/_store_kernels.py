"""Compiled store of moves: which cells they use, and which demands they settle against whom.

Moves, their cells and what they settle are rows that are only ever appended; those of one cell or one demand are linked
from the last to the first. What was added last can be undone; a move that is done without is only marked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.compiled import part
from diskret.moves._cover_kernels import judge
from diskret.moves._draft_kernels import MOVED, STEP, TOUCHED, Draft, clear, drafted
from diskret.moves._product_kernels import BASE, COST, FREE, NOW, PRICE, ROOM

LENGTH, DOWN = 2, 1
MOVES, ENTRIES, SETTLED, OBJECTORS, SAVED, FULL = 0, 1, 2, 3, 4, 5
NOT = -1
LAST, USES = 0, 1
"""Columns of links: the last entry of a cell, and how many moves use it."""
PIVOT, KIND, STRICT, STEPS, LAST_ROW, LOST = 0, 1, 2, 3, 4, 5
"""Columns of demands: cell, kind, whether more than that, how many steps; its last row, and whether it is lost:"""
TO_SOME, ENTIRELY = 1, 2
"""against some insiders, or at all."""
FIRST_ENTRY, FIRST_ROW, ALIVE = 0, 1, 2
CELL, BEFORE, MOVE, BY = 0, 1, 2, 3
DEMAND, OF_MOVE, ROW_BEFORE, FIRST, END = 0, 1, 2, 3, 4
LEFT, NARROWED = 9, 10


class Store(NamedTuple):
    """All that is kept of a pattern, on top of a draft."""

    draft: Draft
    links: Ints
    demands: Ints
    units: Floats
    """The step of every demand."""
    moves: Ints
    entries: Ints
    settled: Ints
    objectors: Ints
    counts: Ints
    """How many rows there are of each, and whether something did not fit."""
    saved: Floats
    """Rooms of cells that were narrowed."""
    persons: Ints
    """Where what each insider knows begins."""
    known: Ints
    narrow: Floats
    judging: tuple[Any, ...]
    """What `judge` needs besides a move."""


@part
def standing(demand, store):
    """Number of insiders who object to every move of a demand, written to a list; -1 if there is no move."""
    lists, moves, settled, objectors = store.draft.search.lists, store.moves, store.settled, store.objectors
    number, row = NOT, store.demands[demand, LAST_ROW]
    while row >= 0 and number != 0:
        if moves[settled[row, OF_MOVE], ALIVE]:
            first, end = settled[row, FIRST], settled[row, END]
            # at the first move everybody who objects to it is left
            known, number = number, 0
            for i in range(known if known >= 0 else min(end - first, lists.shape[1])):
                person = lists[LEFT, i] if known >= 0 else objectors[first + i]
                found = known < 0
                for j in range(first, end):
                    found = found or objectors[j] == person
                if found:
                    lists[LEFT, number] = person
                    number += 1
        row = settled[row, ROW_BEFORE]
    return number


@part
def missing(demand, store):
    """The same without what is hopeless."""
    lost = store.demands[demand, LOST]
    if lost == ENTIRELY:
        return 0
    number = standing(demand, store)
    return 0 if number > 0 and lost == TO_SOME else number


@part
def switched(move, more, store):
    """Take a move out (-1) or in (1); returns what its own cells cost."""
    cells, links, moves, entries = store.draft.search.cells, store.links, store.moves, store.entries
    moves[move, ALIVE] = more > 0
    own = 0.0
    for e in range(moves[move, FIRST_ENTRY], moves[move + 1, FIRST_ENTRY]):
        cell = entries[e, CELL]
        links[cell, USES] += more
        now = cells[cell, FREE] if links[cell, USES] else cells[cell, PRICE]
        own += abs(cells[cell, NOW] - now)
        cells[cell, NOW] = cells[cell, COST] = cells[cell, COST + 1] = now
    return own


@part
def undo(store):
    """Undo the last move."""
    counts, moves, entries, settled = store.counts, store.moves, store.entries, store.settled
    move = counts[MOVES] - 1
    switched(move, np.int64(-1), store)
    for e in range(moves[move + 1, FIRST_ENTRY] - 1, moves[move, FIRST_ENTRY] - 1, -1):
        store.links[entries[e, CELL], LAST] = entries[e, BEFORE]
    for row in range(moves[move + 1, FIRST_ROW] - 1, moves[move, FIRST_ROW] - 1, -1):
        store.demands[settled[row, DEMAND], LAST_ROW] = settled[row, ROW_BEFORE]
    counts[MOVES], counts[ENTRIES], counts[SETTLED] = move, moves[move, FIRST_ENTRY], moves[move, FIRST_ROW]
    counts[OBJECTORS] = settled[moves[move, FIRST_ROW], FIRST]


@part
def _written(store):
    """Keep the cells of the draft as a new move in its smallest whole steps; returns what they cost."""
    search, steps, drawn = store.draft.search, store.draft.steps, store.draft.counts
    links, entries, counts = store.links, store.entries, store.counts
    move, row, common = counts[MOVES], counts[ENTRIES], np.int64(0)
    for i in range(drawn[0]):
        a, b = abs(steps[search.lists[TOUCHED, i], MOVED]), common
        while b:
            a, b = b, a % b
        common = a
    for i in range(drawn[0]):
        cell = search.lists[TOUCHED, i]
        if steps[cell, MOVED]:
            entries[row, CELL], entries[row, BEFORE], entries[row, MOVE] = cell, links[cell, LAST], move
            entries[row, BY] = steps[cell, MOVED] // common
            links[cell, LAST] = row
            row += 1
    counts[MOVES], counts[ENTRIES], store.moves[move + 1, FIRST_ENTRY] = move + 1, row, row
    return switched(move, np.int64(1), store)


@part
def _judged(store):
    """Write down what the last move settles against whom; False, and the move is undone, if that does not fit.

    Where it is a tie, what need only be reached is.
    """
    moves, entries, settled, objectors = store.moves, store.entries, store.settled, store.objectors
    demands, counts = store.demands, store.counts
    move = counts[MOVES] - 1
    begin, size = moves[move, FIRST_ENTRY], moves[move + 1, FIRST_ENTRY] - moves[move, FIRST_ENTRY]
    cells, moved = np.empty(size, np.int64), np.empty(size, np.float64)
    for i in range(size):
        cells[i], moved[i] = entries[begin + i, CELL], entries[begin + i, BY]
    found, tied, first, who = judge(cells, moved, *store.judging)
    row, end = counts[SETTLED], counts[OBJECTORS]
    if row + found.size >= len(settled) or end + who.size > objectors.size:
        counts[FULL], moves[move + 1, FIRST_ROW], settled[row, FIRST] = 1, row, end
        undo(store)
        return False
    for i in range(found.size):
        demand = found[i]
        strict = demands[demand, STRICT]
        if tied[i] and strict:
            continue
        settled[row, DEMAND], settled[row, OF_MOVE], settled[row, FIRST] = demand, move, end
        settled[row, ROW_BEFORE], demands[demand, LAST_ROW] = demands[demand, LAST_ROW], row
        for j in range(first[i], first[i + 1]):
            if who[j] >= 0 or strict:
                objectors[end] = who[j] if who[j] >= 0 else -1 - who[j]
                end += 1
        settled[row, END] = end
        row += 1
    counts[SETTLED], counts[OBJECTORS] = row, end
    moves[move + 1, FIRST_ROW], settled[row, FIRST] = row, end
    return True


@part
def adopt(store):
    """Make the draft a move; returns what it costs, infinity if the store has no room for it."""
    counts = store.counts
    if counts[MOVES] + 1 >= len(store.moves) or counts[ENTRIES] + store.draft.counts[0] > len(store.entries):
        counts[FULL] = 1
        clear(store.draft)
        return np.inf
    cost = _written(store)
    clear(store.draft)
    return cost if _judged(store) else np.inf


@part
def made(demand, limit, store):
    """Add a move that settles a demand for less than a limit; what it costs, infinity if none is found."""
    demands, draft = store.demands, store.draft
    pivot, kind, steps = demands[demand, PIVOT], demands[demand, KIND], demands[demand, STEPS]
    draft.search.numbers[STEP] = store.units[demand]
    found = drafted(pivot, np.int64(kind == DOWN), steps, limit, draft)
    if not found and kind == LENGTH:
        found = drafted(pivot, np.int64(1), steps, limit, draft)
    return adopt(store) if found else np.inf


@part
def narrow(cell, up, down, store):
    """Leave a cell less room for a while; what it had is saved."""
    cells, lists, saved, counts = store.draft.search.cells, store.draft.search.lists, store.saved, store.counts
    at = counts[SAVED]
    if at == lists.shape[1]:
        return
    counts[SAVED], lists[NARROWED, at] = at + 1, cell
    saved[at, 0], saved[at, 1] = cells[cell, BASE], cells[cell, BASE + 1]
    cells[cell, BASE] = cells[cell, ROOM] = min(cells[cell, BASE], up)
    cells[cell, BASE + 1] = cells[cell, ROOM + 1] = min(cells[cell, BASE + 1], down)


@part
def widen(until, store):
    """Give cells back their rooms."""
    cells, lists, saved, counts = store.draft.search.cells, store.draft.search.lists, store.saved, store.counts
    while counts[SAVED] > until:
        counts[SAVED] -= 1
        cell = lists[NARROWED, counts[SAVED]]
        for way in range(2):
            cells[cell, BASE + way] = cells[cell, ROOM + way] = saved[counts[SAVED], way]


@part
def without(demand, number, limit, store):
    """Add a move to which the first of those who are left cannot object; what it costs, infinity if none is found."""
    until, rooms = store.counts[SAVED], store.narrow
    for i in range(number):
        person = store.draft.search.lists[LEFT, i]
        for e in range(store.persons[person], store.persons[person + 1]):
            narrow(store.known[e], rooms[e, 0], rooms[e, 1], store)
    cost = made(demand, limit, store)
    widen(until, store)
    return cost


@part
def satisfied(demand, guard, limit, store):
    """Add moves until a demand is settled, and with ``guard`` nobody objects; what they cost, infinity if they do not.

    Without all who object at once, or where that is too much without one after the other.
    """
    spent, number = 0.0, missing(demand, store)
    while number < 0 or (guard and number > 0):
        many = max(number, 0)
        cost = without(demand, many, limit - spent, store)
        if cost == np.inf and many > 1:
            many = missing(demand, store) - many + 1
            cost = without(demand, many, limit - spent, store)
        spent += cost
        still = missing(demand, store)
        if cost == np.inf or still < 0 or (number > 0 and still >= number):
            # nothing was found, or it does not count when looked at again
            return np.inf
        number = still
    return spent
