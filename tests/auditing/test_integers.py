"""Counts are whole numbers: what that adds to the attacker's knowledge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy, Knowledge, Status, Table
from diskret.auditing.attacker import Attacker
from diskret.auditing.elimination import determined
from diskret.auditing.integers import integer_extreme, whole_room
from diskret.model import rollup
from diskret.model.equations import Equations, equations_of
from diskret.model.errors import BadOption
from diskret.model.grid import whole


def counts(shape: tuple[int, ...], inner: list[int], hidden: list[int]) -> Table:
    """A flat table of counts from its inner cells; hidden cells by flat position, sums included."""
    trees = [Hierarchy.flat([str(i) for i in range(n)]) for n in shape]
    value = np.zeros(tuple(len(h) for h in trees))
    value[tuple(slice(n) for n in shape)] = np.array(inner, dtype=float).reshape(shape)
    rollup.add_up(value, trees)
    status = np.zeros(value.size, dtype=np.uint8)
    status[hidden] = Status.PRIMARY
    by = {f"d{i}": h for i, h in enumerate(trees)}
    return Table(by, "persons", value, status.reshape(value.shape), frequency=True, positive=True)


def attack(table: Table) -> tuple[Equations, np.ndarray, np.ndarray, np.ndarray]:
    system = equations_of(table)
    up, down = Knowledge.positive().room(table)
    return system, table.value.reshape(-1)[system.cells], up[system.cells], down[system.cells]


def by_trial(system: Equations, value: np.ndarray, up: np.ndarray, down: np.ndarray, most: int) -> np.ndarray:
    """All whole-number tables that fit what is published, by trying: the readable twin (unknowns up to ``most``)."""
    rows = [
        (system.columns[a:b], system.coefficients[a:b])
        for a, b in zip(system.start[:-1], system.start[1:], strict=True)
    ]
    ranges = [
        range(max(-int(d), -int(v)), min(int(u) if np.isfinite(u) else most, most) + 1)
        for v, u, d in zip(value, up, down, strict=True)
    ]
    found: list[list[int]] = []

    def extend(chosen: list[int]) -> None:
        for columns, factors in rows:
            if columns.max() == len(chosen) - 1 and sum(f * chosen[c] for c, f in zip(columns, factors, strict=True)):
                return
        if len(chosen) == len(ranges):
            found.append(chosen)
            return
        for step in ranges[len(chosen)]:
            extend([*chosen, step])

    extend([])
    return np.array(found)


def test_two_counts_of_at_least_one_that_add_up_to_two_are_ones() -> None:
    table = counts((3,), [1, 1, 5], [0, 1])
    system, value, up, down = attack(table)
    assert integer_extreme(system, value, up, down, 0, upward=True) == 1
    at_least_one = value - 1.0
    assert integer_extreme(system, value, up, at_least_one, 0, upward=True) == 0
    assert integer_extreme(system, value, up, at_least_one, 0, upward=False) == 0
    # whoever knows that a count is at least a half knows that it is at least one
    assert integer_extreme(system, value, up, value - 0.5, 0, upward=True) == 0


def test_a_count_that_could_rise_by_a_quarter_cannot_rise() -> None:
    """2x + y = 3 with y >= 1/2: as a real number x could be 1.25, as a whole number it is at most 1."""
    system, value, up, _ = attack(counts((3,), [1, 1, 5], [0, 1]))
    doubled = Equations(system.cells, system.start, system.columns, np.array([2.0, 1.0]), system.axis, system.sum_cell)
    down = np.array([1.0, 0.5])
    attacker = Attacker(doubled, whole(up, 1), whole(down, 1))
    assert attacker.extreme(0, True) == Fraction(5, 2), "in tenths"
    assert integer_extreme(doubled, value, up, down, 0, upward=True) == 0


def test_unbounded_counts_are_infinite_and_fractions_are_refused() -> None:
    table = counts((2,), [1, 2], [0, 2])
    system, value, up, down = attack(table)
    assert integer_extreme(system, value, up, down, 0, upward=True) == np.inf
    assert integer_extreme(system, value, up, down, 0, upward=False) == 1
    with pytest.raises(BadOption, match="not whole numbers"):
        integer_extreme(system, value + 0.5, up, down, 0, upward=True)


@given(
    shape=st.sampled_from([(3,), (2, 2), (2, 3), (2, 2, 2)]),
    numbers=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    seed=st.integers(0, 2**32),
    least=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_extremes_are_those_of_trying_all_tables(
    shape: tuple[int, ...], numbers: list[int], seed: int, least: int
) -> None:
    size = int(np.prod(shape))
    inner = (numbers * 2)[:size]
    cells = int(np.prod([n + 1 for n in shape]))
    hidden = np.flatnonzero(np.random.default_rng(seed).random(cells) < 0.6)[:9]
    system, value, _, down = attack(counts(shape, inner, hidden.tolist()))
    up, down = np.full(value.size, 2.0), np.maximum(down - least, 0.0)
    if not value.size:
        return
    tables = by_trial(system, value, up, down, most=2)
    for column in range(value.size):
        assert integer_extreme(system, value, up, down, column, upward=True) == tables[:, column].max()
        assert integer_extreme(system, value, up, down, column, upward=False) == -tables[:, column].min()


def test_a_solver_without_time_gives_no_answer() -> None:
    rng = np.random.default_rng(3)
    shape = (6, 6, 6)
    inner = np.ravel_multi_index(tuple(np.indices(shape)), tuple(n + 1 for n in shape)).reshape(-1)
    system, value, up, down = attack(counts(shape, rng.integers(0, 3, shape).reshape(-1).tolist(), inner.tolist()))
    assert integer_extreme(system, value, up, down, 0, upward=True, seconds=0.0) is None


# found by search over random tables, then made as small as it gets: 24 of 64 cells hidden
INNER = [0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
HIDDEN = [1, 2, 4, 5, 8, 10, 18, 19, 22, 23, 33, 34, 35, 36, 38, 40, 41, 43, 53, 54, 55, 57, 58, 59]


def test_three_dimensions_can_hide_a_count_from_the_reals_and_not_from_whole_numbers() -> None:
    """No equation gives the count away and its interval has a length, but only one whole-number table fits."""
    system, value, up, down = attack(counts((3, 3, 3), INNER, HIDDEN))
    column = int(np.flatnonzero(system.cells == 1)[0])
    assert not determined(system)[column]
    attacker = Attacker(system, whole_room(up), whole_room(down))
    assert attacker.extreme(column, True) == Fraction(1, 2)
    assert len(by_trial(system, value, up, down, most=6)) == 1
    for each in range(value.size):
        for upward in (True, False):
            assert integer_extreme(system, value, up, down, each, upward) == 0
