"""Which way primary cells go, by a mixed-integer programme: the best choice, or how far from it one can be at most.

Squares are approached from below by tangents: what the programme finds then limits all changes, and where it is too low
more tangents help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
CLOSE = 1e-6
"""Changes below this, in units, need no tangent."""
FARTHEST = 1e9
"""How far cells go, in units, where no change is known that limits it."""


class Tangents(NamedTuple):
    """Squares: where (how far a cell goes, in units, more than 0) tangents touch."""

    cell: Ints
    at: Floats

    def and_those(self, change: Floats) -> Tangents:
        """Those of a change of all cells as well."""
        cells = np.flatnonzero(np.abs(change) > CLOSE)
        return Tangents(np.append(self.cell, cells), np.append(self.at, np.abs(change[cells])))


NONE = Tangents(np.empty(0, dtype=np.int64), np.empty(0))


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


def proved(
    room: Room, given: Ints, known: Choice | None, *, seconds: float, whole: bool = False, tangents: Tangents = NONE
) -> Proof:
    """The best directions of those that are not ``given``; ``whole``: in whole steps; ``tangents``: for squares.

    ``known`` is a choice to begin with; its value limits how far any cell goes, without which bounds are weak.
    """
    k, n = room.primary.size, room.size
    fine = room.steps.fine
    far = np.full(n, FARTHEST) if known is None else reach_of(room, known.point.value)
    high, low = np.minimum(room.high / fine, far), np.minimum(-room.low / fine, far)
    needs = room.down / fine, room.up / fine
    can_fall, can_rise = low[room.primary] >= needs[0], high[room.primary] >= needs[1]
    scale = HIGHEST / max(float(room.weight.max(initial=0.0)), 1e-300)
    squares = n if room.distance == "L2" else 0
    own, square = (np.zeros(n), room.weight) if squares else (room.weight, np.empty(0))
    programme = Programme(
        _matrix(room, needs, (low, high), tangents),
        _rows(room, needs, low, tangents),
        lower=np.concatenate([np.zeros(2 * n), np.where((given > 0) | ~can_fall, 1.0, 0.0), np.zeros(squares)]),
        upper=np.concatenate([high, low, np.where((given < 0) | ~can_rise, 0.0, 1.0), np.full(squares, np.inf)]),
        cost=scale * np.concatenate([own, own, np.zeros(k), square]),
        whole=np.concatenate([np.full(2 * n, whole), np.ones(k, dtype=np.bool_), np.zeros(squares, dtype=np.bool_)]),
        way=Way(seconds=seconds, relative_gap=GAP, absolute_gap=0.0),
    )
    if known is not None:
        rises, change = (known.directions > 0).astype(np.float64), known.point.change
        begin = [np.maximum(change, 0.0), np.maximum(-change, 0.0), rises, change[:squares] ** 2]
        programme.suggest(np.concatenate(begin))
    answer = programme.solve()
    found = programme.point if programme.has_point and answer is not Answer.INFEASIBLE else None
    bound = programme.bound / scale if np.isfinite(programme.bound) else 0.0
    return Proof(
        change=None if found is None else found[:n] - found[n : 2 * n],
        directions=np.where((found[2 * n : 2 * n + k] if found is not None else np.ones(k)) > 0.5, 1, -1),
        bound=max(bound, 0.0),
        finished=answer in (Answer.OPTIMAL, Answer.INFEASIBLE),
    )


def _matrix(room: Room, needs: tuple[Floats, Floats], reach: tuple[Floats, Floats], tangents: Tangents) -> Matrix:
    """Rows: equations; for every primary cell up at least, up at most, down at least, down at most; tangents."""
    equations, primary, k = room.equations, room.primary, room.primary.size
    (down, up), (low, high) = needs, reach
    n, rows, row = room.size, equations.rows, equations.row_of()
    own, touch = rows + 4 * np.arange(k), rows + 4 * k + np.arange(tangents.at.size)
    entries = [
        (row, equations.columns, equations.coefficients),
        (row, n + equations.columns, -equations.coefficients),
        *((own + i, primary, np.ones(k)) for i in (0, 1)),
        *((own + i, n + primary, np.ones(k)) for i in (2, 3)),
        *((own + i, 2 * n + np.arange(k), times) for i, times in enumerate((-up, -high[primary], down, low[primary]))),
        # a square is at least 2 a z - a a
        *((touch, i * n + tangents.cell, np.full(touch.size, -1.0)) for i in (0, 1)),
        (touch, 2 * n + k + tangents.cell, 1 / (2 * tangents.at)),
    ]
    at, column, value = (np.concatenate(each) for each in zip(*entries, strict=True))
    order = np.lexsort((at, column))
    columns = 2 * n + k + (n if room.distance == "L2" else 0)
    start = np.searchsorted(column[order], np.arange(columns + 1))
    return Matrix(start, at[order], value[order])


def _rows(room: Room, needs: tuple[Floats, Floats], low: Floats, tangents: Tangents) -> tuple[Floats, Floats]:
    rows, k = room.equations.rows, room.primary.size
    least, most = np.zeros(rows + 4 * k), np.zeros(rows + 4 * k)
    most[rows::4], most[rows + 2 :: 4] = np.inf, np.inf
    least[rows + 1 :: 4], least[rows + 3 :: 4] = -np.inf, -np.inf
    least[rows + 2 :: 4], most[rows + 3 :: 4] = needs[0], low[room.primary]
    return np.append(least, -tangents.at / 2), np.append(most, np.full(tangents.at.size, np.inf))
