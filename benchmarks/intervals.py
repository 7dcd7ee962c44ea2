"""`python -m benchmarks.intervals [--tables 1000]`: intervals attacked by a reader who knows how they are made.

Random tables of one to three classifications with subtotals, of whole numbers, cents and counts, with zeros and single
contributors, are protected and published with intervals. Then a reader who shares no code with the package (equations
written down from the codes, scipy's solvers) asks:

1. Do the intervals, taken as further knowledge, narrow any primary cell? Is one below its demand? The same for somebody
   who is alone in a cell. How many ends could be narrower?
2. Do other hidden values around the same published cells give other intervals, in a single byte?
3. In small tables he lists every table that looks the same when published, makes the intervals of each as the office
   does, and keeps those that have the published ones. Does he know more than before? The same with printed intervals.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import highspy
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import diskret as dk

Parents = dict[str, str]
Ends = tuple[float, float]
CLOSE = 1e-6
EXACT_ONLY = dk.Promise(guard="public", levels=False)
"""Exposed is only what can be computed exactly: everybody can tell whether that is so."""
MOST = 400
"""Tables that look alike, up to which the reader lists them."""


# --- tables -----------------------------------------------------------------------------------------------------------


def tree(rng: np.random.Generator, most: int) -> Parents:
    """A classification: some parts right below the total, some below subtotals."""
    parents: Parents = {}
    for group in range(int(rng.integers(1, most + 1))):
        if rng.random() < 0.5:
            parents |= {f"{group}{part}": f"g{group}" for part in "abc"[: int(rng.integers(2, 4))]} | {f"g{group}": "T"}
        else:
            parents |= {f"{group}{part}": "T" for part in "ab"}
    return parents


def codes_of(parents: Parents) -> list[str]:
    return list(dict.fromkeys([*parents, *parents.values()]))


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """What everybody knows of a table before it is published: its cells and how they add up."""

    classes: dict[str, Parents]
    counts: bool

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """Every cell by its codes."""
        return list(product(*(codes_of(p) for p in self.classes.values())))

    @property
    def by(self) -> dict[str, dk.Hierarchy]:
        """The classifications as the package takes them."""
        return {name: dk.Hierarchy.from_parents(parents) for name, parents in self.classes.items()}

    def equations(self) -> np.ndarray:
        """A row for every sum along every classification: its parts less itself."""
        at = {cell: i for i, cell in enumerate(self.cells)}
        rows = []
        for axis, parents in enumerate(self.classes.values()):
            for cell in self.cells:
                parts = [part for part, whole in parents.items() if whole == cell[axis]]
                if parts:
                    row = np.zeros(len(at))
                    row[at[cell]] = -1.0
                    for part in parts:
                        row[at[*cell[:axis], part, *cell[axis + 1 :]]] = 1.0
                    rows.append(row)
        return np.array(rows)

    def table(self, value: np.ndarray, hidden: np.ndarray, primary: np.ndarray) -> dk.Table:
        """A table of these values and marks, given cell by cell."""
        columns: dict[str, Any] = {name: [c[i] for c in self.cells] for i, name in enumerate(self.classes)}
        status = np.where(primary, "primary", np.where(hidden, "secondary", "open"))
        columns |= {"x": value.tolist(), "st": status.tolist()}
        return dk.Table.from_cells(columns, by=self.by, value="x", status="st", frequency=self.counts)

    def flat(self, table: dk.Table, array: np.ndarray | None) -> np.ndarray:
        """An array of the package's table in the order of our cells."""
        if array is None:
            return np.zeros(len(self.cells))
        return np.array([array[table.index(*cell)] for cell in self.cells])


def protected(seed: int) -> tuple[World, dk.Table, dk.Promise, str] | None:
    """A table made of random firms, marked and protected; None if nothing is hidden, or it cannot be protected."""
    rng = np.random.default_rng(seed)
    kind = ("whole", "cents", "counts")[seed % 3]
    number = 1 + int(rng.integers(0, 3))
    classes = {f"k{i}": tree(rng, 4 - number) for i in range(number)}
    world = World(classes=classes, counts=kind == "counts")
    leaves = [[c for c in p if c not in p.values()] for p in classes.values()]
    firms: dict[str, list[Any]] = {name: [] for name in classes} | {"x": []}
    for cell in product(*leaves):
        for _ in range(int(rng.choice([0, 1, 1, 2, 3, 5, 9]))):
            for name, code in zip(classes, cell, strict=True):
                firms[name].append(code)
            size = float(rng.lognormal(4, 1.5))
            firms["x"].append(round(size, 2) if kind == "cents" else round(size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not firms["x"]:
            return None
        table = dk.tabulate(firms, by=world.by, value=None if world.counts else "x")
        rule = dk.rules.SmallCells(3) if world.counts else dk.rules.MinCount(3) | dk.rules.PPercent(10)
        promise = dk.Promise(min_relative_range=float(rng.choice([0.0, 0.0, 0.3])))
        done = dk.suppress(dk.mark(table, rule), promise)
    if done.unprotected or done.audit is None or not done.audit.safe or not done.table.hidden.any():
        return None
    return world, done.table, promise, kind


# --- a reader ---------------------------------------------------------------------------------------------------------


class Reader:
    """Knows the published cells, that no value is negative, perhaps further bounds and cells."""

    def __init__(self, world: World, value: np.ndarray, hidden: np.ndarray, unit: float) -> None:
        matrix = world.equations()
        self.cells = np.flatnonzero(hidden)
        self.unit, self.whole = unit, world.counts
        self.matrix = csr_array(matrix[:, hidden])
        self.right = np.rint(-matrix[:, ~hidden] @ value[~hidden] / unit)
        self.low, self.high = np.zeros(self.cells.size), np.full(self.cells.size, np.inf)

    def told(self, lower: np.ndarray, upper: np.ndarray) -> Reader:
        """The same with further bounds, where there are any."""
        given = np.isfinite(lower)
        self.low = np.where(given, lower / self.unit, self.low)
        self.high = np.where(given, upper / self.unit, self.high)
        return self

    @cached_property
    def model(self) -> Any:
        """The programme of real numbers, to be asked again and again."""
        model = highspy.Highs()
        for option, said in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("simplex_strategy", 4)):
            model.setOptionValue(option, said)
        for low, high in zip(self.low, self.high, strict=True):
            model.addVar(low, high)
        for row, right in enumerate(self.right):
            begin, end = self.matrix.indptr[row : row + 2]
            if end > begin:
                at = self.matrix.indices[begin:end].astype(np.int32)
                model.addRow(right, right, end - begin, at, self.matrix.data[begin:end])
        return model

    def ends(self, k: int) -> Ends:
        """What the k-th hidden cell can be, in units."""
        return self._end(k, 1.0), self._end(k, -1.0)

    def _end(self, k: int, sense: float) -> float:
        self.model.changeColCost(k, sense)
        self.model.run()
        status, point = self.model.getModelStatus(), np.array(self.model.getSolution().col_value)
        self.model.changeColCost(k, 0.0)
        if status != highspy.HighsModelStatus.kOptimal:
            assert "nbounded" in self.model.modelStatusToString(status)
            return -sense * np.inf
        if not self.whole or np.abs(point - np.rint(point)).max() < CLOSE:
            return float(point[k])
        goal = np.zeros(self.cells.size)
        goal[k] = sense
        found = milp(
            goal, constraints=LinearConstraint(self.matrix, self.right, self.right),
            integrality=np.ones(goal.size), bounds=Bounds(self.low, self.high),
        )  # fmt: skip
        assert found.status == 0, found.message
        return float(sense * found.fun)

    def other(self, rng: np.random.Generator, most: float) -> np.ndarray:
        """Other hidden values, whole in units, that look the same."""
        found = milp(
            rng.normal(size=self.cells.size), constraints=LinearConstraint(self.matrix, self.right, self.right),
            integrality=np.ones(self.cells.size), bounds=Bounds(0, most),
        )  # fmt: skip
        return np.rint(found.x) if found.status == 0 else np.full(self.cells.size, np.nan)


def same(one: Ends, other: Ends) -> bool:
    return all(a == b or abs(a - b) <= CLOSE * max(1.0, abs(a)) for a, b in zip(one, other, strict=True))


# --- 1. intervals as further knowledge, 2. other hidden values --------------------------------------------------------


def attack(seed: int, seen: Counter[str]) -> None:
    """Both attacks on one table."""
    made = protected(seed)
    if made is None:
        return
    world, table, promise, kind = made
    rng = np.random.default_rng(seed)
    unit = 0.01 if kind == "cents" else 1.0
    value, hidden = world.flat(table, table.value), world.flat(table, table.hidden).astype(bool)
    status = world.flat(table, table.status)
    below, above = world.flat(table, table.below), world.flat(table, table.above)
    seen["tables"] += 1
    seen[f"tables of {kind}"] += 1
    before = Reader(world, value, hidden, unit)
    possible = [before.ends(k) for k in range(before.cells.size)]
    for digits in (None, int(rng.integers(1, 3))):
        found = dk.publishable_intervals(table, promise, digits=digits)
        lower, upper = (world.flat(table, end)[hidden] for end in (found.lower, found.upper))
        after = Reader(world, value, hidden, unit).told(lower, upper)
        for k, cell in enumerate(before.cells.tolist()):
            ends = possible[k]
            if digits is None:
                _count_ends(seen, kind, ends, (lower[k] / unit, upper[k] / unit), value[cell] / unit)
            if status[cell] != dk.Status.PRIMARY:
                continue
            seen["primary cells attacked"] += 1
            now = after.ends(k)
            seen["primary cells narrowed by intervals"] += not same(ends, now)
            x, need = value[cell] / unit, promise.min_relative_range * value[cell] / unit
            fall, rise = (float(side[cell]) / unit - CLOSE for side in (below, above))
            kept = now[1] - x >= rise and x - now[0] >= fall and now[1] - now[0] > max(need, CLOSE)
            seen["primary cells below their demand"] += not kept
    _from_inside(world, table, (lower, upper), unit, seen)
    _other_values(world, table, promise, unit, rng, seen)


def _count_ends(seen: Counter[str], kind: str, best: Ends, given: Ends, x: float) -> None:
    if np.isnan(given[0]):
        return
    seen["intervals"] += 1
    seen["intervals without the value"] += not given[0] - CLOSE <= x <= given[1] + CLOSE
    seen["intervals narrower than what can be computed"] += given[0] > best[0] + CLOSE or given[1] < best[1] - CLOSE
    seen[f"ends of {kind} that could be narrower"] += (given[0] < best[0] - 1 + CLOSE) + (
        given[1] > best[1] + 1 - CLOSE
    )


def _from_inside(
    world: World, table: dk.Table, given: tuple[np.ndarray, np.ndarray], unit: float, seen: Counter[str]
) -> None:
    """Whoever is alone in a cell knows it, and all its copies; the intervals tell him nothing either."""
    value, hidden = world.flat(table, table.value), world.flat(table, table.hidden).astype(bool)
    alone = np.flatnonzero(hidden & (world.flat(table, table.count) == 1))
    status = world.flat(table, table.status)
    for own in alone[:2].tolist():
        before, after = Reader(world, value, hidden, unit), Reader(world, value, hidden, unit).told(*given)
        k = int(np.flatnonzero(before.cells == own)[0])
        for reader in (before, after):
            reader.low[k] = reader.high[k] = value[own] / unit
        for j in np.flatnonzero((status[before.cells] == dk.Status.PRIMARY) & (before.cells != own))[:6].tolist():
            seen["primary cells attacked from inside"] += 1
            seen["primary cells narrowed by intervals from inside"] += not same(before.ends(j), after.ends(j))


def _other_values(
    world: World, table: dk.Table, promise: dk.Promise, unit: float, rng: np.random.Generator, seen: Counter[str]
) -> None:
    """Tables that are published alike: their intervals must be alike to the byte."""
    value, hidden = world.flat(table, table.value), world.flat(table, table.hidden).astype(bool)
    primary = world.flat(table, table.status) == dk.Status.PRIMARY
    reader = Reader(world, value, hidden, unit)
    most = 2 * float(value.max()) / unit + 5
    others = [reader.other(rng, most) for _ in range(2)]
    others = [each for each in others if np.isfinite(each).all()]
    if others and not world.counts:
        others.append((others[0] + others[-1] + 2 * value[hidden] / unit) / 4)
    first = world.table(value, hidden, primary)
    said = {digits: _bytes(first, EXACT_ONLY, digits) for digits in (None, 1, 2)}
    for units in others:
        changed = value.copy()
        changed[hidden] = np.round(units * unit, 4)
        if np.array_equal(changed, value):
            continue
        second = world.table(changed, hidden, primary)
        assert np.array_equal(np.where(first.hidden, 0, first.value), np.where(second.hidden, 0, second.value))
        seen["pairs of tables published alike"] += 1
        for digits, ends in said.items():
            seen["pairs with other intervals"] += _bytes(second, EXACT_ONLY, digits) != ends


def _bytes(table: dk.Table, promise: dk.Promise, digits: int | None) -> tuple[bytes, bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dk.publishable_intervals(table, promise, digits=digits)
    return found.lower.tobytes(), found.upper.tobytes()


# --- 3. every table that looks the same -------------------------------------------------------------------------------


def looking_alike(reader: Reader) -> Iterator[np.ndarray]:
    """All hidden values in whole numbers that fit what is published, at most one more than the reader would list."""
    matrix = reader.matrix.toarray()
    size = matrix.shape[1]
    highest = [int(reader.ends(k)[1]) for k in range(size)]
    waiting = [np.zeros(0)]
    while waiting:
        begun = waiting.pop()
        if begun.size == size:
            yield begun
            continue
        for x in range(highest[begun.size] + 1):
            point = np.append(begun, x)
            left = reader.right - matrix[:, : point.size] @ point
            # what is left must be possible with what is not chosen yet
            rest, most = matrix[:, point.size :], np.array(highest[point.size :])
            if (left >= np.minimum(rest * most, 0).sum(axis=1)).all() and (
                left <= np.maximum(rest * most, 0).sum(axis=1)
            ).all():
                waiting.append(point)


def small(seed: int) -> tuple[World, np.ndarray, np.ndarray] | None:
    """A table of one or two classifications with few hidden cells and small values."""
    rng = np.random.default_rng(seed)
    flat = dict.fromkeys("abcd", "T")
    world = World(classes={f"k{i}": flat for i in range(1 + seed % 2)}, counts=False)
    leaf = [all(code != "T" for code in cell) for cell in world.cells]
    value = np.where(leaf, rng.integers(0, 8 if seed % 2 else 20, len(leaf)), 0).astype(float)
    value = np.array([
        sum(x for x, c in zip(value, world.cells, strict=True)
            if "T" not in c and all(a in ("T", b) for a, b in zip(cell, c, strict=True)))
        for cell in world.cells
    ])  # fmt: skip
    if seed % 2:
        rows, columns = rng.choice(list("abcd"), 3, replace=False), rng.choice(list("abcd"), 2, replace=False)
        hidden = np.array([cell[0] in rows and cell[1] in columns for cell in world.cells])
    else:
        hidden = np.array([cell[0] in "abc" for cell in world.cells])
    return world, value, hidden


def contrast(seed: int, seen: Counter[str]) -> None:
    """What the reader learns from either kind of interval by making them himself for all tables that look alike."""
    made = small(seed)
    if made is None:
        return
    world, value, hidden = made
    reader = Reader(world, value, hidden, 1.0)
    nothing = np.zeros(hidden.size, dtype=bool)
    alike = []
    for point in looking_alike(reader):
        alike.append(point)
        if len(alike) > MOST:
            return
    if len(alike) < 2:
        return
    seen["small tables"] += 1
    kept: dict[str, list[np.ndarray]] = {"published": [], "printed": []}
    makers = {"published": dk.publishable_intervals, "printed": dk.printed_intervals}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = world.table(value, hidden, nothing)
        at = tuple(np.array([table.index(*world.cells[c]) for c in reader.cells]).T)
        for name, make in makers.items():
            said = make(table)
            for point in alike:
                x = table.value.copy()
                x[at] = point
                found = make(replace(table, value=x))
                if (found.lower.tobytes(), found.upper.tobytes()) == (said.lower.tobytes(), said.upper.tobytes()):
                    kept[name].append(point)
    unknown = np.ptp(np.array(alike), axis=0) > 0
    for name, left in kept.items():
        points = np.array(left)
        # what is the same in all of them was known before
        alone = (points.min(axis=0) == points.max(axis=0))[unknown]
        seen[f"small tables of which {name} intervals rule out some"] += len(left) < len(alike)
        seen[f"small tables of which {name} intervals tell some hidden value exactly"] += bool(alone.any())
        seen[f"small tables of which {name} intervals tell every hidden value exactly"] += bool(alone.all())


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--small", type=int, help="small tables, of which all that look alike are listed")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seen: Counter[str] = Counter()
    seed = asked.seed
    while seen["tables"] < asked.tables:
        attack(seed, seen)
        seed += 1
        if seed % 100 == 0:
            print(f"{seen['tables']} tables", file=sys.stderr, flush=True)
    for number in range(asked.tables // 5 if asked.small is None else asked.small):
        contrast(asked.seed + number, seen)
    for name, count in seen.items():
        print(f"{name}: {count:,}")


if __name__ == "__main__":
    main()
