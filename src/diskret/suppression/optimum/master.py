"""The choice of cells as a linear programme over the cuts found so far, and as a mixed-integer one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.model.tolerances import WHOLE
from diskret.suppression.optimum.attackers import Cut
from diskret.suppression.optimum.clock import Clock

OLD = 8
"""A cut that was slack this many times in a row leaves the linear programme; it stays on the shelf."""
SECONDS = 0.01
"""A programme gets at least so much time."""


class Relaxed(NamedTuple):
    """The cheapest point if cells may be hidden in part, its cost, and what hiding each cell would add."""

    cost: float
    x: Floats
    reduced: Floats


class Choice(NamedTuple):
    """What the mixed-integer programme says: a bound no pattern can be below, and the patterns it came across."""

    bound: float
    patterns: list[Bools]


class Master:
    """One warm model: a column for every cell that may be hidden, a row for every cut."""

    def __init__(self, price: Floats, always: Bools) -> None:
        self.price, self.free = price, ~always
        """Cells that are not hidden anyway."""
        self._base = always.astype(np.float64)
        (self._cells,) = np.nonzero(self.free)
        self._place = np.cumsum(self.free) - 1
        self.cuts: list[Cut] = []
        self.shelf: list[Cut] = []
        self._age = np.zeros(0, dtype=np.int64)
        self._known: set[bytes] = set()
        self.iterations = 0
        """Steps of the simplex method that nobody counted yet."""
        self._programme = _programme([], price[self._cells], Way(presolve=False))

    def add(self, cuts: list[Cut]) -> int:
        """Take cuts in, each only once, over the cells that are free. Gives how many were new."""
        new = []
        for cut in cuts:
            free = self.free[cut.columns]
            rhs = cut.rhs - float(cut.weight[~free] @ self._base[cut.columns[~free]])
            kept = Cut(cut.columns[free], cut.weight[free], rhs)
            if kept.rhs <= kept.weight[kept.weight < 0].sum():
                continue  # says nothing
            key = kept.columns.tobytes() + np.round(np.append(kept.weight, kept.rhs), 7).tobytes()
            if key not in self._known:
                self._known.add(key)
                new.append(kept)
        self._insert(new)
        return len(new)

    def _insert(self, cuts: list[Cut]) -> None:
        if not cuts:
            return
        rows = _rows([c._replace(columns=self._place[c.columns]) for c in cuts])
        self._programme.add_rows(rows, *_at_least(cuts))
        self.cuts += cuts
        self._age = np.append(self._age, np.zeros(len(cuts), dtype=np.int64))

    def from_shelf(self, x: Floats) -> int:
        """Take back the cuts of the shelf that a point breaks."""
        missing = [c.missing(x) > WHOLE for c in self.shelf]
        back = [c for c, is_missing in zip(self.shelf, missing, strict=True) if is_missing]
        self.shelf = [c for c, is_missing in zip(self.shelf, missing, strict=True) if not is_missing]
        self._insert(back)
        return len(back)

    def tidy(self) -> None:
        """Put old cuts on the shelf."""
        old = self._age > OLD
        if old.sum() > max(100, len(self.cuts) // 3):
            self._programme.delete_rows(np.flatnonzero(old))
            self.shelf += [c for c, is_old in zip(self.cuts, old, strict=True) if is_old]
            self.cuts = [c for c, is_old in zip(self.cuts, old, strict=True) if not is_old]
            self._age = self._age[~old]

    def bound(self, cells: Ints, low: float, high: float) -> None:
        """These cells are hidden by at least and at most so much from now on."""
        self._programme.set_bounds(np.full(cells.size, low), np.full(cells.size, high), self._place[cells])

    def solve(self, seconds: float) -> Relaxed | None:
        """The cheapest point of the relaxation; None if out of time."""
        self._programme.limit(max(seconds, SECONDS))
        found = self._programme.best()
        self.iterations += self._programme.iterations
        if found is None:
            return None
        x, reduced = self._base.copy(), np.zeros(self.price.size)
        x[self._cells] = np.clip(found, 0.0, 1.0)
        reduced[self._cells] = self._programme.reduced_costs
        slack = self._programme.sums - np.array([c.rhs for c in self.cuts])
        self._age = np.where(slack > WHOLE, self._age + 1, 0)
        return Relaxed(self._programme.value, x, reduced)

    def choose(self, best: Bools, shut: Bools, clock: Clock, gap: float) -> Choice:
        """The cheapest pattern over the cuts, in whole cells, without those shut; stops at a gap or when time is up."""
        open_to_choice = self.free & ~shut
        cells, place = np.flatnonzero(open_to_choice), np.cumsum(open_to_choice) - 1
        kept = [open_to_choice[c.columns] for c in self.cuts]
        rows = [Cut(place[c.columns[k]], c.weight[k], c.rhs) for c, k in zip(self.cuts, kept, strict=True)]
        way = Way(seconds=max(clock.left, SECONDS), nodes=clock.nodes, relative_gap=0.0, absolute_gap=gap)
        programme = _programme(rows, self.price[cells], way, whole=True)
        seen = programme.watch()
        if not (best & shut).any():
            programme.suggest(best[cells].astype(np.float64))
        answer = programme.solve()
        self.iterations += programme.iterations
        if programme.has_point:
            seen.append(programme.point)
        patterns: dict[bytes, Bools] = {}
        for found in (point for point in seen[::-1] if point.size == cells.size):
            hidden = ~self.free
            hidden[cells[found > 0.5]] = True
            patterns.setdefault(hidden.tobytes(), hidden)
        return Choice(np.inf if answer is Answer.INFEASIBLE else programme.bound, list(patterns.values()))


def _programme(cuts: list[Cut], price: Floats, way: Way, whole: bool = False) -> Programme:
    """Every cell is hidden or not, or in part; what is hidden keeps to the cuts, at the lowest price."""
    zero, one = np.zeros(price.size), np.ones(price.size)
    return Programme(_rows(cuts), _at_least(cuts), lower=zero, upper=one, cost=price, whole=whole, way=way)


def _rows(cuts: list[Cut]) -> Matrix:
    """Cuts as rows, their columns as they are."""
    start = np.cumsum([0, *(c.columns.size for c in cuts)])
    columns = np.concatenate([np.empty(0, dtype=np.int64), *(c.columns for c in cuts)])
    return Matrix(start, columns, np.concatenate([np.empty(0), *(c.weight for c in cuts)]), by_rows=True)


def _at_least(cuts: list[Cut]) -> tuple[Floats, Floats]:
    return np.array([c.rhs for c in cuts]), np.full(len(cuts), np.inf)
