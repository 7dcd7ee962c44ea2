"""What an attacker can compute at best: the interval of a hidden cell over the whole table, by linear programming."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import diskret as dk

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def relations(table: dk.Table, cells: Ints) -> tuple[Ints, Ints, npt.NDArray[np.float64], int]:
    """Sums the cells take part in: relation, number of the cell, sign, and how many relations there are."""
    at = np.unravel_index(cells, table.shape)
    keys, columns, signs = [], [], []
    for axis, hierarchy in enumerate(table.hierarchies):
        stride = int(np.prod(table.shape[axis + 1 :]))
        # a relation is named by its sum, as a cell, and the axis
        above = hierarchy.parent_index[at[axis]]
        part, whole = np.flatnonzero(above >= 0), np.flatnonzero(~hierarchy.is_leaf[at[axis]])
        parent = cells[part] + (above[part] - at[axis][part]) * stride
        keys += [parent + axis * table.size, cells[whole] + axis * table.size]
        columns += [part, whole]
        signs += [np.ones(part.size), -np.ones(whole.size)]
    names, rows = np.unique(np.concatenate(keys), return_inverse=True)
    return rows, np.concatenate(columns), np.concatenate(signs), names.size


def under(table: dk.Table, hidden: Bools, most: int | None = None) -> str:
    """How many primaries have an interval too short for their level, above or below; '2 of 40' if sampled.

    The attacker knows all open cells, all sums and that no value is negative.
    """
    try:
        from highspy import Highs, HighsLp, HighsModelStatus, MatrixFormat
    except ImportError:
        return "not computed, highspy is missing"
    assert table.above is not None
    cells = np.flatnonzero(hidden)
    rows, columns, signs, number = relations(table, cells)
    order = np.lexsort((rows, columns))
    lp = HighsLp()
    lp.num_col_, lp.num_row_ = cells.size, number
    lp.col_cost_ = np.zeros(cells.size)
    # unknowns are the deviations from the true values
    value = table.value.reshape(-1)
    # nothing can be larger than a few totals, and no level asks for that
    lp.col_lower_, lp.col_upper_ = -value[cells], np.full(cells.size, 4 * float(value.max()) + 1)
    lp.row_lower_, lp.row_upper_ = np.zeros(number), np.zeros(number)
    lp.a_matrix_.format_ = MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(cells.size + 1)).astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = rows[order].astype(np.int32), signs[order]
    solver = Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("simplex_strategy", 4)  # primal: only the goal changes, the last corner stays allowed
    solver.passModel(lp)
    primaries = np.flatnonzero(table.status.reshape(-1)[cells] == dk.Status.PRIMARY)
    if most is not None and most < primaries.size:
        primaries = np.random.default_rng(1).choice(primaries, most, replace=False)
    level = table.above.reshape(-1)[cells]
    enough = level - 1e-6 * np.maximum(1.0, level)
    # every corner is a table that agrees with all that is published: it shows many cells off at once
    reached = np.zeros((2, cells.size))
    exposed = set()
    for column in primaries.tolist():
        for side, sign in enumerate((1.0, -1.0)):
            if reached[side, column] >= enough[column]:
                continue
            solver.changeColCost(column, -sign)
            solver.run()
            if solver.getModelStatus() != HighsModelStatus.kOptimal:
                solver.clearSolver()  # lost its way from the last corner: from the start
                solver.run()
            status = solver.getModelStatus()
            if status != HighsModelStatus.kOptimal:
                raise RuntimeError(f"no interval: {solver.modelStatusToString(status)}")
            corner = np.array(solver.getSolution().col_value)
            np.maximum(reached, [corner, -corner], out=reached)
            solver.changeColCost(column, 0.0)
            if reached[side, column] < enough[column]:
                exposed.add(column)
                break
    return (
        f"{len(exposed):,}"
        if most is None or primaries.size < most
        else f"{len(exposed):,} of {primaries.size} sampled"
    )
