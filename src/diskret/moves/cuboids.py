"""Certificates without a solver: moves that are products of one elementary move per classification.

An elementary move of a classification is a leaf with all its sums up to the total, all changing alike; or two leaves,
each with its sums below the one they have in common, changing against each other. Both leave every sum of the
classification true, and therefore a product of one elementary move per classification leaves every equation of the
whole table true, over all levels. If all its cells are hidden and none becomes impossible, it proves that the cell it
was made for can move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.processes import cores
from diskret.model.table import Table
from diskret.model.trees import strides_of, trees_of
from diskret.model.workers import Threads, Workers
from diskret.moves import _cuboid_kernels
from diskret.moves.demands import Ways
from diskret.moves.insiders import Insiders
from diskret.moves.move import MoveSet

EFFORT = 20_000
"""Cells that are looked at for one move at most."""
WIDEST = 1024
"""Cells of a move at most."""
SHARE = 2_000
"""Demands that are worth a thread of their own."""


class Field(NamedTuple):
    """What all searches have in common: demands, cells with their rooms, and who objects to what."""

    cells: Ints
    kind: npt.NDArray[np.int8]
    least: Floats
    shape: tuple[int, ...]
    tree: tuple[Ints, ...]
    strides: Ints
    room: Floats
    insiders: Insiders
    tight: Floats
    effort: int


def cuboid_moves(
    table: Table,
    hidden: Bools,
    demands: Ints,
    ways: Ways,
    insiders: Insiders,
    up: Floats,
    down: Floats,
    *,
    effort: int = EFFORT,
    workers: Workers | None = None,
) -> tuple[MoveSet, Ints]:
    """Moves through hidden cells that settle the demands asked for (numbers into ``ways``), and the demand of each.

    A demand gets the move to which fewest insiders object, and if somebody does, a second one, if there is one to which
    none of them objects. ``up`` and ``down`` are the rooms of all cells, ``hidden`` says which of them may take part
    (both flat). After ``effort`` cells a search ends with the best it has: that no move was found says nothing about
    the demand.

    >>> from diskret import Hierarchy, Knowledge, Promise
    >>> from diskret.moves.insiders import insiders_of
    >>> from diskret.moves.demands import demands_of
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="status")
    >>> ways = demands_of(table, Promise(min_relative_range=0.5)).ways
    >>> nobody = insiders_of(table, Promise(guard="public"))
    >>> rooms = Knowledge.positive().room(table)
    >>> found, _ = cuboid_moves(table, table.hidden.reshape(-1), np.array([0]), ways, nobody, *rooms)
    >>> found.cells.tolist(), found.coefficients.tolist()
    ([0, 1], [1.0, -1.0])
    """
    # demands of one cell stand together: what settles one often settles the other
    order = demands[np.lexsort((demands, ways.cell[demands]))]
    tree, strides = tuple(trees_of(table.hierarchies)), strides_of(table.shape)
    room = np.where(hidden[:, None], np.stack([up, down], axis=1), -np.inf)
    tight = np.stack([insiders.up, insiders.down], axis=1)
    field = Field(
        cells=ways.cell, kind=ways.kind, least=ways.least, shape=table.shape, tree=tree, strides=strides, room=room,
        insiders=insiders, tight=tight, effort=effort,
    )  # fmt: skip
    hands = workers or Threads(cores())
    count = min(hands.count, 1 + order.size // SHARE)
    found = hands.map(_certified, field, _pieces(order, ways.cell[order], count))
    sizes = [cells.size for _, _, cells, _ in found]
    ends = [end + before for (_, end, _, _), before in zip(found, np.cumsum([0, *sizes[:-1]]), strict=True)]
    start = np.concatenate([[0], *ends]).astype(np.int64)
    number, nothing = start.size - 1, np.empty(0, dtype=np.int64)
    moves = MoveSet(
        start=start,
        cells=np.concatenate([cells for _, _, cells, _ in found]),
        coefficients=1.0 - 2.0 * np.concatenate([signs for _, _, _, signs in found]),
        up=np.full(number, np.inf),
        down=np.full(number, np.inf),
        first_protected=np.zeros(number + 1, dtype=np.int64),
        protected_cells=nothing,
    )
    return moves, np.concatenate([demand for demand, _, _, _ in found])


def _certified(field: Field, piece: Ints) -> tuple[Ints, Ints, Ints, npt.NDArray[np.int8]]:
    """Moves for some demands, end to end, and the demand of each."""
    pivots = field.cells[piece]
    codes = np.stack(np.unravel_index(pivots, field.shape), axis=1) + np.cumsum([0, *field.shape[:-1]])
    place = _workplace(field.strides.size, field.tree[0].size + 1, field.insiders, field.tight)
    demand, end, cells, signs = _cuboid_kernels.certify(
        pivots, codes, field.kind[piece], field.least[piece], field.effort, field.tree, field.strides, field.room,
        *place,
    )  # fmt: skip
    return piece[demand], end, cells, signs


def _workplace(axes: int, longest: int, insiders: Insiders, tight: Floats) -> tuple[Any, ...]:
    """What `certify` writes into: insiders with two tickets each, who is asked, the clock, prefixes, the best move."""
    persons = int(insiders.who.max(initial=0)) + 1
    people = insiders.start, insiders.who, tight, np.zeros(persons, np.int64), np.zeros(persons, np.int64)
    cells, signs = np.empty((axes + 1, WIDEST), np.int64), np.zeros((axes + 1, WIDEST), np.int8)
    count, far, ticket = np.ones(axes + 1, np.int64), np.empty((axes + 1, 2)), np.full(axes + 1, -1, np.int64)
    ways, far_of = np.empty((axes, 2, longest, 3), np.int64), np.empty((axes, 2, longest, 2))
    found, sorting = np.zeros((axes, 2), np.int64), np.zeros((3, axes + 1), np.int64)
    queue, far_queue = np.empty((longest, 3), np.int64), np.empty((longest, 2))
    heard = np.zeros((axes + 1, persons), np.int64)
    space = cells, signs, count, far, ways, far_of, found, sorting, queue, far_queue, heard, ticket
    return (
        people,
        np.zeros(2, np.int64),
        np.zeros(1, np.int64),
        space,
        (np.empty(WIDEST, np.int64), np.empty(WIDEST, np.int8)),
    )


def _pieces(order: Ints, cells: Ints, workers: int) -> list[Ints]:
    """Demands in pieces, those of one cell never apart."""
    if workers == 1:
        return [order]
    cuts = np.linspace(0, order.size, 4 * workers + 1).astype(np.int64)[1:-1]
    return np.split(order, np.searchsorted(cells, cells[cuts]))
