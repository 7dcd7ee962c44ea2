"""Which way primary cells go, by a mixed-integer programme: the best choice, or how far from it one can be at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.perturbation.adjustment_bound import reach_of
from diskret.perturbation.adjustment_room import Room
from diskret.perturbation.directions import Choice

HIGHEST = 1e4
"""Largest cost of a column."""
GAP = 1e-7
"""What is nearer than this to the bound, relative to it, counts as proved."""
FARTHEST = 1e9
"""How far cells go, in units, where no change is known that limits it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Proof:
    """What the programme found."""

    change: Floats | None
    """The best change, in units, if one was found."""
    directions: Ints
    bound: float
    """What no change costs less than."""
    finished: bool
    """Whether the best was found and proved, or that there is none; otherwise time ran out."""


def proved(room: Room, given: Ints, known: Choice | None, *, seconds: float, whole: bool = False) -> Proof:
    """The best directions of those that are not ``given``, by absolute changes; ``whole``: in whole steps.

    ``known`` is a choice to begin with; its value limits how far any cell goes, without which bounds are weak.
    """
    k, n = room.primary.size, room.size
    fine = room.steps.fine
    far = np.full(n, FARTHEST) if known is None else reach_of(room, known.point.value)
    high, low = np.minimum(room.high / fine, far), np.minimum(-room.low / fine, far)
    up, down = room.up / fine, room.down / fine
    can_fall, can_rise = low[room.primary] >= down, high[room.primary] >= up
    scale = HIGHEST / max(float(room.weight.max(initial=0.0)), 1e-300)
    programme = Programme(
        _matrix(room, (down, up), (low, high)),
        _rows(room, (down, up), low),
        lower=np.concatenate([np.zeros(2 * n), np.where((given > 0) | ~can_fall, 1.0, 0.0)]),
        upper=np.concatenate([high, low, np.where((given < 0) | ~can_rise, 0.0, 1.0)]),
        cost=scale * np.concatenate([room.weight, room.weight, np.zeros(k)]),
        whole=np.append(np.full(2 * n, whole), np.ones(k, dtype=np.bool_)),
        way=Way(seconds=seconds, relative_gap=GAP, absolute_gap=0.0),
    )
    if known is not None:
        rises = (known.directions > 0).astype(np.float64)
        change = known.point.change
        programme.suggest(np.concatenate([np.maximum(change, 0.0), np.maximum(-change, 0.0), rises]))
    answer = programme.solve()
    found = programme.point if programme.has_point and answer is not Answer.INFEASIBLE else None
    # the value of a change that exists limits the bound as well: nothing is proved beyond it
    bound = programme.bound / scale if np.isfinite(programme.bound) else 0.0
    return Proof(
        change=None if found is None else found[:n] - found[n : 2 * n],
        directions=np.where((found[2 * n :] if found is not None else np.ones(k)) > 0.5, 1, -1),
        bound=max(bound, 0.0),
        finished=answer in (Answer.OPTIMAL, Answer.INFEASIBLE),
    )


def _matrix(room: Room, needs: tuple[Floats, Floats], reach: tuple[Floats, Floats]) -> Matrix:
    """Rows: equations; then for every primary cell: up at least, up at most, down at least, down at most."""
    equations, primary, k = room.equations, room.primary, room.primary.size
    (down, up), (low, high) = needs, reach
    n, rows, row = room.size, equations.rows, equations.row_of()
    own = rows + 4 * np.arange(k)
    entries = [
        (row, equations.columns, equations.coefficients),
        (row, n + equations.columns, -equations.coefficients),
        *((own + i, primary, np.ones(k)) for i in (0, 1)),
        *((own + i, n + primary, np.ones(k)) for i in (2, 3)),
        *((own + i, 2 * n + np.arange(k), times) for i, times in enumerate((-up, -high[primary], down, low[primary]))),
    ]
    at, column, value = (np.concatenate(each) for each in zip(*entries, strict=True))
    order = np.lexsort((at, column))
    start = np.searchsorted(column[order], np.arange(2 * n + k + 1))
    return Matrix(start, at[order], value[order])


def _rows(room: Room, needs: tuple[Floats, Floats], low: Floats) -> tuple[Floats, Floats]:
    rows, k = room.equations.rows, room.primary.size
    least, most = np.zeros(rows + 4 * k), np.zeros(rows + 4 * k)
    most[rows::4], most[rows + 2 :: 4] = np.inf, np.inf
    least[rows + 1 :: 4], least[rows + 3 :: 4] = -np.inf, -np.inf
    least[rows + 2 :: 4], most[rows + 3 :: 4] = needs[0], low[room.primary]
    return least, most
