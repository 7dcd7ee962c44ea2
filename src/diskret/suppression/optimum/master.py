"""The choice of cells as a linear programme over the cuts found so far, and as a mixed-integer one."""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.suppression.optimum.attackers import Cut, quiet

OLD = 8
"""A cut that was slack so many times in a row leaves the linear programme; it stays on the shelf."""


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
        self._model = self._empty()

    def _empty(self) -> Any:
        model = quiet()
        lp = highspy.HighsLp()
        n = self._cells.size
        lp.num_col_, lp.num_row_ = n, 0
        lp.col_cost_ = self.price[self._cells]
        lp.col_lower_, lp.col_upper_ = np.zeros(n), np.ones(n)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
        model.setOptionValue("presolve", "off")
        model.passModel(lp)
        return model

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
        lengths = np.array([c.columns.size for c in cuts])
        start = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int32)
        columns = self._place[np.concatenate([c.columns for c in cuts])].astype(np.int32)
        weight = np.concatenate([c.weight for c in cuts])
        low = np.array([c.rhs for c in cuts])
        self._model.addRows(len(cuts), low, np.full(len(cuts), highspy.kHighsInf), columns.size, start, columns, weight)
        self.cuts += cuts
        self._age = np.append(self._age, np.zeros(len(cuts), dtype=np.int64))

    def from_shelf(self, x: Floats) -> int:
        """Take back the cuts of the shelf that a point breaks."""
        back = [c for c in self.shelf if c.missing(x) > 1e-6]
        if back:
            names = {id(c) for c in back}
            self.shelf = [c for c in self.shelf if id(c) not in names]
            self._insert(back)
        return len(back)

    def solve(self, base: Floats, seconds: float) -> tuple[float, Floats, Floats] | None:
        """The cheapest point of the relaxation: its cost, the point, and the reduced costs; None if out of time."""
        self._model.setOptionValue("time_limit", self._model.getRunTime() + max(seconds, 0.01))
        self._model.run()
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._model.getSolution()
        x, reduced = base.copy(), np.zeros(self.size)
        x[self._cells] = np.clip(np.array(solution.col_value), 0.0, 1.0)
        reduced[self._cells] = np.array(solution.col_dual)
        slack = np.array(solution.row_value) - np.array([c.rhs for c in self.cuts])
        self._age = np.where(slack > 1e-6, self._age + 1, 0)
        return float(self._model.getInfo().objective_function_value), x, reduced

    def tidy(self) -> None:
        """Put old cuts on the shelf."""
        (old,) = np.nonzero(self._age > OLD)
        if old.size > max(100, len(self.cuts) // 3):
            self._model.deleteRows(old.size, old.astype(np.int32))
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
        at = self._place[cells].astype(np.int32)
        self._model.changeColsBounds(at.size, at, np.full(at.size, low), np.full(at.size, high))

    def choose(self, base: Floats, best: Bools, seconds: float, gap: float, shut: Bools) -> Choice:
        """The cheapest pattern over the cuts, in whole cells; stops at a gap or when time is up."""
        model = quiet()
        lp = highspy.HighsLp()
        cells = np.flatnonzero(self.free & ~shut)
        place = np.full(self.size, -1)
        place[cells] = np.arange(cells.size)
        rows = [Cut(place[c.columns], c.weight, c.rhs) for c in self.cuts]
        rows = [Cut(c.columns[c.columns >= 0], c.weight[c.columns >= 0], c.rhs) for c in rows]
        lp.num_col_, lp.num_row_ = cells.size, len(rows)
        lp.col_cost_ = self.price[cells]
        lp.col_lower_, lp.col_upper_ = np.zeros(cells.size), np.ones(cells.size)
        lp.row_lower_ = np.array([c.rhs for c in rows])
        lp.row_upper_ = np.full(len(rows), highspy.kHighsInf)
        lp.integrality_ = [highspy.HighsVarType.kInteger] * cells.size
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([c.columns.size for c in rows])]).astype(np.int32)
        lp.a_matrix_.index_ = np.concatenate([c.columns for c in rows]).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate([c.weight for c in rows])
        model.passModel(lp)
        model.setOptionValue("time_limit", max(seconds, 0.01))
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_abs_gap", gap)
        seen: list[Floats] = []
        model.cbMipImprovingSolution.subscribe(lambda event: seen.append(np.array(event.data_out.mip_solution)))
        if not (best & shut).any():
            known = highspy.HighsSolution()
            known.col_value = best[cells].astype(np.float64).tolist()
            model.setSolution(known)
        model.run()
        info, status = model.getInfo(), model.getModelStatus()
        finished = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)
        bound = np.inf if status == highspy.HighsModelStatus.kInfeasible else float(info.mip_dual_bound)
        if np.isfinite(info.objective_function_value):
            seen.append(np.array(model.getSolution().col_value))
        patterns: dict[bytes, Bools] = {}
        for found in seen[::-1]:
            hidden = base > 0.5
            if found.size == cells.size:
                hidden[cells[found > 0.5]] = True
                patterns.setdefault(hidden.tobytes(), hidden)
        return Choice(bound, list(patterns.values()), finished)
