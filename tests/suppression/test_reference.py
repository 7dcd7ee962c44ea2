"""The engine against a slow reading of section 1 of the reproduction matrix: cell for cell on random tables.

The reference knows no pruning, no kernels and no arrays. It lists all cuboids of a pivot, all pairs of them, and takes
the first of the lowest rank. What the matrix leaves open it settles like the engine, each place marked *open*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Cost, Hierarchy, Knowledge, Promise, Status, Table, methods, suppress
from diskret.model import rollup
from diskret.model.contributors import Contributors
from diskret.model.promise import Guard
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


Cell = tuple[int, ...]
Draw = Callable[[int, int], int]
"""A whole number from a range, ends included: from hypothesis or from a seeded generator."""


# --- the reference ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subtable:
    """One segment per dimension: parts in file order, their total last. A fixed dimension has one code."""

    indices: tuple[int, ...]
    segments: tuple[tuple[int, ...], ...]

    def cells(self) -> Iterator[Cell]:
        return product(*self.segments)

    def totals(self, cell: Cell) -> list[bool]:
        """In which dimensions a cell is a total."""
        return [len(s) > 1 and i == s[-1] for i, s in zip(cell, self.segments, strict=True)]

    def diametral(self, cell: Cell) -> Iterator[Cell]:
        """Cells that differ in every dimension that is not fixed; dimension 1 outermost, total last."""
        return product(
            *([i for i in s if i != own] if len(s) > 1 else s for own, s in zip(cell, self.segments, strict=True))
        )


@dataclass(frozen=True)
class Cuboid:
    cells: tuple[Cell, ...]
    up: float
    down: float
    singles: frozenset[Cell]


Rank = tuple[int, float, float]


def before(a: Rank, b: Rank) -> bool:
    """Fewer cells, then lower margin rank, then lower cost; costs that differ by rounding only are equal."""
    return a[:2] < b[:2] or (a[:2] == b[:2] and b[2] - a[2] > 1e-12 * abs(a[2]))


class Reference:
    """Section 1 of the reproduction matrix, matching mode, intervals not carried."""

    def __init__(
        self, table: Table, q: float = 0.0, knowledge: Knowledge = Knowledge.none(), cost: str = "value",  # noqa: B008
        zeros: str = "marked", barriers: Mapping[str, int] | None = None, singles: bool = True,
        non_additive: tuple[str, ...] = (), distance: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.table, self.q = table, q
        every = list(product(*(range(n) for n in table.shape)))
        self.value = {c: float(table.value[c]) for c in every}
        status = {c: Status(int(table.status[c])) for c in every}
        self.primary = {c for c in every if status[c] == Status.PRIMARY}
        self.hidden = {c for c in every if status[c].hidden}
        self.partners = {c for c in every if self._partner(status[c], self.value[c], zeros)}
        self.single = {c for c in every if singles and table.respondents is not None and table.count[c] == 1}
        self.bounds = {c: self._bounds(c, knowledge) for c in every}
        self.price = self._prices(cost)
        self.barrier = [1] * len(table.by) if barriers is None else [barriers.get(n, 0) for n in table.by]
        self.powers = [(distance or {}).get(n, 0) for n in table.by] if distance and any(distance.values()) else None
        self.creator: dict[Cell, Subtable] = {}
        self.unprotected: dict[Cell, float] = {}
        self.subtables = self._subtables(non_additive)

    @staticmethod
    def _partner(status: Status, value: float, zeros: str) -> bool:
        if status == Status.ZERO:
            return zeros != "forbidden"
        return status == Status.OPEN and (value != 0 or zeros == "allowed")

    def _bounds(self, cell: Cell, knowledge: Knowledge) -> tuple[float, float]:
        x = self.value[cell]
        low, high = -math.inf, math.inf
        if knowledge.kind == "positive":
            low = 0.0
        elif knowledge.kind == "relative":
            error = max(knowledge.error * abs(x), knowledge.absolute)
            low, high = x - error, x + error
        elif knowledge.kind == "intervals":
            low, high = float(present(self.table.lower)[cell]), float(present(self.table.upper)[cell])
        return low, high

    def _prices(self, cost: str) -> dict[Cell, float]:
        size = {c: abs(x) for c, x in self.value.items()}
        if cost == "unity":
            return dict.fromkeys(size, 1.0)
        if cost == "value":
            return size
        least, most = min((x for x in size.values() if x), default=1), max(size.values())
        width = math.log(most / least) if most > least else math.inf
        return {c: math.log(x / least) / width * 99_999 + 1 if x else 0.0 for c, x in size.items()}

    def _subtables(self, non_additive: tuple[str, ...]) -> list[Subtable]:
        """By descending sum of aggregation indices, then by indices and positions."""
        axes = []
        for name, h in self.table.by.items():
            parts = {c: tuple(h.index(p) for p in h.parts(h.codes[c])) for c in range(len(h))}
            own: list[tuple[int, Cell]] = [(int(h.levels[c]) - 1, (*parts[c], c)) for c in range(len(h)) if parts[c]]
            alone: list[tuple[int, Cell]] = [
                (0, (c,)) for c in range(len(h)) if len(h) == 1 or (parts[c] and name in non_additive)
            ]
            axes.append(own + alone)
        found = [Subtable(tuple(i for i, _ in choice), tuple(s for _, s in choice)) for choice in product(*axes)]
        return sorted(found, key=lambda s: (-sum(s.indices), s.indices))

    def run(self) -> Reference:
        while True:
            seen = len(self.hidden)
            self.unprotected = {}
            for subtable in self.subtables:
                for pivot in self.pivots(subtable):
                    self.secure(subtable, pivot)
            if len(self.hidden) == seen:
                return self

    def pivots(self, subtable: Subtable) -> list[Cell]:
        """Primaries column by column, then incoming secondaries by ascending value."""
        if all(len(s) == 1 for s in subtable.segments):
            return []
        inside = [c for c in subtable.cells() if c in self.hidden]
        inside = [c for c in inside if self.person(subtable, c) is not None]
        primaries = sorted((c for c in inside if c in self.primary), key=lambda c: self._file_order(subtable, c))
        incoming = [c for c in inside if c not in self.primary and self.creator.get(c) != subtable]
        # *open*: negative values by their size, equal values in file order with dimension 1 outermost
        return primaries + sorted(incoming, key=lambda c: abs(self.value[c]))

    @staticmethod
    def _file_order(subtable: Subtable, cell: Cell) -> list[int]:
        return [s.index(i) for i, s in zip(cell, subtable.segments, strict=True)][::-1]

    def cuboid(self, subtable: Subtable, pivot: Cell, diametral: Cell) -> Cuboid:
        """Cells, the span by formulas (7a) and (7b), and the single contributors inside the subtable."""
        moved = [i for i, (g, d) in enumerate(zip(pivot, diametral, strict=True)) if g != d]
        cells: list[Cell] = []
        even: list[Cell] = []
        odd: list[Cell] = []
        for digits in product((0, 1), repeat=len(moved)):
            taken = {i for i, digit in zip(moved, digits, strict=True) if digit}
            cell = tuple(d if i in taken else g for i, (g, d) in enumerate(zip(pivot, diametral, strict=True)))
            cells.append(cell)
            parity = len(taken) + sum(subtable.totals(cell))  # level sum: totals are one level above the rest
            (odd if parity % 2 else even).append(cell)
        same, other = (odd, even) if pivot in odd else (even, odd)
        above = {c: self.bounds[c][1] - self.value[c] for c in cells}
        below = {c: self.value[c] - self.bounds[c][0] for c in cells}
        up = min([above[c] for c in same] + [below[c] for c in other])
        down = min([below[c] for c in same] + [above[c] for c in other])
        people = {self.person(subtable, c) for c in cells if c in self.single} - {self.person(subtable, pivot)}
        return Cuboid(tuple(cells), up, down, frozenset(p for p in people if p is not None))

    def person(self, subtable: Subtable, cell: Cell) -> Cell | None:
        """The respondent alone in a cell, by its cell inside; None: a margin protected together with it (rule 3)."""
        totals = subtable.totals(cell)
        if cell not in self.single or not any(totals):
            return cell
        spread = [s[:-1] if t else (i,) for i, s, t in zip(cell, subtable.segments, totals, strict=True)]
        parts = list(product(*spread))
        twins = [c for c in parts if c in self.single]
        others = [c for c in parts if c not in self.single and (c in self.hidden or c in self.partners)]
        if len(twins) != 1:
            return None
        return None if not others and twins[0] in self.primary else twins[0]

    def admissible(self, cuboid: Cuboid, pivot: Cell) -> bool:
        # *open*: a cell that is hidden already is usable, zero or not; the span decides
        if not all(c in self.hidden or c in self.partners for c in cuboid.cells):
            return False
        needed = self.q * abs(self.value[pivot]) if pivot in self.primary else 0.0
        if pivot in self.primary and self.q and not self.value[pivot]:
            needed = min((abs(x) for c, x in self.value.items() if x and c not in self.primary), default=0.0)
        return cuboid.up + cuboid.down > needed

    def rank(self, subtable: Subtable, *cuboids: Cuboid) -> Rank:
        """Of the union of the new cells; the pivot is the first cell of every cuboid."""
        new = {c for q in cuboids for c in q.cells} - self.hidden
        pivot = cuboids[0].cells[0]
        margin = sum(b for c in new for b, total in zip(self.barrier, subtable.totals(c), strict=True) if total)
        return len(new), margin, math.fsum(self.price[c] * self._distance(subtable, c, pivot) for c in new)

    def _distance(self, subtable: Subtable, cell: Cell, pivot: Cell) -> float:
        """Sum of powers of the gaps (5.3.3); a gap of zero counts 1 with power 0, else nothing."""
        if self.powers is None:
            return 1.0
        open_axes = [i for i, s in enumerate(subtable.segments) if len(s) > 1]
        gaps = [(abs(cell[i] - pivot[i]), self.powers[i]) for i in open_axes]
        return sum(float(gap) ** p if gap else float(p == 0) for gap, p in gaps)

    def secure(self, subtable: Subtable, pivot: Cell) -> None:
        """Check, then choose: one comparison over clean cuboids and pairs with no single in common."""
        every = [self.cuboid(subtable, pivot, d) for d in subtable.diametral(pivot)]
        good = [q for q in every if self.admissible(q, pivot)]
        # *open*: pairs come in the order of their worse member
        doubtful = sorted((q for q in good if q.singles), key=lambda q: self.rank(subtable, q))
        options: list[tuple[Cuboid, ...]] = [(q,) for q in good if not q.singles]
        options += [(a, b) for j, b in enumerate(doubtful) for a in doubtful[:j] if not a.singles & b.singles]
        if any(self.rank(subtable, *o)[0] == 0 for o in options):
            return
        if not options:
            usable = [q for q in every if all(c in self.hidden or c in self.partners for c in q.cells)]
            reached = max((q.up + q.down for q in usable), default=0.0)
            self.unprotected[pivot] = min(reached, self.unprotected.get(pivot, math.inf))
            return
        best, lowest = options[0], self.rank(subtable, *options[0])
        for option in options[1:]:
            rank = self.rank(subtable, *option)
            if before(rank, lowest):
                best, lowest = option, rank
        for cell in {c for q in best for c in q.cells} - self.hidden:
            self.creator[cell] = subtable
            self.hidden.add(cell)

    @property
    def secondary(self) -> set[Cell]:
        return self.hidden - self.primary


# --- random tables ----------------------------------------------------------------------------------------------------

CODES = {1: 10, 2: 7, 3: 5, 4: 3}
"""Most codes per dimension, total included."""


def some_hierarchy(draw: Draw, most: int) -> Hierarchy:
    """Any tree: flat, deep, ragged, with single parts."""
    size = draw(2, most)
    if draw(0, 1):
        return Hierarchy.flat([f"c{i}" for i in range(1, size)], total="c0")
    return Hierarchy.from_parents({f"c{i}": f"c{draw(0, i - 1)}" for i in range(1, size)})


def some_table(draw: Draw, *, signed: bool, large: bool) -> Table:
    """A table with zeros, singles (open ones too), cells that must stay open and secondaries from elsewhere."""
    dimensions = draw(1, 4)
    by = {"abcd"[d]: some_hierarchy(draw, CODES[dimensions]) for d in range(dimensions)}
    if dimensions == 2 and not draw(0, 9):
        by["fixed"] = Hierarchy(("all",), (-1,), ("all",))
    inner = rollup.inner_cells(tuple(by.values()))
    value, count = np.zeros(inner.shape), np.zeros(inner.shape, dtype=np.int64)
    for at in map(tuple, np.argwhere(inner)):
        if draw(0, 5):
            value[at] = draw(1, 99_999 if large else 20) * (draw(0, 1) * 2 - 1 if signed else 1)
            count[at] = draw(1, 5)
        else:
            count[at] = max(draw(-3, 1), 0)
    rollup.add_up(value, tuple(by.values()))
    rollup.add_up(count, tuple(by.values()))
    status = np.zeros(inner.shape, dtype=np.uint8)
    for at in np.ndindex(inner.shape):
        kind = draw(0, 24)
        if value[at] == 0 and kind > 3:
            status[at] = (Status.OPEN, Status.ZERO, Status.STRUCTURAL_ZERO)[kind % 3]
        elif 0 < count[at] < 3 and kind > 1:
            status[at] = Status.PRIMARY
        elif kind in (2, 3):
            status[at] = (Status.PRIMARY, Status.SECONDARY)[kind - 2]
        elif kind == 4:
            status[at] = (Status.NEVER, Status.PUBLISHED)[draw(0, 1)]
    lower, upper = value.copy(), value.copy()
    for at in np.ndindex(inner.shape):
        lower[at] -= (draw(0, 24), np.inf)[draw(0, 5) == 0]
        upper[at] += (draw(0, 24), np.inf)[draw(0, 5) == 0]
    return Table(by, "x", value, status, Contributors(count), lower=lower, upper=upper)


def some_case(draw: Draw, make: Callable[..., Table] = some_table) -> tuple[Table, dict[str, Any]]:
    """A table and the options of the reference."""
    cost = ("value", "log", "unity")[draw(0, 2)]
    signed = draw(0, 3) == 0
    # under log classes small values give ties of different cells that only exact logarithms would see
    table = make(draw, signed=signed, large=cost == "log")
    known = [Knowledge.none(), Knowledge.relative(0.5, 2.0), Knowledge.intervals(), Knowledge.positive()]
    options: dict[str, Any] = {
        "knowledge": known[draw(0, 2 if signed else 3)],
        "q": (0.0, 0.25, 0.5, 1.25)[draw(0, 3)],
        "cost": cost,
        "zeros": ("marked", "allowed", "forbidden")[draw(0, 2)],
        "barriers": (None, {}, {n: draw(-1, 1) for n in table.by})[draw(0, 2)],
        "singles": draw(0, 4) > 0,
    }
    if draw(0, 4) == 0:
        options["non_additive"] = (table.names[draw(0, len(table.names) - 1)],)
    if cost == "value" and draw(0, 4) == 0:
        options["distance"] = {n: draw(-1, 2) for n in table.by}
    return table, options


def engine(
    table: Table, q: float, cost: Any, barriers: Any, singles: bool, knowledge: Knowledge, distance: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    guard: Guard = "single" if singles else "public"
    method = methods.Cuboids(
        cost=Cost(cost, distance=distance or {}), barriers="on" if barriers is None else barriers or "off", thin=False,
        **{"threads": 1} | options,
    )  # fmt: skip
    return suppress(table, Promise(guard=guard, levels=False, min_relative_range=q, knowledge=knowledge), method)


def cells_where(chosen: Any) -> set[Cell]:
    return {tuple(int(i) for i in at) for at in np.argwhere(chosen)}


def agree(table: Table, options: dict[str, Any]) -> None:
    found = engine(table, **options)
    wanted = Reference(table, **options).run()
    assert cells_where(found.table.status == Status.SECONDARY) == wanted.secondary
    assert {u.index: u.reached for u in found.unprotected} == pytest.approx(wanted.unprotected)


def seeded(seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    return lambda low, high: int(rng.integers(low, high + 1))


@given(st.data())
def test_engine_reads_the_rules_as_the_reference_does(data: st.DataObject) -> None:
    agree(*some_case(lambda low, high: data.draw(st.integers(low, high))))


@pytest.mark.parametrize("block", range(4))
def test_engine_and_reference_agree_on_seeded_tables(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        agree(*some_case(seeded(seed)))


def table_of_singles(draw: Draw, *, signed: bool, large: bool) -> Table:
    """Nearly everybody is alone in his cell and totals must stay open: pairs compete with pairs, by their cost."""
    dimensions = draw(1, 3)
    by = {n: Hierarchy.flat([f"c{i}" for i in range(draw(3, CODES[dimensions] - 1))]) for n in "abc"[:dimensions]}
    inner = rollup.inner_cells(tuple(by.values()))
    value = np.zeros(inner.shape)
    for at in map(tuple, np.argwhere(inner)):
        value[at] = draw(1, 99_999 if large else 20) * (draw(0, 1) * 2 - 1 if signed else 1)
    count = np.where(inner & np.array([draw(0, 9) > 0 for _ in range(inner.size)]).reshape(inner.shape), 1, 2)
    status = np.where(inner, Status.OPEN, (Status.OPEN, Status.NEVER)[draw(0, 4) > 0]).astype(np.uint8)
    for _ in range(draw(1, 3)):
        status[tuple(draw(0, n - 2) for n in inner.shape)] = Status.PRIMARY
    rollup.add_up(value, tuple(by.values()))
    return Table(by, "x", value, status, Contributors(count), lower=value - 9, upper=value + 9)


def test_pairs_of_cuboids_are_chosen_alike() -> None:
    pairs = 0
    for seed in range(60):
        table, options = some_case(seeded(1000 + seed), table_of_singles)
        options |= {"singles": True, "q": 0.0}
        agree(table, options)
        pairs += by_hand.pairs_of(engine(table, **options).moves)
    assert pairs > 50


def test_threads_change_nothing() -> None:
    for seed in range(60):
        table, options = some_case(seeded(2000 + seed))
        one, four, again = (engine(table, **options, threads=n) for n in (1, 4, 4))
        for other in (four, again):
            assert (one.table.status == other.table.status).all()
            assert (one.table.creator == other.table.creator).all()
            assert one.unprotected == other.unprotected
            for field in ("start", "cells", "coefficients", "up", "down", "protected_cells", "subtable"):
                assert getattr(one.moves, field).tolist() == getattr(other.moves, field).tolist()
