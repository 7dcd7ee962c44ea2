"""Controlled rounding: which cells go up to the next multiple of the base, so that every sum holds.

Cell c lies between two multiples: y = 0 takes the lower, y = 1 the upper; multiples stay (y = 0). A sum holds if
the y of its parts minus its own equal what is missing between the lower multiples. With two classifications, one of
them without subtotals, this is a network: the linear programme has a solution in whole numbers. With subtotals in both
it is none any more, but its solutions were whole wherever we looked. Beyond that a mixed-integer programme decides
small tables; in large ones cells are flipped at random, with a tolerance for broken sums that falls (annealing), and
what is still off is repaired slice by slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import highspy
import numpy as np
import numpy.typing as npt

from diskret.model import rollup
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption, RoundingOutOfReach
from diskret.model.pool import Pool
from diskret.model.table import Table
from diskret.perturbation import _rounding_kernels as kernels
from diskret.perturbation.demands import finest_cells
from diskret.perturbation.lines import one_line_each
from diskret.perturbation.slices import repaired

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
SMALL = 3_000
"""Up to so many cells that are no multiples a mixed-integer programme is solved."""
NODES = 2_000
ITERATIONS = 400_000
"""Limits of the solver: counted, not timed, so that results do not depend on the machine."""
FLIPS = 10_000_000
MOST_SWEEPS, LEAST_SWEEPS = 2_000, 50
WARM, COLD = 0.6, 0.08
EFFORT = 4_000_000
"""Cells that the programmes of the repair may look at in all."""


@dataclass(frozen=True, eq=False)
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
        if isinstance(table, Pool):
            raise BadOption("keep_total in a pool", hint="its tables may have several totals: leave it out.")
        lowest[-1] = highest[-1] = int(2 * rest[-1] > base)
    sums = _sums_of(table, multiple)
    # nearest is best; among equals chance decides
    cost = 1 - 2 * rest / base + 1e-3 * rng.random(rest.size)
    few = int(free.sum()) <= SMALL
    flat = not isinstance(table, Pool) and sum(h.depth > 1 for h in table.hierarchies) <= 2
    up = None
    if few or flat or isinstance(table, Pool):
        up = _programme(sums, lowest, highest, cost, whole=False)
        if up is None and few:
            up = _programme(sums, lowest, highest, cost, whole=True)
    if up is None:
        if isinstance(table, Pool):
            raise RoundingOutOfReach(
                "no controlled rounding of the linked tables was found",
                where=f"{int(free.sum())} cells that are no multiples of the base",
                hint="round fewer tables together, choose another base, or round at random.",
            )
        up = _annealed(table, multiple, rest, lowest, highest, base, rng)
    away = np.abs(up * base - rest) >= base
    return up, np.flatnonzero(away)


def _sums_of(table: Table, multiple: Ints) -> Sums:
    """One equation per sum of a table, since the others follow; all equations of a pool."""
    if isinstance(table, Pool):
        system = equations_of(table, np.ones(table.size, dtype=np.bool_))
        row, cell, coefficient, rows = system.row_of(), system.columns, system.coefficients, system.rows
    else:
        entries, rows = one_line_each(table.hierarchies)
        row, cell, coefficient = entries
    missing = -np.bincount(row, weights=coefficient * multiple[cell], minlength=rows)
    return Sums(row, cell, coefficient, np.rint(missing).astype(np.int64))


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
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = count, sums.missing.size
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost[moving], np.zeros(count), np.ones(count)
    lp.row_lower_ = lp.row_upper_ = missing.astype(np.float64)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(col[order], np.arange(count + 1)).astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = row[order].astype(np.int32), value[order]
    if whole:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * count
    model = highspy.Highs()
    for name, option in (
        ("output_flag", False), ("threads", 1), ("solver", "simplex"), ("simplex_iteration_limit", ITERATIONS),
        ("mip_max_nodes", NODES), ("mip_rel_gap", 0.01),
    ):  # fmt: skip
        model.setOptionValue(name, option)
    model.passModel(lp)
    model.run()
    solution = model.getSolution()
    if not solution.value_valid:
        return None
    y = np.array(solution.col_value)
    nearest = np.rint(y).astype(np.int64)
    up = known.copy()
    up[moving] = nearest
    # trusted is only what holds in whole numbers
    holds = np.bincount(sums.row, weights=sums.coefficient * up[sums.cell], minlength=sums.missing.size)
    within = (up >= lowest) & (up <= highest)
    return up if within.all() and np.array_equal(np.rint(holds).astype(np.int64), sums.missing) else None


def _annealed(
    table: Table, multiple: Ints, rest: Ints, lowest: Ints, highest: Ints, base: int, rng: np.random.Generator
) -> Ints:
    """Finest cells next to their values, flipped until few sums are too far away; the sums are added up."""
    finest = finest_cells(table)
    lower = np.where(finest, multiple, 0).reshape(table.shape).copy()
    rollup.add_up(lower, table.hierarchies)
    missing = multiple - lower.reshape(-1)
    cells = np.flatnonzero(finest & (rest > 0))
    share = rest[cells] / base
    member, whole = _sums_above(table, cells)
    sums, row = np.unique(whole, return_inverse=True)
    low, high = (missing + lowest)[sums], (missing + highest)[sums]
    size = np.bincount(row, minlength=sums.size)
    # sums that hold whatever happens need no watching
    watched = (low > 0) | (high < size)
    number = np.cumsum(watched) - 1
    kept = watched[row]
    member, row = member[kept], number[row[kept]]
    low, high = low[watched], high[watched]
    # every stretch of cells in order has as many ups as its shares add up to, or one more or less
    passed = np.floor(np.append(0.0, np.cumsum(share)) + rng.random())
    up = np.diff(passed).astype(np.int8)
    active = np.bincount(member, minlength=cells.size) > 0
    if active.any():
        place = np.cumsum(active) - 1
        member = place[member]
        by_cell, by_row = np.lexsort((row, member)), np.lexsort((member, row))
        first = np.searchsorted(member[by_cell], np.arange(int(active.sum()) + 1)).astype(np.int32)
        start = np.searchsorted(row[by_row], np.arange(low.size + 1)).astype(np.int32)
        part = up[active].copy()
        sweeps = int(np.clip(FLIPS // part.size, LEAST_SWEEPS, MOST_SWEEPS))
        kernels.search(
            part, first, row[by_cell].astype(np.int32), start, member[by_row].astype(np.int32), low.astype(np.int32),
            high.astype(np.int32), np.uint64(rng.integers(1, 2**63)), sweeps, WARM, COLD,
        )  # fmt: skip
        up[active] = part
    result = np.zeros(table.size, dtype=np.int64)
    result[cells] = up
    result = result.reshape(table.shape)
    rollup.add_up(result, table.hierarchies)
    beside = np.where(finest, 0, missing)
    ups = repaired(table, result.reshape(-1), lowest + beside, highest + beside, rng, EFFORT)
    above: Ints = ups - beside
    return above


def _sums_above(table: Table, cells: Ints) -> tuple[Ints, Ints]:
    """All pairs of a cell (by its number) and a sum above it (flat)."""
    at = np.unravel_index(cells, table.shape)
    member, place = np.arange(cells.size), np.zeros(cells.size, dtype=np.int64)
    for axis, hierarchy in enumerate(table.hierarchies):
        stride = prod(table.shape[axis + 1 :])
        members, places, code = [], [], at[axis][member]
        while member.size:
            members.append(member)
            places.append(place + code * stride)
            above = hierarchy.parent_index[code]
            going = above >= 0
            member, place, code = member[going], place[going], above[going]
        member, place = np.concatenate(members), np.concatenate(places)
    sums = place != cells[member]
    return member[sums], place[sums]
