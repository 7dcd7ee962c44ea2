"""Which cells hang together by what they have in common, and along which classifications they do.

A cell is a set of codes in every classification. Cells are split by one classification after the other, until those
that stay together have, in every classification, codes that hang together. Cells that are split have nothing in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.ledger.families import sharers_of
from diskret.ledger.nodes import Keys, Sets
from diskret.model.arrays import Bools, Ints
from diskret.model.equations import hanging_together


@dataclass(frozen=True, eq=False, kw_only=True)
class Axis:
    """The codes that some cells have in one classification, as sets of finest ones that none of them divides."""

    at: Ints
    """The set of each cell."""
    start: Ints
    finest: Ints
    """The finest codes of each set: where they begin, and their numbers."""
    size: int
    """How many finest codes there are."""

    @classmethod
    def of(cls, masks: Sequence[int], at: Ints) -> Axis:
        """The sets behind ``at``, taken apart."""
        sharers = sharers_of(masks)
        lengths = [len(each) for each in sharers]
        owner = np.array([number for each in sharers for number in each], dtype=np.int64)
        finest = np.repeat(np.arange(len(sharers)), lengths)
        order = np.lexsort((finest, owner))
        start = np.append(0, np.cumsum(np.bincount(owner, minlength=len(masks)))).astype(np.int64)
        return cls(at=at, start=start, finest=finest[order], size=len(sharers))

    @property
    def many(self) -> Ints:
        """How many finest codes each set has."""
        return np.diff(self.start)

    def spelled(self, sets: Ints) -> tuple[Ints, Ints]:
        """The finest codes of some sets, each with the place of its set among them."""
        many = self.many[sets]
        owner = np.repeat(np.arange(sets.size), many)
        first = np.repeat(self.start[sets] - np.append(0, np.cumsum(many))[:-1], many)
        return owner, self.finest[first + np.arange(owner.size)]

    def finest_of(self, cells: Ints) -> Ints:
        """The finest codes that occur in some cells."""
        sets = np.unique(self.at[cells])
        if self.many[sets].max(initial=0) == self.size:
            return np.arange(self.size)
        return np.unique(self.spelled(sets)[1])

    def meet(self, some: Ints, others: Ints) -> Bools:
        """Which of some cells (rows) have a finest code in common with which of the others (columns)."""
        sets, one = np.unique(self.at[some], return_inverse=True)
        other_sets, other = np.unique(self.at[others], return_inverse=True)
        both = []
        for own in (sets, other_sets):
            owner, finest = self.spelled(own)
            there = np.zeros((own.size, self.size), dtype=np.float32)
            there[owner, finest] = 1.0
            both.append(there)
        common: Bools = both[0] @ both[1].T > 0
        return common[np.ix_(one.reshape(-1), other.reshape(-1))]

    def inside(self, cells: Ints) -> Bools:
        """Which of the finest codes that occur in some cells (columns) each of them (rows) has."""
        owner, finest = self.spelled(self.at[cells])
        used, column = np.unique(finest, return_inverse=True)
        found = np.zeros((cells.size, used.size), dtype=np.bool_)
        found[owner, column] = True
        return found


def axes_of(key: Keys, sets: Sets, names: Sequence[str]) -> list[Axis]:
    """The classifications of some cells, given by the numbers of their sets."""
    found = []
    for column, name in enumerate(names):
        numbers, at = np.unique(key[:, column], return_inverse=True)
        masks = sets.sets(name)
        found.append(Axis.of([masks[n] for n in numbers.tolist()], at.reshape(-1).astype(np.int64)))
    return found


def together(axes: Sequence[Axis], cells: Ints) -> list[Ints]:
    """Some cells in groups that have nothing in common with each other.

    >>> overlapping = Axis.of([0b011, 0b110, 0b1000], np.array([0, 1, 2]))
    >>> [group.tolist() for group in together([overlapping], np.arange(3))]
    [[0, 1], [2]]
    """
    label = np.zeros(cells.size, dtype=np.int64)
    unchanged = 0
    while unchanged < len(axes):
        for axis in axes:
            before = int(label.max(initial=-1)) + 1
            label = _split(axis, cells, label)
            unchanged = unchanged + 1 if int(label.max(initial=-1)) + 1 == before else 0
            if unchanged >= len(axes):
                break
    order = np.argsort(label, kind="stable")
    return np.split(cells[order], np.flatnonzero(np.diff(label[order])) + 1) if cells.size else []


def _split(axis: Axis, cells: Ints, label: Ints) -> Ints:
    """Groups of cells split where their sets of one classification do not hang together."""
    own = axis.at[cells]
    # nothing is split by a classification of which a cell has everything
    whole = np.zeros(int(label.max(initial=-1)) + 1, dtype=np.bool_)
    whole[label[axis.many[own] == axis.size]] = True
    open_cells = np.flatnonzero(~whole[label] & (np.bincount(label)[label] > 1))
    if not open_cells.size:
        return label
    wide = int(axis.many.size)
    pairs, pair = np.unique(label[open_cells] * wide + own[open_cells], return_inverse=True)
    group, one = pairs // wide, pairs % wide
    owner, finest = axis.spelled(one)
    place, element = np.unique(group[owner] * axis.size + finest, return_inverse=True)
    part = hanging_together(element.reshape(-1), owner, place.size, pairs.size)
    fresh = np.zeros(label.size, dtype=np.int64)
    fresh[open_cells] = 1 + part[pair.reshape(-1)]
    return np.unique(label * (pairs.size + 1) + fresh, return_inverse=True)[1].reshape(-1).astype(np.int64)


def split_by_axes(varied: Bools) -> list[Ints]:
    """Classifications (columns) in groups: no cell (row) varies in classifications of two of them.

    >>> [group.tolist() for group in split_by_axes(np.array([[True, True, False], [False, False, True]]))]
    [[0, 1], [2]]
    """
    patterns = np.unique(varied, axis=0)
    groups: list[set[int]] = []
    for pattern in patterns:
        own = set(np.flatnonzero(pattern).tolist())
        if own:
            apart = [each for each in groups if not each & own]
            groups = [*apart, own.union(*(each for each in groups if each & own))]
    return [np.array(sorted(each), dtype=np.int64) for each in sorted(groups, key=min)]
