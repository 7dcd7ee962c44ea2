"""Perturbation along moves that protect already: those of a suppression, also over linked tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.protection import Knowledge
from diskret.model.table import Table
from diskret.moves.move import Move, MoveSet
from diskret.perturbation import _cuboid_kernels as kernels
from diskret.perturbation.demands import Task
from diskret.perturbation.moves import error_interval
from diskret.suppression.result import Suppression

CLOSE = 1e-7
MOST_TIMES = 1000


@dataclass(frozen=True, eq=False)
class GivenMoves:
    """Moves end to end, each a set of cells with whole coefficients, and the step each was taken by in all."""

    start: Ints
    all_cells: Ints
    signs: Ints
    step: Ints
    """Confidential, in units of the last decimal."""

    def __len__(self) -> int:
        return int(self.step.size)

    def cells(self, k: int, hierarchies: Sequence[Hierarchy] = ()) -> tuple[Ints, Floats]:
        """The cells of one move and their coefficients."""
        part = slice(int(self.start[k]), int(self.start[k + 1]))
        return self.all_cells[part], self.signs[part].astype(np.float64)

    def move(self, k: int, table: Table, knowledge: Knowledge) -> Move:
        """One move, with how far it can go in a table."""
        cells, signs = self.cells(k)
        fall, rise = error_interval(table, cells, signs, knowledge)
        return Move(cells=cells, coefficients=signs, up=rise, down=-fall)

    def using(self, cell: int, hierarchies: Sequence[Hierarchy] = ()) -> Ints:
        """The moves that change a cell."""
        found = np.searchsorted(self.start, np.flatnonzero(self.all_cells == cell), side="right") - 1
        return np.asarray(found[self.step[found] != 0])


def moves_of(suppression: Suppression) -> GivenMoves:
    """The moves of a suppression, as far as they keep every sum of the whole table and have whole coefficients."""
    table, moves = suppression.table, suppression.moves
    if moves.subtable is not None and any(h.depth > 2 for h in table.hierarchies):
        raise BadOption(
            "the moves of this suppression hold inside subtables only, the table has subtotals",
            hint="suppress by the method Moves or Complete, or leave along=... out.",
        )
    return _whole(moves)


def _whole(moves: MoveSet) -> GivenMoves:
    """Moves over their smallest coefficient; those that are not whole then are left empty."""
    kept, signs, start = [], [], [0]
    for move in moves:
        large = np.abs(move.coefficients) > CLOSE
        cells, moved = move.cells[large], move.coefficients[large]
        times = moved / np.abs(moved).min(initial=np.inf) if moved.size else moved
        if times.size and (np.abs(times - np.rint(times)) < CLOSE).all() and np.abs(times).max() < MOST_TIMES:
            kept.append(cells)
            signs.append(np.rint(times).astype(np.int64))
        start.append(sum(c.size for c in kept))
    empty = np.empty(0, dtype=np.int64)
    return GivenMoves(
        np.array(start, dtype=np.int64), np.concatenate([empty, *kept]), np.concatenate([empty, *signs]),
        np.zeros(len(moves), dtype=np.int64),
    )  # fmt: skip


def move_along(task: Task, moves: GivenMoves, rng: np.random.Generator, sd_share: float) -> tuple[GivenMoves, Ints]:
    """Move every primary cell along one of its moves; returns the moves with their steps, and the cells that failed."""
    owner = np.repeat(np.arange(len(moves)), np.diff(moves.start))
    mine = task.place[moves.all_cells]
    wanted = np.flatnonzero(mine >= 0)
    # the moves of every primary cell, in the order they were made
    order = wanted[np.lexsort((owner[wanted], mine[wanted]))]
    first = np.searchsorted(mine[order], np.arange(task.primary.size + 1)).astype(np.int64)
    step = np.zeros(len(moves), dtype=np.int64)
    failed = kernels.perturb_along(
        task.primary, rng.random(task.primary.size), first, owner[order].astype(np.int64), moves.start,
        moves.all_cells.astype(np.int64), moves.signs, task.cellwise, task.demands, task.cap, sd_share, step,
    )  # fmt: skip
    return GivenMoves(moves.start, moves.all_cells, moves.signs, step), task.primary[failed]
