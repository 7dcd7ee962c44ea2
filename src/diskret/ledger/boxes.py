"""What cells have in common that differ in several classifications at once, and that no line says.

Two cells such as regions a and b of branches k and l together, and region b of branch k alone, stand on no common line.
Where such cells are parts of nothing finer, they are taken apart into the largest parts that none of them divides.
Where these are too many, each cell is made of the cells inside it and what is left. If only one part of a cell is not
known, everybody can compute it: it is judged like a derived cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from diskret.ledger.about import PERIOD
from diskret.ledger.families import finest_of
from diskret.ledger.lines import Sums
from diskret.ledger.nodes import Keys, Sets
from diskret.model.arrays import Bools

MOST_CELLS = 2_000
"""Cells of one subject without parts of their own; where there are more, nothing is taken apart."""
MOST_GRID = 20_000
"""Finest combinations of codes of all classifications; where there are more, parts are not looked for."""
MOST_PARTS = 300
"""Parts; with 2,000 of them protecting a table of the simulated statistic took 80
seconds of CPU time, and half a one without."""
MOST_TIMES = 3
"""Ways in which a cell is said to be made of those inside it."""


def boxes_of(
    sums: Sums, sets: Sets, axes: tuple[str, ...], steady: Bools, still: Sequence[int] = ()
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Cells that overlap others in several classifications, each with cells and with further parts it is made of.

    ``steady`` are cells that had one value only. Values of the subjects in ``still`` do not add up over periods.
    """
    whole = np.zeros(sums.key.shape[0], dtype=np.bool_)
    whole[sums.cell[sums.start[:-1]]] = True
    of = sums.key[:, :1].copy()
    if PERIOD in axes:
        of = np.column_stack([of, np.where(np.isin(of[:, 0], still), sums.key[:, 1 + axes.index(PERIOD)], 0)])
    first = 0
    for group in np.unique(of, axis=0):
        mine: Bools = (of == group).all(axis=1)
        lowest = np.flatnonzero(mine & ~whole)
        if not steady[mine].all() or not 2 <= lowest.size <= MOST_CELLS:
            continue
        parts = _parts(sums.key[lowest, 1:], sets, axes)
        if parts is not None:
            for cell, own in zip(lowest.tolist(), parts, strict=True):
                if own.any():
                    yield cell, [], (first + np.flatnonzero(own)).tolist()
            first += parts.shape[1]
            continue
        for cell, inside, rest in _nested(sums.key[lowest, 1:], sets, axes):
            yield int(lowest[cell]), lowest[inside].tolist(), [first] if rest else []
            first += rest


def _nested(key: Keys, sets: Sets, axes: tuple[str, ...]) -> Iterator[tuple[int, list[int], bool]]:
    """Cells with disjoint ones inside them, and whether something is left."""
    rows = key.shape[0]
    inside, apart = np.ones((rows, rows), dtype=np.bool_), np.zeros((rows, rows), dtype=np.bool_)
    volume = np.ones(rows, dtype=object)
    for column, axis in enumerate(axes):
        numbers, own = np.unique(key[:, column], return_inverse=True)
        masks = [sets.sets(axis)[n] for n in numbers.tolist()]
        within = np.array([[one & other == one for one in masks] for other in masks])
        free = np.array([[not one & other for one in masks] for other in masks])
        inside &= within[np.ix_(own, own)]
        apart |= free[np.ix_(own, own)]
        volume = volume * np.array([mask.bit_count() for mask in masks], dtype=object)[own]
    np.fill_diagonal(inside, val=False)
    for cell in np.flatnonzero(inside.any(axis=1)).tolist():
        there = sorted(np.flatnonzero(inside[cell]).tolist(), key=lambda other: -volume[other])
        waiting = [*there]
        for _ in range(MOST_TIMES):
            chosen: list[int] = []
            # first those that no way had before
            for other in (*waiting, *there):
                if apart[other, chosen].all() and other not in chosen:
                    chosen.append(other)
            yield cell, chosen, volume[cell] != sum(volume[other] for other in chosen)
            waiting = [other for other in waiting if other not in chosen]
            if not waiting:
                break


def _parts(key: Keys, sets: Sets, axes: tuple[str, ...]) -> Bools | None:
    """Which cells (rows) are made of which parts (columns); cells that overlap no other have none."""
    inside = np.ones((key.shape[0], 1), dtype=np.bool_)
    for column, axis in enumerate(axes):
        numbers, own = np.unique(key[:, column], return_inverse=True)
        masks = [sets.sets(axis)[n] for n in numbers.tolist()]
        finest = finest_of(masks)
        if inside.shape[1] * len(finest) > MOST_GRID:
            return None
        there = np.array([[bool(mask & part) for part in finest] for mask in masks])
        inside = (inside[:, :, None] & there[own][:, None, :]).reshape(key.shape[0], -1)
    shared = inside.sum(axis=0) > 1
    overlapping = inside[:, shared].any(axis=1)
    parts: Bools = np.unique(inside[overlapping], axis=1)
    parts = parts[:, parts.any(axis=0)]
    if not parts.size or parts.shape[1] > MOST_PARTS:
        return None
    found = np.zeros((key.shape[0], parts.shape[1]), dtype=np.bool_)
    found[overlapping] = parts
    return found
