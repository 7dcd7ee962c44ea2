"""A classification with its sums: every code, what it adds to, and how fine it is.

Codes stand so that a sum follows its parts; the last code is the total. Level 1 is the finest, and a part is always one
level below its sum. Ragged depth is normal: an independent city is a leaf on the level of the counties.

The same codes may be grouped in several ways (counties by states, and by how densely they are populated). The first
grouping is a tree and gives levels and order; each further one says which codes add up to which sums besides. A code
that is not part of the tree stands directly before the total.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from diskret.model import hierarchy_sources as sources
from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption, BrokenLevels, DuplicateCode, ProtectionWarning, UnknownCode, listed
from diskret.model.groupings import overlapping, restorable
from diskret.model.hrc_lines import hrc_tree
from diskret.model.limits import refuse_more
from diskret.model.spelling import alike, plain, visible

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
    """Position of the sum of each code in the first grouping, -1 for the total and for codes of further groupings."""
    labels: tuple[str, ...]
    further: tuple[tuple[int, ...], ...] = ()
    """The same for every further grouping; -1 where a code adds to nothing in it."""

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
        """From a code list in which sums follow their parts, with the level of every code (a level list).

        >>> Hierarchy.from_levels(["city", "m1", "m2", "county", "state"], [2, 1, 1, 2, 3]).parts("state")
        ('city', 'county')
        """
        return cls._of(sources.tree_from_levels(codes, levels), labels)

    @classmethod
    def from_hrc(
        cls, text: str, *, lead: str = "@", total: str = TOTAL, labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """From the text of a tau-ARGUS ``.hrc`` file; the file names no total, ``total`` does.

        A sum of codes that all stand under other sums too is a further one: it adds to nothing, and a warning says so.

        >>> Hierarchy.from_hrc("Nr\\n@1\\n@2\\nZd\\n@3\\n").codes
        ('1', '2', 'Nr', '3', 'Zd', 'Total')
        """
        read = hrc_tree(text, lead, total)
        tree = cls._of(sources.tree_from_parents(read.parent, total), labels)
        if not read.further:
            return tree
        warnings.warn(
            f"all codes of {listed(read.further)} stand under other sums too: it is read as a further sum, which does "
            f"not add to {total!r} (tau-ARGUS counts such codes under the first sum only, and leaves it empty)",
            ProtectionWarning,
            stacklevel=3,
        )
        return cls.from_groupings(tree, read.further, labels=labels)

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
    def from_labels(cls, labels: Mapping[str, str], *, separator: str | None = None, total: str = TOTAL) -> Hierarchy:
        """From codes with labels that name their sums: parts with a separator between, or, without one, indented.

        >>> Hierarchy.from_labels({"a": "Bayern: Hof", "b": "Bayern: Fürth", "c": "Berlin"}, separator=":").codes
        ('a', 'b', 'Bayern', 'c', 'Total')
        >>> Hierarchy.from_labels({"1": "food", "2": "  bread", "3": "  milk", "4": "rent"}).codes
        ('2', '3', '1', '4', 'Total')
        """
        if separator is None:
            return cls._of(*sources.tree_from_indents(labels, total))
        return cls._of(*sources.tree_from_paths(labels, separator, total))

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
    def from_groupings(
        cls, first: Hierarchy, *further: Mapping[str, Sequence[str]], labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """Codes that add up in several ways: a tree, and further sums with their parts.

        A further sum is a new code or one of the tree, its parts are codes of the tree or other further sums; it need
        not be part of anything. What every sum is made of must be the same by all groupings.

        >>> states = Hierarchy.from_parents({"a1": "A", "a2": "A", "b1": "B", "A": "DE", "B": "DE"})
        >>> region = Hierarchy.from_groupings(states, {"town": ["a1", "b1"], "rural": ["a2"], "DE": ["town", "rural"]})
        >>> region.codes
        ('a1', 'a2', 'A', 'b1', 'B', 'town', 'rural', 'DE')
        >>> region.parts("town"), region.overlapping
        (('a1', 'b1'), True)
        """
        codes, parents, more = overlapping(first.codes, (first.parents, *first.further), further)
        names = dict(zip(first.codes, first.labels, strict=True)) | dict(labels or {})
        return cls(codes, parents, tuple(names.get(c, c) for c in codes), more)

    @classmethod
    def restored(
        cls,
        codes: Sequence[str],
        parents: Sequence[int],
        labels: Sequence[str],
        further: Sequence[Sequence[int]] = (),
    ) -> Hierarchy:
        """From the fields of a hierarchy, as a file keeps them; refused unless they are those of a hierarchy.

        Everything else trusts positions blindly, compiled loops above all: parts stand before their sums, nothing is
        part of itself, no position is beyond the codes.

        >>> Hierarchy.restored(["a", "b", "T"], [2, 2, -1], ["a", "b", "all"]).parts("T")
        ('a', 'b')
        >>> Hierarchy.restored(["a", "b", "T"], [1, 0, -1], ["a", "b", "all"])
        Traceback (most recent call last):
        diskret.model.errors.BrokenLevels: [H5] the parents of the codes are not those of a hierarchy
          what to do: make the file again.
        """
        given = cls(tuple(codes), tuple(parents), tuple(labels), tuple(map(tuple, further)))
        if not restorable(given.codes, (given.parents, *given.further), given.labels):
            raise BrokenLevels("the parents of the codes are not those of a hierarchy", hint="make the file again.")
        return given._of_few_levels()

    @classmethod
    def _of(cls, tree: sources.Tree, labels: Mapping[str, str] | None) -> Hierarchy:
        codes, parents = tree
        names = labels or {}
        return cls(codes, parents, tuple(names.get(c, c) for c in codes))._of_few_levels()

    def _of_few_levels(self) -> Hierarchy:
        """The hierarchy itself; what is done for every code and all its sums would take for ever on a long chain."""
        refuse_more("depth", self.depth, "a hierarchy has {} levels")
        return self

    # --- what it says ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def total(self) -> str:
        """The code everything adds to."""
        return self.codes[-1]

    @cached_property
    def parent_index(self) -> Ints:
        """Position of each code's sum in the first grouping, -1 for the total and what is not part of the tree."""
        return np.array(self.parents, dtype=np.int64)

    @property
    def overlapping(self) -> bool:
        """Whether codes add up in several ways: then there is no single tree."""
        return bool(self.further)

    def refuse_overlapping(self, what: str) -> None:
        """Refuse what only a single tree can do."""
        if self.further:
            raise BadOption(
                f"{what} needs one tree; the classification with the total {self.total!r} has overlapping groupings",
                hint="use the method Moves or Optimal, or keep one grouping only.",
            )

    @cached_property
    def groupings(self) -> tuple[Ints, ...]:
        """Position of each code's sum in every grouping, -1 where it adds to nothing; the tree comes first."""
        return (self.parent_index, *(np.array(parents, dtype=np.int64) for parents in self.further))

    @cached_property
    def fills(self) -> tuple[Ints, ...]:
        """The same with every sum in one grouping only: added up in this order, all sums are filled once."""
        result, filled = [self.parent_index], self.parent_index >= 0
        filled[-1:] = True
        for parents in self.groupings[1:]:
            last = np.full(len(self), -1)
            np.maximum.at(last, parents[parents >= 0], np.flatnonzero(parents >= 0))
            fresh = ~filled & (last >= 0) & (last < np.arange(len(self)))
            filled |= fresh
            if fresh.any():
                result.append(np.where((parents >= 0) & fresh[parents], parents, -1))
        return tuple(result)

    @cached_property
    def levels(self) -> Ints:
        """Aggregation level of each code, 1 the finest; codes outside the tree count as parts of the total."""
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
        """Which codes are not sums."""
        leaf = np.ones(len(self), dtype=np.bool_)
        for parents in self.groupings:
            leaf[parents[parents >= 0]] = False
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
        """Positions of the parts of each code, by the first grouping it is a sum in; empty for leaves."""
        parts: list[list[int]] = [[] for _ in self.codes]
        for parents in self.fills:
            for i in np.flatnonzero(parents >= 0).tolist():
                parts[parents[i]].append(i)
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
        """Every code with all sums above it, the chain to the total first, end to end, and where each begins."""
        chains: list[int] = []
        starts = [0]
        for i in range(len(self)):
            above, j = {i: None}, i
            while (j := self.parents[j]) >= 0:
                above[j] = None
            waiting = list(above) if self.further else []
            for code in waiting:
                fresh = [p for parents in self.further if (p := parents[code]) >= 0 and p not in above]
                above |= dict.fromkeys(fresh)
                waiting += fresh
            chains += above
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
        self.refuse_overlapping("a complete table")
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

    def without_single_children(self) -> Hierarchy:
        """The same without sums that have one part only: they say nothing that their part does not say.

        >>> region = Hierarchy.from_nested({"DE": {"05": {"051": ["05111", "05112"]}, "11": {"110": ["11000"]}}})
        >>> region.without_single_children().codes
        ('05111', '05112', '051', '11000', 'DE')
        """
        self.refuse_overlapping("leaving out levels")
        labels = dict(zip(self.codes, self.labels, strict=True))
        return self._of(sources.without_single_parts(self.codes, self.parents), labels)

    def normalised(self) -> Hierarchy:
        """The same with codes and labels as they look; refuses codes that become equal by that.

        >>> Hierarchy.flat(["Ko\\u0308ln", " Bonn"]).normalised().codes == ("K\\xf6ln", "Bonn", "Total")
        True
        """
        doubles = alike(self.codes)
        if doubles:
            raise DuplicateCode(
                f"codes {' and '.join(map(visible, doubles[0]))} are one code in two spellings",
                hint="keep one of them in the hierarchy.",
            )
        return replace(self, codes=tuple(map(plain, self.codes)), labels=tuple(map(plain, self.labels)))

    def __repr__(self) -> str:
        groupings = f", {1 + len(self.further)} groupings" if self.further else ""
        return f"Hierarchy({len(self)} codes on {self.depth} levels, total {self.total!r}{groupings})"

    def describe(self) -> dict[str, Any]:
        """Plain data to write into a file: codes, parents (by code, in every grouping) and labels."""

        def named(parents: Sequence[int]) -> list[str | None]:
            return [self.codes[p] if p >= 0 else None for p in parents]

        plain = {"codes": list(self.codes), "parents": named(self.parents), "labels": list(self.labels)}
        return plain | ({"further": [named(parents) for parents in self.further]} if self.further else {})
