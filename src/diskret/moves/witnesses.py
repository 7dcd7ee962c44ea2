"""Witnesses of protection: moves that were handed over or found, each re-checked before it counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.merged import Merged
from diskret.model.near import SMALL
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.model.workers import Workers
from diskret.moves.cover import Cover
from diskret.moves.cuboids import cuboid_moves
from diskret.moves.demands import Demands, demands_of
from diskret.moves.insiders import Insiders, insiders_of
from diskret.moves.move import MoveSet
from diskret.moves.pattern import Pattern, add_products, build, find_move, missing
from diskret.moves.recheck import hold
from diskret.moves.router import Router

TURNS = 8
"""How often sums of products are looked for in an attack on a sparse table: where they are not found by then,
programmes decide. (Of 10,842 demands 713 were left after the first turn, 122, 31 and 0 after those that followed.)"""


def witnesses(
    table: Table, demands: Demands, insiders: Insiders, up: Floats, down: Floats, moves: MoveSet,
    workers: Workers | None = None,
) -> Pattern:  # fmt: skip
    """The pattern of hidden cells with the moves that hold; nothing more can be hidden."""
    hidden = table.hidden.reshape(-1)
    router = Router(table, hidden, up, down)
    cover = Cover(demands, insiders, up, down, table.shape, whole=table.frequency)
    pattern = Pattern(cover, router, np.ones(table.size), hidden, np.ones(table.size))
    good, steps = hold(table, moves)
    cover.take(steps.some(np.flatnonzero(good)))
    if table.product:
        _add_cuboids(pattern, table, workers)
    elif isinstance(table, Merged):
        _add_products(pattern, table)
    return pattern


def cover_of(table: Table, promise: Promise, moves: MoveSet) -> Cover:
    """What moves (of an audit) and cuboids settle of a promise."""
    people = insiders_of(table, promise)
    return witnesses(table, demands_of(table, promise), people, *promise.knowledge.room(table), moves).cover


def _add_cuboids(pattern: Pattern, table: Table, workers: Workers | None) -> None:
    """Cuboids of hidden cells settle most demands in no time."""
    cover = pattern.cover
    waiting = np.flatnonzero(~cover.standing().entirely)
    if waiting.size:  # on a new machine the search would be compiled first
        found = cuboid_moves(
            table, pattern.hidden, waiting, cover.ways, cover.insiders, cover.up, cover.down, workers=workers
        )
        cover.take(*found)


def _add_products(pattern: Pattern, table: Merged) -> None:
    """Sums of products of hidden cells, looked for again and again: open cells they go through cost now this, now that.

    A sum that does not bring all open cells to rest settles nothing. What it was made for is looked for the other way
    round next, after what others found.
    """
    cover, value = pattern.cover, 1.0 + np.abs(table.value.reshape(-1))
    for turn in range(TURNS):
        waiting = np.flatnonzero(~cover.standing().entirely)
        if not waiting.size:
            break
        order = waiting[np.lexsort((waiting, -pattern.router.heights(cover.ways.cell[waiting])))]
        guide = (value, value, np.ones(value.size), np.sqrt(value))[turn % 4]
        add_products(replace(pattern, guide=guide), order[:: -1 if turn % 2 else 1].copy())


def search_near(pattern: Pattern) -> None:
    """Moves for the public in small neighbourhoods only: cheap, and most of what cuboids do not settle."""
    for demand in np.flatnonzero(~pattern.cover.standing().settled).tolist():
        if not missing(pattern, demand).settled:
            found = find_move(pattern, demand, None, widest=SMALL)
            if found is not None:
                pattern.cover.add(found)


def search(pattern: Pattern) -> None:
    """Look near the cells for moves that settle what is open."""
    waiting = [
        d for d in np.flatnonzero(~pattern.cover.standing().entirely).tolist() if not missing(pattern, d).entirely
    ]
    build(pattern, waiting, lambda done, of: None)


def reached(cover: Cover) -> tuple[Floats, Floats]:
    """How far every cell was seen to rise and fall, by any kept move carried as far as it goes."""
    rise, fall = np.zeros(cover.up.size), np.zeros(cover.up.size)
    moves = cover.gathered()
    number, cells = moves.number(), moves.cells
    size, up = np.abs(moves.coefficients), moves.coefficients > 0
    ahead, back = moves.up[number], moves.down[number]
    np.maximum.at(rise, cells, size * np.where(up, ahead, back))
    np.maximum.at(fall, cells, size * np.where(up, back, ahead))
    return rise, fall
