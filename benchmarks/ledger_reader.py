"""A reader who takes all published files and computes what he can: no code of the package, HiGHS only.

The unknowns are the values of the finest cells (municipality, branch, size) of every year, which nobody publishes, and
of every quarter the values of groups of them that no quarterly table tells apart. Every published number is an equation
of them, every published rate two inequalities, and all years stand in one system. A revised table has unknowns of its
own; how much values were corrected at most is told. For every cell that the rules call sensitive he asks how small and
how large it may be. He knows no more than the files say, and that no value is negative.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

HAIR = 1e-6
TOTALS = ("DE", "all branches", "all sizes")
QUARTERS = 4


def attack(folder: Path) -> dict[str, int]:
    """What is found: sensitive cells that are computed exactly, or closer than the rules allow."""
    read = _Read(folder)
    told = {"targets": len(read.targets), "exact": 0, "too close": 0, "programmes": 0, "blocks": 0, "unknowns": 0}
    for block in read.blocks():
        told["blocks"] += 1
        told["unknowns"] += block.size
        _found(block, told)
    return told


@dataclass(frozen=True, eq=False, kw_only=True)
class _Target:
    """A sensitive cell: the unknowns it is the sum of, its true value, and how near nobody may come."""

    own: np.ndarray
    value: float
    below: float
    above: float


@dataclass(frozen=True, eq=False, kw_only=True)
class _Block:
    """Unknowns that hang together, with rows between ends, and targets among them."""

    rows: csr_array
    lower: np.ndarray
    upper: np.ndarray
    targets: list[_Target]

    @property
    def size(self) -> int:
        return int(self.rows.shape[1])


@dataclass(eq=False)
class _Rows:
    """Rows between two ends, growing."""

    cells: list[np.ndarray] = field(default_factory=list)
    factors: list[np.ndarray] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, cells: np.ndarray, factors: np.ndarray, lower: float, upper: float) -> None:
        self.cells.append(cells)
        self.factors.append(factors)
        self.lower.append(lower)
        self.upper.append(upper)

    def matrix(self, size: int) -> csr_array:
        lengths = [cells.size for cells in self.cells]
        row = np.repeat(np.arange(len(lengths)), lengths)
        entries = np.concatenate(self.factors), (row, np.concatenate(self.cells))
        return coo_array(entries, shape=(len(lengths), size)).tocsr()


class _Read:
    """Everything that was published, as rows over unknowns, and what is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalogue = json.loads((folder / "catalogue.json").read_text())
        finest = self.catalogue["finest"]
        self.axes = list(finest)
        self.place = {axis: {code: i for i, code in enumerate(codes)} for axis, codes in finest.items()}
        self.shape = tuple(len(codes) for codes in finest.values())
        self.many = int(np.prod(self.shape))
        self.rows = _Rows()
        self.known: dict[tuple[int, ...], float] = {}
        self.targets: dict[tuple[int, ...], _Target] = {}
        self._number()
        self._read()

    # --- who stands behind a cell -----------------------------------------------------------------------------------

    def _number(self) -> None:
        """Numbers for the unknowns: of every year the finest cells, then groups of them by quarters."""
        years = sorted({table["period"][:4] for table in self.catalogue["tables"]})
        self.start: dict[str, int] = {}
        self.group: dict[str, np.ndarray] = {}
        size = 0
        for year in years:
            seen = [self._inner(codes, groups) for codes, groups in self._cells_of_quarters(year)]
            member = np.zeros((len(seen), self.many), dtype=bool)
            for i, cells in enumerate(seen):
                member[i, cells] = True
            _, number = np.unique(member, axis=1, return_inverse=True)
            self.start[year], self.group[year] = size, number.reshape(-1)
            groups = int(number.max(initial=-1)) + 1
            for group in range(groups):
                inner = size + np.flatnonzero(self.group[year] == group)
                quarters = self._of_quarters(year, np.array([group]), range(QUARTERS))
                cells = np.concatenate([inner, quarters])
                self.rows.add(cells, np.append(np.ones(inner.size), -np.ones(QUARTERS)), 0.0, 0.0)
            size += self.many + QUARTERS * groups
        self.size = size

    def _of_quarters(self, year: str, groups: np.ndarray, quarters: Any) -> np.ndarray:
        first = self.start[year] + self.many
        return np.sort(np.concatenate([first + groups * QUARTERS + q for q in quarters]))

    def _cells_of_quarters(self, year: str) -> Iterator[tuple[dict[str, str], Mapping[str, Any]]]:
        for table in self.catalogue["tables"]:
            if table["period"][:4] == year and "-Q" in table["period"]:
                for codes in [line for line, _ in self._lines(table)] + [each["codes"] for each in self._secret(table)]:
                    yield {**table["fixed"], **codes}, self._groups(table)

    def _groups(self, table: Mapping[str, Any]) -> dict[str, list[str]]:
        states = {"s0": ["d0", "d1"], "s1": ["d2", "d3"], "s2": ["d4", "d5"]}
        every = {code: parts for each in self.catalogue["groups"].values() for code, parts in each.items()}
        own: dict[str, list[str]] = table["groups"]
        return every | states | own

    def _inner(self, codes: Mapping[str, str], groups: Mapping[str, list[str]]) -> np.ndarray:
        """The finest cells behind the codes of a published one."""
        own = []
        for axis in self.axes:
            code = codes.get(axis)
            if code is None or code in TOTALS:
                own.append(list(range(len(self.place[axis]))))
            else:
                own.append([self.place[axis][each] for each in self._finest(axis, code, groups)])
        return np.sort(np.ravel_multi_index(np.array(list(product(*own))).T, self.shape))

    def _finest(self, axis: str, code: str, groups: Mapping[str, list[str]]) -> list[str]:
        if code in self.place[axis]:
            return [code]
        return [each for part in groups[code] for each in self._finest(axis, part, groups)]

    def _members(self, codes: Mapping[str, str], period: str, groups: Mapping[str, list[str]]) -> np.ndarray:
        """The unknowns behind a published cell."""
        inner, year = self._inner(codes, groups), period[:4]
        if "-Q" not in period:
            return self.start[year] + inner
        own = np.unique(self.group[year][inner])
        assert np.isin(self.group[year], own).sum() == inner.size
        return self._of_quarters(year, own, [int(period[-1]) - 1])

    # --- what is published ------------------------------------------------------------------------------------------

    def _lines(self, table: Mapping[str, Any]) -> list[tuple[dict[str, str], str]]:
        if not table["released"]:
            return []
        with (self.folder / table["file"]).open() as file:
            return [({a: line[a] for a in table["axes"]}, line[table["response"]]) for line in csv.DictReader(file)]

    def _secret(self, table: Mapping[str, Any]) -> list[dict[str, Any]]:
        path = self.folder / table["file"].replace(".csv", ".secret.json")
        return json.loads(path.read_text()) if path.exists() else []

    def _read(self) -> None:
        late = []
        for table in self.catalogue["tables"]:
            if table["revised"]:
                late.append(table)
                continue
            groups = self._groups(table)
            for codes, shown in self._lines(table):
                if shown == "x":
                    continue
                named = {**table["fixed"], **codes}
                own = self._members(named, table["period"], groups)
                if table["ratio"]:
                    under = self._members(named, table["ratio"]["under"]["period"], groups)
                    self._rate(own, under, float(shown), table["ratio"])
                else:
                    self._value(own, float(shown))
            if not table["ratio"]:
                self._ask(table, lambda each, t=table, g=groups: self._members(
                    {**t["fixed"], **each}, t["period"], g))  # fmt: skip
        for table in late:
            self._revised(table)

    def _value(self, own: np.ndarray, shown: float) -> None:
        key = tuple(own.tolist())
        if key not in self.known:
            self.known[key] = shown
            self.rows.add(own, np.ones(own.size), shown, shown)
        assert self.known[key] == shown, "one cell, two values"

    def _ask(self, table: Mapping[str, Any], members: Any) -> None:
        for each in self._secret(table):
            own = members(each["codes"])
            target = _Target(own=own, value=each["value"], below=each["below"], above=each["above"])
            self.targets[tuple(own.tolist())] = target

    def _rate(self, over: np.ndarray, under: np.ndarray, shown: float, ratio: Mapping[str, float]) -> None:
        low, high = ((shown + e - ratio["plus"]) / ratio["times"] for e in (-0.05, 0.05))
        cells, ones = np.concatenate([over, under]), np.ones(over.size)
        self.rows.add(cells, np.append(ones, np.full(under.size, -high)), -np.inf, 0.0)
        self.rows.add(cells, np.append(ones, np.full(under.size, -low)), 0.0, np.inf)

    def _revised(self, table: Mapping[str, Any]) -> None:
        """A table with corrected values: one unknown for every cell of it, near the one before."""
        low, high = table["corrected"]
        groups, names = self._groups(table), list(table["asked"])
        number = {tuple(codes): self.size + i for i, codes in enumerate(product(*table["asked"].values()))}
        self.size += len(number)

        def members(codes: Mapping[str, str]) -> np.ndarray:
            wanted = [codes.get(name, TOTALS[0]) for name in names]
            fits = [n for c, n in number.items() if all(w in (*TOTALS, x) for w, x in zip(wanted, c, strict=True))]
            return np.array(fits)

        for inner, own in number.items():
            before = self._members({**table["fixed"], **dict(zip(names, inner, strict=True))}, table["period"], groups)
            both = np.append(own, before)
            self.rows.add(both, np.append(1.0, np.full(before.size, -high)), -np.inf, 0.0)
            self.rows.add(both, np.append(1.0, np.full(before.size, -low)), 0.0, np.inf)
        for codes, shown in self._lines(table):
            if shown != "x":
                self._value(members(codes), float(shown))
        self._ask(table, members)

    # --- what hangs together ----------------------------------------------------------------------------------------

    def blocks(self) -> Iterator[_Block]:
        """Unknowns that are not known to be nothing, in groups that share no row."""
        rows = self.rows.matrix(self.size)
        lower, upper = np.array(self.rows.lower), np.array(self.rows.upper)
        alive = np.ones(self.size, dtype=bool)
        while True:
            # a row of parts that are not negative and add up to nothing
            left = rows[:, np.flatnonzero(alive)]
            least = np.asarray(left.min(axis=1).todense()).reshape(-1) >= 0
            most = np.asarray(left.max(axis=1).todense()).reshape(-1) <= 0
            nothing = (least & (upper == 0)) | (most & (lower == 0))
            gone = np.unique(rows[np.flatnonzero(nothing)].indices)
            if not alive[gone].any():
                break
            alive[gone] = False
        place = np.full(self.size, -1)
        place[alive] = np.arange(int(alive.sum()))
        rows = rows[:, np.flatnonzero(alive)].tocsr()
        rows.eliminate_zeros()
        used = np.diff(rows.indptr) > 0
        rows, lower, upper = rows[np.flatnonzero(used)], lower[used], upper[used]
        targets = [(t, place[t.own][place[t.own] >= 0]) for t in self.targets.values()]
        together = [*np.split(rows.indices, rows.indptr[1:-1]), *(own for _, own in targets)]
        first = np.concatenate([np.full(cells.size, cells[0]) for cells in together])
        pairs = coo_array((np.ones(first.size), (first, np.concatenate(together))), shape=(rows.shape[1],) * 2)
        number, label = connected_components(pairs, directed=False)
        of_row = label[rows.indices[rows.indptr[:-1]]]
        asked: dict[int, list[_Target]] = {}
        for target, own in targets:
            asked.setdefault(int(label[own[0]]), []).append(
                _Target(own=own, value=target.value, below=target.below, above=target.above)
            )
        for block in range(number):
            if block not in asked:
                continue
            columns = np.flatnonzero(label == block)
            inside = np.full(label.size, -1)
            inside[columns] = np.arange(columns.size)
            mine = np.flatnonzero(of_row == block)
            yield _Block(
                rows=rows[mine][:, columns].tocsr(), lower=lower[mine], upper=upper[mine],
                targets=[
                    _Target(own=inside[t.own], value=t.value, below=t.below, above=t.above) for t in asked[block]
                ],
            )  # fmt: skip


def _found(block: _Block, told: dict[str, int]) -> None:
    """How many targets of a block are exposed; every point the solver finds shows how far all of them go."""
    solver = _solver(block)
    targets = block.targets
    number = np.repeat(np.arange(len(targets)), [t.own.size for t in targets])
    places = number, np.concatenate([t.own for t in targets])
    owns = coo_array((np.ones(number.size), places), shape=(len(targets), block.size)).tocsr()
    true = np.array([t.value for t in targets])
    need = np.array([[min(t.below, t.value), t.above] for t in targets])
    reach = np.zeros((len(targets), 2))
    every = np.arange(block.size, dtype=np.int32)
    for k, target in enumerate(targets):
        for side, sign in ((0, 1.0), (1, -1.0)):
            if reach[k, side] >= need[k, side] - HAIR and reach[k, side] > HAIR:
                continue
            cost = np.zeros(block.size)
            cost[target.own] = sign
            solver.changeColsCost(block.size, every, cost)
            solver.run()
            told["programmes"] += 1
            status = solver.getModelStatus()
            if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnbounded):
                # from its last point it got nowhere: from the beginning
                solver.clearSolver()
                solver.run()
                status = solver.getModelStatus()
            if status == highspy.HighsModelStatus.kUnbounded:
                reach[k, side] = np.inf
                continue
            if status != highspy.HighsModelStatus.kOptimal:
                msg = f"the solver says {solver.modelStatusToString(status)}"
                raise RuntimeError(msg)
            point = np.array(solver.getSolution().col_value)
            away = owns @ point - true
            reach[:, 0], reach[:, 1] = np.maximum(reach[:, 0], -away), np.maximum(reach[:, 1], away)
    scale = HAIR * np.maximum(1.0, np.abs(true))
    exact = (reach.max(axis=1) <= scale) & (true > 0)
    close = (reach < need - scale[:, None]).any(axis=1) & ~exact
    told["exact"] += int(exact.sum())
    told["too close"] += int(close.sum())


def _solver(block: _Block) -> highspy.Highs:
    """The solver with the rows of a block; it goes on from its last point, which stays feasible."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = block.size, block.rows.shape[0]
    model.col_cost_ = np.zeros(block.size)
    model.col_lower_, model.col_upper_ = np.zeros(block.size), np.full(block.size, highspy.kHighsInf)
    model.row_lower_ = np.where(np.isinf(block.lower), -highspy.kHighsInf, block.lower)
    model.row_upper_ = np.where(np.isinf(block.upper), highspy.kHighsInf, block.upper)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = block.rows.indptr.astype(np.int32)
    model.a_matrix_.index_ = block.rows.indices.astype(np.int32)
    model.a_matrix_.value_ = block.rows.data.astype(np.float64)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(model)
    solver.run()
    solver.setOptionValue("simplex_strategy", 4)
    return solver
