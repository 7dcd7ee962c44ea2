"""Frequency tables: unknowns are whole numbers, which can say more than any interval of real numbers.

A value that could be anything between 0.5 and 1.5 is a one. So for counts the farthest whole-number deviation is looked
for by a mixed-integer programme; a solver's point counts only after it was re-checked in whole numbers.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.errors import BadOption
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.model.tolerances import EXACT_LIMIT, ROUNDING, WHOLE


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
    if (np.abs(moved - rounded) > WHOLE).any() or (np.abs(rounded) > EXACT_LIMIT).any():
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
        raise BadOption("whole-number intervals of values that are not whole numbers", hint="use them for counts only.")
    label = system.components()
    columns = np.flatnonzero(label == label[column])
    part = system.part(columns)
    at = int(np.searchsorted(columns, column))
    # rounding inwards; a room that is whole up to binary fractions stays whole
    up = np.floor(room_up[columns] + ROUNDING)
    down = np.floor(room_down[columns] + ROUNDING)
    sign = 1.0 if upward else -1.0
    cost = np.zeros(columns.size)
    cost[at] = -sign
    programme = Programme(
        Matrix(part.start, part.columns, part.coefficients, by_rows=True),
        np.zeros(part.rows),
        lower=-down,
        upper=up,
        cost=cost,
        whole=True,
        # the goal is a whole number: a gap below one is none
        way=Way(seconds=seconds, relative_gap=0.0, absolute_gap=0.999),
    )
    found = programme.best()
    if programme.answer is Answer.UNBOUNDED:
        # doing nothing is possible, so it is not infeasible; and whole multiples of a rational direction are whole
        return float("inf")
    steps = None if found is None else whole_move(part, found, up, down)
    bound = -programme.bound
    if steps is None or np.floor(bound + WHOLE * max(1.0, abs(bound))) > sign * steps[at]:
        return None
    return float(abs(steps[at]))
