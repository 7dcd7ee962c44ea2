"""How codes add up: every linear relation among shown sets is among the sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.ledger.families import family_of

SETS = st.lists(st.integers(1, 2**6 - 1), min_size=1, max_size=9, unique=True)


@given(SETS)
def test_sums_say_everything_that_sets_say_about_each_other(shown: list[int]) -> None:
    family = family_of(shown, {})
    members = np.array([[own >> i & 1 for i in range(6)] for own in family.sets])
    sums = np.zeros((len(family.sums), len(family.sets)))
    for row, (whole, parts) in enumerate(family.sums):
        sums[row, whole] -= 1
        np.add.at(sums[row], list(parts), 1)
    assert not (sums @ members).any(), "a sum that is not true"
    relations = len(family.sets) - np.linalg.matrix_rank(members)
    assert (np.linalg.matrix_rank(sums) if len(sums) else 0) == relations
    assert family.sets[: family.shown] == tuple(shown)


def test_parts_that_are_all_shown_need_no_further_set() -> None:
    assert family_of([0b1111, 0b0011, 0b1100], {}).sets == (0b1111, 0b0011, 0b1100)


def test_what_is_left_of_a_sum_is_a_set_of_its_own() -> None:
    assert family_of([0b1111, 0b0111], {}).sets == (0b1111, 0b0111, 0b1000)


def test_groupings_that_cut_across_each_other_need_no_further_sets_where_they_were_said() -> None:
    said = {0b1111: [(0b0011, 0b1100), (0b0101, 0b1010)]}
    assert len(family_of([0b1111, 0b0011, 0b1100, 0b0101, 0b1010, 1, 2, 4, 8], said).sets) == 9
