"""What adds up in a product of classifications: flat cells, one equation per line of every sum of every grouping.

All functions know a table by its hierarchies only. An ``axis`` is a classification in one of its groupings: first all
classifications in their own order (the trees), then further groupings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.equations import Entries, Equations
from diskret.model.hierarchy import Hierarchy


class Line(NamedTuple):
    """One equation seen from one of its cells."""

    along: str
    """The classification it adds along."""
    sum_cell: int
    cells: Ints
    """All its other cells."""


class Along(NamedTuple):
    """One classification in one of its groupings."""

    place: int
    """Of the classification among all."""
    grouping: int
    parents: Ints
    is_sum: Bools
    stride: int
    """From a cell to the next along this classification."""


def axes_of(hierarchies: Sequence[Hierarchy]) -> list[Along]:
    """Everything along which cells add up: the trees of all classifications, then their further groupings."""
    found = [
        (grouping, place, parents)
        for place, h in enumerate(hierarchies)
        for grouping, parents in enumerate(h.groupings)
    ]
    result = []
    for grouping, place, parents in sorted(found, key=lambda each: (each[0] > 0, each[1], each[0])):
        is_sum = np.zeros(parents.size, dtype=np.bool_)
        is_sum[parents[parents >= 0]] = True
        stride = prod(len(h) for h in hierarchies[place + 1 :])
        result.append(Along(place, grouping, parents, is_sum, stride))
    return result


def entries_of(hierarchies: Sequence[Hierarchy], cells: Ints) -> Iterator[Entries]:
    """Where cells stand in equations, axis by axis; an equation has the number of its sum."""
    shape = tuple(len(h) for h in hierarchies)
    at = np.unravel_index(cells, shape)
    for axis in axes_of(hierarchies):
        here = at[axis.place]
        parent = axis.parents[here]
        part, whole = np.flatnonzero(parent >= 0), np.flatnonzero(axis.is_sum[here])
        sums = np.concatenate([cells[part] + (parent[part] - here[part]) * axis.stride, cells[whole]])
        sign = np.concatenate([np.ones(part.size), -np.ones(whole.size)])
        yield Entries(np.concatenate([part, whole]), sums, sign, prod(shape))


def equations(hierarchies: Sequence[Hierarchy], cells: Ints) -> Equations:
    """All equations that hold one of the cells (ascending), the others being known."""
    size = prod(len(h) for h in hierarchies)
    found = list(entries_of(hierarchies, cells))
    key = np.concatenate([axis * size + each.equation for axis, each in enumerate(found)])
    column = np.concatenate([each.position for each in found])
    sign = np.concatenate([each.coefficient for each in found])
    order = np.lexsort((column, key))
    names, begin = np.unique(key[order], return_index=True)
    start = np.append(begin, key.size).astype(np.int64)
    return Equations(cells, start, column[order], sign[order], names // size, names % size)


def lines(hierarchies: Sequence[Hierarchy], names: Sequence[str], cell: int) -> Iterator[Line]:
    """The lines a cell stands in."""
    at = np.unravel_index(cell, tuple(len(h) for h in hierarchies))
    for axis in sorted(axes_of(hierarchies), key=lambda axis: axis.place):
        here = int(at[axis.place])
        parent = int(axis.parents[here])
        for total in ([parent] if parent >= 0 else []) + ([here] if axis.is_sum[here] else []):
            codes = np.append(np.flatnonzero(axis.parents == total), total)
            cells = cell + (codes[codes != here] - here) * axis.stride
            yield Line(names[axis.place], cell + (total - here) * axis.stride, cells.astype(np.int64))


def one_person(hierarchies: Sequence[Hierarchy], alone: Bools) -> Ints:
    """Numbers of persons who are alone in cells, one for all parts and sums in which somebody is alone; else -1."""
    size = alone.size
    person = np.where(alone, np.arange(size).reshape(alone.shape), size)
    axes = axes_of(hierarchies)
    while True:
        before = person.copy()
        for axis in axes:
            parts = np.flatnonzero(axis.parents >= 0)
            lined, both = np.moveaxis(person, axis.place, 0), np.moveaxis(alone, axis.place, 0)
            tops = axis.parents[parts]
            shared = both[parts] & both[tops]
            np.minimum.at(lined, tops, np.where(shared, lined[parts], size))
            lined[parts] = np.where(shared, np.minimum(lined[parts], lined[tops]), lined[parts])
        if (person == before).all():
            return np.where(alone, person, -1).reshape(-1)


def inner_cells(hierarchies: Sequence[Hierarchy]) -> Bools:
    """Cells that are not a sum in any classification."""
    inner = np.ones(tuple(len(h) for h in hierarchies), dtype=np.bool_)
    for axis, h in enumerate(hierarchies):
        shape = [1] * len(hierarchies)
        shape[axis] = len(h)
        inner &= h.is_leaf.reshape(shape)
    return inner
