"""What the compiled moves work on: rows, cells, sort orders, and the penalty of the moment as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.safe import _search_kernels
from diskret.safe.cells import ControlCells
from diskret.safe.ladder_state import LadderState
from diskret.safe.options import LadderSearch

MOST_ATTRIBUTES = 10
"""Attributes up to which the tables touched by a set of attributes are listed for every set."""
Penalty = Callable[[int, int, Floats], Floats]
Limits = tuple[int, ...]


class Field:
    """Arrays for the kernels. The penalty is set by `squares`, `ladder` or `walls`."""

    def __init__(
        self, cells: ControlCells, codes: npt.NDArray[np.int32], attributes: Mapping[str, Hierarchy],
        weight_class: npt.NDArray[np.int32], k: int, options: LadderSearch, seed: int,
    ) -> None:  # fmt: skip
        self.control, self.k, self.reach = cells, k, options.reach
        self.number = cells.number
        self.rows, self.tables = cells.number.shape
        self.cells = cells.size
        self.codes = np.ascontiguousarray(codes)
        self.order, self.place = sort_orders(codes, options.orders, seed)
        self.key, self.swaps = combination_keys(codes, options.swaps)
        names = list(attributes)
        used = [[names.index(level.attribute) for level in table.levels] for table in cells.tables]
        self.touched = touched_tables(used, [t.counter for t in cells.tables], names)
        self.dimension = cells.dimension.astype(np.int64)
        self.dimensions = int(self.dimension.max())
        self.weight_class = weight_class.astype(np.int64)
        classes, self.kind = np.unique(self.dimension * 1000 + self.weight_class, return_inverse=True)
        self.classes = [(int(c) // 1000, int(c) % 1000) for c in classes]
        per = np.diff(cells.first)
        crossed = [each or [0] for each in used]
        widest = max(map(len, crossed))
        table_attribute = np.array([(each * widest)[:widest] for each in crossed], dtype=np.int16)
        self.attribute = np.repeat(table_attribute, per, axis=0)
        self.crossed = np.repeat(np.array([len(each) for each in crossed], dtype=np.int16), per)
        self.start: Ints | None = None
        self.members = np.empty(0, dtype=np.int32)
        self.weight = np.ones(self.cells + 1, dtype=np.float32)
        self.state = np.zeros(self.cells + 1, dtype=np.int32)
        self.base = np.zeros(self.cells, dtype=np.int32)
        self.limit = np.zeros(self.cells, dtype=np.int32)
        self.step = self.turned = np.zeros((1, self._width), dtype=np.float32)
        self.span, self.heavy = 0, -1

    @property
    def _width(self) -> int:
        """Changes from -k to k, padded so that small k share one fast path."""
        return max(_search_kernels.WIDE, 2 * self.k + 1)

    def maxima(self, x: npt.NDArray[np.int32]) -> Limits:
        """Largest deviation beyond its weight, per dimension from one up."""
        size = np.maximum(np.abs(self.control.deviation(x)) - self.weight_class, 0)
        found = np.zeros(self.dimensions + 1, dtype=np.int64)
        np.maximum.at(found, self.dimension, size)
        return tuple(int(m) for m in found[1:])

    def largest(self) -> Limits:
        """The same for the frequencies of the running search, from the state the kernels keep."""
        deviation = self.state[:-1] if self.heavy >= 0 else self.state[:-1] - self.base
        size = np.maximum(np.abs(deviation) - self.weight_class, 0)
        found = np.zeros(self.dimensions + 1, dtype=np.int64)
        np.maximum.at(found, self.dimension, size)
        return tuple(int(m) for m in found[1:])

    # --- penalties ---------------------------------------------------------------------------------------------------

    def squares(self, x: npt.NDArray[np.int32]) -> None:
        """Sum of squared deviations, one-dimensional cells three times: needs no table."""
        self.state[:-1] = self.control.deviation(x)
        self.state[-1] = 0
        self.heavy = int((self.control.table_dimension == 1).sum())

    def ladder(
        self, x: npt.NDArray[np.int32], limits: Limits, weight: npt.NDArray[np.float32], near: float, margin: int
    ) -> None:
        """Objects beyond the limit, and a mild square that keeps cells away from it; times the weight of the cell."""
        if self.start is None:
            self.start = np.zeros(self.cells + 2, dtype=np.int64)
            self.members = np.empty(self.number.size, dtype=np.int32)
            _search_kernels.rows_by_cell(self.number, self.start, self.members)

        def penalty(dimension: int, g: int, size: Floats) -> Floats:
            limit = limits[dimension - 1] + g
            return near * (size / (limit + 1)) ** 2 + np.maximum(0, size - limit)

        self._table(x, limits, penalty, margin)
        self.weight = weight

    def walls(self, x: npt.NDArray[np.int32], limits: Limits, wall: float, margin: int) -> None:
        """Sum of squares inside limits that are not to be passed."""

        def penalty(dimension: int, g: int, size: Floats) -> Floats:
            return (3 if dimension == 1 else 1) * size**2 + wall * np.maximum(0, size - limits[dimension - 1] - g)

        self._table(x, limits, penalty, margin)
        self.weight = np.ones(self.cells + 1, dtype=np.float32)
        self.weight[-1] = 0

    def _table(self, x: npt.NDArray[np.int32], limits: Limits, penalty: Penalty, margin: int) -> None:
        deviation = self.control.deviation(x)
        self.span = int(np.abs(deviation).max(initial=0)) + margin
        f = np.arange(-self.span, self.span + 1)
        shape = (len(self.classes), f.size, self._width)
        step, turned = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        for i, (dimension, g) in enumerate(self.classes):
            now = penalty(dimension, g, np.abs(f).astype(np.float64))
            for d in range(-self.k, self.k + 1):
                step[i, :, d + self.k] = penalty(dimension, g, np.abs(f + d).astype(np.float64)) - now
                turned[i, :, d + self.k] = penalty(dimension, g, np.abs(f - d).astype(np.float64)) - now
        self.step, self.turned = step.reshape(-1, self._width), turned.reshape(-1, self._width)
        self.base = (self.kind * f.size + self.span).astype(np.int32)
        self.limit = (np.array(limits, dtype=np.int64)[self.dimension - 1] + self.weight_class).astype(np.int32)
        self.state[:-1] = self.base + deviation
        self.state[-1] = 0
        self.heavy = -1

    def draw(
        self, cells: npt.NDArray[np.int32], each: int, state: LadderState
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16]]:
        """Rows of cells beyond their limit, each with a sort order that leads out of its cell."""
        assert self.start is not None
        rows = np.empty(cells.size * each, dtype=np.int32)
        which = np.empty(cells.size * each, dtype=np.int16)
        seed = (state.seed * 40_503 + state.round) << 32 & 0x7FFF_FFFF_FFFF_FFFF
        attributes = self.codes.shape[1]
        n = _search_kernels.draw(
            cells, each, seed, self.state, self.base, self.start, self.members, state.x, self.attribute, self.crossed,
            attributes, self.order.shape[0] // attributes, rows, which,
        )  # fmt: skip
        return rows[:n], which[:n]


def sort_orders(
    codes: npt.NDArray[np.int32], variants: int, seed: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Sort orders in which each attribute is last as often as the others, and each row's place in them.

    The first variant keeps the order of the attributes, the others shuffle it.
    """
    n, attributes = codes.shape
    random = np.random.Generator(np.random.Philox(key=[seed, 1]))
    order = np.empty((variants * attributes, n), dtype=np.int32)
    place = np.empty_like(order)
    sizes = codes.max(axis=0).astype(np.int64) + 1
    for variant in range(variants):
        for last in range(attributes):
            rest = [a for a in range(attributes) if a != last]
            if variant:
                rest = [int(a) for a in random.permutation(rest)]
            at = variant * attributes + last
            order[at] = _sorted(codes, [*rest, last], sizes)
            place[at, order[at]] = np.arange(n, dtype=np.int32)
    return order, place


def combination_keys(codes: npt.NDArray[np.int32], swaps: float) -> tuple[Ints, int]:
    """A number per combination that rises along the file, and of 256 groups how many try a swap.

    Without swaps where the numbers would not fit.
    """
    sizes = codes.max(axis=0).astype(np.int64) + 1
    key = np.zeros(len(codes), dtype=np.int64)
    if float(np.prod(sizes.astype(np.float64))) > 2.0**61:
        return key, 0
    for a, size in enumerate(sizes):
        key = key * size + codes[:, a]
    return key, round(256 * swaps)


def _sorted(codes: npt.NDArray[np.int32], by: list[int], sizes: Ints) -> npt.NDArray[Any]:
    if float(np.prod(sizes.astype(np.float64))) > 2.0**62:
        return np.lexsort([codes[:, a] for a in reversed(by)])
    key = np.zeros(len(codes), dtype=np.int64)
    for a in by:
        key = key * sizes[a] + codes[:, a]
    return np.argsort(key, kind="stable")


def touched_tables(used: list[list[int]], counters: list[str | None], names: list[str]) -> npt.NDArray[np.uint16]:
    """For every set of attributes the tables over any of them, their number first; one list if there are many.

    >>> touched_tables([[0], [1], [0, 1]], [None] * 3, ["a", "b"]).tolist()
    [[0, 0, 0, 0], [2, 0, 2, 0], [2, 1, 2, 0], [3, 0, 1, 2]]
    """
    masks = [sum(1 << a for a in each) for each in used]
    masks = [m | (1 << names.index(c) if c is not None else 0) for m, c in zip(masks, counters, strict=True)]
    sets = range(1 << len(names)) if len(names) <= MOST_ATTRIBUTES else [-1]
    found = np.zeros((len(sets), len(used) + 1), dtype=np.uint16)
    for i, differ in enumerate(sets):
        tables = [t for t, m in enumerate(masks) if m & differ]
        found[i, 0] = len(tables)
        found[i, 1 : len(tables) + 1] = tables
    return found
