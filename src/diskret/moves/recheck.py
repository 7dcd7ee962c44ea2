"""Checking moves from scratch: whoever made a move, it counts only if every published equation stays true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.grid import FITS, LARGEST, digits_of
from diskret.moves.move import MoveSet

MOST_DECIMALS = 12


def hold(table: Cells, moves: MoveSet) -> tuple[Bools, MoveSet]:
    """Which moves use hidden cells only and leave all equations true, and all of them in whole numbers.

    Only the direction of a move counts, so it is made of the smallest whole numbers that are in the same ratio. What
    is added up are these; a move that is not made of decimals is not believed.

    >>> from diskret import Table
    >>> from diskret.moves.move import Move
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> good, bad = (Move(cells=np.array([0, 1]), coefficients=np.array(c)) for c in ([0.5, -0.5], [1.0, 1.0]))
    >>> true, whole = hold(table, MoveSet.of([good, bad]))
    >>> true.tolist(), whole.coefficients.tolist()
    ([True, False], [1.0, -1.0, 1.0, 1.0])
    """
    lengths, cells, move = np.diff(moves.start), moves.cells, moves.number()
    steps, wrong = _whole_steps(moves.coefficients)
    wrong |= (cells < 0) | (cells >= table.size)
    order = np.lexsort((cells, move))
    twice = (np.diff(cells[order]) == 0) & (np.diff(move[order]) == 0)
    wrong[order[1:][twice]] = True
    good: Bools = (np.bincount(move, weights=wrong, minlength=lengths.size) == 0) & (lengths > 0)
    known = good[move]
    good &= np.bincount(move[known], weights=~table.hidden.reshape(-1)[cells[known]], minlength=lengths.size) == 0
    primitive = _primitive(np.where(wrong, 1, steps), moves.start, lengths)
    own, amount = move[known], primitive[known]
    for entry, lines, sign, number in table.entries(cells[known]):
        key, line = np.unique(own[entry] * number + lines, return_inverse=True)
        weight, moved = sign.astype(np.int64), amount[entry]
        if int(np.abs(weight).max(initial=0)) * int(np.abs(moved).max(initial=0)) * moved.size >= FITS:
            moved = moved.astype(object)
        added = np.zeros(key.size, dtype=moved.dtype)
        np.add.at(added, line, weight * moved)
        good[(key // number)[added != 0]] = False
    return good, replace(moves, coefficients=primitive.astype(np.float64))


def _whole_steps(moved: Floats) -> tuple[Ints, Bools]:
    """Amounts as whole numbers of a common decimal step, and which of them are not."""
    wrong = ~np.isfinite(moved) | (moved == 0) | (np.abs(moved) >= LARGEST)
    amounts = np.where(wrong, 0.0, moved)
    digits = digits_of(amounts, last=MOST_DECIMALS)
    scaled = amounts * 10.0 ** (MOST_DECIMALS if digits is None else digits)
    steps = np.rint(scaled)
    # no room for rounding: added up, large amounts would hide a small one that is off
    wrong |= (np.abs(steps) >= LARGEST) | (steps == 0)
    if digits is None:
        wrong |= scaled != steps
    return np.where(wrong, 0.0, steps).astype(np.int64), wrong


def _primitive(steps: Ints, start: Ints, lengths: Ints) -> Ints:
    """Every move divided by what its amounts have in common."""
    divisor = np.ones(lengths.size, dtype=np.int64)
    some = lengths > 0
    if some.any():
        divisor[some] = np.gcd.reduceat(np.abs(steps), start[:-1][some])
    result: Ints = steps // np.repeat(np.maximum(divisor, 1), lengths)
    return result
