"""Doing without cells of a pattern: compiled, with programmes only where nothing else helps.

The moves of a pattern are handed to the store of `Products`. Moves through a cell are added up so that it drops out;
what equations refute is not looked for; what is left is asked of a programme over hidden cells. At the end all moves
are judged again, in whole numbers where it is close.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.table import Table
from diskret.moves import _sparing_kernels as kernels
from diskret.moves._refuting_kernels import Space
from diskret.moves._store_kernels import LEFT
from diskret.moves.pattern import Pattern, directions, rooms_without
from diskret.moves.products import Products

CHANGES = 4096
"""Cells that are narrowed to refute one move at most."""
AT_A_TIME, WORTH = 500, 0.05
"""Cells are tried so many at a time, until fewer than this part of them are open again. (Of `h3` of the benchmarks half
are at first and a third at the end; of a table with five times as many primary cells a quarter of the first 1,000,
nearly all that can be saved, then one in fifty.)"""
NARROWED = 10
"""How many times all rooms are narrowed before the first move is refuted."""
SLACK = 1e-9
NO_CELLS = np.empty(0, dtype=np.int64)


def spare_cells(
    pattern: Pattern, widest: float, running: Callable[[], bool], in_time: Callable[[], bool] = lambda: True
) -> None:
    """Try to do without cells that were added, the most expensive ones, by programmes while ``running``.

    They are over hidden cells of neighbourhoods up to ``widest`` cells. ``in_time`` ends everything.
    """
    cover, every, table = pattern.cover, pattern.router, pattern.router.table
    assert isinstance(table, Table)
    movable = pattern.hidden | cover.in_use
    space = space_of(table.equations(movable), movable, cover.up, cover.down)
    products = Products(table, cover, movable, pattern.hidden, pattern.guide)
    products.load(cover.gathered())
    cells = np.flatnonzero(pattern.added)
    order = cells[np.lexsort((cells, -pattern.price[cells]))]
    pattern.router = every.among(movable, space.rooms[:, 2], space.rooms[:, 3])

    def ask(demand: int, against: frozenset[int], without: int) -> tuple[Ints, Floats]:
        return _move_for(pattern, demand, against, without, widest)

    for first in range(0, order.size, AT_A_TIME):
        if not in_time() or spare(products, order[first : first + AT_A_TIME], space, ask, running) < WORTH * AT_A_TIME:
            break
    every.count(pattern.router)
    pattern.router = every
    pattern.cover = cover.again(products.moves())


def _move_for(
    pattern: Pattern, demand: int, against: frozenset[int], banned: int, widest: float
) -> tuple[Ints, Floats]:
    """A cheapest move over hidden cells for a demand that the insiders cannot object to; nothing if there is none."""
    cover, ways = pattern.cover, pattern.cover.ways
    cell = int(ways.cell[demand])
    rooms = rooms_without(cover, against, np.array([banned]))
    for rise, share in directions(cover, cell, int(ways.kind[demand])):
        found = pattern.router.route(cell, rise, float(ways.asked[demand]), pattern.weight, rooms, widest, share)
        if found is not None:
            return found
    return NO_CELLS, np.empty(0)


def space_of(system: Equations, movable: Bools, up: Floats, down: Floats) -> Space:
    """What equations say about the cells that may move; all others have no room."""
    first, rows, _ = system.by_column()
    number = np.zeros(movable.size + 1, dtype=np.int64)
    number[system.cells + 1] = np.diff(first)
    rooms = np.where(movable[:, None], np.stack([up, down, up, down], axis=1), 0.0)
    _narrow(rooms, system)
    return Space(
        first=np.cumsum(number),
        rows=rows.astype(np.int64),
        start=system.start.astype(np.int64),
        members=system.cells[system.columns].astype(np.int64),
        signs=system.coefficients.astype(np.float64),
        rooms=rooms,
        trail=np.zeros(CHANGES, dtype=np.int64),
        saved=np.zeros((CHANGES, 2)),
        ring=np.zeros((max(system.rows, 1), 2), dtype=np.int64),
        numbers=np.zeros(3, dtype=np.int64),
    )


def _narrow(rooms: Floats, system: Equations) -> None:
    """Narrow all rooms to what the other cells of each equation can take, a few times over."""
    cells, rises, first = system.cells[system.columns], system.coefficients > 0, system.start[:-1]
    row = system.row_of()
    if not row.size:
        return
    for _ in range(NARROWED):
        up = np.where(rises, rooms[cells, 0], rooms[cells, 1])
        down = np.where(rises, rooms[cells, 1], rooms[cells, 0])
        with np.errstate(invalid="ignore"):
            # infinity minus itself says nothing
            top = np.nan_to_num(np.add.reduceat(down, first)[row] - down, nan=np.inf, posinf=np.inf) * (1 + SLACK)
            bottom = np.nan_to_num(np.add.reduceat(up, first)[row] - up, nan=np.inf, posinf=np.inf) * (1 + SLACK)
        np.minimum.at(rooms[:, 0], cells, np.where(rises, top, bottom))
        np.minimum.at(rooms[:, 1], cells, np.where(rises, bottom, top))


def spare(
    products: Products, order: Ints, space: Space, ask: Callable[[int, frozenset[int], int], tuple[Ints, Floats]],
    running: Callable[[], bool],
) -> int:  # fmt: skip
    """Do without cells one after the other; how many are open again.

    ``ask(demand, against, without)`` finds a move that nothing known here is; it is asked while ``running``.
    """
    state = np.zeros(5, dtype=np.int64)
    at, cells, steps = 0, NO_CELLS, NO_CELLS
    while at < order.size:
        task = kernels.Task(products.store, space, order, state)
        at, demand, number = kernels.spare(cells, steps, at, running(), task)
        cells = steps = NO_CELLS
        if demand >= 0:
            people = products.store.draft.search.lists[LEFT][:number]
            cells, moved = ask(demand, frozenset(people.tolist()), int(order[at]))
            steps = moved.astype(np.int64)
        elif at < order.size:
            products.grow()
    return int(state[4])
