"""Checking moves from scratch: whoever made a move, it counts only if every published equation stays true."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.tolerances import ROUNDING, WHOLE
from diskret.moves.demands import unit
from diskret.moves.move import MoveSet

MOST_STEPS = 2.0**53


def hold(table: Cells, moves: MoveSet) -> tuple[Bools, Bools]:
    """Which moves use hidden cells only and leave all equations true, and for which that was decided in whole numbers.

    Moves in multiples of the table's smallest step are added up in whole numbers; others must balance to rounding.

    >>> from diskret import Table
    >>> from diskret.moves.move import Move
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> good, bad = (Move(cells=np.array([0, 1]), coefficients=np.array(c)) for c in ([1.0, -1.0], [1.0, 1.0]))
    >>> [each.tolist() for each in hold(table, MoveSet.of([good, bad]))]
    [[True, False], [True, True]]
    """
    lengths, cells, moved, move = np.diff(moves.start), moves.cells, moves.coefficients, moves.number()
    sound = _sound(table, cells, moved, move, lengths)
    if not sound.all():
        # what is not a move at all is not looked at any further
        good, exact = np.zeros(sound.size, dtype=np.bool_), np.zeros(sound.size, dtype=np.bool_)
        good[sound], exact[sound] = hold(table, moves.some(np.flatnonzero(sound)))
        return good, exact
    grid = unit(table)
    steps = np.round(moved / (grid or 1.0))
    # an amount that rounds to nothing is not a step: scaled up it would be one that was never checked
    off_grid = (np.abs(moved - steps * grid) > WHOLE * grid) | (steps == 0)
    exact = np.bincount(move, weights=off_grid, minlength=lengths.size) == 0
    good = np.bincount(move, weights=~table.hidden.reshape(-1)[cells], minlength=lengths.size) == 0
    for entry, lines, sign, number in table.entries(cells):
        key, line = np.unique(move[entry] * number + lines, return_inverse=True)
        counted = np.zeros(key.size, dtype=np.int64)
        np.add.at(counted, line, (sign * steps[entry]).astype(np.int64))
        added = np.bincount(line, weights=sign * moved[entry], minlength=key.size)
        owner = key // number
        # measured by the line itself: large amounts elsewhere excuse nothing
        size = np.bincount(line, weights=np.abs(sign * moved[entry]), minlength=key.size)
        wrong = np.where(exact[owner], counted != 0, np.abs(added) > ROUNDING * size)
        good[owner[wrong]] = False
    return good, exact


def _sound(table: Cells, cells: Ints, moved: Floats, move: Ints, lengths: Ints) -> Bools:
    """Which moves name every cell once, cells of this table, and move each by an amount that can be added up."""
    wrong = (cells < 0) | (cells >= table.size) | ~np.isfinite(moved) | (moved == 0)
    wrong |= np.abs(moved) >= MOST_STEPS * (unit(table) or 1.0)
    order = np.lexsort((cells, move))
    twice = (np.diff(cells[order]) == 0) & (np.diff(move[order]) == 0)
    wrong[order[1:][twice]] = True
    result: Bools = (np.bincount(move, weights=wrong, minlength=lengths.size) == 0) & (lengths > 0)
    return result
