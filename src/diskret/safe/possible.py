"""All originals that a file, the figures published with it and an attacker's knowledge allow, as a programme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.safe import _possible_kernels
from diskret.safe._possible_kernels import Room, Told
from diskret.safe.control import ControlTable
from diskret.safe.control_cells import ControlCells, control_cells
from diskret.safe.published import Published
from diskret.tabulation.combinations import Combinations

NODES = 3_000_000
"""Steps of a walk through all possible originals: a few seconds."""
MIP_NODES = 200
"""Nodes in which a point in whole numbers is to be found."""
EXACT = 1 << 20
"""Multipliers of the solver are taken in steps of one over this: any multipliers prove a limit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Walked:
    """All possible originals: the values of each row and cell in them, in any order, -1 after the last; their number.

    Between two values there may be gaps: a cell that is off by exactly two holds two more or two less.
    """

    rows: Ints
    cells: Ints
    originals: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Possible:
    """Possible originals: a row per combination an attacker takes into account, with the least and most it may hold.

    ``complete`` says whether these are all the combinations he knows: only then can anything be proved to be limited.
    """

    codes: npt.NDArray[np.int32]
    cells: ControlCells
    published: Ints
    low: Ints
    high: Ints
    least: Ints
    most: Ints
    total: int
    told: Published
    complete: bool

    @classmethod
    def of(
        cls, by: Mapping[str, Hierarchy], codes: npt.NDArray[np.int32], published: Ints, low: Ints,
        tables: Sequence[ControlTable], told: Published, known: Mapping[int, Ints], *, complete: bool,
    ) -> Possible:  # fmt: skip
        """From the rows; ``known`` are original counts of control tables, by the number of the table and row."""
        cells = control_cells(Combinations(by=by, codes=codes, frequency=published), tables)
        total = int(published.sum())
        least, most = np.zeros(cells.size + 1, dtype=np.int64), np.full(cells.size + 1, total, dtype=np.int64)
        for t, table in enumerate(tables):
            here = slice(int(cells.first[t]), int(cells.first[t + 1]))
            bound = told.bound(max(table.dimension, 1))
            if bound is not None:
                least[here] = np.maximum(cells.original[here] - bound, 0)
                most[here] = cells.original[here] + bound
            if t in known:
                inside = cells.number[:, t] < cells.size
                least[cells.number[inside, t]] = most[cells.number[inside, t]] = known[t][inside]
        high = most[cells.number.astype(np.int64)].min(axis=1)
        return cls(
            codes=codes, cells=cells, published=published, low=low, high=np.maximum(high, low), least=least, most=most,
            total=total, told=told, complete=complete,
        )  # fmt: skip

    # --- all of them -------------------------------------------------------------------------------------------------

    def walked(self, most_values: int) -> Walked | None:
        """What every row and every cell holds in the possible originals; None if there are too many to visit.

        Of more than ``most_values`` of one count only so many are kept.
        """
        order = np.lexsort([self.high - self.low, -self.published])
        cells = self.cells
        most = max((len(each) for each in self.told.deviations.values()), default=0)
        dimensions = np.append(cells.dimension, 0).astype(np.int64)
        histogram = np.full((int(dimensions.max()) + 1, most), -1, dtype=np.int64)
        for d, counts in self.told.deviations.items():
            histogram[d] = 0
            histogram[d, : len(counts)] = counts
        room = Room(
            number=cells.number[order].astype(np.int64), low=self.low[order], high=self.high[order], least=self.least,
            most=self.most, total=self.total,
        )  # fmt: skip
        uniques = -1 if self.told.uniques is None else self.told.uniques
        told = Told(
            centre=np.append(cells.original, 0), dimension=dimensions, histogram=histogram, uniques=uniques,
        )  # fmt: skip
        rows, held = np.full((order.size, most_values), -1), np.full((cells.size + 1, most_values), -1)
        found = int(_possible_kernels.walk(tuple(room), tuple(told), NODES, rows, held))
        back = np.empty_like(rows)
        back[order] = rows
        return None if found < 0 else Walked(rows=back, cells=held[:-1], originals=found)

    # --- the ends of one count ---------------------------------------------------------------------------------------

    def limits(self, rows: Bools) -> tuple[int, int]:
        """Between which counts these rows hold together in every possible original, proved in fractions."""
        if not self.complete:
            return 0, self.total
        goal = rows.astype(np.float64)
        return ceil(-self._ceiling(-goal)), floor(self._ceiling(goal))

    def _ceiling(self, goal: Floats) -> Fraction:
        """What a weighted sum of the rows cannot exceed: any multipliers of the cells prove some limit, exactly."""
        self._relaxed.set_costs(-goal)
        if self._relaxed.solve() is not Answer.OPTIMAL:
            return Fraction(self.total)
        steps = np.rint(-self._relaxed.multipliers * EXACT).astype(np.int64)
        left = goal.astype(np.int64) * EXACT - self._sums(steps)
        worth = np.where(steps > 0, self._most * steps, self._least * steps).sum()
        worth += np.where(left > 0, self.high * left, self.low * left).sum()
        return Fraction(int(worth), EXACT)

    def point(self, rows: Bools, upward: bool, wanted: int) -> int | None:
        """How much these rows hold together in some possible original, at least (or at most) as wanted; None if unseen.

        A point is added up in whole numbers before it counts.
        """
        goal = rows.astype(np.float64)
        self._whole.set_costs(-goal if upward else goal)
        self._whole.solve()
        if not self._whole.has_point:
            return None
        x = np.rint(self._whole.point).astype(np.int64)
        held = int(x[rows].sum())
        return held if self.allows(x) and (held >= wanted if upward else held <= wanted) else None

    def holds(self, rows: Bools, value: int) -> bool:
        """Whether a possible original was found in which these rows hold just this together."""
        programme = self._programme(whole=True, asked=(rows, value))
        programme.solve()
        if not programme.has_point:
            return False
        x = np.rint(programme.point).astype(np.int64)
        return self.allows(x) and int(x[rows].sum()) == value

    def allows(self, x: Ints) -> bool:
        """Whether frequencies are a possible original, as far as bounds say."""
        count = np.append(self.cells.deviation(x) + self.cells.original, 0)
        inside = (self.low <= x) & (x <= self.high)
        return bool(inside.all() and ((self.least <= count) & (count <= self.most)).all() and x.sum() == self.total)

    # --- programmes --------------------------------------------------------------------------------------------------

    @cached_property
    def _tight(self) -> Ints:
        """Cells whose bounds say anything."""
        free = (self.least <= 0) & (self.most >= self.total)
        return np.flatnonzero(~free)

    @cached_property
    def _place(self) -> Ints:
        place = np.full(self.least.size, -1, dtype=np.int64)
        place[self._tight] = np.arange(self._tight.size)
        return place

    @cached_property
    def _matrix(self) -> Matrix:
        """A column per combination; the last row is the number of objects."""
        return self._matrix_with(np.empty((len(self.codes), 0), dtype=np.int64))

    def _matrix_with(self, more: Ints) -> Matrix:
        """The same with further rows: which of them a combination counts in, -1 for none."""
        at = self._place[self.cells.number.astype(np.int64)]
        at = np.concatenate([at, np.full((len(at), 1), self._tight.size), more], axis=1)
        per = (at >= 0).sum(axis=1)
        start = np.append(0, np.cumsum(per))
        flat = at[at >= 0]
        return Matrix(start=start, at=flat, value=np.ones(flat.size))

    @property
    def _least(self) -> Ints:
        return np.append(self.least[self._tight], self.total)

    @property
    def _most(self) -> Ints:
        return np.append(self.most[self._tight], self.total)

    def _sums(self, steps: Ints) -> Ints:
        """What the multipliers of its rows add up to, column by column."""
        matrix = self._matrix
        return np.add.reduceat(steps[matrix.at], matrix.start[:-1])

    @cached_property
    def _relaxed(self) -> Programme:
        return self._programme(whole=False)

    @cached_property
    def _whole(self) -> Programme:
        return self._programme(whole=True)

    def _programme(self, *, whole: bool, asked: tuple[Bools, int] | None = None) -> Programme:
        """Of all originals; ``asked`` says what some rows hold together."""
        least, most, matrix = self._least, self._most, self._matrix
        if asked is not None:
            least, most = np.append(least, asked[1]), np.append(most, asked[1])
            matrix = self._matrix_with(np.where(asked[0], self._tight.size + 1, -1)[:, None])
        way = Way(nodes=MIP_NODES, relative_gap=0.0) if whole else Way()
        bounds = least.astype(np.float64), most.astype(np.float64)
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        return Programme(matrix, bounds, lower=low, upper=high, whole=whole, way=way)


def all_rows(codes: Sequence[Ints]) -> npt.NDArray[np.int32]:
    """Every combination of codes, in the order of a file.

    >>> all_rows([np.array([1, 2]), np.array([0])]).tolist()
    [[1, 0], [2, 0]]
    """
    return np.array(list(product(*(each.tolist() for each in codes))), dtype=np.int32).reshape(-1, len(codes))
