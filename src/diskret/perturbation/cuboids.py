"""Perturbation by cuboids of finest cells: find them, draw their errors, and guard against who knows an error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.table import Table
from diskret.perturbation import _cuboid_kernels as kernels
from diskret.perturbation.demands import Task
from diskret.perturbation.moves import CuboidMoves

ROUNDS = 4
"""Second moves may make new pairs of cells that share all moves; so often they are looked for again."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search made: moves in the order of their errors, and the primary cells that could not be served."""

    moves: CuboidMoves
    failed: Ints
    """Flat positions of primary cells that did not reach their demanded change."""
    told: Ints
    """Flat positions of primary cells whose error a single contributor elsewhere can compute."""


def tree_of(table: Table) -> tuple[Ints, ...]:
    """The hierarchies as flat arrays: parents, offsets, strides, leaves, their ranges below each code, parts."""
    parent, leaves, leaf_from, leaf_to, first_part, next_part = ([] for _ in range(6))
    before = 0
    for h in table.hierarchies:
        parent.append(h.parent_index)
        leaves.append(np.flatnonzero(h.is_leaf))
        passed = np.append(0, np.cumsum(h.is_leaf))
        leaf_from.append(before + passed[h.first_below])
        leaf_to.append(before + passed[1:])
        before += int(passed[-1])
        first, following = np.full(len(h), -1), np.full(len(h), -1)
        for whole, parts in enumerate(h.part_index):
            first[whole] = parts[0] if parts.size else -1
            following[parts[:-1]] = parts[1:]
        first_part.append(first)
        next_part.append(following)
    offset = np.append(0, np.cumsum(table.shape)[:-1])
    strides = np.array([prod(table.shape[axis + 1 :]) for axis in range(len(table.shape))])
    joined = [np.concatenate(part) for part in (parent, leaves, leaf_from, leaf_to, first_part, next_part)]
    arrays = (joined[0], offset, strides, *joined[1:])
    return tuple(np.ascontiguousarray(a, dtype=np.int64) for a in arrays)


def most_cells(table: Table) -> int:
    """More cells than any move changes."""
    return prod(2 * h.depth for h in table.hierarchies)


def from_the_top(table: Table, cells: Ints) -> Ints:
    """Cells by descending aggregation, then by position: moving a sum moves parts below it as well."""
    level: Any = reduce(np.add.outer, [h.levels.astype(np.int16) for h in table.hierarchies])
    return cells[np.lexsort((cells, -level.reshape(-1)[cells]))]


def move_cells(
    table: Table, task: Task, rng: np.random.Generator, *, sd_share: float, count: Ints, least: int, singles: bool
) -> Found:
    """Move every primary cell; ``count`` (empty: leave alone) is rebooked so that cells have ``least`` contributors.

    With ``singles`` a primary cell gets a second move where a single contributor could compute its error.
    """
    tree, room = tree_of(table), most_cells(table)
    order = from_the_top(table, task.primary)
    signature = np.zeros(table.size if singles else 0, dtype=np.int64)
    width = 2 * len(table.shape) + 1
    made, steps = [np.empty((0, width), np.int64)], [np.empty(0, np.int64)]
    numbers = [0]

    def turn(cells: Ints, mode: int, earlier: Ints) -> Bools:
        some, taken = np.empty((cells.size, width), np.int64), np.empty(cells.size, np.int64)
        number, failed = kernels.perturb_cells(
            cells, rng.random(cells.size), tree, task.value, task.cellwise, task.demands, task.cap,
            (sd_share, least, room), count, signature, mode, earlier, numbers[0], some, taken,
        )  # fmt: skip
        made.append(some[:number].copy())
        steps.append(taken[:number].copy())
        numbers[0] += number
        result: Bools = failed
        return result

    nothing = np.empty(0, dtype=np.int64)
    failed = order[turn(order, kernels.FIRST, nothing)]
    failed = failed[turn(failed, kernels.AGAIN, nothing)]
    told = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS if singles else 0):
        told = order[_told(table, tree, room, np.concatenate(made), task, signature)[order]]
        if not told.size:
            break
        turn(told, kernels.SECOND, task.change[told])
    else:
        if singles:
            told = order[_told(table, tree, room, np.concatenate(made), task, signature)[order]]
    moves = CuboidMoves.of(table.shape, np.concatenate(made), np.concatenate(steps))
    return Found(moves, failed, told)


def _told(table: Table, tree: tuple[Ints, ...], room: int, made: Ints, task: Task, signature: Ints) -> Bools:
    told = np.zeros(table.size, dtype=np.bool_)
    kernels.told_by_singles(made, tree, room, task.state, signature, told)
    return told
