"""Values that follow from others: one after the other, by zeros, and by several equations together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.equations import hanging_together

MOST_WORK = 4e9
"""Multiplications for what is solved together: 1,000 equations with 4,000 unknowns, about a second."""
NEAR = 1e-6
"""How far from one the length of a direction may be that the equations may fix;"""
HAIR = 1e-9
"""and how near equations must come to it."""


def solved(
    value: Floats, start: Ints, cell: Ints, coefficient: Floats, decimals: int, least: float = -np.inf,
    left: list[int] | None = None,
) -> Floats:  # fmt: skip
    """True values that follow from others by equations that add up to zero.

    Where no value is below ``least``, and that is zero: also by sums whose known parts leave nothing for the others.
    ``left`` takes unknowns among so many that what follows from all their equations together was not looked for.

    >>> start, cells, factor = np.array([0, 3]), np.arange(3), np.array([-1.0, 1.0, 1.0])
    >>> solved(np.array([0.0, np.nan, np.nan]), start, cells, factor, 0, least=0.0).tolist()
    [0.0, 0.0, 0.0]
    >>> pairs, cells = np.array([0, 3, 6, 9]), np.array([3, 0, 1, 4, 1, 2, 5, 0, 2])
    >>> solved(np.array([np.nan, np.nan, np.nan, 3.0, 5.0, 4.0]), pairs, cells, np.tile(factor, 3), 0).tolist()
    [1.0, 2.0, 3.0, 3.0, 5.0, 4.0]
    """
    value = value.copy()
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    while True:
        unknown = np.isnan(value[cell])
        missing = np.bincount(row, weights=unknown, minlength=start.size - 1)
        ready = unknown & (missing[row] == 1)
        known = np.bincount(row, weights=np.where(unknown, 0.0, coefficient * np.nan_to_num(value[cell])),
                            minlength=start.size - 1)  # fmt: skip
        if not ready.any():
            spent = (least >= 0) & ~unknown[start[:-1]] & (np.round(known, decimals) == 0)
            ready = unknown & spent[row]
        if ready.any():
            value[cell[ready]] = np.round(-known[row[ready]] / coefficient[ready], decimals) + 0.0
            continue
        knots = _Knots(
            row=row[unknown], cell=cell[unknown], coefficient=coefficient[unknown], right=-known.astype(np.float64)
        )
        fresh, found, unsolved = knots.solved(decimals)
        if not fresh.size:
            if left is not None:
                left += unsolved.tolist()
            return value
        value[fresh] = found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Knots:
    """What is unknown in equations each of which has several unknowns."""

    row: Ints
    cell: Ints
    coefficient: Floats
    right: Floats
    """What the unknowns of every equation come to."""

    def solved(self, decimals: int) -> tuple[Ints, Floats, Ints]:
        """Unknowns that several equations fix together, and their values; and those that are too many to say."""
        used = self._knotted()
        row, cell, coefficient = self.row[used], self.cell[used], self.coefficient[used]
        cells, column = np.unique(cell, return_inverse=True)
        rows, line = np.unique(row, return_inverse=True)
        group = hanging_together(line.reshape(-1), column.reshape(-1), rows.size, cells.size)
        fresh, values, unsolved = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.int64)]
        order = np.argsort(group[column], kind="stable")
        for own in np.split(order, np.flatnonzero(np.diff(group[column][order])) + 1) if order.size else ():
            mine, at = np.unique(column[own], return_inverse=True)
            lines, place = np.unique(line[own], return_inverse=True)
            if float(lines.size) ** 2 * mine.size > MOST_WORK:
                unsolved.append(cells[mine])
                continue
            matrix = np.zeros((lines.size, mine.size))
            matrix[place, at] = coefficient[own]
            sure, found = _fixed(matrix, self.right[rows[lines]], decimals)
            fresh.append(cells[mine[sure]])
            values.append(found)
        return np.concatenate(fresh), np.concatenate(values), np.concatenate(unsolved)

    def _knotted(self) -> Ints:
        """Entries of equations none of whose unknowns stands in it alone: what does takes up any difference."""
        used = np.arange(self.row.size)
        while used.size:
            alone = np.bincount(self.cell[used])[self.cell[used]] == 1
            free = np.bincount(self.row[used], weights=alone)[self.row[used]] > 0
            if not free.any():
                break
            used = used[~free]
        return used


def _fixed(matrix: Floats, right: Floats, decimals: int) -> tuple[Ints, Floats]:
    """Unknowns that equations fix, with their values; none where the equations contradict each other."""
    sizes, ways = np.linalg.eigh(matrix @ matrix.T)
    kept = sizes > HAIR * sizes.max(initial=1.0)
    sizes, ways = sizes[kept], ways[:, kept]

    def over(each: Floats) -> Floats:
        """The combinations of equations that come nearest to something."""
        found: Floats = ways @ ((ways.T @ each).T / sizes).T
        return found

    near = np.flatnonzero(np.abs(((ways.T @ matrix) ** 2 / sizes[:, None]).sum(axis=0) - 1.0) < NEAR)
    wanted = np.zeros((matrix.shape[1], near.size))
    wanted[near, np.arange(near.size)] = 1.0
    times, point = np.zeros((matrix.shape[0], near.size)), np.zeros(matrix.shape[1])
    for _ in range(3):
        # again with what rounding left
        times += over(matrix @ (wanted - matrix.T @ times))
        point += matrix.T @ over(right - matrix @ point)
    sure = np.flatnonzero(np.abs(wanted - matrix.T @ times).max(axis=0, initial=0.0) < HAIR)
    if np.abs(right - matrix @ point).max(initial=0.0) > 0.5 * 10.0**-decimals:
        sure = sure[:0]
    return near[sure], np.round(times[:, sure].T @ right, decimals) + 0.0
