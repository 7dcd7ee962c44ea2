"""Repair of a controlled rounding, slice by slice.

A slice holds everything in two classifications and one finest code in the others. If nothing outside of it changes,
every sum of the table is off by a convex function of one cell of the slice. So the best change of a slice is a linear
programme with one price per cell and step, over a network or nearly one, and it is solved in whole numbers. Slice after
slice is improved, in all directions, alone and against another one that takes the change back (so that sums over both
stay), until nothing is off or the effort is spent. Prices differ by chance where nothing is off, so that a slice can
come out differently the next time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.table import Table
from diskret.model.tolerances import WHOLE
from diskret.perturbation.independent_sums import one_line_each

Place = tuple[slice | int, ...]
Tops = tuple[int, ...]
"""The code a slice lies below, one per classification."""
FAR = 3
"""A sum of a slice moves by at most this many bases at a time."""
WAY = Way(only_simplex=True, iterations=100_000)
CHANCE = 1e-3


class Ups(NamedTuple):
    """How many bases above its lower multiple every cell goes, and the least and the most it should; all in a cube."""

    up: Ints
    low: Ints
    high: Ints

    def off(self, place: Place = (), change: Ints | int = 0) -> Ints:
        """How far cells are outside of their bounds, if they change."""
        up = self.up[place] + change
        off: Ints = np.maximum(np.maximum(self.low[place] - up, up - self.high[place]), 0)
        return off


class Trace(NamedTuple):
    """Where a change of a slice shows: cells of the table, the face of the slice they change by, and which way."""

    place: Place
    face: Place
    sign: int


def repaired(table: Table, up: Ints, low: Ints, high: Ints, rng: np.random.Generator, effort: int) -> Ints:
    """Better ups (one per cell, sums included): fewer sums outside of ``low`` to ``high``. Finest cells stay in theirs.

    ``effort`` is the number of cells that programmes may look at in all.
    """
    state = Ups(up.reshape(table.shape).copy(), low.reshape(table.shape), high.reshape(table.shape))
    while effort > 0 and len(table.shape) > 2 and state.off().any():
        effort -= 1
        for tops in _slices(table, state):
            _improve(table, tops, None, state, rng)
            _improve(table, tops, _another(table, tops, rng), state, rng)
            effort -= 2 * _size(table, tops)
            if effort <= 0:
                break
    return state.up.reshape(-1)


def _size(table: Table, tops: Tops) -> int:
    return prod(code + 1 - int(h.first_below[code]) for h, code in zip(table.hierarchies, tops, strict=True))


def _slices(table: Table, state: Ups) -> Iterator[Tops]:
    """Slices below a sum that is off, the largest first."""
    count = len(table.shape)
    directions = sorted(combinations(range(count), 2), key=lambda pair: -prod(table.shape[i] for i in pair))
    for free in directions:
        others = [axis for axis in range(count) if axis not in free]
        for codes in np.argwhere(_finest_below([table.hierarchies[a] for a in others], state.off().max(axis=free) > 0)):
            tops = np.array(table.shape) - 1
            tops[others] = codes
            yield tuple(tops.tolist())


def _finest_below(hierarchies: list[Hierarchy], shown: Bools) -> Bools:
    """Cells with finest codes only, below some shown cell."""
    below = np.zeros(shown.shape, dtype=np.bool_)
    for at in np.argwhere(shown).tolist():
        below[tuple(slice(int(h.first_below[c]), c + 1) for h, c in zip(hierarchies, at, strict=True))] = True
    return below & rollup.inner_cells(hierarchies)


def _below(hierarchy: Hierarchy, code: int) -> Hierarchy:
    """The codes below a code, as a hierarchy of their own."""
    first = int(hierarchy.first_below[code])
    parents = tuple(p - first for p in hierarchy.parents[first:code]) + (-1,)
    return Hierarchy(hierarchy.codes[first : code + 1], parents, hierarchy.labels[first : code + 1])


def _another(table: Table, tops: Tops, rng: np.random.Generator) -> Tops | None:
    """A slice beside this one: another finest code in one classification."""
    fixed = [axis for axis, h in enumerate(table.hierarchies) if h.is_leaf[tops[axis]] and h.is_leaf.sum() > 1]
    if not fixed:
        return None
    axis = int(rng.choice(fixed))
    leaves = np.flatnonzero(table.hierarchies[axis].is_leaf)
    code = int(rng.choice(leaves[leaves != tops[axis]]))
    return (*tops[:axis], code, *tops[axis + 1 :])


def _improve(table: Table, tops: Tops, against: Tops | None, state: Ups, rng: np.random.Generator) -> None:
    """Change one slice for the better, in place; ``against`` is a slice that changes the other way."""
    part = [_below(h, code) for h, code in zip(table.hierarchies, tops, strict=True)]
    inner = rollup.inner_cells(part)
    own, traces = _traces(table, tops, against)
    down, up = _rooms(state, own, inner)
    cells = np.flatnonzero(inner.reshape(-1) & (down < up))
    if not cells.size:
        return
    flat = _off_by_change(state, own, traces, inner).reshape(2 * FAR + 1, -1)
    slope = np.where(up[cells] > 0, flat[FAR + 1, cells] - flat[FAR, cells], flat[FAR, cells] - flat[FAR - 1, cells])
    columns, signs = [cells], [np.ones(cells.size)]
    prices = [slope + CHANCE * (rng.random(cells.size) - 0.5)]
    rest = np.flatnonzero(~inner)
    for way, k in product((1, -1), range(FAR)):
        columns.append(rest)
        signs.append(np.full(rest.size, float(way)))
        prices.append(flat[FAR + way * (k + 1), rest] - flat[FAR + way * k, rest])
    steps = 2 * FAR * rest.size
    moved = _programme(
        one_line_each(part), np.concatenate(columns), np.concatenate(signs), np.concatenate(prices),
        np.append(down[cells], np.zeros(steps)), np.append(up[cells], np.ones(steps)),
    )  # fmt: skip
    if moved is None:
        return
    change = np.zeros(inner.shape, dtype=np.int64)
    change.reshape(-1)[cells] = moved[: cells.size]
    rollup.add_up(change, part)
    before = sum(int(state.off(t.place).sum()) for t in traces)
    after = sum(int(state.off(t.place, t.sign * change[t.face]).sum()) for t in traces)
    if after <= before:
        for t in traces:
            state.up[t.place] += t.sign * change[t.face]


def _traces(table: Table, tops: Tops, against: Tops | None) -> tuple[list[Trace], list[Trace]]:
    """The slices themselves, and all traces of a change that differ; sums over both slices stay as they are."""
    ahead = [Trace(place, face, 1) for place, face in _sums_through(table, tops)]
    back = [] if against is None else [Trace(place, face, -1) for place, face in _sums_through(table, against)]
    here, there = [t.place for t in ahead], [t.place for t in back]
    alone = [t for t in ahead if t.place not in there] + [t for t in back if t.place not in here]
    return ahead[:1] + back[:1], alone


def _off_by_change(state: Ups, own: list[Trace], traces: list[Trace], inner: Bools) -> Floats:
    """How much is off for every change of a cell of the slice, over all sums it stands for."""
    cost = np.zeros((2 * FAR + 1, *inner.shape))
    places = [t.place for t in own]
    for place, face, sign in traces:
        for k in range(-FAR, FAR + 1):
            off = state.off(place, sign * k)
            cost[k + FAR][face] += np.where(inner, 0, off) if place in places else off
    return cost


def _rooms(state: Ups, own: list[Trace], inner: Bools) -> tuple[Ints, Ints]:
    """How far the finest cells of a slice may go down and up, so that they stay within their bounds."""
    ends = []
    for place, _, sign in own:
        ends += [sign * (bound[place] - state.up[place]) for bound in (state.low, state.high)[::sign]]
    down, up = np.maximum.reduce(ends[::2]), np.minimum.reduce(ends[1::2])
    return np.where(inner, down, 0).reshape(-1), np.where(inner, up, 0).reshape(-1)


def _sums_through(table: Table, tops: Tops) -> Iterator[tuple[Place, Place]]:
    """Where a change of the slice shows: the slice itself, then sums above it, with the face they change by."""
    above = [_chain(h, code)[1:] for h, code in zip(table.hierarchies, tops, strict=True)]
    ranges = [slice(int(h.first_below[c]), c + 1) for h, c in zip(table.hierarchies, tops, strict=True)]
    for codes in product(*([-1, *chain] for chain in above)):
        place = tuple(r if c < 0 else c for r, c in zip(ranges, codes, strict=True))
        yield place, tuple(slice(None) if c < 0 else -1 for c in codes)


def _chain(hierarchy: Hierarchy, code: int) -> list[int]:
    chains, start = hierarchy.ancestors
    return [int(c) for c in chains[start[code] : start[code + 1]]]


def _programme(
    lines: tuple[tuple[Ints, Ints, Floats], int], cell: Ints, sign: Floats, price: Floats, lower: Floats, upper: Floats
) -> Ints | None:
    """The cheapest change in whole numbers; None if the solver finds none."""
    (row, part, coefficient), rows = lines
    order = np.argsort(part, kind="stable")
    begin = np.searchsorted(part[order], np.arange(int(part.max(initial=cell.max())) + 2))
    length = begin[cell + 1] - begin[cell]
    start = np.append(0, np.cumsum(length))
    entry = order[np.repeat(begin[cell] - start[:-1], length) + np.arange(int(length.sum()))]
    matrix = Matrix(start, row[entry], coefficient[entry] * np.repeat(sign, length))
    found = Programme(matrix, np.zeros(rows), lower=lower, upper=upper, cost=price, way=WAY).best()
    if found is None:
        return None
    nearest = np.rint(found).astype(np.int64)
    return nearest if (np.abs(found - nearest) < WHOLE).all() else None
