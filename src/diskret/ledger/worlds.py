"""Which values of some cells held at the same time: before and after every revision.

A cell that was shown at another time than a revised one that it overlaps is doubtful: it may have changed by as much as
that one did between the two times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from diskret.ledger.lines import Sums
from diskret.model.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """What held at one time, of some cells."""

    node: Ints
    """The node of each cell: the last one by then, or the first there is."""
    changed: Floats
    """By how much each may differ from what was shown; undefined (NaN) where nobody can say."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Held:
    """The values that cells had, one after the other."""

    first: Ints
    """The first node of each cell."""
    versions: Ints
    """How many it has."""
    birth: Ints
    """The first entry that shows each node; of a derived cell the one from which on it can be computed."""
    value: Floats
    """True values of the nodes."""
    is_new: Bools
    """Nodes that the newest entry shows or hides."""
    known: Bools
    """Nodes that are shown openly, by older entries alone;"""
    nothing: Bools
    """and those among them that nothing is part of, since they are zero."""

    def of(self, cells: Ints) -> Held:
        """The same of some cells."""
        return replace(self, first=self.first[cells], versions=self.versions[cells])

    @property
    def revised(self) -> bool:
        """Whether any cell was revised."""
        return bool((self.versions > 1).any())

    def worlds(self, cells: Ints, meet: Callable[[Ints, Ints], Bools]) -> Iterator[World]:
        """What held of some cells at one time; ``meet`` says which of some cells (rows) overlap which (columns)."""
        revised = np.flatnonzero(self.versions > 1)
        revised = revised[meet(cells, revised).any(axis=0)] if revised.size else revised
        if not revised.size:
            yield World(node=self.first[cells], changed=np.zeros(cells.size))
            return
        later = [n for c in revised.tolist() for n in range(self.first[c] + 1, self.first[c] + self.versions[c])]
        near = meet(cells, revised)
        # before each revision, and after all of them
        for time in (*np.unique(self.birth[later] - 1).tolist(), int(self.birth.max())):
            node = np.array([self._at(c, time) for c in cells.tolist()])
            yield World(node=node, changed=self._changed(cells, node, (revised, near), time))

    def _at(self, cell: int, time: int) -> int:
        """The last node of a cell by a time, or the first it has."""
        nodes = range(int(self.first[cell]), int(self.first[cell] + self.versions[cell]))
        return max((n for n in nodes if self.birth[n] <= time), default=nodes[0])

    def _changed(self, cells: Ints, node: Ints, revised: tuple[Ints, Bools], time: int) -> Floats:
        """By how much revised cells near each cell differ between when that was shown and a time."""
        changed = np.zeros(cells.size)
        for cell, near in zip(revised[0].tolist(), revised[1].T, strict=True):
            now = self.value[self._at(cell, time)]
            shown = {born: self.value[self._at(cell, born)] for born in np.unique(self.birth[node[near]]).tolist()}
            then = np.array([shown[born] for born in self.birth[node[near]].tolist()])
            changed[near] += np.where(cells[near] == cell, 0.0, np.abs(now - then))
        return changed


def births(sums: Sums, first: Ints, birth: Ints, shown: int) -> Ints:
    """The entry from which on each node can be known: the first that shows it, or the last that a derived one needs.

    The first ``shown`` nodes are shown by some entry; nobody knows the others before the rest of one of their sums.
    """
    found = birth.astype(np.float64)
    found[shown:] = np.inf
    if not sums.rows:
        return birth
    cell, start = first[sums.cell], sums.start[:-1]
    row = np.repeat(np.arange(sums.rows), np.diff(sums.start))
    while True:
        unknown = np.isinf(found[cell])
        ready = unknown & (np.add.reduceat(unknown.astype(np.int64), start)[row] == 1)
        if not ready.any():
            break
        latest = np.maximum.reduceat(np.where(unknown, -np.inf, found[cell]), start)[row]
        np.minimum.at(found, cell[ready], latest[ready])
    found[np.isinf(found)] = found[:shown].max(initial=0.0)
    return np.maximum(found, 0.0).astype(np.int64)
