"""Values that nobody told: some that fit, with no more room than there is."""

from __future__ import annotations

import numpy as np

from diskret.ledger.fitting import fitted

START, CELLS, FACTOR = np.array([0, 3]), np.array([0, 1, 2]), np.array([-1.0, 1.0, 1.0])


def test_no_cell_has_more_room_than_it_truly_has() -> None:
    """Two parts of 7 between 0 and 4 have no more room than 4 together, whatever stands in their places."""
    bounds = np.zeros(3), np.array([np.inf, 4.0, 4.0])
    value, highest, fits = fitted(np.array([7.0, np.nan, np.nan]), bounds, (START, CELLS, FACTOR))
    assert fits
    assert value[1:].sum() <= 7
    assert (highest - value)[1:].sum() <= 1.0 + 1e-9, "3 and 4, or 4 and 3: one of them may rise by one"


def test_a_rate_that_was_not_revised_with_its_values_gives_as_little_as_it_must() -> None:
    rows = np.array([0, 3]), np.array([0, 1, 2]), np.array([1.0, -1.0, -1.0])
    bounds = np.array([0.0, 50.0, 0.0]), np.array([np.inf, 50.0, np.inf])
    given = np.array([40.0, 50.0, np.nan])
    assert not fitted(given, bounds, rows)[2]
    value, _, fits = fitted(given, bounds, rows, np.array([False, False, True]))
    assert fits
    assert value.tolist() == [40.0, 50.0, -10.0]


def test_where_nothing_fits_all_values_are_numbers_still() -> None:
    bounds = np.zeros(3), np.array([np.inf, 1.0, np.inf])
    rows = np.array([0, 2]), np.array([0, 1]), np.array([-1.0, 1.0])
    value, _, fits = fitted(np.array([7.0, np.nan, np.nan]), bounds, rows, np.array([False, False, True]))
    assert not fits
    assert np.isfinite(value).all()


def test_values_with_noise_in_their_last_digits_keep_their_room() -> None:
    """A tenth and two tenths are more than three tenths: what is left of small values is not rounded to whole ones."""
    start, cells, factor = np.array([0, 3]), np.array([0, 1, 2]), np.array([-1.0, 1.0, 1.0])
    value, _, fits = fitted(
        np.array([0.1 + 0.2, np.nan, np.nan]), (np.zeros(3), np.full(3, np.inf)), (start, cells, factor)
    )
    assert fits
    assert abs(value[1:].sum() - 0.3) < 1e-6
