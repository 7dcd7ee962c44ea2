"""The smallest set from which something follows, held against all sets there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.ledger.smallest import smallest

WAYS = st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=6), min_size=1, max_size=5)


def fewest(ways: list[frozenset[int]]) -> int:
    """The size of the smallest set that holds one of the ways, by trying all."""
    sizes = (k for k in range(10) for some in combinations(range(9), k) if any(way <= {*some} for way in ways))
    return next(sizes)


@given(ways=WAYS)
def test_no_smaller_set_is_enough(ways: list[frozenset[int]]) -> None:
    def follows(some: np.ndarray) -> bool:
        return any(way <= {*some.tolist()} for way in ways)

    known = np.array(sorted(ways[0]))
    found, proved = smallest(follows, np.arange(9), known, 10_000)
    assert proved
    assert follows(found)
    assert found.size == fewest(ways)


def test_whoever_may_ask_only_a_few_times_gets_what_is_known() -> None:
    asked = []

    def follows(some: np.ndarray) -> bool:
        asked.append(some)
        return {1, 2, 3} <= {*some.tolist()}

    found, proved = smallest(follows, np.arange(50), np.array([1, 2, 3]), 5)
    assert (found.tolist(), proved) == ([1, 2, 3], False)
    assert len(asked) == 5
