"""Small random tables in whole units, and an attacker of their own in rational numbers.

Only `World.table` and `World.promise` know diskret: they make its tables and promises, at any scale. Equations, rooms,
demands and insiders are worked out here from the definitions, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import Any, Literal

import numpy as np

import diskret as dk
from benchmarks.rational import Bound, Number, Region, Row, most_whole

Cell = tuple[str, ...]
Kind = Literal["usual", "none", "relative"]
TOP = "T"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is promised, in the units of the table."""

    guard: Literal["public", "single"] = "single"
    levels: bool = True
    sliding: bool = False
    relative: Fraction = Fraction(0)
    least: int | None = None
    kind: Kind = "usual"
    error: Fraction = Fraction(0)
    absolute: int = 0


@dataclass(frozen=True, kw_only=True)
class World:
    """A table over trees of codes: every cell by its codes."""

    trees: tuple[Mapping[str, str], ...]
    """Per classification the code each code adds to, up to the total."""
    leaf: Mapping[Cell, int]
    people: Mapping[Cell, int] | None = None
    """Contributors of the finest cells."""
    status: Mapping[Cell, str] = field(default_factory=dict)
    """Primary and secondary cells; all others are open."""
    level: Mapping[Cell, tuple[int, int]] = field(default_factory=dict)
    """How far below and above the value intervals must reach."""
    asked: Asked = Asked()
    frequency: bool = False

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def codes(self) -> list[list[str]]:
        """All codes of each classification."""
        return [[*tree, TOP] for tree in self.trees]

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(map(len, self.codes))

    def summed(self, finest: Mapping[Cell, int]) -> dict[Cell, int]:
        """All cells from the finest ones."""
        result = dict.fromkeys(product(*self.codes), 0)
        for cell, number in finest.items():
            for above in product(*(list(_up(tree, code)) for tree, code in zip(self.trees, cell, strict=True))):
                result[above] += number
        return result

    def lines(self) -> Iterator[tuple[Cell, list[Cell]]]:
        """Every sum with its parts."""
        for axis, tree in enumerate(self.trees):
            others = [[""] if a == axis else codes for a, codes in enumerate(self.codes)]
            for total in {*tree.values()}:
                parts = [code for code, above in tree.items() if above == total]
                for rest in product(*others):
                    yield _put(rest, axis, total), [_put(rest, axis, part) for part in parts]

    # --- as diskret has it -------------------------------------------------------------------------------------------

    def table(self, scale: float = 1.0) -> dk.Table:
        """The table with all numbers multiplied as a user would."""
        names = [f"c{axis}" for axis in range(len(self.trees))]
        columns: dict[str, list[Any]] = {n: [c[a] for c in self.leaf] for a, n in enumerate(names)}
        columns["x"] = [float(number) * scale for number in self.leaf.values()]
        more: dict[str, Any] = {}
        if self.people is not None:
            columns["n"] = [self.people[cell] for cell in self.leaf]
            more["count"] = "n"
        by = {n: dk.Hierarchy.from_parents(dict(tree)) for n, tree in zip(names, self.trees, strict=True)}
        table = dk.Table.from_cells(columns, by=by, value="x", frequency=self.frequency, **more)
        table = table.with_status(dk.Status.PRIMARY, [c for c, s in self.status.items() if s == "primary"])
        table = table.with_status(dk.Status.SECONDARY, [c for c, s in self.status.items() if s == "secondary"])
        below, above = np.zeros(table.shape), np.zeros(table.shape)
        for cell, (down, up) in self.level.items():
            at = table.index(*cell)
            below[at], above[at] = down * scale, up * scale
        return replace(table, below=below, above=above) if self.level else table

    def promise(self, scale: float = 1.0) -> dk.Promise:
        """The promise in the units of the multiplied table."""
        a = self.asked
        known = dk.Knowledge(kind=a.kind, error=float(a.error), absolute=a.absolute * scale)
        return dk.Promise(
            guard=a.guard, levels=a.levels, sliding=a.sliding, min_relative_range=float(a.relative),
            min_range=None if a.least is None else a.least * scale, knowledge=known,
        )  # fmt: skip

    def name(self, cell: Cell) -> str:
        """A cell as diskret calls it."""
        return ", ".join(f"c{axis}={code}" for axis, code in enumerate(cell))


class Attack:
    """What everybody and whoever is alone in a cell finds out, in exact numbers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.value = world.summed(world.leaf)
        self.hidden = [c for c in product(*world.codes) if c in world.status]
        number = {cell: i for i, cell in enumerate(self.hidden)}
        self.rows: list[Row] = []
        for total, parts in world.lines():
            row: Row = {number[part]: 1 for part in parts if part in number}
            row |= {number[total]: -1} if total in number else {}
            if row:
                self.rows.append(row)
        self.number = number
        self.low, self.high = self._rooms()
        self.persons = _persons(world) if world.asked.guard == "single" else []

    def _rooms(self) -> tuple[list[Bound], list[Bound]]:
        asked, low, high = self.world.asked, list[Bound](), list[Bound]()
        signs = asked.kind == "usual" and all(v >= 0 for v in self.value.values())
        for cell in self.hidden:
            v = self.value[cell]
            error: Bound = None
            if asked.kind == "relative":
                error = max(asked.error * abs(v), Fraction(asked.absolute))
            down = error if not signs else v if error is None else min(error, v)
            if self.world.frequency:
                error, down = (None if b is None else floor(b) for b in (error, down))
            low.append(None if down is None else -down)
            high.append(error)
        return low, high

    def demand(self, cell: Cell) -> tuple[Number, Number, Number]:
        """The length that must be exceeded, and how far down and up the interval must reach."""
        asked, v = self.world.asked, abs(self.value[cell])
        need: Number = asked.relative * v
        if asked.least is not None:
            need = max(need, asked.least)
        elif asked.relative > 0 and v == 0:
            others = [abs(x) for c, x in self.value.items() if x != 0 and self.world.status.get(c) != "primary"]
            need = min(others, default=0)
        return need, *(self.world.level.get(cell, (0, 0)) if asked.levels else (0, 0))

    def kept(self, cell: Cell, fall: Bound, rise: Bound) -> bool:
        """Whether a cell keeps what is demanded; None goes without end."""
        need, below, above = self.demand(cell)
        if self.world.asked.sliding:
            enough = fall is None or rise is None or fall + rise >= below + above
        else:
            enough = (fall is None or fall >= below) and (rise is None or rise >= above)
        return enough and (fall is None or rise is None or fall + rise > need)

    def reach(self, cell: Cell, known: frozenset[Cell] = frozenset()) -> tuple[Bound, Bound]:
        """How far a cell can fall and rise for somebody who knows some cells exactly."""
        low, high = list(self.low), list(self.high)
        for each in known & self.number.keys():
            low[self.number[each]] = high[self.number[each]] = 0
        at = self.number[cell]
        if not self.world.frequency:
            region = Region.of(self.rows, low, high)
            assert region is not None
            return region.most(at, -1), region.most(at, 1)
        need, below, above = self.demand(cell)
        enough = floor(need) + below + above + 1
        fall, rise = (most_whole(self.rows, low, high, at, side, enough) for side in (-1, 1))
        return fall, rise

    def exposed(self) -> dict[Cell, tuple[frozenset[Cell], ...]]:
        """Exposed cells with the persons who find them out; nobody in particular if everybody does."""
        found: dict[Cell, tuple[frozenset[Cell], ...]] = {}
        for cell in (c for c in self.hidden if self.world.status[c] == "primary"):
            if not self.kept(cell, *self.reach(cell)):
                found[cell] = ()
                continue
            strangers = [p for p in self.persons if not _behind(self.world, p, cell)]
            by = [p for p in strangers if not self.kept(cell, *self.reach(cell, p))]
            if by:
                found[cell] = tuple(by)
        return found


def _persons(world: World) -> list[frozenset[Cell]]:
    """Who is alone somewhere, by all cells he is alone in, if he knows a hidden one."""
    if world.people is not None:
        alone = {c for c, n in world.summed(world.people).items() if n == 1}
    elif world.frequency:
        alone = {c for c, n in world.summed(world.leaf).items() if n == 1}
    else:
        return []
    groups = {cell: {cell} for cell in alone}
    for total, parts in world.lines():
        for part in parts:
            if total in alone and part in alone and groups[total] is not groups[part]:
                merged = groups[total] | groups[part]
                groups |= dict.fromkeys(merged, merged)
    return [frozenset(g) for g in {id(g): g for g in groups.values()}.values() if g & world.status.keys()]


def _behind(world: World, person: frozenset[Cell], cell: Cell) -> bool:
    """Whether somebody contributes to a cell: it is one of his, or a sum above one."""
    return any(
        all(code in _up(tree, own) for tree, own, code in zip(world.trees, mine, cell, strict=True)) for mine in person
    )


def _up(tree: Mapping[str, str], code: str) -> Iterator[str]:
    """A code and all sums over it."""
    yield code
    while code in tree:
        code = tree[code]
        yield code


def _put(cell: Cell, axis: int, code: str) -> Cell:
    return (*cell[:axis], code, *cell[axis + 1 :])


# --- at random -------------------------------------------------------------------------------------------------------


def random_tree(rng: Any, name: str, most: int) -> dict[str, str]:
    """Flat, with groups, or tall; total on top."""
    leaves = [f"{name}{i}" for i in range(int(rng.integers(2, most + 1)))]
    shape = rng.choice(["flat", "groups", "tall"])
    if shape == "flat" or len(leaves) < 3:
        return dict.fromkeys(leaves, TOP)
    if shape == "tall":
        sums = [f"{name}s{i}" for i in range(len(leaves) - 2)]
        tree = {leaves[0]: sums[0]} | dict(zip(leaves[1:-1], sums, strict=True))
        return tree | dict(zip(sums, [*sums[1:], TOP], strict=True)) | {leaves[-1]: TOP}
    cut = int(rng.integers(1, len(leaves) - 1))
    return {leaf: f"{name}s{int(i > cut)}" for i, leaf in enumerate(leaves)} | {f"{name}s{i}": TOP for i in (0, 1)}


def random_world(rng: Any, *, small: bool = True, mixed: bool = False) -> World:
    """A table with a random pattern; ``mixed``: values of all sizes from 1 to 1e12."""
    axes = int(rng.choice([1, 2, 2, 3]))
    most = {1: 7, 2: 4, 3: 3}[axes] if small else {1: 30, 2: 8, 3: 5}[axes]
    trees = tuple(random_tree(rng, "abc"[axis], most) for axis in range(axes))
    finest = list(product(*([code for code in tree if code not in tree.values()] for tree in trees)))
    frequency = bool(not mixed and rng.random() < 0.15)
    values = _values(rng, len(finest), frequency=frequency, mixed=mixed)
    people = None
    if not frequency and rng.random() < 0.7:
        people = {c: int(rng.choice([1, 1, 2, 3, 5, 9])) if v else 0 for c, v in zip(finest, values, strict=True)}
    world = World(trees=trees, leaf=dict(zip(finest, values, strict=True)), people=people, frequency=frequency)
    cells = list(product(*world.codes))
    share = rng.choice([0.2, 0.35, 0.5, 0.7])
    hidden = [c for c in cells if rng.random() < share] or [cells[0]]
    status = {c: "primary" if i == 0 or rng.random() < 0.4 else "secondary" for i, c in enumerate(hidden)}
    world = replace(world, status=status)
    return replace(world, level=_levels(rng, world), asked=random_asked(rng, world))


def _values(rng: Any, number: int, *, frequency: bool, mixed: bool) -> list[int]:
    if frequency:
        return [int(x) for x in rng.integers(0, 7, number)]
    if mixed:
        return [int(10 ** rng.uniform(0, 12)) for _ in range(number)]
    high = int(rng.choice([9, 100, 10_000, 1_000_000]))
    values = rng.integers(-high if rng.random() < 0.2 else 0, high + 1, number)
    return [0 if rng.random() < 0.1 else int(x) for x in values]


def _levels(rng: Any, world: World) -> dict[Cell, tuple[int, int]]:
    """As p% would ask for of cells with one contributor, in whole units; or none."""
    if world.frequency or rng.random() < 0.4:
        return {}
    percent = int(rng.choice([1, 8, 15, 60]))
    size = {c: abs(v) for c, v in world.summed(world.leaf).items()}
    asked = {c: -(-percent * size[c] // 100) for c, s in world.status.items() if s == "primary"}
    return {c: (n, n) for c, n in asked.items()}


def random_asked(rng: Any, world: World) -> Asked:
    """A promise."""
    kind: Kind = "usual" if world.frequency else str(rng.choice(["usual", "usual", "usual", "none", "relative"]))  # type: ignore[assignment]
    return Asked(
        guard="single" if rng.random() < 0.8 else "public", sliding=bool(rng.random() < 0.25),
        relative=Fraction(int(rng.choice([0, 0, 1, 2, 6])), 4),
        least=int(rng.integers(0, 9)) if rng.random() < 0.3 else None,
        kind=kind, error=Fraction(1, 2) if kind == "relative" else Fraction(0),
        absolute=int(rng.integers(0, 4)) if kind == "relative" else 0,
    )  # fmt: skip


def on_the_border(rng: Any, world: World) -> World:
    """The same table with a demand exactly where the reach of a primary cell ends, or one unit beside it."""
    attack = Attack(world)
    primaries = [c for c in attack.hidden if world.status[c] == "primary"]
    cell = primaries[int(rng.integers(len(primaries)))]
    known = (
        attack.persons[int(rng.integers(len(attack.persons)))] if attack.persons and rng.random() < 0.5 else frozenset()
    )
    fall, rise = attack.reach(cell, known)
    beside = int(rng.integers(-1, 2))
    if world.frequency or rng.random() < 0.4:
        length = None if fall is None or rise is None else max(0, floor(fall + rise) + beside)
        return replace(world, asked=replace(world.asked, least=length, relative=Fraction(0)))
    down, up = (0 if b is None else max(0, floor(b) + (beside if b else 0)) for b in (fall, rise))
    asked = replace(world.asked, least=None, relative=Fraction(0))
    return replace(world, level=dict(world.level) | {cell: (down, up)}, asked=asked)
