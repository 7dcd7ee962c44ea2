"""The choice of cells as a linear programme over the cuts found so far, and as a mixed-integer one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.model.tolerances import WHOLE
from diskret.suppression.optimum.attackers import Cut

OLD = 8
"""A cut that was slack so many times in a row leaves the linear programme; it stays on the shelf."""

SECONDS = 0.01
"""A programme gets at least so much time."""


class Choice(NamedTuple):
    """What the mixed-integer programme says: a bound no pattern can be below, and the patterns it came across."""

    bound: float
    patterns: list[Bools]
    finished: bool


class Master:
    """One warm model: a column for every cell that may be hidden, a row for every cut."""

    def __init__(self, price: Floats, free: Bools) -> None:
        self.price = price
        self.free = free
        """Cells that are neither always hidden nor useless."""
        self.size = price.size
        (self._cells,) = np.nonzero(free)
        self._place = np.full(self.size, -1)
        self._place[self._cells] = np.arange(self._cells.size)
        self.cuts: list[Cut] = []
        self.shelf: list[Cut] = []
        self._age = np.zeros(0, dtype=np.int64)
        self._known: set[bytes] = set()
        n = self._cells.size
        self._programme = Programme(
            _rows([]),
            np.empty(0),
            lower=np.zeros(n),
            upper=np.ones(n),
            cost=price[self._cells],
            way=Way(presolve=False),
        )

    def add(self, cuts: list[Cut], base: Floats) -> int:
        """Take cuts in, each only once; ``base`` holds the cells that are not free. Gives how many were new."""
        new = []
        for cut in cuts:
            free = self.free[cut.columns]
            rhs = cut.rhs - float(cut.weight[~free] @ base[cut.columns[~free]])
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
        low = np.array([c.rhs for c in cuts])
        rows = _rows([c._replace(columns=self._place[c.columns]) for c in cuts])
        self._programme.add_rows(rows, low, np.full(len(cuts), np.inf))
        self.cuts += cuts
        self._age = np.append(self._age, np.zeros(len(cuts), dtype=np.int64))

    def from_shelf(self, x: Floats) -> int:
        """Take back the cuts of the shelf that a point breaks."""
        back = [c for c in self.shelf if c.missing(x) > WHOLE]
        if back:
            names = {id(c) for c in back}
            self.shelf = [c for c in self.shelf if id(c) not in names]
            self._insert(back)
        return len(back)

    def solve(self, base: Floats, seconds: float) -> tuple[float, Floats, Floats] | None:
        """The cheapest point of the relaxation: its cost, the point, and the reduced costs; None if out of time."""
        self._programme.limit(max(seconds, SECONDS))
        found = self._programme.best()
        if found is None:
            return None
        x, reduced = base.copy(), np.zeros(self.size)
        x[self._cells] = np.clip(found, 0.0, 1.0)
        reduced[self._cells] = self._programme.reduced_costs
        slack = self._programme.sums - np.array([c.rhs for c in self.cuts])
        self._age = np.where(slack > WHOLE, self._age + 1, 0)
        return self._programme.value, x, reduced

    def tidy(self) -> None:
        """Put old cuts on the shelf."""
        (old,) = np.nonzero(self._age > OLD)
        if old.size > max(100, len(self.cuts) // 3):
            self._programme.delete_rows(old)
            gone = set(old.tolist())
            self.shelf += [self.cuts[i] for i in old.tolist()]
            self.cuts = [c for i, c in enumerate(self.cuts) if i not in gone]
            self._age = np.delete(self._age, old)

    def fix(self, cells: Ints, value: float) -> None:
        """These cells stay open (0) or hidden (1) from now on."""
        self._bound(cells, value, value)

    def release(self, cells: Ints) -> None:
        """These cells are free again."""
        self._bound(cells, 0.0, 1.0)

    def _bound(self, cells: Ints, low: float, high: float) -> None:
        self._programme.set_bounds(np.full(cells.size, low), np.full(cells.size, high), self._place[cells])

    def choose(self, base: Floats, best: Bools, seconds: float, gap: float, shut: Bools) -> Choice:
        """The cheapest pattern over the cuts, in whole cells; stops at a gap or when time is up."""
        cells = np.flatnonzero(self.free & ~shut)
        place = np.full(self.size, -1)
        place[cells] = np.arange(cells.size)
        rows = [Cut(place[c.columns], c.weight, c.rhs) for c in self.cuts]
        rows = [Cut(c.columns[c.columns >= 0], c.weight[c.columns >= 0], c.rhs) for c in rows]
        programme = Programme(
            _rows(rows),
            (np.array([c.rhs for c in rows]), np.full(len(rows), np.inf)),
            lower=np.zeros(cells.size),
            upper=np.ones(cells.size),
            cost=self.price[cells],
            whole=True,
            way=Way(seconds=max(seconds, SECONDS), relative_gap=0.0, absolute_gap=gap),
        )
        seen = programme.watch()
        if not (best & shut).any():
            programme.suggest(best[cells].astype(np.float64))
        answer = programme.solve()
        if programme.has_point:
            seen.append(programme.point)
        patterns: dict[bytes, Bools] = {}
        for found in seen[::-1]:
            hidden = base > 0.5
            if found.size == cells.size:
                hidden[cells[found > 0.5]] = True
                patterns.setdefault(hidden.tobytes(), hidden)
        bound = np.inf if answer is Answer.INFEASIBLE else programme.bound
        finished = answer in (Answer.OPTIMAL, Answer.INFEASIBLE)
        return Choice(bound, list(patterns.values()), finished)


def _rows(cuts: list[Cut]) -> Matrix:
    """Cuts as rows, their columns as they are."""
    start = np.cumsum([0, *(c.columns.size for c in cuts)])
    columns = np.concatenate([np.empty(0, dtype=np.int64), *(c.columns for c in cuts)])
    return Matrix(start, columns, np.concatenate([np.empty(0), *(c.weight for c in cuts)]), by_rows=True)
