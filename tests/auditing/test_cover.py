"""Which moves settle what, and against whom."""

from __future__ import annotations

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, Protection, Table
from diskret.auditing.cover import Cover, Nobody
from diskret.auditing.insiders import insiders_of
from diskret.auditing.targets import targets_of
from diskret.model.contributors import Contributors


def cover(protection: Protection, whole: bool = False, counts: tuple[int, ...] = (3, 1, 1, 4)) -> Cover:
    by = {"s": Hierarchy.flat("abcd")}
    value = np.array([10.0, 20.0, 30.0, 40.0, 100.0])
    status = np.array([1, 2, 2, 2, 0], dtype=np.uint8)
    people = Contributors(np.array([*counts, sum(counts)]))
    table = Table(by, "x", value, status, people, positive=True)
    up, down = Knowledge.positive().room(table)
    return Cover(targets_of(table, protection), insiders_of(table, "single"), up, down, table.shape, whole)


def move(**amounts: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array(["abcd".index(c) for c in amounts]), np.array(list(amounts.values()))


def test_a_move_counts_as_far_as_it_can_be_carried() -> None:
    wide = cover(Protection(min_range=29.0))
    assert list(wide.judge(*move(a=1, b=-1)).settles) == [0]  # 10 down and 20 up: 30
    assert not cover(Protection(min_range=30.0)).judge(*move(a=1, b=-1)).settles


def test_two_moves_without_a_common_insider_settle_a_demand_against_everybody() -> None:
    kept = cover(Protection(min_range=5.0))
    assert kept.objectors(0) is None
    first = kept.add(kept.judge(*move(a=1, b=-1)))
    (who,) = kept.objectors(0) or ()
    second = kept.add(kept.judge(*move(a=1, c=-1)))
    assert kept.objectors(0) == Nobody
    assert kept.objectors(0, without=second) == {who}
    assert kept.open_without(first) == kept.open_without(second) == [0]
    third = kept.add(kept.judge(*move(a=1, d=-1)))
    assert kept.open_without(first) == []
    kept.drop(third)
    dropped = kept.drop(second)
    assert kept.objectors(0) == {who}
    kept.restore(second, dropped)
    assert kept.objectors(0) == Nobody
    assert np.flatnonzero(kept.in_use).tolist() == [0, 1, 2]


def test_cells_are_free_again_when_the_last_move_through_them_goes() -> None:
    kept = cover(Protection(min_range=5.0))
    one, two = kept.add(kept.judge(*move(a=1, b=-1))), kept.add(kept.judge(*move(a=1, b=-0.5, c=-0.5)))
    kept.drop(one)
    assert np.flatnonzero(kept.in_use).tolist() == [0, 1, 2]
    kept.drop(two)
    assert not kept.in_use.any()
    assert kept.through == {}


@pytest.mark.parametrize(("amounts", "settled"), [({"a": 1, "b": -1}, True), ({"a": 0.5, "b": -0.5}, False)])
def test_only_whole_steps_count_among_counts(amounts: dict[str, float], settled: bool) -> None:
    assert bool(cover(Protection(min_range=1.0), whole=True).judge(*move(**amounts)).settles) == settled


def test_a_large_step_that_does_not_fit_is_not_cut_into_parts_of_persons() -> None:
    """3 up against 2 and 1 down: half of it would fit, but not in whole numbers."""
    whole = cover(Protection(min_range=15.0), whole=True)
    amounts = move(a=30, b=-20, c=-10)  # ten times (3, -2, -1): tenths of it are whole
    assert whole.judge(*amounts).settles
    tight = cover(Protection(min_range=15.0), whole=True)
    assert not tight.judge(*move(a=31, b=-21, c=-10)).settles  # no part of it is whole, and all of it is too far
    assert cover(Protection(min_range=15.0)).judge(*move(a=31, b=-21, c=-10)).settles
