"""Why a hidden value cannot lie farther away, in whole numbers: what a certificate holds for every exposed cell.

Multiples of equations are subtracted from the cell until only cells with known bounds are left. For counts cases may be
told apart: a deviation is at most some whole number, or at least the next. ``docs/certificate.md`` has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.cells import Cells
from diskret.model.equations import Equations

EVERYBODY = "everybody"
MOST_NODES = 4_001
"""Nodes of a tree, twice what the search for one goes through (`integers.NODES`): every branch keeps its cuts."""
Interval = tuple[Fraction | None, Fraction | None]
"""Smallest and largest deviation; None: no end."""
Cut = dict[int, Interval]


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """``q`` times the cell is what multiples of equations leave over; ``q`` 0: nothing at all is possible here."""

    q: int
    rows: tuple[int, ...]
    """Equations by their numbers, see `equation_numbers`."""
    times: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Split:
    """Two cases of a count: a cell deviates by at most ``at``, or by at least the next whole number."""

    cell: int
    at: int


@dataclass(frozen=True, kw_only=True)
class Refutation:
    """That a hidden cell cannot go farther on one side, against everybody or an insider.

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> proof = Refutation(cell=0, tree=(Leaf(q=1, rows=(3,), times=(1,)),))
    >>> proof.bound(equations_by_number(table), lambda c: (Fraction((-1, -2)[c]), None), whole=False)
    Fraction(2, 1)
    """

    cell: int
    """Flat position in the table."""
    by: str = EVERYBODY
    """``everybody``, ``coalition N`` from 1 on, or ``person C`` with the number of a person."""
    upward: bool = True
    tree: tuple[Leaf | Split, ...]
    """Mostly one leaf; otherwise every split is followed by its lower, then by its upper branch."""

    def bound(
        self, equations: Mapping[int, Mapping[int, int]], interval: Callable[[int], Interval], *, whole: bool
    ) -> Fraction | None:
        """How far the cell can go at most, None for any distance; a ValueError if the proof is broken.

        ``equations`` hold the coefficients of hidden cells by number; ``interval`` says what deviations of a hidden
        cell are thought possible. Splits are for ``whole`` numbers only.
        """
        if len(self.tree) > MOST_NODES:
            raise ValueError("a tree with too many nodes")
        farthest: list[Fraction | None] = []
        for leaf, cut, empty in self._leaves(interval, whole):
            if len(leaf.rows) != len(leaf.times) or len(set(leaf.rows)) < len(leaf.rows):
                raise ValueError("equations without multiples, or twice")
            left = {self.cell: leaf.q if self.upward else -leaf.q}
            for row, times in zip(leaf.rows, leaf.times, strict=True):
                if row not in equations:
                    raise ValueError("an equation that is not there")
                for cell, coefficient in equations[row].items():
                    left[cell] = left.get(cell, 0) - times * coefficient
            if empty:
                continue
            most = _most(left, lambda c, cut=cut: cut[c] if c in cut else interval(c))  # type: ignore[misc]
            if leaf.q:
                reach = None if most is None else most / leaf.q
                farthest.append(Fraction(reach.numerator // reach.denominator) if whole and reach else reach)
            elif most is None or most >= 0:
                farthest.append(None)
        known = [reach for reach in farthest if reach is not None]
        return None if len(known) < len(farthest) else max(known, default=Fraction(-1))

    def _leaves(self, interval: Callable[[int], Interval], whole: bool) -> Iterator[tuple[Leaf, Cut, bool]]:
        """Every leaf with the intervals that splits have cut, and whether one of them is empty."""
        waiting: list[tuple[Cut, bool]] = [({}, False)]
        for node in self.tree:
            if not waiting:
                raise ValueError("a tree with nodes left over")
            cut, empty = waiting.pop()
            if isinstance(node, Leaf):
                yield node, cut, empty
                continue
            if not whole:
                raise ValueError("a split of something that is not a count")
            low, high = cut[node.cell] if node.cell in cut else interval(node.cell)
            above, below = Fraction(node.at + 1), Fraction(node.at)
            above, below = above if low is None else max(low, above), below if high is None else min(high, below)
            # what is empty stays so, however it is cut
            waiting.append(({**cut, node.cell: (above, high)}, empty or (high is not None and above > high)))
            waiting.append(({**cut, node.cell: (low, below)}, empty or (low is not None and low > below)))
        if waiting:
            raise ValueError("a tree with too few nodes")


def _most(left: Mapping[int, int], interval: Callable[[int], Interval]) -> Fraction | None:
    """The largest value of a combination of cells, each in its interval; None if there is none."""
    total = Fraction(0)
    for cell, times in left.items():
        end = interval(cell)[times > 0] if times else Fraction(0)
        if end is None:
            return None
        total += times * end
    return total


def equation_numbers(table: Cells, system: Equations) -> Ints:
    """The numbers by which proofs call the equations of ``table.equations()``.

    In a product of classifications an equation has the number of its axis times all cells plus that of its sum; other
    cells number their equations one after the other, also those without a hidden cell.
    """
    if table.by:
        return system.axis * table.size + system.sum_cell
    every = table.equations(np.ones(table.size, dtype=np.bool_))
    return np.unique(every.row_of()[np.isin(every.cells[every.columns], system.cells)])


def equations_by_number(table: Cells) -> dict[int, dict[int, int]]:
    """The equations with a hidden cell: coefficients of the hidden cells (flat), by number."""
    system = table.equations()
    cells, times = system.cells[system.columns].tolist(), np.rint(system.coefficients).astype(np.int64).tolist()
    start = system.start.tolist()
    return {
        number: dict(zip(cells[begin:end], times[begin:end], strict=True))
        for number, begin, end in zip(equation_numbers(table, system).tolist(), start[:-1], start[1:], strict=True)
    }
