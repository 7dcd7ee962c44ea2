"""Type 6: cells and equations in the JJ format, as tau-ARGUS writes it. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.table import Table
from diskret.publication.argus.cells import (
    EMPTY,
    PROTECTED,
    SAFE,
    SAFE_BY_HAND,
    SECONDARY,
    SECONDARY_BY_HAND,
    costs_of,
    decimals_in,
    highest,
    levels_of,
    lowest,
    refuse_infinite,
    status_numbers,
)
from diskret.publication.argus.layout import CHUNK, END, Layout
from diskret.publication.argus.options import SafeFile
from diskret.publication.axes import Axis

LETTERS = {SAFE: "s", SAFE_BY_HAND: "s", SECONDARY: "m", SECONDARY_BY_HAND: "m", PROTECTED: "z", EMPTY: "z"}
DEAREST = 20_000
"""The largest cost, to which all others are scaled."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tree:
    """One classification: which of its codes are kept, and which of those add up to which."""

    kept: Ints
    sums: tuple[tuple[int, Ints], ...]
    """Sums with their parts, counted among those kept."""


def jj(layout: Layout, table: Table, options: SafeFile) -> Iterator[str]:
    """The lines of the file: a 0, the number of cells, the cells, the number of equations, the equations."""
    trees = [tree_of(axis, trivial=options.remove_trivial) for axis in layout.by.values()]
    yield from _cells(layout, table, options, trees)
    yield from _equations(trees)


def tree_of(axis: Axis, *, trivial: bool) -> Tree:
    """The codes that are kept; with ``trivial`` a code that is the only part of its sum is the sum itself."""
    stands = np.arange(len(axis))
    for place, parts in enumerate(axis.parts):
        if trivial and len(parts) == 1:
            stands[parts[0]] = stands[place]
    kept = np.flatnonzero(stands == np.arange(len(axis)))
    number = np.full(len(axis), -1)
    number[kept] = np.arange(kept.size)
    several = [(place, parts) for place, parts in enumerate(axis.parts) if len(parts) > (1 if trivial else 0)]
    sums = [(int(number[stands[place]]), number[stands[parts]]) for place, parts in several]
    return Tree(kept=kept, sums=tuple(sums))


def _cells(layout: Layout, table: Table, options: SafeFile, trees: Sequence[Tree]) -> Iterator[str]:
    refuse_infinite(table.value, costs_of(table, options))
    decimals = decimals_in(table, options)
    places = 6 if decimals is None else decimals
    cells = np.ravel_multi_index(np.ix_(*(tree.kept for tree in trees)), layout.shape).reshape(-1)
    columns = [
        ([str(i) for i in range(cells.size)]),
        [f"{x:.{places}f}" for x in (layout.order(table.value)[cells] + 0.0).tolist()],
        list(map(str, _scaled(layout.order(costs_of(table, options)))[cells].tolist())),
        *_bounds(layout, table, decimals, cells),
    ]
    yield f"0{END}{cells.size}{END}"
    for start in range(0, cells.size, CHUNK):
        some = (column[start : start + CHUNK] for column in columns)
        yield "".join(" ".join(row) + f" {0:.{places}f}{END}" for row in zip(*some, strict=True))


def _scaled(costs: Floats) -> Ints:
    """Whole costs from 1 to the dearest; halves go up."""
    largest = float(costs.max(initial=0.0))
    scaled = costs * DEAREST / largest if largest > 0 else np.zeros(costs.size)
    return np.maximum(np.floor(scaled + 0.5).astype(np.int64), 1)


def _bounds(layout: Layout, table: Table, decimals: int | None, cells: Ints) -> Iterator[list[str]]:
    """Status, smallest and largest value possible, and protection levels, which only unsafe cells have."""
    numbers = layout.order(status_numbers(table))[cells]
    letters = np.array([LETTERS.get(number, "u") for number in range(EMPTY + 1)], dtype=object)[numbers]
    unsafe: Bools = letters == "u"
    fixed: Bools = letters == "z"
    value = layout.order(table.value)[cells]
    levels = levels_of(table, decimals, 4)
    below, above = (np.where(unsafe, layout.order(each)[cells], 0.0) for each in (levels.below, levels.above))
    places = 6 if decimals is None else decimals
    unit, low = 10.0**-places, lowest(table)
    room = np.maximum(value - low, 0.0)
    # as tau-ARGUS makes sure that the smallest value possible lies truly below the lower level
    below = np.where(below + unit / 10 > room, np.maximum(room - unit / 10, 0.0), below)
    above = np.where(fixed, above, np.maximum(above, unit))
    upper = np.maximum(highest(table), value + above)
    yield letters.tolist()
    yield _fixed(np.full(cells.size, low), places + 1, fixed, places)
    yield _fixed(upper, places + 1, fixed, places)
    yield _fixed(below, places + 3, fixed, places + 3)
    yield _fixed(above, places + 3, fixed, places + 3)


def _fixed(values: Floats, places: int, other: Bools, others: int) -> list[str]:
    """Numbers with as many decimals as their cells have: those never suppressed keep their own."""
    return [
        f"{value + 0.0:.{others if elsewhere else places}f}"
        for value, elsewhere in zip(values.tolist(), other.tolist(), strict=True)
    ]


def _equations(trees: Sequence[Tree]) -> Iterator[str]:
    """Sums along one classification after the other, for every cell of the others."""
    shape = [tree.kept.size for tree in trees]
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    total = sum(len(tree.sums) * int(np.prod(shape)) // shape[axis] for axis, tree in enumerate(trees))
    yield f"{total}{END}"
    for axis, tree in enumerate(trees):
        sums = [(whole * strides[axis], (parts * strides[axis]).tolist()) for whole, parts in tree.sums]
        others = [range(0, n * s, s) for a, (n, s) in enumerate(zip(shape, strides, strict=True)) if a != axis]
        for at in product(*others):
            yield _lines(sum(at), sums)


def _lines(at: int, sums: Sequence[tuple[int, list[int]]]) -> str:
    return "".join(
        f"0 {len(parts) + 1} : {at + whole} (-1) {''.join(f'{at + part} (1) ' for part in parts)}{END}"
        for whole, parts in sums
    )
