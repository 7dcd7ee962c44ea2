"""Checking moves from scratch: whoever made a move, it counts only if every published equation stays true."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.grid import FITS, LARGEST, digits_of
from diskret.moves import _recheck_kernels
from diskret.moves.move import MoveSet

MOST_DECIMALS = 12
AT_ONCE = 1_000_000
"""Cells of moves that are checked together: more would need more memory, and not be faster."""
MANY = 100_000
"""So many entries are worth a kernel."""


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
    steps, wrong = _whole_steps(moves.coefficients)
    wrong |= (moves.cells < 0) | (moves.cells >= table.size)
    primitive = _primitive(np.where(wrong, 1, steps), moves.start, np.diff(moves.start))
    good = np.zeros(len(moves), dtype=np.bool_)
    parts = np.unique(np.searchsorted(moves.start, np.arange(0, moves.cells.size + AT_ONCE, AT_ONCE)))
    for begin, end in pairwise([0, *parts[parts > 0].tolist()]):
        entries = slice(int(moves.start[begin]), int(moves.start[min(end, len(moves))]))
        lengths = np.diff(moves.start[begin : end + 1])
        good[begin:end] = _true(table, lengths, moves.cells[entries], primitive[entries], wrong[entries])
    return good, replace(moves, coefficients=primitive.astype(np.float64))


def _true(table: Cells, lengths: Ints, cells: Ints, amounts: Ints, wrong: Bools) -> Bools:
    """Which of some moves are true; an entry that is ``wrong`` makes its move wrong."""
    move = np.repeat(np.arange(lengths.size), lengths)
    key = np.sort(move * (table.size + 1) + np.where(wrong, table.size, cells))
    twice = key[1:][np.diff(key) == 0] // (table.size + 1)
    good: Bools = (np.bincount(move, weights=wrong, minlength=lengths.size) == 0) & (lengths > 0)
    good[twice] = False
    known = good[move]
    good &= np.bincount(move[known], weights=~table.hidden.reshape(-1)[cells[known]], minlength=lengths.size) == 0
    own, amount = move[known], amounts[known]
    for entry, lines, sign, number in table.entries(cells[known].astype(np.int64, copy=False)):
        weight, moved = sign.astype(np.int64), amount[entry]
        fits = int(np.abs(weight).max(initial=0)) * int(np.abs(moved).max(initial=0)) * moved.size < FITS
        if fits and moved.size > MANY:
            # parts stand before sums: two ascending runs, which are merged rather than sorted
            order = np.argsort(own[entry], kind="stable")
            added = np.zeros(number, dtype=np.int64)
            _recheck_kernels.balance(own[entry][order], lines[order], (weight * moved)[order], added, good)
            continue
        key, line = np.unique(own[entry] * number + lines, return_inverse=True)
        total = np.zeros(key.size, dtype=np.int64 if fits else object)
        np.add.at(total, line, weight * (moved if fits else moved.astype(object)))
        good[(key // number)[total != 0]] = False
    return good


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
