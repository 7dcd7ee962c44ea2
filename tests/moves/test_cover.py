"""Which moves settle what, and against whom."""

from __future__ import annotations

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Promise, Table
from diskret.model.contributors import Contributors
from diskret.model.promise import Guard
from diskret.moves.cover import Cover
from diskret.moves.demands import OPEN, SETTLED, State, demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.move import Move, MoveSet


def cover(protection: Promise, whole: bool = False, counts: tuple[int, ...] = (3, 1, 1, 4)) -> Cover:
    by = {"s": Hierarchy.flat("abcd")}
    value = np.array([10.0, 20.0, 30.0, 40.0, 100.0])
    status = np.array([1, 2, 2, 2, 0], dtype=np.uint8)
    people = Contributors(np.array([*counts, sum(counts)]))
    table = Table(by, "x", value, status, people, positive=True)
    up, down = Knowledge.positive().room(table)
    return Cover(demands_of(table, protection), insiders_of(table, Promise()), up, down, table.shape, whole)


def move(**amounts: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array(["abcd".index(c) for c in amounts]), np.array(list(amounts.values()))


def test_a_move_counts_as_far_as_it_can_be_carried() -> None:
    wide = cover(Promise(min_range=29.0, levels=False))
    assert list(wide.judge(*move(a=1, b=-1)).settles) == [0]  # 10 down and 20 up: 30
    assert not cover(Promise(min_range=30.0, levels=False)).judge(*move(a=1, b=-1)).settles


def test_two_moves_without_a_common_insider_settle_a_demand_against_everybody() -> None:
    kept = cover(Promise(min_range=5.0, levels=False))
    assert kept.state(0) == OPEN
    first = kept.add(kept.judge(*move(a=1, b=-1)))
    (who,) = kept.state(0).against
    second = kept.add(kept.judge(*move(a=1, c=-1)))
    assert kept.state(0) == SETTLED
    assert kept.state(0, without=second) == State(settled=True, against=frozenset([who]))
    assert kept.open_without(first) == kept.open_without(second) == [0]
    third = kept.add(kept.judge(*move(a=1, d=-1)))
    assert kept.open_without(first) == []
    kept.drop(third)
    dropped = kept.drop(second)
    assert kept.state(0).against == {who}
    kept.restore(second, dropped)
    assert kept.state(0) == SETTLED
    assert np.flatnonzero(kept.in_use).tolist() == [0, 1, 2]


def test_cells_are_free_again_when_the_last_move_through_them_goes() -> None:
    kept = cover(Promise(min_range=5.0, levels=False))
    one, two = kept.add(kept.judge(*move(a=1, b=-1))), kept.add(kept.judge(*move(a=1, b=-0.5, c=-0.5)))
    kept.drop(one)
    assert np.flatnonzero(kept.in_use).tolist() == [0, 1, 2]
    kept.drop(two)
    assert not kept.in_use.any()
    assert kept.through == {}


@pytest.mark.parametrize(("amounts", "settled"), [({"a": 2, "b": -2}, True), ({"a": 0.5, "b": -0.5}, False)])
def test_only_whole_steps_count_among_counts(amounts: dict[str, float], settled: bool) -> None:
    assert bool(cover(Promise(min_range=1.0, levels=False), whole=True).judge(*move(**amounts)).settles) == settled


def test_a_large_step_that_does_not_fit_is_not_cut_into_parts_of_persons() -> None:
    """3 up against 2 and 1 down: half of it would fit, but not in whole numbers."""
    whole = cover(Promise(min_range=15.0, levels=False), whole=True)
    amounts = move(a=30, b=-20, c=-10)  # ten times (3, -2, -1): tenths of it are whole
    assert whole.judge(*amounts).settles
    tight = cover(Promise(min_range=15.0, levels=False), whole=True)
    assert not tight.judge(*move(a=31, b=-21, c=-10)).settles  # no part of it is whole, and all of it is too far
    assert cover(Promise(min_range=15.0, levels=False)).judge(*move(a=31, b=-21, c=-10)).settles


def by_hand(kept: Cover, cells: np.ndarray, moved: np.ndarray) -> dict[int, set[int]]:
    """The readable twin of the kernel: carry the move as far as it goes, for the public and for every insider."""
    people, ways, settles = kept.insiders, kept.ways, {}
    number_of = {int(c): [int(d) for d in ways.at[c] if d >= 0] for c in cells}
    for place, cell in enumerate(cells.tolist()):
        for demand in number_of[cell]:
            reach, amount = carried(kept, cells, moved, place, demand, None), ways.amount[demand]
            if reach < amount or (reach == amount and ways.strict[demand]):
                continue
            knowing = {int(w) for c in cells for w in people.who[people.start[c] : people.start[c + 1]]}
            at_home = {int(w) for w in people.who[people.start[cell] : people.start[cell + 1]]}
            enough = np.nextafter(amount, np.inf) if ways.strict[demand] else amount
            settles[demand] = {
                who
                for who in knowing - at_home
                if carried(kept, cells, moved, place, demand, who) < enough
                and not people.contribute(np.array([who]), np.array([cell]), kept.shape)[0, 0]
            }
    return settles


def carried(kept: Cover, cells: np.ndarray, moved: np.ndarray, place: int, demand: int, who: int | None) -> float:
    rooms = {int(c): (kept.up[c], kept.down[c]) for c in cells}
    if who is not None:
        for cell, up, down in zip(*kept.insiders.cells_of(who), strict=True):
            if int(cell) in rooms:
                above, below = rooms[int(cell)]
                rooms[int(cell)] = (min(above, up), min(below, down))
    forth = min(rooms[int(c)][0 if m > 0 else 1] / abs(m) for c, m in zip(cells, moved, strict=True))
    back = min(rooms[int(c)][1 if m > 0 else 0] / abs(m) for c, m in zip(cells, moved, strict=True))
    up, down = (forth, back) if moved[place] > 0 else (back, forth)
    kind = int(kept.ways.kind[demand])
    return float(abs(moved[place]) * {0: up, 1: down, 2: up + down}[kind])


@pytest.mark.parametrize("kind", ["single", "largest"])
@pytest.mark.parametrize("seed", range(25))
def test_the_kernel_judges_like_its_readable_twin(kind: Guard, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = Hierarchy.from_parents({"a": "A", "b": "A", "c": "B", "d": "B", "A": "T", "B": "T"})
    by = {"r": rows, "s": Hierarchy.flat("xyz")}
    shape = (len(rows), 4)
    table = Table(
        by, "v", rng.integers(1, 60, shape).astype(float), rng.integers(0, 3, shape).astype(np.uint8),
        Contributors(rng.integers(1, 5, shape), rng.integers(1, 20, (*shape, 1)).astype(float)), positive=True,
    )  # fmt: skip
    up, down = Knowledge.positive().room(table)
    protection = Promise(min_range=float(rng.integers(0, 20)), levels=False)
    guarded = Promise(guard=kind, coalitions=((("a", "x"), ("b", "y")),))
    kept = Cover(demands_of(table, protection), insiders_of(table, guarded), up, down, table.shape)
    for _ in range(40):
        cells = np.sort(rng.choice(table.size, size=int(rng.integers(2, 9)), replace=False))
        moved = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0], size=cells.size)
        assert kept.judge(cells, moved).settles == by_hand(kept, cells, moved)


def drawn(rng: np.random.Generator, size: int) -> tuple[Table, MoveSet]:
    """A table in two dimensions with all cells hidden, some singles, and random cuboids in it."""
    value, count = rng.integers(1, 9, (size, size)).astype(float), rng.integers(1, 4, (size, size))
    value, count = (np.pad(each, ((0, 1), (0, 1))) for each in (value, count))
    for each in (value, count):
        each[-1], each[:, -1] = each.sum(axis=0), each.sum(axis=1) + each[-1].sum() * (np.arange(size + 1) == size)
    status = np.where(count == 1, 1, 2).astype(np.uint8)
    by = {"r": Hierarchy.flat([f"r{i}" for i in range(size)]), "s": Hierarchy.flat([f"s{i}" for i in range(size)])}
    table = Table(by, "x", value, status, Contributors(count.astype(np.int64)), positive=True)
    found = []
    for _ in range(6 * size):
        rows, columns = (rng.choice(size, 2, replace=False) for _ in range(2))
        cells = np.ravel_multi_index(np.ix_(rows, columns), table.shape).reshape(-1)
        found.append(Move(cells=cells, coefficients=np.array([1.0, -1.0, -1.0, 1.0])))
    return table, MoveSet.of(found)


@pytest.mark.parametrize("length", [0.0, 4.0])
def test_many_moves_are_judged_as_one_after_the_other(length: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    table, moves = drawn(rng, 6)
    promise = Promise(min_range=length, levels=False)
    demands, people = demands_of(table, promise), insiders_of(table, promise)
    own = rng.integers(0, demands.ways.size, len(moves))
    kept = []
    for many in (10_000, 0):
        monkeypatch.setattr("diskret.moves.cover.MANY", many)
        monkeypatch.setattr("diskret.moves.cover.AT_ONCE", 7)
        one = Cover(demands, people, *Knowledge.positive().room(table), table.shape)
        one.take(moves.some(np.arange(9)))
        one.take(moves, own)
        kept.append(one)
    single, together = kept
    assert [m.cells.tolist() for m in single.moves.values()] == [m.cells.tolist() for m in together.moves.values()]
    for mine, his in zip(single.moves.values(), together.moves.values(), strict=True):
        assert dict(mine.settles) == dict(his.settles)
    states = [single.state(d) for d in range(demands.ways.size)]
    assert states == [together.state(d) for d in range(demands.ways.size)]
    assert together.standing().settled.tolist() == [each.settled for each in states]
    assert together.standing().entirely.tolist() == [each.entirely for each in states]
    assert 0 < sum(each.entirely for each in states) < sum(each.settled for each in states)
    found = together.all()
    for number, move in enumerate(found):
        assert (move.up, move.down) == single.limits(move.cells, move.coefficients)
        assert found.protected(number) == set(demands.ways.cell[list(single.moves[number].settles)].tolist())
    with pytest.raises(KeyError):
        together.moves[0].settles[-5]
    one = Cover(demands, people, *Knowledge.positive().room(table), table.shape)
    one.take(moves, own, alone=True)
    for each in one.moves.values():
        judged = single.judge(each.cells, each.coefficients).settles
        assert dict(each.settles).items() <= dict(judged).items()
        assert np.isin(demands.ways.cell[list(each.settles)], each.cells).all()
    for demand in range(demands.ways.size):
        made = np.flatnonzero(own == demand).tolist()
        carried = [k for k in made if demand in single.judge(moves[k].cells, moves[k].coefficients).settles]
        assert bool(carried) <= one.state(demand).settled
