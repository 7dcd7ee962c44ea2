"""Perturbation along moves that protect already: those of a suppression, also over linked tables."""

from __future__ import annotations

import numpy as np

from diskret.model.errors import BadOption
from diskret.moves.move import MoveSet
from diskret.perturbation import _move_kernels as kernels
from diskret.perturbation.cuboids import Found, set_of
from diskret.perturbation.leeway import NOTHING, Leeway
from diskret.suppression.result import Suppression

CLOSE = 1e-7
MOST_TIMES = 1000


def moves_of(suppression: Suppression) -> MoveSet:
    """The moves of a suppression, none of them taken; they must keep every sum of the whole table.

    Those of linear programmes are divided by their smallest coefficient, and left empty if they are not whole then.
    """
    table, moves = suppression.table, suppression.moves
    if moves.subtable is not None and any(h.depth > 2 for h in table.hierarchies):
        raise BadOption(
            "the moves of this suppression hold inside subtables only, the table has subtotals",
            hint="suppress by the method Moves or Complete, or leave along=... out.",
        )
    empty = np.empty(0, dtype=np.int64)
    cells, coefficients = [empty], [empty]
    for move in moves:
        moved = np.abs(move.coefficients) > CLOSE
        times = move.coefficients[moved] / np.abs(move.coefficients[moved]).min(initial=np.inf)
        whole = bool((np.abs(times - np.rint(times)) < CLOSE).all()) and np.abs(times).max(initial=0.0) < MOST_TIMES
        cells.append(move.cells[moved] if whole else empty)
        coefficients.append(np.rint(times).astype(np.int64) if whole else empty)
    start = np.cumsum([c.size for c in cells])
    return set_of(start, np.concatenate(cells), np.concatenate(coefficients))


def move_along(leeway: Leeway, moves: MoveSet, rng: np.random.Generator, sd_share: float) -> Found:
    """Move every primary cell along one of its moves."""
    owner = moves.number()
    mine = leeway.place[moves.cells]
    wanted = np.flatnonzero(mine >= 0)
    # the moves of every primary cell, in the order they were made
    order = wanted[np.lexsort((owner[wanted], mine[wanted]))]
    first = np.searchsorted(mine[order], np.arange(leeway.primary.size + 1))
    step = np.zeros(len(moves), dtype=np.int64)
    signs = moves.coefficients.astype(np.int64)
    candidates = kernels.Candidates(moves.start, moves.cells, signs, first, owner[order])
    failed = kernels.perturb_along(rng.random(leeway.primary.size), candidates, leeway, sd_share, step)
    return Found(moves=moves, step=step, failed=leeway.primary[failed], told=NOTHING)
