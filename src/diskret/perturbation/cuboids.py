"""Perturbation by cuboids of finest cells: find them, draw their errors, and guard against who knows an error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.perturbation import _cuboid_kernels as kernels
from diskret.perturbation._move_kernels import Tree, scratch_of, spread_all, told_by_singles
from diskret.perturbation.leeway import NOTHING, Leeway
from diskret.perturbation.options import CuboidOptions

Whole = npt.NDArray[np.integer]
"""Short whole numbers where they suffice: the moves of large tables have hundreds of cells each."""
ROUNDS = 4
"""Second moves may make new pairs of cells that share all moves; so often they are looked for again."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """Moves with their errors, and the primary cells that could not be served."""

    moves: MoveSet
    step: Ints
    failed: Ints
    """Flat positions of primary cells that did not reach their demanded change."""
    told: Ints
    """Flat positions of primary cells whose error a single contributor elsewhere can compute."""


def set_of(start: Ints, cells: Whole, coefficients: Whole, pivot: Ints = NOTHING) -> MoveSet:
    """Moves with whole coefficients, each made for a pivot or for nobody; nothing limits how far they go."""
    number = start.size - 1
    first = np.arange(number + 1) if pivot.size else np.zeros(number + 1, dtype=np.int64)
    # kernels and memory need short whole numbers; a single move is of the usual types again
    return MoveSet(
        start=start, cells=cast("Ints", cells), coefficients=cast("Floats", coefficients), up=np.full(number, np.inf),
        down=np.full(number, np.inf), first_protected=first, protected_cells=pivot,
    )  # fmt: skip


def tree_of(table: Table) -> Tree:
    """The hierarchies as flat arrays: parents, offsets, strides, leaves, their ranges below each code, parts."""
    leaf_from, leaf_to, first_part, next_part = [], [], [], []
    before = 0
    for h in table.hierarchies:
        passed = before + np.append(0, np.cumsum(h.is_leaf))
        leaf_from.append(passed[h.first_below])
        leaf_to.append(passed[1:])
        before = int(passed[-1])
        first, following = np.full(len(h), -1), np.full(len(h), -1)
        for whole, parts in enumerate(h.part_index):
            first[whole] = parts[0] if parts.size else -1
            following[parts[:-1]] = parts[1:]
        first_part.append(first)
        next_part.append(following)
    return Tree(
        parent=np.concatenate([h.parent_index for h in table.hierarchies]),
        offset=np.append(0, np.cumsum(table.shape)[:-1]),
        strides=np.array([prod(table.shape[axis + 1 :]) for axis in range(len(table.shape))]),
        leaves=np.concatenate([np.flatnonzero(h.is_leaf) for h in table.hierarchies]),
        leaf_from=np.concatenate(leaf_from),
        leaf_to=np.concatenate(leaf_to),
        first_part=np.concatenate(first_part),
        next_part=np.concatenate(next_part),
    )


def most_cells(table: Table) -> int:
    """More cells than any move changes."""
    return prod(2 * h.depth for h in table.hierarchies)


def from_the_top(table: Table, cells: Ints) -> Ints:
    """Cells by descending aggregation, then by position: moving a sum moves parts below it as well."""
    level: Any = reduce(np.add.outer, [h.levels.astype(np.int16) for h in table.hierarchies])
    return cells[np.lexsort((cells, -level.reshape(-1)[cells]))]


def move_cells(
    table: Table, leeway: Leeway, rng: np.random.Generator, options: CuboidOptions, count: Ints, *, guarded: bool
) -> Found:
    """Move every primary cell; ``count`` (empty: leave alone) is rebooked so that cells have enough contributors.

    If they are ``guarded``, primary cells get a second move where a single contributor could compute the error.
    """
    tree, room = tree_of(table), most_cells(table)
    order = from_the_top(table, leeway.primary)
    signature = np.zeros(table.size if guarded else 0, dtype=np.int64)
    behind = kernels.Behind(count, options.min_count or 0, signature)
    width = 2 * len(table.shape) + 1
    made, steps = np.empty((0, width), np.int64), np.empty(0, np.int64)

    def turn(cells: Ints, mode: int, earlier: Ints) -> Bools:
        nonlocal made, steps
        some, taken = np.empty((cells.size, width), np.int64), np.empty(cells.size, np.int64)
        number, failed = kernels.perturb_cells(
            cells,
            rng.random(cells.size),
            tree,
            leeway,
            behind,
            mode,
            earlier,
            options.sd_share,
            room,
            len(made),
            some,
            taken,
        )
        made, steps = np.concatenate([made, some[:number]]), np.concatenate([steps, taken[:number]])
        result: Bools = failed
        return result

    failed = order[turn(order, kernels.FIRST, NOTHING)]
    failed = failed[turn(failed, kernels.AGAIN, NOTHING)]
    moves = _flat(table, tree, made)
    told = NOTHING
    for number in range(ROUNDS + 1 if guarded else 0):
        told = order[told_elsewhere(moves, tree, leeway, signature)[order]]
        if not told.size or number == ROUNDS:
            break
        turn(told, kernels.SECOND, leeway.change[told])
        moves = _flat(table, tree, made)
    return Found(moves=moves, step=steps, failed=failed, told=told)


def _flat(table: Table, tree: Tree, made: Ints) -> MoveSet:
    """The moves of the search with all their cells."""
    scratch = scratch_of(most_cells(table))
    position = np.int32 if table.size < 2**31 else np.int64
    start = np.zeros(len(made) + 1, dtype=np.int64)
    nothing = np.empty(0, position), np.empty(0, np.int8)
    spread_all(made, tree, scratch, start, *nothing)
    cells, signs = np.empty(start[-1], position), np.empty(start[-1], np.int8)
    spread_all(made, tree, scratch, start, cells, signs)
    return set_of(start, cells, signs, made[:, -1])


def told_elsewhere(moves: MoveSet, tree: Tree, leeway: Leeway, signature: Ints) -> Bools:
    """Primary cells whose error is that of a single contributor's cell that is neither below nor above them."""
    told = np.zeros(signature.size, dtype=np.bool_)
    told_by_singles(moves.start, moves.cells, tree, leeway.state, signature, told)
    return told
