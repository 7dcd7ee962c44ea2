"""The published equations of cells, restricted to those that are hidden.

Every sum of every classification gives one equation per line: the parts minus the sum are zero. Whoever reads the table
knows them all; what is hidden are the unknowns. A system of equations may have other coefficients, whole numbers all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from diskret.model.cells import Cells


class Entries(NamedTuple):
    """Where some cells stand in equations of one kind."""

    position: Ints
    """Of the cell among those asked for."""
    equation: Ints
    """Its number, below ``equations``."""
    coefficient: Floats
    equations: int


def hanging_together(row: Ints, column: Ints, rows: int, columns: int) -> Ints:
    """For every column the number of the group that it hangs together with, by the rows that share entries.

    >>> hanging_together(np.array([0, 0, 1]), np.array([0, 2, 1]), 2, 3).tolist()
    [0, 1, 0]
    """
    label = np.arange(columns)
    while True:
        # every row takes the smallest label of its columns, every column that of its rows, then short cuts
        smallest = np.full(rows, columns)
        np.minimum.at(smallest, row, label[column])
        lower = label.copy()
        np.minimum.at(lower, column, smallest[row])
        lower = lower[lower]
        if (lower == label).all():
            return np.unique(label, return_inverse=True)[1].astype(np.int64)
        label = lower


@dataclass(frozen=True, eq=False)
class Equations:
    """A sparse system, row by row: ``coefficients`` over ``columns`` add up to zero deviation in every row."""

    cells: Ints
    """Flat position of the cell behind each column (the unknowns), ascending."""
    start: Ints
    """Where each row begins; one more at the end."""
    columns: Ints
    coefficients: Floats
    axis: Ints
    """Along which classification each row adds."""
    sum_cell: Ints
    """Flat position of the sum each row is about."""

    @property
    def rows(self) -> int:
        """Number of equations."""
        return int(self.axis.size)

    def row_of(self) -> Ints:
        """The row of every entry."""
        return np.repeat(np.arange(self.rows), np.diff(self.start))

    def by_column(self) -> tuple[Ints, Ints, Floats]:
        """The same entries column by column: where each column begins, rows, coefficients."""
        row = self.row_of()
        order = np.lexsort((row, self.columns))
        start = np.searchsorted(self.columns[order], np.arange(self.cells.size + 1))
        return start, row[order], self.coefficients[order]

    def components(self) -> Ints:
        """Number of the connected component of every unknown: those in different ones say nothing about each other.

        >>> from diskret import Hierarchy, Table
        >>> cells = {"s": ["a", "b", "c", "d"], "x": [1, 2, 3, 4], "st": ["primary", "secondary", "open", "open"]}
        >>> by = {"s": Hierarchy.from_parents({"a": "A", "b": "A", "c": "B", "d": "B", "A": "T", "B": "T"})}
        >>> Table.from_cells(cells, by=by, value="x", status="st").equations().components().tolist()
        [0, 0]
        """
        return hanging_together(self.row_of(), self.columns, self.rows, self.cells.size)

    def part(self, columns: Ints) -> Equations:
        """The equations of some unknowns (ascending) that make up whole components, renumbered."""
        chosen = np.zeros(self.cells.size, dtype=np.bool_)
        chosen[columns] = True
        entries = np.flatnonzero(chosen[self.columns])
        row = self.row_of()[entries]
        rows, begin = np.unique(row, return_index=True)
        start = np.append(begin, entries.size).astype(np.int64)
        place = np.cumsum(chosen) - 1
        own = self.cells[columns], start, place[self.columns[entries]], self.coefficients[entries]
        return Equations(*own, self.axis[rows], self.sum_cell[rows])

    def times(self, y: Floats) -> Floats:
        """What each equation is off by if the unknowns move by ``y``."""
        off = self.coefficients * y[self.columns]
        return np.bincount(self.row_of(), weights=off, minlength=self.rows).astype(np.float64)

    def transposed_times(self, z: Floats) -> Floats:
        """The combination of unknowns that a combination of equations says something about."""
        said = self.coefficients * z[self.row_of()]
        return np.bincount(self.columns, weights=said, minlength=self.cells.size).astype(np.float64)

    def among(self, chosen: Bools) -> Equations:
        """The equations of a system over all cells that hold a chosen cell; the others are known."""
        kept = chosen[self.columns]
        row = self.row_of()[kept]
        rows, begin = np.unique(row, return_index=True)
        number = np.cumsum(chosen) - 1
        start = np.append(begin, row.size).astype(np.int64)
        return Equations(
            np.flatnonzero(chosen), start, number[self.columns[kept]], self.coefficients[kept],
            self.axis[rows], self.sum_cell[rows],
        )  # fmt: skip


def equations_of(table: Cells, hidden: Bools | None = None) -> Equations:
    """All equations that hold a hidden cell; see `Cells.equations`."""
    return table.equations(hidden)
