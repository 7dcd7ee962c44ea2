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

import highspy
import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.perturbation.independent_sums import one_line_each

Tops = tuple[int, ...]
"""The code a slice lies below, one per classification."""
FAR = 3
"""A sum of a slice moves by at most so many bases at a time."""
ITERATIONS = 100_000
CHANCE = 1e-3


def repaired(table: Table, up: Ints, low: Ints, high: Ints, rng: np.random.Generator, effort: int) -> Ints:
    """Better ups (one per cell, sums included): fewer sums outside of ``low`` to ``high``. Finest cells stay in theirs.

    ``effort`` is the number of cells that programmes may look at in all.
    """
    state = (up.reshape(table.shape).copy(), low.reshape(table.shape), high.reshape(table.shape))
    while effort > 0 and len(table.shape) > 2 and _off(*state).any():
        effort -= 1
        for tops in _slices(table, state):
            _solve(table, tops, None, state, rng)
            _solve(table, tops, _another(table, tops, rng), state, rng)
            effort -= 2 * _size(table, tops)
            if effort <= 0:
                break
    return state[0].reshape(-1)


def _off(total: Ints, low: Ints, high: Ints) -> Ints:
    off: Ints = np.maximum(np.maximum(low - total, total - high), 0)
    return off


def _size(table: Table, tops: Tops) -> int:
    return prod(code + 1 - int(h.first_below[code]) for h, code in zip(table.hierarchies, tops, strict=True))


def _slices(table: Table, state: tuple[Ints, Ints, Ints]) -> Iterator[Tops]:
    """Slices below a sum that is off, the largest first."""
    count = len(table.shape)
    directions = sorted(combinations(range(count), 2), key=lambda pair: -prod(table.shape[i] for i in pair))
    for free in directions:
        others = [axis for axis in range(count) if axis not in free]
        shown = _off(*state).max(axis=free) > 0
        below = np.zeros(shown.shape, dtype=np.bool_)
        for at in np.argwhere(shown):
            first = [table.hierarchies[axis].first_below[code] for axis, code in zip(others, at, strict=True)]
            below[tuple(slice(int(f), int(code) + 1) for f, code in zip(first, at, strict=True))] = True
        for k, axis in enumerate(others):
            below &= table.hierarchies[axis].is_leaf.reshape([-1 if i == k else 1 for i in range(len(others))])
        for codes in np.argwhere(below).tolist():
            tops = [n - 1 for n in table.shape]
            for axis, code in zip(others, codes, strict=True):
                tops[axis] = code
            yield tuple(tops)


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


def _solve(
    table: Table, tops: Tops, against: Tops | None, state: tuple[Ints, Ints, Ints], rng: np.random.Generator
) -> None:
    """Change one slice for the better, in place; ``against`` is a slice that changes the other way."""
    total, low, high = state
    part = [_below(h, code) for h, code in zip(table.hierarchies, tops, strict=True)]
    inner = rollup.inner_cells(part)
    sums = [(place, face, 1) for place, face in _sums_through(table, tops)]
    own = [sums[0][0]]
    if against is not None:
        back = [(place, face, -1) for place, face in _sums_through(table, against)]
        own.append(back[0][0])
        there, here = [place for place, _, _ in back], [place for place, _, _ in sums]
        # sums over both slices stay as they are
        sums = [each for each in sums if each[0] not in there] + [each for each in back if each[0] not in here]
    # how much is off for every change of a cell of the slice, over all sums it stands for
    cost = np.zeros((2 * FAR + 1, *inner.shape))
    for place, face, sign in sums:
        for k in range(-FAR, FAR + 1):
            within = _off(total[place] + sign * k, low[place], high[place])
            cost[k + FAR][face] += np.where(inner, 0, within) if place in own else within
    down, up = (np.where(inner, bound[own[0]] - total[own[0]], 0).reshape(-1) for bound in (low, high))
    if against is not None:
        least, most = (np.where(inner, total[own[1]] - bound[own[1]], 0).reshape(-1) for bound in (high, low))
        down, up = np.maximum(down, least), np.minimum(up, most)
    cells = np.flatnonzero(inner.reshape(-1) & (down < up))
    if not cells.size:
        return
    rest, flat = np.flatnonzero(~inner), cost.reshape(2 * FAR + 1, -1)
    slope = np.where(up[cells] > 0, flat[FAR + 1, cells] - flat[FAR, cells], flat[FAR, cells] - flat[FAR - 1, cells])
    columns, signs = [cells], [np.ones(cells.size)]
    prices = [slope + CHANCE * (rng.random(cells.size) - 0.5)]
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
    before = sum(int(_off(total[p], low[p], high[p]).sum()) for p, _, _ in sums)
    after = sum(int(_off(total[p] + sign * change[face], low[p], high[p]).sum()) for p, face, sign in sums)
    if after <= before:
        for place, face, sign in sums:
            total[place] += sign * change[face]


def _sums_through(table: Table, tops: Tops) -> Iterator[tuple[tuple[slice | int, ...], tuple[slice | int, ...]]]:
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
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = cell.size, rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = price, lower, upper
    lp.row_lower_ = lp.row_upper_ = np.zeros(rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = start.astype(np.int32)
    lp.a_matrix_.index_ = row[entry].astype(np.int32)
    lp.a_matrix_.value_ = coefficient[entry] * np.repeat(sign, length)
    model = highspy.Highs()
    for name, option in (
        ("output_flag", False), ("threads", 1), ("solver", "simplex"), ("simplex_iteration_limit", ITERATIONS),
    ):  # fmt: skip
        model.setOptionValue(name, option)
    model.passModel(lp)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = np.array(model.getSolution().col_value)
    nearest = np.rint(found).astype(np.int64)
    return nearest if (np.abs(found - nearest) < 1e-6).all() else None
