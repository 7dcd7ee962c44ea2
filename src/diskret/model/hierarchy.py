"""A classification with its sums: every code, what it adds to, and how fine it is.

Codes stand so that a sum follows its parts; the last code is the total. Level 1 is the finest, and a part is always one
level below its sum. Ragged depth is normal: a county-free city is a leaf on the level of the counties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from diskret.model import hierarchy_sources as sources
from diskret.model.arrays import Bools, Ints
from diskret.model.errors import UnknownCode

TOTAL = "Total"

Nested = Mapping[str, "Nested | Sequence[str] | None"]


@dataclass(frozen=True)
class Hierarchy:
    """Codes of one classification with their sums; made by one of the ``from_...`` functions or `flat`.

    >>> region = Hierarchy.from_parents({"05111": "05", "05112": "05", "05": "DE", "11": "DE"})
    >>> region.codes
    ('05111', '05112', '05', '11', 'DE')
    >>> region.levels.tolist()   # '11' is a city that is its own district
    [1, 1, 2, 2, 3]
    >>> region.parts("DE")
    ('05', '11')
    """

    codes: tuple[str, ...]
    parents: tuple[int, ...]
    labels: tuple[str, ...]

    # --- where hierarchies come from ---------------------------------------------------------------------------------

    @classmethod
    def from_parents(
        cls,
        pairs: Mapping[str, str] | Iterable[tuple[str, str]],
        *,
        labels: Mapping[str, str] | None = None,
        total: str | None = None,
    ) -> Hierarchy:
        """From child-to-parent pairs; ``total`` names the sum of several tops.

        >>> Hierarchy.from_parents([("a", "A"), ("b", "A"), ("c", "B")], total="All").codes
        ('a', 'b', 'A', 'c', 'B', 'All')
        """
        return cls._of(sources.tree_from_parents(pairs, total), labels)

    @classmethod
    def from_levels(
        cls, codes: Sequence[str], levels: Sequence[int], *, labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """From a code list in which sums follow their parts, with the level of every code (a lock file).

        >>> Hierarchy.from_levels(["city", "m1", "m2", "county", "state"], [2, 1, 1, 2, 3]).parts("state")
        ('city', 'county')
        """
        return cls._of(sources.tree_from_levels(codes, levels), labels)

    @classmethod
    def from_hrc(
        cls, text: str, *, lead: str = "@", total: str = TOTAL, labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """From the text of a tau-ARGUS ``.hrc`` file; the file names no total, ``total`` does.

        >>> Hierarchy.from_hrc("Nr\\n@1\\n@2\\nZd\\n@3\\n").codes
        ('1', '2', 'Nr', '3', 'Zd', 'Total')
        """
        return cls._of(sources.tree_from_hrc(text, lead, total), labels)

    @classmethod
    def from_prefixes(
        cls,
        codes: Iterable[str],
        lengths: Sequence[int],
        *,
        total: str = TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Hierarchy:
        """From codes whose first characters are their sums: ``lengths`` are the prefix lengths that are published.

        >>> Hierarchy.from_prefixes(["0111", "0112", "0210"], [2]).codes
        ('0111', '0112', '01', '0210', '02', 'Total')
        """
        return cls._of(sources.tree_from_prefixes(codes, lengths, total), labels)

    @classmethod
    def from_nested(cls, nested: Nested, *, labels: Mapping[str, str] | None = None) -> Hierarchy:
        """From nested dicts; the one outermost key is the total.

        >>> Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}).codes
        ('05111', '05112', '05', '11', 'DE')
        """
        return cls._of(sources.tree_from_nested(nested), labels)

    @classmethod
    def flat(cls, codes: Iterable[str], *, total: str = TOTAL, labels: Mapping[str, str] | None = None) -> Hierarchy:
        """Codes with one total and nothing between.

        >>> Hierarchy.flat(["men", "women"]).codes
        ('men', 'women', 'Total')
        """
        return cls._of(sources.tree_flat(codes, total), labels)

    @classmethod
    def _of(cls, tree: sources.Tree, labels: Mapping[str, str] | None) -> Hierarchy:
        codes, parents = tree
        names = labels or {}
        return cls(codes, parents, tuple(names.get(c, c) for c in codes))

    # --- what it says ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def total(self) -> str:
        """The code everything adds to."""
        return self.codes[-1]

    @cached_property
    def parent_index(self) -> Ints:
        """Position of each code's sum, -1 for the total."""
        return np.array(self.parents, dtype=np.int64)

    @cached_property
    def levels(self) -> Ints:
        """Aggregation level of each code, 1 the finest."""
        depth = np.zeros(len(self), dtype=np.int64)
        for i in range(len(self) - 2, -1, -1):
            depth[i] = depth[self.parents[i]] + 1
        levels: Ints = depth.max() + 1 - depth
        return levels

    @property
    def depth(self) -> int:
        """Number of aggregation levels, the total included."""
        return int(self.levels[-1])

    @cached_property
    def is_leaf(self) -> Bools:
        """Which codes are no sums."""
        leaf = np.ones(len(self), dtype=np.bool_)
        leaf[[p for p in self.parents if p >= 0]] = False
        return leaf

    @cached_property
    def _position(self) -> dict[str, int]:
        return {c: i for i, c in enumerate(self.codes)}

    def __contains__(self, code: object) -> bool:
        return code in self._position

    def index(self, code: str) -> int:
        """Position of a code on its axis.

        >>> Hierarchy.flat(["a", "b"]).index("b")
        1
        """
        try:
            return self._position[code]
        except KeyError:
            raise UnknownCode.in_column("(hierarchy)", [str(code)], self.codes) from None

    @cached_property
    def part_index(self) -> tuple[Ints, ...]:
        """Positions of the parts of each code; empty for leaves."""
        parts: list[list[int]] = [[] for _ in self.codes]
        for i, p in enumerate(self.parents):
            if p >= 0:
                parts[p].append(i)
        return tuple(np.array(p, dtype=np.int64) for p in parts)

    def parts(self, code: str) -> tuple[str, ...]:
        """The codes that add up to a code, in order."""
        return tuple(self.codes[i] for i in self.part_index[self.index(code)])

    @cached_property
    def first_below(self) -> Ints:
        """Where the codes below each code begin (its own position for leaves); they stand directly before it."""
        first = np.arange(len(self))
        for i, p in enumerate(self.parents):
            if p >= 0:
                first[p] = min(first[p], first[i])
        return first

    @cached_property
    def ancestors(self) -> tuple[Ints, Ints]:
        """Every code's chain to the total, itself first, end to end, and where each chain starts."""
        chains: list[int] = []
        starts = [0]
        for i in range(len(self)):
            j = i
            while j >= 0:
                chains.append(j)
                j = self.parents[j]
            starts.append(len(chains))
        return np.array(chains, dtype=np.int64), np.array(starts, dtype=np.int64)

    # --- the index reference table of the complete table -------------------------------------------------------------

    @cached_property
    def position_indices(self) -> Ints:
        """Number of each code's segment among the segments of its level, counted from 1 in sort order."""
        position = np.zeros(len(self), dtype=np.int64)
        for level in range(1, self.depth + 1):
            on_level = np.flatnonzero(self.levels == level)
            higher = np.cumsum(self.levels > level)
            _, number = np.unique(higher[on_level], return_inverse=True)
            position[on_level] = number + 1
        return position

    def elementary_indices(self) -> Ints:
        """One row per level below the total: each code's number inside the complete table that has no subtotals.

        Row a numbers the codes of level a inside their segment; higher codes get the margin's number (longest segment
        + 1), lower codes the number of the level-a code they feed (Quaderverfahren, 7.1.1).

        >>> Hierarchy.from_levels(["a", "b", "AB", "c", "all"], [1, 1, 2, 2, 3]).elementary_indices().tolist()
        [[1, 2, 3, 3, 3], [1, 1, 1, 2, 3]]
        """
        size = len(self)
        rows = np.zeros((self.depth - 1, size), dtype=np.int64)
        number = np.ones(size, dtype=np.int64)
        for parts in self.part_index:
            number[parts] = np.arange(1, parts.size + 1)
        for level in range(1, self.depth):
            row = rows[level - 1]
            on_level = self.levels == level
            row[on_level] = number[on_level]
            row[self.levels > level] = number[on_level].max() + 1
            for i in range(size - 1, -1, -1):
                if self.levels[i] < level:
                    row[i] = row[self.parents[i]]
        return rows

    def __repr__(self) -> str:
        return f"Hierarchy({len(self)} codes on {self.depth} levels, total {self.total!r})"

    def describe(self) -> dict[str, Any]:
        """Plain data to write into a file: codes, parents (by code) and labels."""
        return {
            "codes": list(self.codes),
            "parents": [self.codes[p] if p >= 0 else None for p in self.parents],
            "labels": list(self.labels),
        }
