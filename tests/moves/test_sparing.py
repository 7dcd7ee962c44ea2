"""Doing without cells: what equations refute beside a solver, and patterns that are cheaper and just as safe."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from diskret import Hierarchy, Promise, Table
from diskret.model.arrays import Bools, Floats, Ints
from diskret.moves._refuting_kernels import refutes
from diskret.moves.cover import Cover
from diskret.moves.demands import demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.pattern import Pattern, build
from diskret.moves.router import Router
from diskret.moves.sparing import space_of, spare, spare_cells
from tests.moves.sparing_twin import Steps, Twin
from tests.moves.test_products import TREE, _found, _table


def _system(seed: int) -> tuple[Table, Bools, Floats, Floats]:
    """A table of which half the cells may move, each by a random room."""
    rng = np.random.default_rng(seed)
    table = _table(seed, {"r": TREE, "c": Hierarchy.flat(["x", "y", "z"], total="T")}, 4)
    room = rng.integers(0, 12, (2, table.size)).astype(np.float64)
    room[rng.random(room.shape) < 0.1] = np.inf
    return table, rng.random(table.size) < 0.8, room[0], room[1]


def test_what_equations_refute_no_solver_finds() -> None:
    said = wrong = possible = 0
    for seed in range(12):
        table, movable, up, down = _system(seed)
        system = table.equations(movable)
        space = space_of(system, movable, up, down)
        matrix = np.zeros((system.rows, system.cells.size))
        matrix[system.row_of(), system.columns] = system.coefficients
        before = space.rooms.copy()
        for at, cell in enumerate(system.cells.tolist()):
            bounds = [(-down[c], up[c]) for c in system.cells.tolist()]
            bounds[at] = (min(5.0, up[cell]), up[cell])
            found = linprog(np.zeros(len(bounds)), A_eq=matrix, b_eq=np.zeros(system.rows), bounds=bounds)
            reached = found.status == 0 and up[cell] >= 5.0
            out = bool(refutes(cell, True, False, 5.0, 120, space))
            said, wrong, possible = said + out, wrong + (out and reached), possible + reached
        np.testing.assert_array_equal(space.rooms, before)
    assert wrong == 0
    assert possible > 20
    assert said > 20


def test_cells_are_spared_and_every_demand_stays_settled() -> None:
    table = _table(3, {"r": TREE, "c": TREE, "s": TREE}, 60)
    promise = Promise()
    demands, people = demands_of(table, promise), insiders_of(table, promise)
    up, down = promise.knowledge.room(table)
    hidden, price = table.hidden.reshape(-1), table.value.reshape(-1) + 1.0
    left = []
    for programmes in (False, True):
        cover = Cover(demands, people, up, down, table.shape)
        pattern = Pattern(cover, Router(table, hidden | (price > 1.0), up, down), price, hidden, price)
        build(pattern, range(cover.ways.size), lambda done, of: None)
        settled, before, asked = cover.standing().entirely, price[pattern.added].sum(), pattern.router.programmes
        spare_cells(pattern, 5000, lambda programmes=programmes: programmes)  # type: ignore[misc]
        np.testing.assert_array_equal(pattern.cover.standing().entirely, settled)
        assert (pattern.router.programmes > asked) == programmes
        left.append(price[pattern.added].sum() / before)
    assert left[1] < left[0] <= 1
    ended = pattern.added.copy()
    spare_cells(pattern, 5000, lambda: True, in_time=lambda: False)
    np.testing.assert_array_equal(pattern.added, ended)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("asking", [False, True])
def test_cells_are_spared_as_the_readable_twin_does(seed: int, asking: bool) -> None:
    """``asking``: where sums do not help, moves of another pattern are offered, by both for the same questions."""
    by = {"r": TREE, "s": TREE, "t": Hierarchy.flat("xyz")} if seed % 2 else {"r": TREE, "s": TREE}
    table = _table(seed, by, 24 if seed % 2 else 10)
    found, cover, price = _found(table, Promise())
    every = np.arange(cover.ways.size)
    found.settle(every, guard=False)
    found.settle(every, guard=True)
    hidden = table.hidden.reshape(-1)
    movable = hidden | found.added
    other, _, _ = _found(table, Promise())
    other.settle(every[::-1], guard=True)
    offered = [dict(zip(m.cells.tolist(), map(int, m.coefficients), strict=True)) for m in other.moves()]
    offered = [steps for steps in offered if all(movable[c] for c in steps)] if asking else []
    answers: dict[tuple[int, frozenset[int], int], Steps] = {}

    def ask(demand: int, against: frozenset[int], without: int) -> tuple[Ints, Floats]:
        good = [s for s in offered if s.get(int(cover.ways.cell[demand])) and without not in s]
        answer = good[(demand + without) % len(good)] if good else {}
        answers[demand, against, without] = answer
        return np.array([*answer], dtype=np.int64), np.array([*answer.values()], dtype=np.float64)

    twin = Twin(cover, found.moves(), hidden, movable)
    order = np.flatnonzero(found.added)[np.argsort(-price[found.added], kind="stable")]
    system = table.equations(movable)
    products, _, _ = _found(table, Promise())
    products.load(found.moves())
    won = spare(products, order, space_of(system, movable, cover.up, cover.down), ask, lambda: asking)
    twin.spare(order.tolist(), lambda *question: answers.get(question, {}))
    moves = [dict(zip(m.cells.tolist(), map(int, m.coefficients), strict=True)) for m in products.moves()]
    assert moves == twin.kept()
    assert won == twin.won
