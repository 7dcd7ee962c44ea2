"""Products of elementary moves: the compiled search beside a plain one that tries them all."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Promise, Status, Table
from diskret.model.arrays import Floats, Ints
from diskret.model.contributors import Contributors
from diskret.moves import products
from diskret.moves.cover import Cover
from diskret.moves.demands import demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.pattern import Pattern, add_products
from diskret.moves.products import Products
from diskret.moves.recheck import hold
from diskret.moves.router import Router

TREE = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "T", "b": "T"})


def _table(seed: int, by: dict[str, Hierarchy], primaries: int) -> Table:
    """A random additive table with some primary cells, of which some have one contributor."""
    rng = np.random.default_rng(seed)
    shape = tuple(len(h) for h in by.values())
    value, count = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    leaves = [[i for i in range(len(h)) if h.first_below[i] == i] for h in by.values()]
    for at in product(*leaves):
        given, people = float(rng.integers(0, 30)), int(rng.integers(1, 4))
        for cell in product(*(_above(h, i) for h, i in zip(by.values(), at, strict=True))):
            value[cell] += given
            count[cell] += people if given else 0
    status = np.full(value.size, Status.OPEN, dtype=np.uint8)
    inner = rng.permutation(np.flatnonzero(value.reshape(-1) > 0))[:primaries]
    status[inner] = Status.PRIMARY
    level = np.where(status == Status.PRIMARY, np.ceil(0.2 * value.reshape(-1)), 0.0).reshape(shape)
    return Table(
        by, "x", value, status.reshape(shape), Contributors(count), below=level, above=level, positive=True
    )  # fmt: skip


def _above(hierarchy: Hierarchy, code: int) -> list[int]:
    found = [code]
    while hierarchy.parent_index[found[-1]] >= 0:
        found.append(int(hierarchy.parent_index[found[-1]]))
    return found


def _elementary(hierarchy: Hierarchy, code: int) -> list[dict[int, int]]:
    """All elementary moves that contain a code: codes with signs, the code's own +1."""
    leaves = [i for i in range(len(hierarchy)) if hierarchy.first_below[i] == i]
    found = []
    for leaf in leaves:
        up = _above(hierarchy, leaf)
        found += [dict.fromkeys(up, 1)] if code in up else []
        for other in leaves:
            across = _above(hierarchy, other)
            apart = dict.fromkeys([c for c in up if c not in across], 1)
            apart.update(dict.fromkeys([c for c in across if c not in up], -1))
            found += [apart] if apart.get(code) == 1 else []
    return found


def _cheapest(table: Table, cell: int, rises: bool, amount: float, price: Floats, room: tuple[Floats, Floats]) -> float:
    """What the cheapest of all products costs."""
    at = np.unravel_index(cell, table.shape)
    best = np.inf
    for ways in product(*(_elementary(h, int(i)) for h, i in zip(table.hierarchies, at, strict=True))):
        cost = 0.0
        for codes in product(*ways):
            sign = int(np.prod([way[c] for way, c in zip(ways, codes, strict=True)])) * (1 if rises else -1)
            each = int(np.ravel_multi_index(codes, table.shape))
            cost += price[each] if room[0 if sign > 0 else 1][each] >= amount else np.inf
        best = min(best, cost)
    return best


def _found(table: Table, promise: Promise) -> tuple[Products, Cover, Floats]:
    up, down = promise.knowledge.room(table)
    hidden = table.hidden.reshape(-1)
    movable = hidden | (table.value.reshape(-1) > 0)
    cover = Cover(demands_of(table, promise), insiders_of(table, promise, among=movable), up, down, table.shape)
    price = 1.0 + table.value.reshape(-1) / 10.0
    return Products(table, cover, movable, hidden, price), cover, price


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("by", [{"r": TREE, "s": Hierarchy.flat("xyz")}, {c: Hierarchy.flat("xyz") for c in "rst"}])
def test_nothing_that_is_one_product_is_cheaper(by: dict[str, Hierarchy], seed: int) -> None:
    table = _table(seed, by, 1)
    found, cover, price = _found(table, Promise(guard="public"))
    ways = cover.ways
    found.settle(np.array([0]), guard=False)
    movable = table.value.reshape(-1) > 0
    rooms = tuple(np.where(movable, room, -np.inf) for room in Knowledge.positive().room(table))
    rises, amount = int(ways.kind[0]) == 0, float(ways.asked[0])
    best = _cheapest(table, int(ways.cell[0]), rises, amount, price, (rooms[0], rooms[1]))
    best -= price[ways.cell[0]]
    if best == np.inf:
        assert found.lost.size == 1 or len(found.moves()) == 1  # the sum of several
    else:
        assert float(price[found.added].sum()) <= best + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_moves_keep_every_equation_and_settle_what_they_say(seed: int) -> None:
    table = _table(seed, {"r": TREE, "s": TREE, "t": Hierarchy.flat("xyz")}, 12)
    found, cover, price = _found(table, Promise())
    order = np.arange(cover.ways.size)
    found.settle(order, guard=False)
    found.settle(order, guard=True)
    before = float(price[found.added].sum())
    assert found.thin_moves() >= 0
    assert found.thin_cells() >= 0
    assert float(price[found.added].sum()) <= before
    status = table.status.reshape(-1).copy()
    status[found.added] = Status.SECONDARY
    good, _ = hold(replace(table, status=status.reshape(table.shape)), found.moves())
    assert good.all()
    cover.take(found.moves())
    open_now = set(np.flatnonzero(~cover.standing().entirely).tolist())
    assert open_now <= set(found.lost.tolist())


def test_the_same_whatever_the_store_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _table(1, {"r": TREE, "s": TREE, "t": Hierarchy.flat("xyz")}, 12)
    kept: list[tuple[Ints, Any]] = []
    for moves in (256, 4096):
        monkeypatch.setattr(products, "MOVES", moves)
        found, cover, _ = _found(table, Promise())
        found.settle(np.arange(cover.ways.size), guard=True)
        found.thin_cells()
        kept.append((found.moves().cells, found.moves().coefficients))
    assert all(np.array_equal(a, b) for a, b in zip(*kept, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_a_long_search_ends_no_dearer_than_it_began_and_loses_nothing(seed: int) -> None:
    table = _table(seed, {axis: Hierarchy.from_parents(dict.fromkeys("abc", "T")) for axis in "pqrs"}, 120)
    promise = Promise()
    demands = demands_of(table, promise)
    people = insiders_of(table, promise, among=np.ones(table.size, dtype=np.bool_))
    up, down = promise.knowledge.room(table)
    usable = table.value.reshape(-1) > 0
    price = np.where(usable, table.value.reshape(-1), 1.0)
    cost, settled = {}, {}
    for long in (False, True):
        cover = Cover(demands, people, up, down, table.shape)
        pattern = Pattern(cover, Router(table, usable, up, down), price, table.hidden.reshape(-1), price)
        assert pattern.by_products
        add_products(pattern, np.arange(cover.ways.size), thin=True, long=long)
        cost[long], settled[long] = price[pattern.added].sum(), cover.standing().entirely
    assert cost[True] <= cost[False]
    assert settled[True][settled[False]].all()
