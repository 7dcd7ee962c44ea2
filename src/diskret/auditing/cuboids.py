"""Certificates without a solver: moves that are products of one elementary move per classification.

An elementary move of a classification is a leaf with all its sums up to the total, all changing alike; or two leaves,
each with its sums below the one they have in common, changing against each other. Both leave every sum of the
classification true, and therefore a product of one elementary move per classification leaves every equation of the
whole table true, over all levels. If all its cells are hidden and none becomes impossible, it proves that the cell it
was made for can move.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.auditing import _cuboid_kernels
from diskret.auditing.insiders import Insiders
from diskret.auditing.targets import Targets
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.table import Table
from diskret.model.trees import strides_of, trees_of

EFFORT = 20_000
"""Cells that are looked at for one move at most."""
WIDEST = 1024
"""Cells of a move at most."""
NOT_FARTHER = 1 - 1e-12
SHARE = 2_000
"""Demands that are worth a thread of their own."""


@dataclass(frozen=True, eq=False)
class CuboidMoves:
    """Moves end to end, each for one demand; the moves of a demand stand together, the best first."""

    demand: Ints
    """For each move the demand it was made for."""
    start: Ints
    """Where the cells of each move begin, its pivot first; one more at the end."""
    cells: Ints
    """Flat positions in the table."""
    coefficients: Floats
    """1.0 or -1.0; the pivot has 1.0."""

    @property
    def count(self) -> int:
        """Number of moves."""
        return int(self.demand.size)

    def move(self, number: int) -> tuple[Ints, Floats]:
        """Cells and coefficients of one move."""
        inside = slice(self.start[number], self.start[number + 1])
        return self.cells[inside], self.coefficients[inside]


def cuboid_moves(
    table: Table,
    hidden: Bools,
    demands: Ints,
    targets: Targets,
    insiders: Insiders,
    up: Floats,
    down: Floats,
    *,
    effort: int = EFFORT,
    threads: int | None = None,
) -> CuboidMoves:
    """Moves through hidden cells that settle the demands asked for (numbers into ``targets``), where there are any.

    A demand gets the move to which fewest insiders object, and if somebody does, a second one, if there is one to which
    none of them objects. ``up`` and ``down`` are the rooms of all cells, ``hidden`` says which of them may take part
    (both flat). After ``effort`` cells a search ends with the best it has: that no move was found says nothing about
    the demand.

    >>> from diskret import Hierarchy, Knowledge, Protection
    >>> from diskret.auditing.insiders import insiders_of
    >>> from diskret.auditing.targets import targets_of
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "status": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="status")
    >>> targets, nobody = targets_of(table, Protection(min_relative_range=0.5)), insiders_of(table, "none")
    >>> rooms = Knowledge.positive().room(table)
    >>> found = cuboid_moves(table, table.hidden.reshape(-1), np.array([0]), targets, nobody, *rooms)
    >>> found.cells.tolist(), found.coefficients.tolist()
    ([0, 1], [1.0, -1.0])
    """
    # demands of one cell stand together: what settles one often settles the other
    order = demands[np.lexsort((demands, targets.cell[demands]))]
    tree, strides = tuple(trees_of(table.hierarchies)), strides_of(table.shape)
    room = np.where(hidden[:, None], np.stack([up, down], axis=1), -np.inf)
    tight = np.stack([insiders.up, insiders.down], axis=1)
    offset = np.cumsum([0, *table.shape[:-1]])

    def certified(piece: Ints) -> tuple[Ints, Ints, Ints, npt.NDArray[np.int8]]:
        pivots = targets.cell[piece]
        codes = np.stack(np.unravel_index(pivots, table.shape), axis=1) + offset
        demand, end, cells, signs = _cuboid_kernels.certify(
            pivots, codes, targets.kind[piece], targets.amount[piece] * NOT_FARTHER, effort, WIDEST,
            tree, strides, room, insiders.start, insiders.who, tight,
        )  # fmt: skip
        return piece[demand], end, cells, signs

    workers = min(threads or os.cpu_count() or 1, 1 + order.size // SHARE)
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(certified, _pieces(order, targets.cell[order], workers)))
    sizes = [cells.size for _, _, cells, _ in found]
    ends = [end + before for (_, end, _, _), before in zip(found, np.cumsum([0, *sizes[:-1]]), strict=True)]
    signs = np.concatenate([signs for _, _, _, signs in found])
    return CuboidMoves(
        np.concatenate([demand for demand, _, _, _ in found]),
        np.concatenate([[0], *ends]).astype(np.int64),
        np.concatenate([cells for _, _, cells, _ in found]),
        1.0 - 2.0 * signs,
    )


def _pieces(order: Ints, cells: Ints, workers: int) -> list[Ints]:
    """Demands in pieces, those of one cell never apart."""
    if workers == 1:
        return [order]
    cuts = np.linspace(0, order.size, 4 * workers + 1).astype(np.int64)[1:-1]
    return np.split(order, np.searchsorted(cells, cells[cuts]))
