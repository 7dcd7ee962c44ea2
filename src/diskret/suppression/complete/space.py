"""The elementary indices of one classification: where its codes stand in a table that has no subtotals.

A classification of A levels becomes A - 1 indices, each with one summation (Quaderverfahren, 7.1.1). A tuple of indices
is a code, or a dummy: a position that exists only because the segments of a level have different lengths, or because
the sum over it is published nowhere (a star sum). Nothing is stored for dummies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy

ALLOWED, FORBIDDEN = -1, -2
"""What stands in place of a code: a dummy that may be part of a cuboid, and one that may not."""
MOST_LISTED = 10_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexSpace:
    """Codes and dummies of one classification by their elementary indices, the finest level first."""

    hierarchy: Hierarchy
    tuples: Ints
    """One row per code; the margin of an index is its length plus one."""
    lengths: tuple[int, ...]
    """Longest segment of every level."""

    @classmethod
    def of(cls, hierarchy: Hierarchy, positions: Mapping[str, int] | None = None) -> IndexSpace:
        """The index reference table; ``positions`` moves codes inside their segment, so that dummies lie elsewhere.

        >>> space = IndexSpace.of(Hierarchy.from_levels(["a", "b", "AB", "c", "all"], [1, 1, 2, 2, 3]))
        >>> space.tuples.tolist(), space.lengths
        ([[1, 1], [2, 1], [3, 1], [3, 2], [3, 3]], (2, 2))
        """
        rows = hierarchy.elementary_indices()
        lengths = tuple(int(row[-1]) - 1 for row in rows)
        for code, number in (positions or {}).items():
            at = hierarchy.index(code)
            level = int(hierarchy.levels[at])
            if level > len(lengths) or not 1 <= number <= lengths[level - 1]:
                raise BadOption(
                    f"position {number} of code {code!r}",
                    hint="positions run from 1 to the longest segment of the level; the total has none.",
                )
            rows[level - 1, hierarchy.first_below[at] : at + 1] = number
        space = cls(hierarchy=hierarchy, tuples=np.ascontiguousarray(rows.T), lengths=lengths)
        keys = space.keys_of(space.tuples)
        if np.unique(keys).size != keys.size:
            raise BadOption("two codes of a segment at one position", hint="give every moved code a place of its own.")
        return space

    @property
    def dimension(self) -> int:
        """Number of elementary indices."""
        return len(self.lengths)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Positions of every index, its margin included."""
        return tuple(length + 1 for length in self.lengths)

    @property
    def size(self) -> int:
        """Positions of the complete classification, dummies included."""
        return prod(self.sizes)

    @cached_property
    def _steps(self) -> Ints:
        return np.array([prod(self.sizes[a + 1 :]) for a in range(self.dimension)], dtype=np.int64)

    @cached_property
    def _known(self) -> tuple[Ints, Ints]:
        keys = self.keys_of(self.tuples)
        order = np.argsort(keys)
        return keys[order], order

    def keys_of(self, tuples: Ints) -> Ints:
        """One number per tuple (indices along the last axis)."""
        keys: Ints = tuples @ self._steps - self._steps.sum()
        return keys

    def codes_at(self, tuples: Ints) -> Ints:
        """Position of the code at every tuple, -1 where there is none."""
        wanted = self.keys_of(tuples)
        if self._listed is not None:
            return np.maximum(self._listed[wanted], ALLOWED)
        return self._codes_by(wanted)

    def _codes_by(self, wanted: Ints) -> Ints:
        keys, order = self._known
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        found: Ints = np.where(keys[at] == wanted, order[at], ALLOWED)
        return found

    def look_up(self, tuples: Ints) -> Ints:
        """The code at every tuple, or which kind of dummy lies there.

        A dummy is forbidden where it would be added to a published sum together with codes that exist: it would be a
        structural zero (7.1.2.1). Below a code without parts, and in star sums, it is allowed.
        """
        keys = self.keys_of(tuples)
        found: Ints = self._kinds_by(keys) if self._listed is None else self._listed[keys]
        return found

    @cached_property
    def _listed(self) -> Ints | None:
        """The code or the kind of dummy at every key, if they are not too many to list."""
        return self._kinds_by(np.arange(self.size)) if self.size <= MOST_LISTED else None

    def _kinds_by(self, keys: Ints) -> Ints:
        found = self._codes_by(keys)
        dummy = found < 0
        for a in range(self.dimension):
            inner = keys // self._steps[a] % self.sizes[a]
            whole = self._codes_by(keys + (self.lengths[a] - inner) * self._steps[a])
            sum_here = (whole >= 0) & ~self.hierarchy.is_leaf[whole] & (self.hierarchy.levels[whole] == a + 2)
            found[dummy & (inner < self.lengths[a]) & sum_here] = FORBIDDEN
        return found

    def is_star(self, tuples: Ints, a: int) -> Bools:
        """Whether adding over an index leads to a star sum, which nobody publishes."""
        return self.codes_at(self._to_margin(tuples, a)) < 0

    def _to_margin(self, tuples: Ints, a: int) -> Ints:
        moved = tuples.copy()
        moved[..., a] = self.lengths[a] + 1
        return moved
