"""Frequency tables: unknowns are whole numbers, which can say more than any interval of real numbers.

A value that could be anything between 0.5 and 1.5 is a one. So for counts the farthest whole-number deviation is looked
for by a mixed-integer programme; a solver's point counts only after it was re-checked in whole numbers.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.errors import BadOption

FREE = 1e30
NEAR = 1e-6
"""How far from a whole number a solver's value may lie to be taken for one; the re-check decides."""
LARGEST = 2.0**53
UNBOUNDED = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)


def whole_move(system: Equations, moved: Floats, room_up: Floats, room_down: Floats) -> Ints | None:
    """A point of a solver as whole numbers, if it is one: near whole numbers, and exact in every equation and bound.

    Corners of a linear programme often are; then the interval they reach is that of the whole numbers too.

    >>> from diskret import Hierarchy, Table
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = equations_of(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"))
    >>> up, down = np.full(2, np.inf), np.array([1.0, 2.0])
    >>> whole_move(system, np.array([2.0000000001, -2.0]), up, down)
    array([ 2, -2])
    >>> whole_move(system, np.array([0.5, -0.5]), up, down) is None
    True
    """
    rounded = np.rint(moved)
    if (np.abs(moved - rounded) > NEAR).any() or (np.abs(rounded) > LARGEST).any():
        return None
    steps = rounded.astype(np.int64)
    weights = np.rint(system.coefficients).astype(np.int64)
    if not np.array_equal(weights, system.coefficients):
        return None
    off = np.zeros(system.rows, dtype=np.int64)
    np.add.at(off, system.row_of(), weights * steps[system.columns])
    fits = (steps <= room_up) & (steps >= -room_down)
    return steps if not off.any() and bool(fits.all()) else None


def integer_extreme(
    system: Equations,
    value: Floats,
    room_up: Floats,
    room_down: Floats,
    column: int,
    upward: bool,
    seconds: float = 10.0,
) -> float | None:
    """How far an unknown can go at most if all hidden values are whole numbers; None if the solver gives up in time.

    ``value``, ``room_up`` and ``room_down`` are per unknown: the true counts, and how far above and below them an
    attacker thinks each possible. The answer is a whole number, or infinite.

    >>> from diskret import Hierarchy, Table
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = equations_of(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"))
    >>> integer_extreme(system, np.array([1.0, 2.0]), np.full(2, np.inf), np.array([1.0, 1.5]), 0, True)
    1.0
    """
    if (value != np.rint(value)).any():
        raise BadOption("whole-number intervals of values that are no whole numbers", hint="use them for counts only.")
    label = system.components()
    columns = np.flatnonzero(label == label[column])
    part = system.part(columns)
    at = int(np.searchsorted(columns, column))
    # rounding inwards; a room that is whole up to binary fractions stays whole
    up = np.floor(room_up[columns] + NEAR * 1e-3)
    down = np.floor(room_down[columns] + NEAR * 1e-3)
    sign = 1.0 if upward else -1.0
    model = _model(part, up, down, at, sign, seconds)
    model.run()
    status = model.getModelStatus()
    if status in UNBOUNDED:
        # doing nothing is possible, so it is not infeasible; and whole multiples of a rational direction are whole
        return float("inf")
    if status != highspy.HighsModelStatus.kOptimal:
        return None
    steps = whole_move(part, np.array(model.getSolution().col_value), up, down)
    bound = -float(model.getInfo().mip_dual_bound)
    if steps is None or np.floor(bound + NEAR * max(1.0, abs(bound))) > sign * steps[at]:
        return None
    return float(abs(steps[at]))


def _model(part: Equations, up: Floats, down: Floats, at: int, sign: float, seconds: float) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = part.cells.size, part.rows
    cost = np.zeros(part.cells.size)
    cost[at] = -sign
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = np.maximum(-down, -FREE), np.minimum(up, FREE)
    lp.row_lower_ = lp.row_upper_ = np.zeros(part.rows)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * part.cells.size
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = part.start.astype(np.int32), part.columns.astype(np.int32)
    lp.a_matrix_.value_ = part.coefficients
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("time_limit", float(seconds))
    model.setOptionValue("mip_rel_gap", 0.0)
    # the goal is a whole number: a gap below one is none
    model.setOptionValue("mip_abs_gap", 0.999)
    model.passModel(lp)
    return model
