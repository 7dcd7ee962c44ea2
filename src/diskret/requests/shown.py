"""Tables over records, and what all of them together let anybody add up and subtract.

Records that lie in the same cells of every table cannot be told apart by sums and differences: they make up an atom.
Every cell is a sum of atoms, whatever the tables were filtered by, so that complements, overlapping filters and one
unit more or less are all the same thing: a new atom, judged like any cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.closing import close_levels
from diskret.model.exact import decimals_of, to_units
from diskret.model.hierarchy import Hierarchy
from diskret.requests.query import Query
from diskret.requests.records import Records, below


@dataclass(frozen=True, eq=False, kw_only=True)
class Shown:
    """A table over records: in which finest cell each record is counted, and which cells are (or may be) seen."""

    trees: tuple[Hierarchy, ...]
    names: tuple[str, ...]
    leaf: tuple[Ints, ...]
    """For each classification the position of the code of every record in its tree."""
    counted: Bools
    """Records that its filter counts."""
    open: Bools
    """Cells that are seen, one axis per classification."""
    title: str = ""
    """Which table it is, for messages."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its cells."""
        return tuple(len(tree) for tree in self.trees)

    @property
    def finest(self) -> Ints:
        """For every record a number of its finest cell; -1 where it is not counted."""
        number = np.zeros(self.counted.size, dtype=np.int64)
        for tree, places in zip(self.trees, self.leaf, strict=True):
            number = number * len(tree) + places
        return np.where(self.counted, number, -1)

    def cell_name(self, cell: int) -> str:
        """A cell (flat) by its codes, totals left out."""
        places = np.unravel_index(cell, self.shape) if self.shape else ()
        named = zip(self.names, self.trees, places, strict=True)
        said = [f"{name}={tree.codes[int(at)]}" for name, tree, at in named if tree.codes[int(at)] != tree.total]
        return "/".join(said) or "the total"


def shown_by(records: Records, query: Query) -> Shown:
    """The table that a request asks for, with nothing hidden."""
    trees, leaf = [], []
    for name in query.by:
        whole = records.tree(name)
        whole.refuse_overlapping("answering requests")
        tree = coarser(whole, query.levels[name]) if name in query.levels else whole
        trees.append(tree)
        places = [_place(whole, tree, code) for code in records.codes[name]]
        leaf.append(np.array(places, dtype=np.int64)[records.at[name]])
    shape = tuple(len(tree) for tree in trees)
    return Shown(
        trees=tuple(trees), names=query.by, leaf=tuple(leaf), counted=records.counted(query),
        open=np.ones(shape, dtype=np.bool_), title=query.words(),
    )  # fmt: skip


def coarser(tree: Hierarchy, levels: int) -> Hierarchy:
    """A tree with so many levels below its total.

    >>> coarser(Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}), 1).codes
    ('05', '11', 'DE')
    """
    kept = close_levels(tree, levels).kept
    parents = {code: tree.codes[int(tree.parents[tree.index(code)])] for code in kept if code != tree.total}
    return tree if len(kept) == len(tree) else Hierarchy.from_parents(parents)


def _place(whole: Hierarchy, tree: Hierarchy, code: str) -> int:
    at = whole.index(code)
    while whole.codes[at] not in tree:
        at = int(whole.parents[at])
    return tree.index(whole.codes[at])


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
    decimals: int | None

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.first.size)


def atoms_of(tables: Sequence[Shown], value: Floats, ranked: int) -> Atoms:
    """The groups of records that no table separates."""
    number = np.zeros(value.size, dtype=np.int64)
    for table in tables:
        _, number = np.unique(number * (prod(table.shape) + 1) + table.finest + 1, return_inverse=True)
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
        count=np.bincount(number, minlength=size).astype(np.int64), largest=largest, decimals=decimals,
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
    for tree, places in zip(table.trees, table.leaf, strict=True):
        under = np.array([below(tree, code) for code in range(len(tree))])[:, places[atoms.first]]
        inside = (inside[:, None, :] & under[None, :, :]).reshape(-1, atoms.size)
    return inside
