"""Linkage kernels against slow, readable twins."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.risk._linkage_kernels import assign, greedy, nearest
from diskret.risk.classes import Column
from diskret.risk.linkage import Side, blocks_of, jittered, link, scaled
from diskret.risk.linkage_attack import attack
from diskret.risk.options import LinkageOptions, Scale

Floats = npt.NDArray[np.float64]


def apart(a: Floats, b: Floats, a_keys: npt.NDArray[np.int32], b_keys: npt.NDArray[np.int32]) -> float:
    """Squared distance over the values both have, scaled up for those they have not; infinite if keys contradict."""
    if any(x >= 0 and y >= 0 and x != y for x, y in zip(a_keys, b_keys, strict=True)):
        return np.inf
    both = [(x - y) ** 2 for x, y in zip(a, b, strict=True) if not np.isnan(x - y)]
    return sum(both) * len(a) / len(both) if both else np.inf


def random_side(generator: np.random.Generator, n: int, keys: int, gaps: bool) -> Side:
    points = generator.integers(0, 6, (n, 2)).astype(np.float64)
    if gaps:
        points[generator.random(points.shape) < 0.2] = np.nan
    return Side(points=points, keys=generator.integers(-1, 2, (n, keys)).astype(np.int32))


@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 10_000))
def test_assignment_has_the_smallest_cost(rows: int, more: int, seed: int) -> None:
    cost = np.random.default_rng(seed).integers(0, 9, (rows, rows + more)).astype(np.float64)
    found = assign(cost)
    assert len(set(found.tolist())) == rows
    best = min(sum(cost[i, c] for i, c in enumerate(p)) for p in itertools.permutations(range(rows + more), rows))
    assert cost[np.arange(rows), found].sum() == best


@given(st.integers(1, 90), st.integers(1, 20), st.integers(0, 2), st.booleans(), st.integers(0, 10_000))
def test_nearest_records_equal_comparing_every_pair(n: int, m: int, keys: int, gaps: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = random_side(generator, n, keys, gaps), random_side(generator, m, keys, gaps)
    starts = np.array([0, n]), np.array([0, m])
    where, best = nearest(a.points, a.keys, starts[0], b.points, b.keys, starts[1], 3, np.array([gaps]))
    for row in range(m):
        ranked = sorted((apart(a.points[i], b.points[row], a.keys[i], b.keys[row]), i) for i in range(n))
        ranked = [pair for pair in ranked if pair[0] < np.inf][:3]
        assert best[row, : len(ranked)] == pytest.approx([d for d, _ in ranked])
        found = [i for i in where[row].tolist() if i >= 0]
        assert len(set(found)) == len(found) == len(ranked)
        assert [apart(a.points[i], b.points[row], a.keys[i], b.keys[row]) for i in found] == pytest.approx(
            best[row, : len(found)]
        )


def test_a_tree_finds_what_comparing_every_pair_finds_in_large_blocks() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=(5000, 4)), generator.normal(size=(200, 4))
    keys = np.zeros((5000, 0), np.int32), np.zeros((200, 0), np.int32)
    starts = np.array([0, 3000, 5000]), np.array([0, 120, 200])
    where, _ = nearest(a, keys[0], starts[0], b, keys[1], starts[1], 5, np.zeros(2, np.bool_))
    for row in range(200):
        low, high = (0, 3000) if row < 120 else (3000, 5000)
        square = ((a[low:high] - b[row]) ** 2).sum(axis=1)
        assert where[row].tolist() == (low + np.argsort(square, kind="stable")[:5]).tolist()


def test_greedy_pairs_are_made_in_the_given_order() -> None:
    rows, records = np.array([0, 1, 0, 1, 2]), np.array([5, 5, 3, 3, 5])
    partner = np.full(3, -1, np.int64)
    greedy(np.array([1, 0, 2, 3, 4]), rows, records, np.zeros(3, np.bool_), np.zeros(6, np.bool_), partner)
    assert partner.tolist() == [3, 5, -1]


@pytest.mark.parametrize("seed", range(5))
def test_an_auction_comes_close_to_the_best_assignment(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = 400
    points = generator.normal(size=(n, 2))
    a = Side(points=points + generator.normal(0, 0.1, points.shape), keys=np.zeros((n, 0), np.int32))
    b = Side(points=points, keys=np.zeros((n, 0), np.int32))
    blocks = (np.zeros(n, np.int64), np.zeros(n, np.int64), 1)
    best, close = (link(a, b, blocks, one_to_one=True, optimal_up_to=limit) for limit in (n, 0))
    truth = np.arange(n)
    assert (close.partner >= 0).all()
    assert (close.distance**2).sum() < 1.6 * (best.distance**2).sum()
    assert (close.partner == truth).mean() > (best.partner == truth).mean() - 0.06
    alone = link(a, b, blocks, one_to_one=False)
    assert (close.partner == truth).mean() > (alone.partner == truth).mean() - 0.02


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([0, 1000]), st.booleans(), st.integers(0, 10_000))
def test_one_to_one_uses_every_record_once_and_leaves_nobody_out(
    n: int, m: int, optimal: int, gaps: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    a, b = random_side(generator, n, 0, gaps), random_side(generator, m, 0, gaps)
    blocks = (generator.integers(0, 3, n), generator.integers(0, 3, m), 3)
    found = link(a, b, blocks, one_to_one=True, optimal_up_to=optimal)
    used = found.partner[found.partner >= 0]
    assert used.size == np.unique(used).size
    assert (blocks[0][used] == blocks[1][found.partner >= 0]).all()
    if not gaps:
        per_block = [min((blocks[0] == k).sum(), (blocks[1] == k).sum()) for k in range(3)]
        assert used.size == sum(per_block)


@given(st.integers(2, 30), st.integers(0, 10_000))
def test_optimal_assignment_is_never_farther_than_an_auction(n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = (Side(points=generator.normal(size=(n, 2)), keys=np.zeros((n, 0), np.int32)) for _ in range(2))
    blocks = (np.zeros(n, np.int64), np.zeros(n, np.int64), 1)
    best, fast = (link(a, b, blocks, one_to_one=True, optimal_up_to=limit) for limit in (1000, 0))
    assert (best.distance**2).sum() <= (fast.distance**2).sum() + 1e-9


def column(*codes: int) -> Column:
    return Column(codes=np.array(codes, dtype=np.int32), labels=np.array(["a", "b", "c"], dtype=object))


def test_blocks_are_combinations_of_codes() -> None:
    own, other, count = blocks_of([column(0, 0, 1), column(0, 1, 0)], [column(1, 0), column(0, 1)])
    assert count == 3
    assert other.tolist() == [own[2], own[1]]


def test_a_withheld_key_joins_the_blocks_it_may_belong_to() -> None:
    own, other, count = blocks_of([column(0, 1, -1, 2), column(0, 0, 0, 1)], [column(0, 2), column(0, 1)])
    assert own[0] == own[1] == own[2] == other[0]
    assert own[3] == other[1] != own[0]
    assert count == 2


@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=14, unique=True), st.integers(0, 14))
def test_blocks_are_the_components_of_what_may_agree(shapes: list[tuple[int, int, int]], split: int) -> None:
    columns = [column(*codes) for codes in zip(*shapes, strict=True)]
    halves = (slice(split), slice(split, None))
    some = [[Column(codes=c.codes[half], labels=c.labels) for c in columns] for half in halves]
    own, other, _ = blocks_of(*some)
    block = [*own.tolist(), *other.tolist()]
    reached = {i: {i} for i in range(len(shapes))}
    for _ in shapes:  # whoever agrees with a member belongs to the component
        for i, j in itertools.product(reached, repeat=2):
            if all(a == b or a < 0 or b < 0 for a, b in zip(shapes[i], shapes[j], strict=True)):
                reached[i] |= reached[j]
    for i, j in itertools.product(reached, repeat=2):
        assert (block[i] == block[j]) == (j in reached[i])


def test_records_whose_keys_contradict_are_not_linked_within_a_joined_block() -> None:
    keys = np.array([[0], [1], [-1]], np.int32)
    a = Side(points=np.array([[1.0], [5.0], [9.0]]), keys=keys)
    b = Side(points=np.array([[5.0]]), keys=np.array([[0]], np.int32))
    for limit in (0, 1000):
        found = link(a, b, (np.zeros(3, np.int64), np.zeros(1, np.int64), 1), one_to_one=True, optimal_up_to=limit)
        assert found.partner.tolist() in ([0], [2])
        assert found.candidates[0].tolist()[:2] == [0, 2]


@pytest.mark.parametrize("optimal", [0, 1000])
def test_equal_records_are_assigned_at_random_and_quickly(optimal: int) -> None:
    n = 900
    points = [jittered(np.zeros((n, 0)), np.random.default_rng(s)) for s in (1, 2)]
    sides = [Side(points=p, keys=np.zeros((n, 0), np.int32)) for p in points]
    blocks = (np.zeros(n, np.int64), np.zeros(n, np.int64), 1)
    found = link(sides[0], sides[1], blocks, one_to_one=True, optimal_up_to=optimal)
    assert sorted(found.partner.tolist()) == list(range(n))
    assert (found.partner == np.arange(n)).sum() < 12


def test_scales() -> None:
    values = np.array([[1.0], [10.0], [100.0], [1000.0]])
    log_scale, _ = scaled(values, values, "log")
    assert np.diff(log_scale[1:, 0]) == pytest.approx(np.diff(log_scale[1:, 0])[0], rel=0.01)
    ranks, _ = scaled(values, values, "rank")
    assert np.diff(ranks[:, 0]) == pytest.approx(np.diff(ranks[:, 0])[0])
    assert scaled(values, values, "standard")[0].std() == pytest.approx(1.0)
    constant = np.full((3, 1), 7.0)
    assert np.isfinite(scaled(constant, constant, "log")[0]).all()


@pytest.mark.parametrize("value", [0.1, 7.3, -3.3, 1e9])
@pytest.mark.parametrize("scale", ["log", "standard", "rank"])
def test_a_constant_column_does_not_give_the_order_of_the_files_away(value: float, scale: Scale) -> None:
    """What is left of its spread are last bits, beside which chance was lost: everybody was found by place."""
    same = {"x": np.full(300, value)}
    found = attack(same, same, values=["x"], options=LinkageOptions(aligned=True, scale=scale))
    assert found.correct <= 8  # one is expected
