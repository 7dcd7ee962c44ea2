"""The cuboids of the engine, which knows them by two opposite corners, as moves with all their cells."""

from __future__ import annotations

from math import prod

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.sparse import SparseTable
from diskret.model.table import Table
from diskret.moves.move import MoveSet


def expanded(rows: Floats, table: Table) -> MoveSet:
    """All cuboids, in the order they were built: rows are pivot, diametral cell, up, down, subtable, second of a pair.

    A pivot is protected in each subtable by the last cuboid built for it there, and by the second one of that pair.
    """
    pivot, diametral, subtable = (rows[:, column].astype(np.int64) for column in (0, 1, 4))
    held = table.occupied if isinstance(table, SparseTable) else None
    shape = tuple(len(h) for h in table.hierarchies)
    places = (pivot, diametral) if held is None else (held.places[pivot], held.places[diametral])
    corners = [np.stack(np.unravel_index(c, shape)) for c in places]
    # an axis both corners share is fixed (in a table of totals)
    fixed = corners[0] == corners[1]
    kind = (fixed << np.arange(len(fixed))[:, None]).sum(axis=0)
    lengths = 2 ** (~fixed).sum(axis=0)
    start = np.append(0, np.cumsum(lengths)).astype(np.int64)
    cells, signs = np.empty(start[-1], dtype=np.int64), np.empty(start[-1])
    for each in np.unique(kind):
        chosen = np.flatnonzero(kind == each)
        part_cells, part_signs = _corners(table, *(c[:, chosen] for c in corners))
        at = start[chosen][:, None] + np.arange(part_cells.shape[1])
        cells[at], signs[at] = part_cells if held is None else held.find(part_cells), part_signs
    protects = _latest(pivot, subtable, rows[:, 5] == 1)
    return MoveSet(
        start=start, cells=cells, coefficients=signs, up=rows[:, 2], down=rows[:, 3],
        first_protected=np.append(0, np.cumsum(protects)).astype(np.int64), protected_cells=pivot[protects],
        subtable=subtable, cuboids=True,
    )  # fmt: skip


def _corners(table: Table, pivot: Ints, diametral: Ints) -> tuple[Ints, Floats]:
    """Cells and signs of cuboids with the same free axes, one row each: +1 for the pivot, the others by parity."""
    shape = [len(h) for h in table.hierarchies]
    cells, signs = np.zeros((pivot.shape[1], 1), dtype=np.int64), np.ones((pivot.shape[1], 1))
    for axis, (g, d) in enumerate(zip(pivot, diametral, strict=True)):
        stride, parent = prod(shape[axis + 1 :]), table.hierarchies[axis].parent_index
        here = cells + (g * stride)[:, None]
        if (g == d).all():
            cells = here
            continue
        # part against part changes the sign, part against sum does not
        across = np.where((parent[g] != d) & (parent[d] != g), -1.0, 1.0)[:, None]
        cells = np.concatenate([here, cells + (d * stride)[:, None]], axis=1)
        signs = np.concatenate([signs, across * signs], axis=1)
    return cells, signs


def _latest(pivot: Ints, subtable: Ints, second: Bools) -> Bools:
    """Which cuboids protect their pivots in the end."""
    _, group = np.unique(pivot * (int(subtable.max(initial=0)) + 1) + subtable, return_inverse=True)
    number = np.arange(pivot.size)
    last = np.full((2, int(group.max(initial=-1)) + 1), -1)
    np.maximum.at(last, (second.astype(np.int64), group), number)
    kept = np.zeros(pivot.size, dtype=np.bool_)
    kept[last[0][last[0] >= 0]] = True
    kept[last[1][last[1] > last[0]]] = True
    return kept
