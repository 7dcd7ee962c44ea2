"""How codes add up: every linear relation among shown sets is among the sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.ledger import families
from diskret.ledger.families import family_of

SETS = st.lists(st.integers(1, 2**6 - 1), min_size=1, max_size=9, unique=True)


@pytest.mark.parametrize("most", [families.MOST_OVERLAPS, 0])
@given(shown=SETS)
def test_sums_say_everything_that_sets_say_about_each_other(most: int, shown: list[int]) -> None:
    """Whether overlaps are taken apart pair by pair or, because there are too many, all at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "MOST_OVERLAPS", most)
        family = family_of(shown, {})
    assert family.closed
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


def test_many_zonings_are_taken_apart_into_no_more_sets_than_are_shown() -> None:
    """Twelve zonings of 30 codes: thousands of overlaps of two and more zones, but 30 finest codes."""
    draw = np.random.default_rng(1)
    shown = {2**30 - 1: None}
    for _ in range(12):
        zone = draw.integers(0, 8, 30)
        shown |= {sum(1 << i for i in np.flatnonzero(zone == z).tolist()): None for z in range(8) if (zone == z).any()}
    family = family_of([*shown], {})
    assert family.closed
    assert len(family.sets) <= 2 * len(shown)
