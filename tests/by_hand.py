"""An attacker written once more, without the code under test: for the tests of auditing and suppression.

Tables are made from firms, so that who stands behind a cell is known and not concluded from counts. Equations are
written out by hand; one programme per cell and side says what remains possible for whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import highspy
import numpy as np

from diskret import Hierarchy, Knowledge, Promise, Status, Table
from diskret.model.contributors import Contributors
from diskret.moves.move import MoveSet

Cell = tuple[int, ...]
CLOSE = 1e-6
UNBOUNDED = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)
TREES = (
    {"a1": "a", "a2": "a", "a": "T", "b": "T", "c1": "c", "c2": "c", "c": "T"},
    {"x": "T", "y": "T", "z": "T"},
    {"u1": "u", "u2": "u", "u": "T", "v": "T"},
    {"l": "T", "r": "T"},
    {"e1": "e", "e11": "e1", "e12": "e1", "e2": "e", "e": "T", "f": "T"},
)


@dataclass(frozen=True)
class Firms:
    """A table with the firms behind every cell."""

    table: Table
    behind: dict[Cell, frozenset[int]]

    def knows(self, firm: int) -> frozenset[Cell]:
        """Cells in which a firm is alone."""
        return frozenset(c for c, firms in self.behind.items() if firms == {firm})

    def alone(self) -> list[int]:
        """Firms that are alone somewhere."""
        return sorted({next(iter(f)) for f in self.behind.values() if len(f) == 1})

    def other_hidden(self, status: Any) -> Firms:
        """The same firms behind the table with another pattern."""
        return Firms(replace(self.table, status=np.asarray(status, dtype=np.uint8)), self.behind)


def above(hierarchy: Hierarchy, code: int) -> Iterator[int]:
    """A code and all sums over it."""
    while code >= 0:
        yield code
        code = hierarchy.parents[code]


def firms(
    seed: int, *, axes: int = 2, decimals: int = 0, negative: bool = False, most: int = 4, empty: float = 0.2,
    trees: tuple[int, ...] | None = None,
) -> Firms:  # fmt: skip
    """A random table of firms: cells of none, one, two and several, some of them giants."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(TREES), axes, replace=False) if trees is None else np.array(trees)
    by = {f"d{i}": Hierarchy.from_parents(TREES[k]) for i, k in enumerate(chosen)}
    shape = tuple(len(h) for h in by.values())
    shares: dict[Cell, list[float]] = {c: [] for c in np.ndindex(*shape)}
    behind: dict[Cell, set[int]] = {c: set() for c in np.ndindex(*shape)}
    number = 0
    for inner in product(*[np.flatnonzero(h.is_leaf).tolist() for h in by.values()]):
        size = 0 if rng.random() < empty else int(rng.integers(1, most + 1))
        for _ in range(size):
            amount = int(rng.integers(1, 60)) * (10 if rng.random() < 0.15 else 1)
            amount = -amount if negative and rng.random() < 0.4 else amount
            for cell in product(*[list(above(h, c)) for h, c in zip(by.values(), inner, strict=True)]):
                shares[cell].append(amount)
                behind[cell].add(number)
            number += 1
    value, count, largest = np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros((*shape, 3))
    absolute = np.zeros(shape)
    scale = 10**decimals
    for cell, given in shares.items():
        value[cell], count[cell] = sum(given) / scale, len(given)
        absolute[cell] = sum(abs(g) for g in given) / scale
        top = sorted((abs(g) for g in given), reverse=True)[:3]
        largest[cell][: len(top)] = np.array(top) / scale
    people = Contributors(count, largest, absolute if negative else None)
    status = np.zeros(shape, dtype=np.uint8)
    table = Table(by, "x", value, status, people, decimals=decimals, positive=not negative)
    return Firms(table, {c: frozenset(f) for c, f in behind.items()})


def counts(seed: int, trees: tuple[int, ...] = (1, 3), most: int = 3) -> Table:
    """A small random frequency table."""
    rng = np.random.default_rng(seed)
    by = {f"d{i}": Hierarchy.from_parents(TREES[k]) for i, k in enumerate(trees)}
    shape = tuple(len(h) for h in by.values())
    value = np.zeros(shape)
    for inner in product(*[np.flatnonzero(h.is_leaf).tolist() for h in by.values()]):
        n = int(rng.integers(0, most + 1))
        for cell in product(*[list(above(h, c)) for h, c in zip(by.values(), inner, strict=True)]):
            value[cell] += n
    return Table(by, "n", value, np.zeros(shape, dtype=np.uint8), frequency=True, positive=True)


def hide(table: Table, seed: int, primary: float, secondary: float = 0.0, zeros: bool = False) -> Table:
    """Hide random cells."""
    draw = np.random.default_rng(seed).random(table.shape)
    status = np.where(draw < primary, Status.PRIMARY, np.where(draw < primary + secondary, Status.SECONDARY, 0))
    if not zeros:
        status = np.where(table.value == 0, 0, status)
    return replace(table, status=status.astype(np.uint8))


# --- what everybody reads -------------------------------------------------------------------------------------------


def equations(table: Table) -> Iterator[tuple[Cell, list[Cell]]]:
    """Every sum with its parts, along every classification."""
    for axis, hierarchy in enumerate(table.hierarchies):
        for whole in range(len(hierarchy)):
            parts = [p for p in range(len(hierarchy)) if hierarchy.parents[p] == whole]
            if parts:
                for cell in product(*[range(n) if a != axis else (whole,) for a, n in enumerate(table.shape)]):
                    yield cell, [(*cell[:axis], p, *cell[axis + 1 :]) for p in parts]


def bounds(table: Table, knowledge: Knowledge, cell: Cell) -> tuple[float, float]:
    """What is known about a cell beforehand."""
    x = float(table.value[cell])
    low, high = -np.inf, np.inf
    if knowledge.kind == "relative":
        error = max(knowledge.error * abs(x), knowledge.absolute)
        low, high = x - error, x + error
    elif knowledge.kind == "intervals":
        low = float(table.lower[cell]) if table.lower is not None else low
        high = float(table.upper[cell]) if table.upper is not None else high
    if knowledge.kind == "positive" or table.positive:
        low = max(low, 0.0)
    return low, high


class Attacker:
    """Somebody who knows some hidden cells, and of some others a least value; minimises and maximises the rest."""

    def __init__(
        self, table: Table, knowledge: Knowledge, known: frozenset[Cell] = frozenset(),
        at_least: dict[Cell, float] | None = None, whole: bool = False,
    ) -> None:  # fmt: skip
        hidden = [tuple(c) for c in np.argwhere(table.hidden).tolist()]
        self.value = {c: float(table.value[c]) for c in hidden}
        self.column = {c: k for k, c in enumerate(c for c in hidden if c not in known)}
        self.model = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.1)):
            self.model.setOptionValue(option, value)
        for cell, k in self.column.items():
            low, high = bounds(table, knowledge, cell)
            low = max(low, (at_least or {}).get(cell, -np.inf))
            low, high = (np.ceil(low - 1e-9), np.floor(high + 1e-9)) if whole else (low, high)
            self.model.addVar(low, high)
            if whole:
                self.model.changeColIntegrality(k, highspy.HighsVarType.kInteger)
        for total, parts in equations(table):
            terms = [(c, f) for c, f in [*((p, 1.0) for p in parts), (total, -1.0)] if c in self.column]
            rest = [(c, f) for c, f in [*((p, 1.0) for p in parts), (total, -1.0)] if c not in self.column]
            if terms:
                right = -sum(f * float(table.value[c]) for c, f in rest)
                index = np.array([self.column[c] for c, _ in terms], dtype=np.int32)
                self.model.addRow(right, right, len(terms), index, np.array([f for _, f in terms]))

    def interval(self, cell: Cell) -> tuple[float, float]:
        """What a hidden cell can be."""
        if cell not in self.column:
            return self.value[cell], self.value[cell]
        ends = []
        for sense in (1.0, -1.0):
            self.model.changeColsCost(len(self.column), np.arange(len(self.column), dtype=np.int32),
                                      np.zeros(len(self.column)))  # fmt: skip
            self.model.changeColCost(self.column[cell], sense)
            self.model.clearSolver()
            self.model.run()
            status = self.model.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                ends.append(float(self.model.getSolution().col_value[self.column[cell]]))
            else:
                assert status in UNBOUNDED, status
                ends.append(-sense * np.inf)
        return ends[0], ends[1]


def kept(table: Table, protection: Promise, cell: Cell, low: float, high: float) -> bool:
    """Whether an interval is as wide as asked for."""
    x = float(table.value[cell])
    need = max(protection.min_relative_range * abs(x), protection.min_range or 0.0)
    if protection.min_range is None and protection.min_relative_range > 0 and x == 0:
        others = table.value[(table.value != 0) & (table.status != Status.PRIMARY)]
        need = float(np.abs(others).min()) if others.size else 0.0
    below = float(table.below[cell]) if protection.levels and table.below is not None else 0.0
    over = float(table.above[cell]) if protection.levels and table.above is not None else 0.0
    if not high - low > need + CLOSE:
        return False
    if protection.sliding:
        return high - low >= below + over - CLOSE
    return high - x >= over - CLOSE and x - low >= below - CLOSE


def primaries(table: Table) -> list[Cell]:
    """Cells the rule caught."""
    return [tuple(c) for c in np.argwhere(table.status == Status.PRIMARY).tolist()]


def exposed_to_everybody(table: Table, protection: Promise, knowledge: Knowledge, whole: bool = False) -> set[Cell]:
    """Primary cells that anybody finds out too closely."""
    attacker = Attacker(table, knowledge, whole=whole)
    return {c for c in primaries(table) if not kept(table, protection, c, *attacker.interval(c))}


def exposed_to_single_firms(case: Firms, protection: Promise, knowledge: Knowledge) -> set[Cell]:
    """Primary cells that some firm finds out that is alone elsewhere and has no share in them."""
    found = set()
    for firm in case.alone():
        known = frozenset(c for c in case.knows(firm) if case.table.hidden[c])
        if not known:
            continue
        attacker = Attacker(case.table, knowledge, known)
        for cell in primaries(case.table):
            if firm in case.behind[cell] or cell in found:
                continue
            if not kept(case.table, protection, cell, *attacker.interval(cell)):
                found.add(cell)
    return found


def pairs_of(moves: MoveSet) -> int:
    """How many cuboids are the second of a pair: they protect a cell in a subtable where another one does too."""
    seen = [(cell, moves.where(k)) for k in range(len(moves)) for cell in moves.protected(k)]
    return len(seen) - len(set(seen))
