"""What cells have in common that differ in several classifications at once, and that no line says.

Two cells such as regions a and b of branches k and l together, and region b of branch k alone, stand on no common line.
Where such cells are parts of nothing finer, they are taken apart into the largest parts that none of them divides. The
parts belong to nobody: they are not judged, and of them nothing is known but what the cells say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from diskret.ledger.about import PERIOD
from diskret.ledger.families import finest_of
from diskret.ledger.lines import Sums
from diskret.ledger.nodes import Keys, Sets
from diskret.model.arrays import Bools, Ints

MOST_CELLS = 2_000
"""Cells of one subject without parts of their own; where there are more, nothing is taken apart."""
MOST_GRID = 20_000
"""Finest combinations of codes of all classifications, likewise."""
MOST_PARTS = 2_000
"""Parts that are found, likewise."""


def boxes_of(
    sums: Sums, sets: Sets, axes: tuple[str, ...], steady: Bools, still: Sequence[int] = ()
) -> Iterator[tuple[int, Ints]]:
    """Cells that overlap others in several classifications, each with the numbers of the parts it is made of.

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
        if parts is None:
            continue
        for cell, own in zip(lowest.tolist(), parts, strict=True):
            if own.any():
                yield cell, first + np.flatnonzero(own)
        first += parts.shape[1]


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
