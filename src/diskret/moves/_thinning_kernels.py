"""Compiled settling of many demands, and making the pattern cheaper: take moves out, settle their demands for less."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part
from diskret.model.lent import lend
from diskret.moves._store_kernels import (
    ALIVE,
    BEFORE,
    DEMAND,
    ENTIRELY,
    ENTRIES,
    FIRST_ROW,
    FULL,
    LAST,
    LOST,
    MOVE,
    MOVES,
    OBJECTORS,
    SAVED,
    SETTLED,
    STEPS,
    TO_SOME,
    missing,
    narrow,
    satisfied,
    standing,
    switched,
    undo,
    widen,
)  # fmt: skip

PUBLIC, GUARD, BY_MOVE, BY_CELL = 0, 1, 2, 3
VICTIMS, WAITING = 11, 12
TOGETHER = 7
"""Where numbers hold how many moves are taken out together at most."""
LESS = 1 - 1e-9
ROWS, PER_MOVE = 64, 64
"""A store has room while so many moves of so many rows each would fit."""


@part
def _settle(demand, guard, store):
    """Settle a demand at any price, or note that nothing was found (unless there was only no room for it)."""
    if satisfied(demand, guard, np.inf, store) == np.inf and not store.counts[FULL]:
        store.demands[demand, LOST] = ENTIRELY if standing(demand, store) < 0 else TO_SOME


@part
def _victims(at, by_cell, store):
    """List the moves to be taken out: one, or all through a cell; how many."""
    lists, moves, entries = store.draft.search.lists, store.moves, store.entries
    number, row = 0, store.links[at, LAST] if by_cell else -1
    if not by_cell and moves[at, ALIVE]:
        lists[VICTIMS, 0], number = at, 1
    while row >= 0:
        if moves[entries[row, MOVE], ALIVE] and number < lists.shape[1]:
            lists[VICTIMS, number] = entries[row, MOVE]
            number += 1
        row = entries[row, BEFORE]
    return number


@part
def _open(number, store):
    """List the demands that are open without the moves taken out, small ones first; how many."""
    lists, moves, settled, steps = store.draft.search.lists, store.moves, store.settled, store.demands
    waiting = 0
    for i in range(number):
        move = lists[VICTIMS, i]
        for row in range(moves[move, FIRST_ROW], moves[move + 1, FIRST_ROW]):
            demand = settled[row, DEMAND]
            if waiting < lists.shape[1] and missing(demand, store) != 0:
                at = waiting
                while at > 0 and steps[lists[WAITING, at - 1], STEPS] > steps[demand, STEPS]:
                    lists[WAITING, at] = lists[WAITING, at - 1]
                    at -= 1
                lists[WAITING, at] = demand
                waiting += 1
    return waiting


@part
def _redo(number, banned, store):
    """Settle the demands of moves again without them and without a cell, for less; what was saved, 0 if all stays."""
    lists, counts = store.draft.search.lists, store.counts
    gain, spent, before, until = 0.0, 0.0, counts[MOVES], counts[SAVED]
    for i in range(number):
        gain += switched(lists[VICTIMS, i], np.int64(-1), store)
    waiting = _open(number, store)
    if banned >= 0:
        narrow(banned, -np.inf, -np.inf, store)
    if waiting and (gain == 0 or waiting == lists.shape[1]):
        spent = np.inf
    for i in range(waiting):
        if spent < gain:
            # no constants: for every one of them numba would compile all of it once more
            spent += satisfied(lists[WAITING, i], waiting > 0, gain * LESS - spent, store)
    widen(until, store)
    if waiting == 0 or spent < gain * LESS:
        return gain - spent
    while counts[MOVES] > before:
        undo(store)
    for i in range(number):
        switched(lists[VICTIMS, i], np.int64(1), store)
    return 0.0


@part
def _short(store):
    """Whether the store is nearly full."""
    counts = store.counts
    return (
        counts[MOVES] + ROWS > len(store.moves)
        or counts[ENTRIES] + ROWS * PER_MOVE > len(store.entries)
        or counts[SETTLED] + ROWS * PER_MOVE > len(store.settled)
        or counts[OBJECTORS] + ROWS * ROWS * PER_MOVE > store.objectors.size
    )


@kernel
def run(what, order, at, store):
    """Go through a list from ``at`` on until the store is full; where that is, and what was saved.

    Settle demands (against the public, against everybody), or take moves out (each of them, or all through a cell).
    """
    saved, store = 0.0, lend(store)
    while at < order.size and not _short(store):
        if what <= GUARD:
            _settle(order[at], what == GUARD, store)
        else:
            number = _victims(order[at], what == BY_CELL, store)
            if 0 < number <= store.draft.search.numbers[TOGETHER]:
                saved += _redo(number, order[at] if what == BY_CELL else np.int64(-1), store)
        if store.counts[FULL]:
            # what was left open is looked for again when there is room
            break
        at += 1
    return at, saved
