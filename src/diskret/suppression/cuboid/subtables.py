"""The subtables of a table: in every classification one sum with its parts, no subtotals, one total per axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments:
    """The segments of all axes end to end: the parts of a sum, then the sum; one code alone fixes its axis.

    Fixed sums are always numbered, so that the number of a subtable never depends on whether they are used.
    """

    first: Ints
    """Where each segment starts in ``items``; one more at the end."""
    items: Ints
    """Positions of the codes on their axis."""
    levels: tuple[Ints, ...]
    """Per axis the aggregation index of each segment: the level of its parts (0 for a code alone)."""
    used: tuple[Bools, ...]
    """Per axis which segments make subtables."""
    offsets: tuple[int, ...]
    """Per axis the number of its first segment."""

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], fixed: Sequence[bool] | None = None) -> Segments:
        """All segments of the hierarchies; on axes that are ``fixed`` the sums alone too (for tables of totals)."""
        first, items = [0], []
        levels, used, offsets = [], [], []
        for axis, hierarchy in enumerate(hierarchies):
            offsets.append(len(first) - 1)
            segments = [[*parts.tolist(), code] for code, parts in enumerate(hierarchy.part_index) if parts.size]
            alone = [[code] for code in np.flatnonzero(~hierarchy.is_leaf).tolist()] or [[0]]
            for segment in segments + alone:
                items += segment
                first.append(len(items))
            of_axis = [int(hierarchy.levels[segment[-1]]) - 1 for segment in segments] + [0] * len(alone)
            levels.append(np.array(of_axis, dtype=np.int64))
            # a classification of one code has no other segments
            with_alone = not segments or bool(fixed and fixed[axis])
            used.append(np.arange(len(of_axis)) < len(segments) + with_alone * len(alone))
        return cls(
            first=np.array(first), items=np.array(items), levels=tuple(levels), used=tuple(used), offsets=tuple(offsets)
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of segments per axis."""
        return tuple(level.size for level in self.levels)

    @property
    def number(self) -> int:
        """Number of subtables."""
        return prod(self.counts)

    def names(self, chosen: Sequence[Ints]) -> Ints:
        """Numbers of the subtables made of all combinations of chosen segments, one list per axis."""
        grids = np.meshgrid(*chosen, indexing="ij")
        return np.ravel_multi_index([g.reshape(-1) for g in grids], self.counts).astype(np.int64)

    def rows(self, names: Ints) -> Ints:
        """For each subtable its segment on every axis, numbered through all axes."""
        axes = np.unravel_index(names, self.counts)
        return np.stack([a + o for a, o in zip(axes, self.offsets, strict=True)], axis=1).astype(np.int64)

    def by_level(self) -> Iterator[Ints]:
        """Subtables by descending sum of aggregation indices; those of one group share no cell.

        Inside a group the order is by position, and does not matter: two segments of one level have no common code.
        """
        kinds = [np.unique(level[used]).tolist() for level, used in zip(self.levels, self.used, strict=True)]
        for group in sorted(product(*kinds), key=lambda g: (-sum(g), g)):
            axes = zip(self.levels, self.used, group, strict=True)
            yield self.names([np.flatnonzero((level == k) & used) for level, used, k in axes])

    def containing(self, shape: tuple[int, ...]) -> tuple[Ints, ...]:
        """Per axis and code the segments it lies in, at most ``width`` of them, -1 where there are fewer."""
        result = []
        for axis, length in enumerate(shape):
            inside: list[list[int]] = [[] for _ in range(length)]
            for s in np.flatnonzero(self.used[axis]).tolist():
                at = self.offsets[axis] + s
                for code in self.items[self.first[at] : self.first[at + 1]]:
                    inside[code].append(s)
            width = max(len(i) for i in inside)
            result.append(
                np.array([i + [-1] * (width - len(i)) for i in inside], dtype=np.int64).reshape(length, width)
            )
        return tuple(result)


def subtables_of(cells: Ints, shape: tuple[int, ...], containing: Sequence[Ints], counts: tuple[int, ...]) -> Ints:
    """Numbers of all subtables that hold one of the cells, each once."""
    if not cells.size:
        return np.empty(0, dtype=np.int64)
    at = np.unravel_index(cells, shape)
    found = []
    for choice in product(*(range(c.shape[1]) for c in containing)):
        picked = [c[i, k] for c, i, k in zip(containing, at, choice, strict=True)]
        real = np.all([p >= 0 for p in picked], axis=0)
        if real.any():
            found.append(np.unique(np.ravel_multi_index([p[real] for p in picked], counts)))
    return np.unique(np.concatenate(found)).astype(np.int64) if found else np.empty(0, dtype=np.int64)
