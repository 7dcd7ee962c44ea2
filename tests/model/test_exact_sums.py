"""Sums do not depend on the order, nor on who added which part."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.model.exact_sums import ExactSum, exact_sum

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40)


@given(NUMBERS, st.integers(0, 40))
def test_parts_add_up_to_the_float_next_to_the_sum(numbers: list[float], cut: int) -> None:
    try:
        expected = math.fsum(numbers)
    except OverflowError:
        return  # `fsum` gives up on sums that leave the range on the way
    values = np.array(numbers)
    assert exact_sum(values).total == expected
    assert (exact_sum(values[cut:]) + exact_sum(values[:cut])).total == expected


def test_what_is_not_finite_stays_so() -> None:
    assert exact_sum(np.array([np.inf, 1.0])).total == math.inf
    assert math.isnan(exact_sum(np.array([np.inf, -np.inf])).mean)
    assert exact_sum(np.full(9, 1e308)).total == math.inf
    assert exact_sum(np.full(9, 1e308)).mean == pytest.approx(1e308)


def test_the_sum_of_nothing_is_nothing() -> None:
    assert (exact_sum(np.zeros(0)) + ExactSum()).total == 0
    assert ExactSum().mean == 0
