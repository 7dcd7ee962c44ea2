"""Certificates without a solver: products of elementary moves hold in every equation and say only what is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, Knowledge, Promise, Status, Table
from diskret.model import rollup
from diskret.model.equations import equations_of
from diskret.model.workers import Threads
from diskret.moves import cuboids
from diskret.moves.cover import Cover
from diskret.moves.cuboids import cuboid_moves
from diskret.moves.demands import DOWN, LENGTH, UP, Demands, demands_of
from diskret.moves.insiders import Insiders, insiders_of
from diskret.moves.move import MoveSet

Move = dict[tuple[int, ...], int]
UNLIMITED = 10**9
MANY = 200


# --- the readable twin: all products, written out -------------------------------------------------------------------


def elementary_moves(tree: Hierarchy) -> Iterator[dict[int, int]]:
    """Every leaf chain up to the total, and every difference of two leaf chains (both ways round)."""
    chains = []
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        chain = [leaf]
        while tree.parents[chain[-1]] >= 0:
            chain.append(tree.parents[chain[-1]])
        chains.append(chain)
        yield dict.fromkeys(chain, 1)
    for one, other in combinations(chains, 2):
        rises, falls = set(one) - set(other), set(other) - set(one)
        yield dict.fromkeys(rises, 1) | dict.fromkeys(falls, -1)
        yield dict.fromkeys(rises, -1) | dict.fromkeys(falls, 1)


def all_products(table: Table, pivot: tuple[int, ...]) -> Iterator[Move]:
    """Every product in which the pivot rises by one."""
    through = [[m for m in elementary_moves(h) if m.get(p) == 1] for h, p in zip(table.hierarchies, pivot, strict=True)]
    for chosen in product(*through):
        yield {at: int(np.prod([m[c] for m, c in zip(chosen, at, strict=True)])) for at in product(*chosen)}


@dataclass(frozen=True, eq=False)
class Case:
    """A table with demands, rooms and insiders."""

    table: Table
    demands: Demands
    insiders: Insiders
    up: np.ndarray
    down: np.ndarray

    @property
    def hidden(self) -> np.ndarray:
        return self.table.hidden.reshape(-1)

    def search(self, **options: Any) -> tuple[MoveSet, np.ndarray]:
        asked = np.arange(self.demands.ways.size)
        return cuboid_moves(
            self.table, self.hidden, asked, self.demands.ways, self.insiders, self.up, self.down, **options
        )

    def knowledge(self, cell: int) -> dict[int, tuple[float, float]]:
        """Who knows something about a cell, and which rooms he leaves it."""
        entries = range(self.insiders.start[cell], self.insiders.start[cell + 1])
        return {int(self.insiders.who[e]): (float(self.insiders.up[e]), float(self.insiders.down[e])) for e in entries}

    def objectors(self, demand: int, move: Move) -> frozenset[int] | None:
        """Who objects to a move as the proof of a demand; None if it is no proof for anybody."""
        pivot, amount = int(self.demands.ways.cell[demand]), float(self.demands.ways.least[demand])
        flat = {int(np.ravel_multi_index(at, self.table.shape)): sign for at, sign in move.items()}
        if not self.hidden[list(flat)].all():
            return None

        def carried(rooms: dict[int, tuple[float, float]]) -> bool:
            forth = min(rooms[cell][0 if sign > 0 else 1] for cell, sign in flat.items())
            back = min(rooms[cell][1 if sign > 0 else 0] for cell, sign in flat.items())
            return {UP: forth, DOWN: back, LENGTH: forth + back}[int(self.demands.ways.kind[demand])] >= amount

        public = {cell: (float(self.up[cell]), float(self.down[cell])) for cell in flat}
        if not carried(public):
            return None
        known = {cell: self.knowledge(cell) for cell in flat}
        others = {who for cell in flat for who in known[cell]} - set(known[pivot])
        return frozenset(
            who
            for who in others
            if not carried({c: tuple(map(min, known[c].get(who, public[c]), public[c])) for c in flat})  # type: ignore[misc]
        )

    def by_trying(self, demand: int) -> list[frozenset[int]]:
        """Objectors of every product that settles a demand."""
        pivot = tuple(int(i) for i in np.unravel_index(self.demands.ways.cell[demand], self.table.shape))
        found = (self.objectors(demand, move) for move in all_products(self.table, pivot))
        return [o for o in found if o is not None]


def tree(draw: st.DrawFn, most: int) -> Hierarchy:
    """Ragged, with sums of a single part."""
    size = draw(st.integers(2, most))
    return Hierarchy.from_parents({f"c{i}": f"c{draw(st.integers(0, i - 1))}" for i in range(1, size)})


@st.composite
def cases(draw: st.DrawFn, guarded: bool = False) -> Case:
    """Random tables of one to four classifications with a random pattern, random rooms and demands of all kinds."""
    trees = [tree(draw, most) for most in draw(st.sampled_from([(12,), (7, 7), (8, 4), (5, 5, 4), (4, 4, 3, 3)]))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(len(h) for h in trees)
    value = np.where(rollup.inner_cells(trees), rng.integers(1, 30, shape), 0).astype(float)
    rollup.add_up(value, trees)
    size = value.size
    hidden = rng.random(shape) < draw(st.sampled_from([0.5, 0.7, 0.9, 1.0]))
    primary = hidden & (rng.random(shape) < min(1.0, 8 / size))
    status = np.where(primary, Status.PRIMARY, np.where(hidden, Status.SECONDARY, Status.OPEN)).astype(np.uint8)
    below, above = (
        np.floor(value * rng.choice([0, 0.2, 0.6], shape)),
        np.floor(value * rng.choice([0, 0.2, 0.6], shape)),
    )
    table = Table(
        {f"d{i}": h for i, h in enumerate(trees)}, "x", value, status, below=below, above=above, positive=True
    )
    demands = demands_of(table, Promise(min_relative_range=draw(st.sampled_from([0.0, 0.3]))))
    up, down = Knowledge.positive().room(table)
    up = np.where(rng.random(size) < 0.5, up, rng.integers(0, 40, size))
    insiders = insiders_of(table, Promise(guard="public"))
    if guarded:
        # some know several cells exactly, others one cell to within something
        exact = int(rng.integers(0, 1 + size // 2))
        vague = int(rng.integers(0, 1 + size // 3))
        pairs = np.unique(np.stack([rng.integers(0, size, exact), rng.integers(0, 4, exact)], axis=1), axis=0)
        cells = np.concatenate([pairs[:, 0], rng.integers(0, size, vague)])
        who = np.concatenate([pairs[:, 1], 4 + np.arange(vague)])
        above, below = (
            np.concatenate([np.zeros(len(pairs)), rng.integers(0, 20, vague).astype(float)]) for _ in range(2)
        )
        insiders = Insiders.of(
            table,
            cells.astype(np.int64),
            who.astype(np.int64),
            above,
            below,
            tuple("somebody" for _ in range(4 + vague)),
        )
    return Case(table, demands, insiders, up, down)


def moves_of(found: tuple[MoveSet, np.ndarray]) -> dict[int, list[tuple[np.ndarray, np.ndarray]]]:
    """Moves by demand."""
    result: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for move, demand in zip(found[0], found[1].tolist(), strict=True):
        result.setdefault(demand, []).append((move.cells, move.coefficients))
    return result


@settings(max_examples=MANY)
@given(cases())
def test_a_certificate_is_found_exactly_when_there_is_one(case: Case) -> None:
    found = set(case.search(effort=UNLIMITED)[1].tolist())
    assert found == {d for d in range(case.demands.ways.size) if case.by_trying(d)}


@settings(max_examples=MANY)
@given(cases(guarded=True))
def test_first_move_has_fewest_objectors_and_the_second_shares_none(case: Case) -> None:
    found = moves_of(case.search(effort=UNLIMITED))
    cover = Cover(case.demands, case.insiders, case.up, case.down, case.table.shape)
    for demand in range(case.demands.ways.size):
        possible = case.by_trying(demand)
        objecting = [cover.judge(*move).settles[demand] for move in found.get(demand, [])]
        assert bool(objecting) == bool(possible)
        if not possible:
            continue
        assert len(objecting[0]) == min(map(len, possible))
        shares_none = [o for o in possible if not o & objecting[0]]
        assert len(objecting) == (2 if objecting[0] and shares_none else 1)
        assert not objecting[0] or len(objecting) == 1 or not objecting[0] & objecting[1]


@settings(max_examples=MANY)
@given(cases(guarded=True))
def test_every_move_holds_in_all_equations_uses_hidden_cells_only_and_is_accepted(case: Case) -> None:
    found = case.search()
    cover = Cover(case.demands, case.insiders, case.up, case.down, case.table.shape)
    everything = equations_of(case.table, np.ones(case.table.shape, dtype=np.bool_))
    assert found[0].start[0] == 0
    assert found[0].start[-1] == found[0].cells.size
    for move, demand in zip(found[0], found[1].tolist(), strict=True):
        cells, coefficients = move.cells, move.coefficients
        assert (cells[0], coefficients[0]) == (case.demands.ways.cell[demand], 1.0)
        assert np.unique(cells).size == cells.size
        assert case.hidden[cells].all()
        assert set(np.abs(coefficients)) == {1.0}
        change = np.zeros(case.table.size)
        change[cells] = coefficients
        assert not everything.times(change).any()
        assert demand in cover.judge(cells, coefficients).settles


# --- an independent solver ------------------------------------------------------------------------------------------


def farthest(table: Table, up: np.ndarray, down: np.ndarray, cell: int) -> tuple[float, float]:
    """How far a cell can go up and down within the rooms, by a programme with the equations written out by hand."""
    shape = table.shape
    hidden = np.flatnonzero(table.hidden).tolist()
    column = {flat: i for i, flat in enumerate(hidden)}
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    for flat in hidden:
        model.addVar(-down[flat], min(up[flat], highspy.kHighsInf))
    for axis, hierarchy in enumerate(table.hierarchies):
        for top in np.flatnonzero(~hierarchy.is_leaf).tolist():
            parts = [i for i, p in enumerate(hierarchy.parents) if p == top]
            for rest in np.ndindex(*[n for a, n in enumerate(shape) if a != axis]):
                line = [int(np.ravel_multi_index((*rest[:axis], i, *rest[axis:]), shape)) for i in [top, *parts]]
                entries = [(column[f], -1.0 if k == 0 else 1.0) for k, f in enumerate(line) if f in column]
                if entries:
                    index, factor = zip(*entries, strict=True)
                    model.addRow(0.0, 0.0, len(index), np.array(index, dtype=np.int32), np.array(factor))
    ends = []
    for sense in (-1.0, 1.0):
        model.changeColCost(column[cell], sense)
        model.run()
        solved = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
        ends.append(abs(model.getSolution().col_value[column[cell]]) if solved else np.inf)
    return ends[0], ends[1]


@settings(max_examples=MANY)
@given(cases(guarded=True))
def test_a_solver_never_refutes_a_certificate_for_outsiders_or_insiders(case: Case) -> None:
    cover = Cover(case.demands, case.insiders, case.up, case.down, case.table.shape)
    for demand, moves in list(moves_of(case.search()).items())[:4]:
        cell, kind, amount = (
            int(case.demands.ways.cell[demand]),
            case.demands.ways.kind[demand],
            case.demands.ways.amount[demand],
        )
        left = frozenset.intersection(*[cover.judge(*move).settles[demand] for move in moves])
        judges: list[int | None] = [None, *set(case.insiders.who.tolist()) - left - set(case.knowledge(cell))]
        for who in judges[:6]:
            up, down = case.up.copy(), case.down.copy()
            if who is not None:
                cells, tight_up, tight_down = case.insiders.cells_of(who)
                up[cells], down[cells] = np.minimum(up[cells], tight_up), np.minimum(down[cells], tight_down)
            rise, fall = farthest(case.table, up, down, cell)
            assert {UP: rise, DOWN: fall, LENGTH: rise + fall}[int(kind)] >= amount - 1e-6


# --- by hand --------------------------------------------------------------------------------------------------------

REGION = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "T", "b": "T", "c": "T"})


def region_table(hidden: list[str], primary: str = "a1") -> Table:
    cells = {"region": ["a1", "a2", "b1", "b2", "c"], "x": [10, 20, 30, 40, 50]}
    table = Table.from_cells(cells, by={"region": REGION}, value="x", positive=True)
    return table.with_status(Status.SECONDARY, [[h] for h in hidden]).with_status(Status.PRIMARY, [[primary]])


def search(table: Table, **options: Any) -> tuple[MoveSet, np.ndarray]:
    demands = demands_of(table, Promise(min_relative_range=0.5, levels=False))
    up, down = Knowledge.positive().room(table)
    nobody = insiders_of(table, Promise(guard="public"))
    asked = np.arange(demands.ways.size)
    return cuboid_moves(table, table.hidden.reshape(-1), asked, demands.ways, nobody, up, down, **options)


def named(table: Table, found: tuple[MoveSet, np.ndarray]) -> list[dict[str, float]]:
    moves = ((move.cells, move.coefficients) for move in found[0])
    return [{REGION.codes[c]: f for c, f in zip(*move, strict=True)} for move in moves]


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        (["a2"], {"a1": 1, "a2": -1}),
        (["a", "c"], {"a1": 1, "a": 1, "c": -1}),
        (["a", "b", "b2"], {"a1": 1, "a": 1, "b": -1, "b2": -1}),
        (["a", "T"], {"a1": 1, "a": 1, "T": 1}),
        (["a2", "a", "c", "T"], {"a1": 1, "a2": -1}),
        (["a", "b"], None),
        (["b1", "b2"], None),
    ],
)
def test_moves_reach_over_levels(hidden: list[str], expected: dict[str, float] | None) -> None:
    table = region_table(hidden)
    assert named(table, search(table)) == ([] if expected is None else [expected])


def test_a_sum_moves_with_one_of_its_leaves() -> None:
    table = region_table(["b1", "c"], primary="b")
    assert named(table, search(table)) == [{"b": 1, "b1": 1, "c": -1}]


def test_the_ends_of_the_effort_are_no_certificate() -> None:
    table = region_table(["a", "b", "b2"])
    assert len(search(table, effort=1)[0]) == 0
    assert len(search(table, effort=100)[0]) == 1


def test_nothing_asked_nothing_found() -> None:
    table = region_table(["a2"])
    demands = demands_of(table, Promise(levels=False))
    nothing = np.zeros(0, dtype=np.int64)
    rooms = Knowledge.positive().room(table)
    found = cuboid_moves(
        table, table.hidden.reshape(-1), nothing, demands.ways, insiders_of(table, Promise(guard="public")), *rooms
    )
    assert (len(found[0]), found[0].start.tolist(), found[1].size) == (0, [0], 0)


def test_any_number_of_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuboids, "SHARE", 10)
    rng = np.random.default_rng(3)
    trees = [REGION, Hierarchy.flat("stuvw"), Hierarchy.flat("xyz")]
    shape = tuple(len(h) for h in trees)
    value = np.where(rollup.inner_cells(trees), rng.integers(1, 30, shape), 0).astype(float)
    rollup.add_up(value, trees)
    status = rng.choice([Status.OPEN, Status.PRIMARY, Status.SECONDARY], shape, p=[0.1, 0.5, 0.4]).astype(np.uint8)
    levels = np.floor(value / 10) + 1
    table = Table(dict(zip("rst", trees, strict=True)), "x", value, status, below=levels, above=levels, positive=True)
    demands = demands_of(table, Promise())
    cells = rng.integers(0, table.size, 60)
    nothing = np.zeros(60)
    insiders = Insiders.of(table, cells, rng.integers(0, 9, 60), nothing, nothing)
    case = Case(table, demands, insiders, *Knowledge.positive().room(table))
    one, *more = (case.search(workers=Threads(threads)) for threads in (1, 2, 5))
    assert len(one[0]) > demands.ways.size // 2
    for other in more:
        assert one[1].tobytes() == other[1].tobytes()
        for field in ("start", "cells", "coefficients"):
            assert getattr(one[0], field).tobytes() == getattr(other[0], field).tobytes()
