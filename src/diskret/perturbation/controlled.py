"""Controlled rounding: which cells go up to the next multiple of the base, so that every sum holds.

Cell c lies between two multiples: y = 0 takes the lower, y = 1 the upper; multiples stay (y = 0). A sum holds if
the y of its parts minus its own equal what is missing between the lower multiples. With two classifications, one of
them without subtotals, this is a network: the linear programme has a solution in whole numbers. With subtotals in both
it is not one any more, but its solutions were whole wherever we looked. Beyond that a mixed-integer programme decides
small tables; in large ones cells are turned at random, mostly four of a rectangle so that few sums change, with a
tolerance for broken sums that falls (annealing), and what is still off is repaired slice by slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption, RoundingOutOfReach
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.table import Table
from diskret.perturbation import _rounding_kernels as kernels
from diskret.perturbation.cuboids import most_cells, tree_of
from diskret.perturbation.independent_sums import one_line_each
from diskret.perturbation.leeway import finest_cells
from diskret.perturbation.slices import repaired

SMALL = 3_000
"""Up to this many cells that are not multiples of the base a mixed-integer programme is solved."""
WAY = Way(only_simplex=True, iterations=400_000, nodes=2_000, relative_gap=0.01)
"""Limits of the solver: counted, not timed, so that results do not depend on the machine."""
MOVES, MOVES_PER_CELL = 110_000_000, 3_000
"""The annealing draws this many moves in all, or per cell, whichever is less; it ends early when nothing is off."""
SWEEPS = 1_000
"""The tolerance for broken sums falls in this many steps from ``WARM`` to ``COLD``."""
WARM, COLD = 0.4, 0.18
AGAIN, REHEATED = 4, 0.26
"""What is nearly done is warmed up again, so often at most and so far, each time for a quarter of the moves."""
KINDS = (1.0, 2.0, 12.0, 2.0)
"""How often a change is taken back in no classification, in one, in two, in more (each choice of them)."""
TRIES = 8
"""Draws of a partner that can take a change back."""
EFFORT = 800_000
"""Cells that the programmes of the repair may look at in all."""
NEARLY = 100
"""Nearly done is what has no more off than this. Elsewhere the repair gains next to nothing (measured)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """One equation per sum: the y of the parts minus the y of the sum are ``missing``. Entries by row and cell."""

    row: Ints
    cell: Ints
    coefficient: Floats
    missing: Ints


def controlled(
    table: Table, multiple: Ints, rest: Ints, base: int, rng: np.random.Generator, keep_total: bool
) -> tuple[Ints, Ints]:
    """How many bases above its lower multiple every cell goes, and the cells a base or more away (flat)."""
    free = rest > 0
    highest = free.astype(np.int64)
    lowest = np.zeros(free.size, dtype=np.int64)
    if keep_total:
        if table.total is None:
            raise BadOption(f"keep_total in a {table.kind}", hint="there may be several totals: leave it out.")
        lowest[table.total] = highest[table.total] = int(2 * rest[table.total] > base)
    sums = _sums_of(table, multiple)
    # nearest is best; among equals chance decides
    cost = 1 - 2 * rest / base + 1e-3 * rng.random(rest.size)
    few = int(free.sum()) <= SMALL
    up = _by_programme(table, sums, lowest, highest, cost, few)
    if up is None:
        if not table.product:
            raise RoundingOutOfReach(
                f"no controlled rounding of the {'linked tables' if table.linked else table.kind} was found",
                where=f"{int(free.sum())} cells that are not multiples of the base",
                hint="round fewer tables together, choose another base, or round at random.",
            )
        up = _annealed(table, multiple, rest, lowest, highest, base, rng)
    away = np.abs(up * base - rest) >= base
    return up, np.flatnonzero(away)


def _by_programme(table: Table, sums: Sums, lowest: Ints, highest: Ints, cost: Floats, few: bool) -> Ints | None:
    """By a linear programme where it may well be in whole numbers, by a mixed-integer one where the table is small."""
    if table.product and not few and sum(h.depth > 1 for h in table.hierarchies) > 2:
        return None
    up = _programme(sums, lowest, highest, cost, whole=False)
    return _programme(sums, lowest, highest, cost, whole=True) if up is None and few else up


def _sums_of(table: Table, multiple: Ints) -> Sums:
    """One equation per sum of a table, since the others follow; all equations of a pool."""
    if not table.product:
        system = equations_of(table, np.ones(table.size, dtype=np.bool_))
        row, cell, coefficient, rows = system.row_of(), system.columns, system.coefficients, system.rows
    else:
        entries, rows = one_line_each(table.hierarchies)
        row, cell, coefficient = entries
    missing = -np.bincount(row, weights=coefficient * multiple[cell], minlength=rows)
    return Sums(row=row, cell=cell, coefficient=coefficient, missing=np.rint(missing).astype(np.int64))


def _programme(sums: Sums, lowest: Ints, highest: Ints, cost: Floats, *, whole: bool) -> Ints | None:
    """The cheapest y by a linear (or mixed-integer) programme; None if it is not in whole numbers, or there is none."""
    moving = lowest < highest
    known = np.where(moving, 0, lowest)
    missing = sums.missing - np.bincount(
        sums.row, weights=sums.coefficient * known[sums.cell], minlength=sums.missing.size
    )
    column = np.cumsum(moving) - 1
    entry = moving[sums.cell]
    row, col, value = sums.row[entry], column[sums.cell[entry]], sums.coefficient[entry]
    count = int(moving.sum())
    if count == 0:
        return known if (missing == 0).all() else None
    order = np.lexsort((row, col))
    start = np.searchsorted(col[order], np.arange(count + 1))
    programme = Programme(
        Matrix(start, row[order], value[order]),
        missing.astype(np.float64),
        lower=np.zeros(count),
        upper=np.ones(count),
        cost=cost[moving],
        whole=whole,
        way=WAY,
    )
    programme.solve()
    # any point will do, the best or not: what is trusted is only what holds in whole numbers
    if not programme.has_point:
        return None
    up = known.copy()
    up[moving] = np.rint(programme.point).astype(np.int64)
    holds = np.bincount(sums.row, weights=sums.coefficient * up[sums.cell], minlength=sums.missing.size)
    within = (up >= lowest) & (up <= highest)
    return up if within.all() and np.array_equal(np.rint(holds).astype(np.int64), sums.missing) else None


def _annealed(
    table: Table, multiple: Ints, rest: Ints, lowest: Ints, highest: Ints, base: int, rng: np.random.Generator
) -> Ints:
    """Finest cells next to their values, turned until no sum is too far away, or few are; the sums are added up."""
    finest = finest_cells(table)
    lower = np.where(finest, multiple, 0).reshape(table.shape).copy()
    rollup.add_up(lower, table.hierarchies)
    beside = np.where(finest, 0, multiple - lower.reshape(-1))
    low, high = lowest + beside, highest + beside
    cells = np.flatnonzero(finest & (lowest < highest))
    # every stretch of cells in order has as many ups as its shares add up to, or one more or less
    passed = np.floor(np.append(0.0, np.cumsum(rest[cells] / base)) + rng.random())
    ups = np.where(finest, lowest, 0)
    ups[cells] = np.diff(passed).astype(np.int64)
    ups = ups.reshape(table.shape)
    rollup.add_up(ups, table.hierarchies)
    total = ups.reshape(-1).astype(np.int32)
    moves = int(min(MOVES, MOVES_PER_CELL * cells.size) // SWEEPS)
    bounds = low.astype(np.int32), high.astype(np.int32), finest
    codes = np.stack(np.unravel_index(cells, table.shape), axis=1).astype(np.int32)
    tree, masks, widest = tree_of(table), move_kinds(table), most_cells(table)
    for turn in range(1 + AGAIN):
        moves_now, warm = (moves // 4, REHEATED) if turn else (moves, WARM)
        plan = kernels.Annealing(masks, widest, SWEEPS, moves_now, warm, COLD, TRIES)
        seed = np.uint64(rng.integers(1, 2**63))
        left = kernels.search(total, bounds, cells.astype(np.int32), codes, tree, plan, seed)
        if left == 0 or left > NEARLY:
            break
    effort = EFFORT if left <= NEARLY else 0
    above: Ints = repaired(table, total.astype(np.int64), low, high, rng, effort) - beside
    return above


def move_kinds(table: Table) -> Ints:
    """256 kinds of moves to draw from, each as often as wanted: bit a takes the change back in classification a."""
    # a change can be taken back where there is another code
    several = [axis for axis, h in enumerate(table.hierarchies) if h.is_leaf.sum() > 1]
    kinds = [sum(1 << axis for axis in chosen) for n in range(len(several) + 1) for chosen in combinations(several, n)]
    weight = np.array([KINDS[min(kind.bit_count(), len(KINDS) - 1)] for kind in kinds])
    return np.repeat(kinds, np.diff(np.rint(np.append(0, np.cumsum(weight)) / weight.sum() * 256).astype(np.int64)))
