"""Decimals in floats: exact units, exact comparisons, exact sums over hierarchies."""

from __future__ import annotations

import itertools
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.model import rollup
from diskret.model.exact import decimals_of, exact, exceeds, from_units, to_units

DECIMALS = st.builds(lambda n, d: n / 10**d, st.integers(-(10**9), 10**9), st.integers(0, 4))
PERCENT = st.decimals(min_value="0.0001", max_value="99.9999", places=4)


@given(st.lists(DECIMALS, min_size=1), st.lists(DECIMALS, min_size=1), PERCENT)
def test_comparison_is_decided_as_fractions_decide_it(left: list[float], right: list[float], k: Decimal) -> None:
    size = min(len(left), len(right))
    x, y = np.array(left[:size]), np.array(right[:size])
    wanted = [Fraction(repr(a)) - Fraction(k) * Fraction(repr(b)) > 0 for a, b in zip(left, right, strict=False)]
    assert exceeds([(1, x), (-exact(k), y)]).tolist() == wanted


@given(st.integers(1, 10**9), st.integers(1, 9999), st.integers(0, 6))
def test_exactly_on_the_border_never_exceeds(total: int, per_myriad: int, decimals: int) -> None:
    share = Fraction(total * per_myriad, 10**4)
    at = share / 10**decimals
    x1, whole = np.array([float(at)]), np.array([total / 10**decimals])
    k = Fraction(per_myriad, 10**4)
    hair = Fraction(1, 10 ** (decimals + 4))
    if exact(float(at)) == at and exact(float(whole[0])) == Fraction(total, 10**decimals):
        assert not exceeds([(1, x1), (-k, whole)])[0]
        above = float(at + hair)
        if exact(above) > at:
            assert exceeds([(1, np.array([above])), (-k, whole)])[0]


def test_many_cells_are_decided_in_pieces_like_one() -> None:
    x = np.full((3, 100_000), 50.0)
    x[:, ::1000] = 85.0
    x[1, 99_999] = 85.00001
    assert np.argwhere(exceeds([(1, x), ("-0.85", np.full(100_000, 100.0))])).tolist() == [[1, 99_999]]


@pytest.mark.parametrize(
    ("given", "meant"),
    [(0.1, Fraction(1, 10)), ("12.5", Fraction(25, 2)), (Decimal("0.30"), Fraction(3, 10)), (1e-7, Fraction(1, 10**7))],
)
def test_a_parameter_is_the_number_it_reads_as(given: Any, meant: Fraction) -> None:
    assert exact(given) == meant


@given(st.lists(st.integers(-(10**14), 10**14), min_size=1), st.integers(0, 9))
def test_units_and_back_is_the_same_float(units: list[int], decimals: int) -> None:
    floats = from_units(np.array(units), decimals)
    assert to_units(floats, decimals).tolist() == units
    assert floats.tolist() == [float(Fraction(u, 10**decimals)) for u in units]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 6))
def test_fewest_decimals_are_found(units: list[int], decimals: int) -> None:
    texts = [format(Decimal(u).scaleb(-decimals).normalize(), "f") for u in units]
    fewest = max(len(t.partition(".")[2]) for t in texts)
    assert decimals_of(np.array([float(t) for t in texts])) == fewest


@pytest.mark.parametrize("values", [[1 / 3], [2.0**53], [0.1, 1e15], [1e-10]])
def test_no_decimals_where_floats_cannot_hold_them(values: list[float]) -> None:
    assert decimals_of(np.array(values)) is None


# --- roll-up ---------------------------------------------------------------------------------------------------------


def upward(hierarchy: Hierarchy, at: int) -> list[int]:
    return [at] if hierarchy.parents[at] < 0 else [at, *upward(hierarchy, hierarchy.parents[at])]


@given(data=st.data())
def test_roll_up_sends_every_inner_cell_to_all_cells_above_it(data: st.DataObject, small_trees: Any) -> None:
    hierarchies = [Hierarchy.from_parents(data.draw(small_trees)) for _ in range(data.draw(st.integers(1, 3)))]
    shape = tuple(len(h) for h in hierarchies)
    inner = [
        at
        for at in np.ndindex(shape)
        if all(i not in h.parents for h, i in zip(hierarchies, at, strict=True))
    ]  # fmt: skip
    assert np.argwhere(rollup.inner_cells(hierarchies)).tolist() == [list(at) for at in inner]
    cells, largest = np.zeros(shape, dtype=np.int64), np.zeros((*shape, 2))
    below: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for at in inner:
        cells[at] = x = data.draw(st.integers(-9, 9))
        largest[at] = sorted([abs(x), abs(x) // 2], reverse=True)
        for above in itertools.product(*(upward(h, i) for h, i in zip(hierarchies, at, strict=True))):
            below[above].append(x)
    rollup.add_up(cells, hierarchies)
    rollup.merge_largest(largest, hierarchies)
    for at in np.ndindex(shape):
        assert cells[at] == sum(below[at])
        everybody = [c for x in below[at] for c in (abs(x), abs(x) // 2)]
        assert largest[at].tolist() == sorted([*everybody, 0, 0], reverse=True)[:2]


def test_floats_add_up_like_integers() -> None:
    cells = np.array([[1.5, 2.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 0.0]])
    rollup.add_up(cells, [Hierarchy.flat("ab"), Hierarchy.flat("xy")])
    assert cells.tolist() == [[1.5, 2.0, 3.5], [0.25, 0.0, 0.25], [1.75, 2.0, 3.75]]
