"""Opening secondaries again that no primary cell needs, the most expensive first."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools
from diskret.suppression.complete.engine import RankedMove, Search


def thinned(search: Search, protecting: dict[int, list[RankedMove]], untouchable: Bools) -> dict[int, list[RankedMove]]:
    """Try to do without each secondary: a later cuboid often makes an earlier one unnecessary.

    Only primaries whose cuboids use the cell are looked at again; each must find another cuboid of hidden cells.
    """
    task = search.task
    kept = dict(protecting)
    users: dict[int, set[int]] = {}
    for pivot, cuboids in kept.items():
        for cell in _cells(cuboids):
            users.setdefault(cell, set()).add(pivot)
    cells = np.flatnonzero(task.hidden & ~untouchable)
    for cell in cells[np.lexsort((cells, -task.cost[cells]))].tolist():
        task.hidden[cell] = False
        others = _others(search, sorted(users.get(cell, ())))
        if others is None:
            task.hidden[cell] = True
            continue
        for pivot, cuboids in others.items():
            for old in _cells(kept[pivot]):
                users[old].discard(pivot)
            for new in _cells(cuboids):
                users.setdefault(new, set()).add(pivot)
        kept |= others
    return kept


def _cells(cuboids: list[RankedMove]) -> set[int]:
    return {int(c) for cuboid in cuboids for c in cuboid.cells}


def _others(search: Search, pivots: list[int]) -> dict[int, list[RankedMove]] | None:
    """Cuboids of hidden cells for every pivot; None as soon as one has none."""
    found: dict[int, list[RankedMove]] = {}
    for pivot in pivots:
        found[pivot] = search.secured(pivot)
        if not found[pivot]:
            return None
    return found
