"""What the compiled moves work on: rows, cells, sort orders, and the penalty of the moment as a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.safe import _cell_kernels, _search_kernels
from diskret.safe._search_kernels import Exits, Ground, Penalty
from diskret.safe.chance import generator
from diskret.safe.control_cells import ControlCells
from diskret.safe.options import LadderSearch
from diskret.safe.places import Index, index_of
from diskret.tabulation.combinations import Combinations

MOST_ATTRIBUTES = 10
"""Attributes up to which the tables touched by a set of attributes are listed for every set."""
MARGIN = 64
"""How much further than the limits kept before deviations may go before the penalty table ends."""
NEAR = 3.0
"""Price of a cell at its limit in the ladder, in units of one object beyond it."""
WALL = 1e5
"""Price of an object beyond a limit in the polish."""
Small = npt.NDArray[np.int32]
Limits = tuple[int, ...]
PenaltyOf = Callable[[int, int, Floats], Floats]
"""The penalty of a cell from its dimension, its weight, and sizes of deviations."""


class Field:
    """Arrays for the kernels. The penalty is set by `squares`, `ladder` or `polish`."""

    def __init__(
        self, found: Combinations, cells: ControlCells, weight_class: Small, k: int, options: LadderSearch, seed: int
    ) -> None:
        self.control, self.k, self.places = cells, k, tuple(cells.places)
        self.original = found.frequency
        self.rows, self.tables, self.cells = len(found), len(cells.tables), cells.places_size
        names = list(found.by)
        self.used = [[names.index(level.attribute) for level in table.levels] for table in cells.tables]
        order, place = sort_orders(found.codes, options.orders, seed)
        key, swaps = combination_keys(found.codes, options.swaps)
        counters = [t.counter for t in cells.tables]
        self.ground = Ground(
            order=order, place=place, reach=options.reach, swaps=swaps, key=key, k=k,
            codes=np.ascontiguousarray(found.codes),
            touched=touched_tables(self.used, counters, names, cells.places.slots),
        )  # fmt: skip
        self.dimensions = int(cells.table_dimension.max())
        dimension = np.repeat(cells.table_dimension.astype(np.int64), np.diff(cells.start))
        weights = np.zeros(self.cells, dtype=np.int64)
        weights[cells.occurring] = weight_class
        classes, self.kind = np.unique(dimension * 1000 + weights, return_inverse=True)
        self.classes = [divmod(int(c), 1000) for c in classes]
        self.penalty = self._without_table(np.zeros(self.cells, dtype=np.int64))

    @cached_property
    def index(self) -> Index:
        """Where rows of a cell are found."""
        return index_of(self.control.places, self.control.start)

    @cached_property
    def exits(self) -> Exits:
        """The attributes in which neighbours of the rows of a cell differ."""
        crossed = [each or [0] for each in self.used]
        widest = max(map(len, crossed))
        attributes = self.ground.codes.shape[1]
        return Exits(
            attribute=np.array([(each * widest)[:widest] for each in crossed], dtype=np.int16), attributes=attributes,
            crossed=np.array([len(each) for each in crossed], dtype=np.int16),
            orders=len(self.ground.order) // attributes,
        )  # fmt: skip

    def deviation(self, x: Small) -> Ints:
        """Anonymous minus original, place by place."""
        found = np.zeros(self.cells, dtype=np.int64)
        found[self.control.occurring] = self.control.deviation(x)
        return found

    def maxima(self, x: Small) -> Limits:
        """Largest deviation beyond its weight, per dimension from one up."""
        return self._largest(self.deviation(x))

    def largest(self) -> Limits:
        """The same for the frequencies of the running search, from the state the kernels keep."""
        return self._largest(self.penalty.state[:-1] - self.penalty.base)

    def _largest(self, deviation: npt.NDArray[np.integer]) -> Limits:
        most = np.zeros(len(self.classes), dtype=np.int64)
        _cell_kernels.largest_by_class(deviation, self.kind, most)
        found = [0] * self.dimensions
        for (dimension, g), size in zip(self.classes, most.tolist(), strict=True):
            found[dimension - 1] = max(found[dimension - 1], size - g)
        return tuple(found)

    def squares(self, x: Small) -> None:
        """Sum of squared deviations, one-dimensional cells three times: needs no table."""
        self.penalty = self._without_table(self.deviation(x))

    def ladder(self, x: Small, limits: Limits, weight: npt.NDArray[np.float32], reached: Limits) -> None:
        """Objects beyond the limit, and a mild square that keeps cells away from it; times the weight of the cell.

        ``reached`` are the limits that were kept when these began to be sought: how far deviations may go follows from
        them, and not from where the search stands, so that it is the same after an interruption.
        """

        def penalty(dimension: int, g: int, size: Floats) -> Floats:
            limit = limits[dimension - 1] + g
            return NEAR * (size / (limit + 1)) ** 2 + np.maximum(0, size - limit)

        self.penalty = self._with_table(x, limits, penalty, weight, max(reached))

    def polish(self, x: Small, limits: Limits, floor: Limits) -> None:
        """Squares of what is beyond the floor, inside limits that are not to be passed."""

        def penalty(dimension: int, g: int, size: Floats) -> Floats:
            beyond = np.maximum(0, size - floor[dimension - 1] - g)
            wall = WALL * np.maximum(0, size - limits[dimension - 1] - g)
            return (3 if dimension == 1 else 1) * beyond**2 + wall

        self.penalty = self._with_table(x, limits, penalty, self.equal_weights(), max(limits))

    def equal_weights(self) -> npt.NDArray[np.float32]:
        """One for every cell; the last cell is not controlled and weighs nothing."""
        return np.append(np.ones(self.cells, dtype=np.float32), np.float32(0))

    @property
    def _width(self) -> int:
        """Changes from -k to k, padded so that small k share one fast path."""
        return max(_search_kernels.WIDE, 2 * self.k + 1)

    def _without_table(self, deviation: Ints) -> Penalty:
        none, step = np.zeros(self.cells, dtype=np.int32), np.zeros((1, self._width), dtype=np.float32)
        heavy = np.ones(self.control.places.base.size, dtype=np.int32)
        heavy[self.control.places.slots[self.control.table_dimension == 1]] = 3
        return Penalty(
            state=np.append(deviation, 0).astype(np.int32), base=none, limit=none, span=0, step=step,
            heavy=heavy, weight=self.equal_weights(),
        )  # fmt: skip

    def _with_table(
        self, x: Small, limits: Limits, of: PenaltyOf, weight: npt.NDArray[np.float32], most: int
    ) -> Penalty:
        deviation = self.deviation(x)
        span = most + max(g for _, g in self.classes) + MARGIN
        f = np.arange(-span, span + 1)
        step = np.zeros((len(self.classes), f.size, self._width), dtype=np.float32)
        for i, (dimension, g) in enumerate(self.classes):
            now = of(dimension, g, np.abs(f).astype(np.float64))
            for d in range(-self.k, self.k + 1):
                step[i, :, d + self.k] = of(dimension, g, np.abs(f + d).astype(np.float64)) - now
        base = (self.kind * f.size + span).astype(np.int32)
        limit = np.array([limits[dimension - 1] + g for dimension, g in self.classes])[self.kind]
        return Penalty(
            state=np.append(base + deviation, 0).astype(np.int32), base=base, limit=limit.astype(np.int32), span=span,
            heavy=np.empty(0, dtype=np.int32), weight=weight, step=step.reshape(-1, self._width),
        )  # fmt: skip


def sort_orders(codes: Small, variants: int, seed: int) -> tuple[Small, Small]:
    """Sort orders in which each attribute is last as often as the others, and each row's place in them.

    The first variant keeps the order of the attributes, the others shuffle it.
    """
    n, attributes = codes.shape
    random = generator(seed, "orders")
    order = np.empty((variants * attributes, n), dtype=np.int32)
    place = np.empty_like(order)
    for at in range(len(order)):
        variant, last = divmod(at, attributes)
        rest = [a for a in range(attributes) if a != last]
        if variant:
            rest = random.permutation(rest).tolist()
        by = codes[:, [*rest, last]]
        key = _numbered(by, 2.0**62)
        order[at] = np.lexsort(by.T[::-1]) if key is None else np.argsort(key, kind="stable")
        place[at, order[at]] = np.arange(n, dtype=np.int32)
    return order, place


def combination_keys(codes: Small, swaps: float) -> tuple[Ints, int]:
    """A number per combination that rises along the file, and of 256 groups how many try a swap.

    Without swaps where the numbers would not fit.
    """
    key = _numbered(codes, 2.0**61)
    return (np.zeros(len(codes), dtype=np.int64), 0) if key is None else (key, round(256 * swaps))


def _numbered(codes: Small, most: float) -> Ints | None:
    """One number per row in the order of its codes; None if there could be too many."""
    sizes = codes.max(axis=0).astype(np.int64) + 1
    if float(np.prod(sizes.astype(np.float64))) > most:
        return None
    key = np.zeros(len(codes), dtype=np.int64)
    for a, size in enumerate(sizes):
        key = key * size + codes[:, a]
    return key


def touched_tables(
    used: list[list[int]], counters: list[str | None], names: list[str], slots: Ints
) -> npt.NDArray[np.uint16]:
    """For every set of attributes the slots of tables over any of them, their number first; one list if there are many.

    >>> touched_tables([[0], [1], [0, 1]], [None] * 3, ["a", "b"], np.arange(3)).tolist()
    [[0, 0, 0, 0], [2, 0, 2, 0], [2, 1, 2, 0], [3, 0, 1, 2]]
    """
    masks = [sum(1 << a for a in each) for each in used]
    masks = [m | (1 << names.index(c) if c is not None else 0) for m, c in zip(masks, counters, strict=True)]
    sets = range(1 << len(names)) if len(names) <= MOST_ATTRIBUTES else [-1]
    found = np.zeros((len(sets), len(used) + 1), dtype=np.uint16)
    for i, differ in enumerate(sets):
        tables = [int(slots[t]) for t, m in enumerate(masks) if m & differ]
        found[i, : len(tables) + 1] = [len(tables), *tables]
    return found
