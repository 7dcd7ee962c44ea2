"""Tables over records, and what all of them together let anybody add up and subtract.

Records that lie in the same cells of every table cannot be told apart by sums and differences: they make up an atom.
Every cell is a sum of atoms, whatever the tables were filtered by, so that complements, overlapping filters and one
unit more or less are all the same thing: a new atom, judged like any cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.closing import close_levels
from diskret.model.errors import BadOption
from diskret.model.exact import decimals_of, to_units
from diskret.model.hierarchy import Hierarchy
from diskret.requests.query import Query
from diskret.requests.records import Records, below, leaf_places

ALL = "all"
"""The classification of a table that has none: its one code is the total."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Axis:
    """A classification of a table: its codes, and which of them every group of records adds to."""

    name: str
    codes: tuple[str, ...]
    top: str
    """The code of the total."""
    under: npt.NDArray[np.bool_]
    """One row per code, one column per group of records that the codes do not tell apart."""
    group: Ints
    """The group of every record."""

    @classmethod
    def of(cls, name: str, codes: Sequence[str], top: str, inside: npt.NDArray[np.bool_], at: Ints) -> Axis:
        """From which codes of records (columns) belong to which of its codes (rows), and the code of every record."""
        under, group = np.unique(inside, axis=1, return_inverse=True)
        return cls(name=name, codes=tuple(codes), top=top, under=under, group=group.reshape(-1).astype(np.int64)[at])


@dataclass(frozen=True, eq=False, kw_only=True)
class Shown:
    """A table over records: in which finest cell each record is counted, and which cells are (or may be) seen."""

    axes: tuple[Axis, ...]
    counted: Bools
    """Records that its filter counts."""
    open: Bools
    """Cells that are seen, one axis per classification."""
    title: str = ""
    """Which table it is, for messages."""
    bounds: tuple[Floats, Floats] | None = None
    """What is known of cells that are not seen exactly, rounded ones for instance: the least and the most they can be;
    infinite where nothing is."""
    changed: Bools | None = None
    """Cells that were told with another value than they have now: the records were revised."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its cells."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def finest(self) -> Ints:
        """For every record a number of its finest cell, from 1; 0 where it is not counted."""
        number = np.zeros(self.counted.size, dtype=np.int64)
        for axis in self.axes:
            number = number * axis.under.shape[1] + axis.group
        return np.where(self.counted, number + 1, 0)

    def cell_name(self, cell: int) -> str:
        """A cell (flat) by its codes, totals left out."""
        places = np.unravel_index(cell, self.shape) if self.shape else ()
        named = zip(self.axes, places, strict=True)
        said = [f"{axis.name}={axis.codes[int(at)]}" for axis, at in named if axis.codes[int(at)] != axis.top]
        return "/".join(said) or "the total"


def shown_by(records: Records, query: Query) -> Shown:
    """The table that a request asks for, with nothing hidden."""
    axes = []
    for name, (tree, called) in named_trees(records, query).items():
        inside = np.array([below(tree, code) for code in range(len(tree))])
        places = leaf_places(tree, called, records.tree(name), records.codes[name])
        axes.append(Axis.of(name, tree.codes, tree.total, inside[:, places] & (places >= 0), records.at[name]))
    return Shown(
        axes=tuple(axes), counted=records.counted(query),
        open=np.ones(tuple(len(axis.codes) for axis in axes), dtype=np.bool_), title=query.words(),
    )  # fmt: skip


def trees_of(records: Records, query: Query) -> dict[str, Hierarchy]:
    """The classifications of a request: so many levels of them, and only the codes that its filter counts."""
    return {name: tree for name, (tree, _) in named_trees(records, query).items()}


def named_trees(records: Records, query: Query) -> dict[str, tuple[Hierarchy, Mapping[str, str]]]:
    """The same, with what codes of the records' trees are called in them."""
    found = {}
    for name in query.by:
        whole = records.tree(name)
        whole.refuse_overlapping("answering requests")
        tree = coarser(whole, query.levels[name]) if name in query.levels else whole
        called: Mapping[str, str] = {code: code for code in tree.codes}
        if name in query.filtered:
            tree, called = filtered(tree, whole, records.chosen(query, name))
        found[name] = tree, called
    return found


def coarser(tree: Hierarchy, levels: int) -> Hierarchy:
    """A tree with so many levels below its total.

    >>> coarser(Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}), 1).codes
    ('05', '11', 'DE')
    """
    kept = close_levels(tree, levels).kept
    parents = {code: tree.codes[int(tree.parents[tree.index(code)])] for code in kept if code != tree.total}
    return tree if len(kept) == len(tree) else Hierarchy.from_parents(parents)


def filtered(tree: Hierarchy, whole: Hierarchy, chosen: Sequence[str]) -> tuple[Hierarchy, dict[str, str]]:
    """What a filter leaves of a tree, and what its codes are called; sums that lose parts by what is left.

    >>> tree = Hierarchy.from_nested({"DE": {"N": ["n1", "n2"], "S": ["s1", "s2"]}})
    >>> filtered(tree, tree, ["n1", "s1", "s2"])[0].codes
    ('n1', 'only n1', 's1', 's2', 'S', 'n1+s1+s2')
    """
    inside = np.array([below(whole, whole.index(code)) for code in tree.codes])
    ends = ~np.isin(np.arange(len(whole)), np.array(whole.parents))
    kept = np.isin(np.array(whole.codes, dtype=object), list(chosen)) & ends
    if kept[ends].all():
        return tree, {code: code for code in tree.codes}
    left: Bools = np.asarray(inside & kept)
    part: Bools = np.asarray((inside & ends & ~kept).any(axis=1))
    sums = np.isin(np.arange(len(tree)), np.array(tree.parents))
    names: dict[int, str] = {}
    for at in np.flatnonzero(left.any(axis=1)).tolist():
        parent, rest = int(tree.parents[at]), [whole.codes[i] for i in np.flatnonzero(left[at])]
        if not part[at]:
            names[at] = tree.codes[at]
        elif not sums[at]:
            names[at] = f"{tree.codes[at]} ({name_of_set(rest)})"
        elif parent < 0 or (left[at] != left[parent]).any():
            # of sums that lose parts and count the same the highest stands for all
            names[at] = name_of_set(rest)
    parents: dict[str, str] = {}
    for at in names:
        above = int(tree.parents[at])
        while above >= 0 and above not in names:
            above = int(tree.parents[above])
        if above >= 0:
            parents[names[at]] = names[above]
    if not parents:
        raise BadOption("the filter counts nobody", hint="name codes that there are.")
    return Hierarchy.from_parents(parents), {tree.codes[at]: name for at, name in names.items()}


def name_of_set(codes: Sequence[str], most: int = 4) -> str:
    """A name for a set of codes, the same for the same set.

    >>> name_of_set(["a", "b"]), name_of_set(["a"])
    ('a+b', 'only a')
    """
    if len(codes) == 1:
        return f"only {codes[0]}"
    if len(codes) <= most:
        return "+".join(codes)
    mark = sha256("\n".join(codes).encode()).hexdigest()[:8]
    return f"{codes[0]}+{codes[1]}+{len(codes) - 2} more ({mark})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Atoms:
    """Records in the groups that all tables together tell apart."""

    of: Ints
    """For every record the number of its atom."""
    first: Ints
    """For every atom one of its records."""
    value: Floats
    count: Ints
    largest: Floats
    """The largest contributions of every atom, descending."""
    absolute: Floats
    """Sums of the sizes of contributions: more than the value where some of them are negative."""
    decimals: int | None

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.first.size)


def atoms_of(tables: Sequence[Shown], value: Floats, ranked: int) -> Atoms:
    """The groups of records that no table separates."""
    number = np.zeros(value.size, dtype=np.int64)
    for table in tables:
        _, number = np.unique(number * (int(table.finest.max(initial=0)) + 1) + table.finest, return_inverse=True)
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    number = number.astype(np.int64).reshape(-1)
    size, decimals = first.size, decimals_of(value)
    order = np.lexsort((-np.abs(value), number))
    begin = np.searchsorted(number[order], np.arange(size + 1))
    largest = np.zeros((size, ranked))
    for k in range(ranked):
        there = begin[:-1] + k < begin[1:]
        largest[there, k] = np.abs(value[order[(begin[:-1] + k)[there]]])
    return Atoms(
        of=number, first=first.astype(np.int64), value=added(value, number, size, decimals),
        count=np.bincount(number, minlength=size).astype(np.int64), largest=largest,
        absolute=added(np.abs(value), number, size, decimals), decimals=decimals,
    )  # fmt: skip


def added(value: Floats, number: Ints, size: int, decimals: int | None) -> Floats:
    """Sums by number, exact where values are short decimals."""
    if decimals is None:
        total: Floats = np.bincount(number, weights=value, minlength=size).astype(np.float64)
        return total
    units = np.zeros(size, dtype=np.int64)
    np.add.at(units, number, to_units(value, decimals))
    result: Floats = units / 10.0**decimals
    return result


def members(table: Shown, atoms: Atoms) -> npt.NDArray[np.bool_]:
    """Which atoms every cell of a table is made of: one row per cell, in their order."""
    inside = table.counted[atoms.first][None, :]
    for axis in table.axes:
        under = axis.under[:, axis.group[atoms.first]]
        inside = (inside[:, None, :] & under[None, :, :]).reshape(-1, atoms.size)
    return inside
