"""Post-randomisation: the probabilities asked for, and the frequencies kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.microdata.pram import invariant_matrix
from diskret.model.errors import BadOption, UnknownCode

MATRIX = {"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.1, "b": 0.8, "c": 0.1}, "c": {"c": 1.0}}


def jobs(n: int = 60_000) -> np.ndarray:
    return np.random.default_rng(0).choice(np.array(["a", "b", "c"], dtype=object), n, p=[0.6, 0.3, 0.1])


def shares(x: np.ndarray) -> np.ndarray:
    return np.array([(x == c).mean() for c in "abc"])


def test_keep_is_the_share_left_to_itself_and_frequencies_stay() -> None:
    x = jobs()
    done = dk.post_randomise({"job": x}, ["job"], keep=0.8, seed=1).frame["job"]
    t = shares(x)
    assert (done == x).mean() == pytest.approx(0.8 + 0.2 * (t**2).sum(), abs=0.01)
    assert shares(done) == pytest.approx(t, abs=0.01)


def test_a_matrix_changes_codes_with_its_probabilities() -> None:
    x = jobs()
    done = dk.post_randomise({"job": x}, ["job"], matrix=MATRIX, invariant=False, seed=2).frame["job"]
    for code, row in MATRIX.items():
        assert shares(done[x == code]) == pytest.approx([row.get(c, 0) for c in "abc"], abs=0.015)
    assert not np.any(done[x == "a"] == "c")
    assert (done[x == "c"] == "c").all()


def test_an_invariant_matrix_keeps_frequencies() -> None:
    x = jobs()
    plain, kept = (
        dk.post_randomise({"job": x}, ["job"], matrix=MATRIX, invariant=i, seed=3).frame["job"] for i in (False, True)
    )
    assert abs(shares(plain) - shares(x)).max() > 0.03
    assert shares(kept) == pytest.approx(shares(x), abs=0.01)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_invariance_holds_for_every_matrix(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p, t = rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(n))
    r = invariant_matrix(p, t)
    assert r.sum(axis=1) == pytest.approx(np.ones(n))
    assert t @ r == pytest.approx(t)


def test_codes_change_within_classes_only_and_missing_stays() -> None:
    frame: dict[str, Any] = {"job": ["a", "b", "c", "d", None] * 200, "sex": ["f", "f", "m", "m", "f"] * 200}
    done = dk.post_randomise(frame, ["job"], keep=0.1, within=["sex"], seed=4).frame
    women = np.array(frame["sex"]) == "f"
    assert set(done["job"][women]) <= {"a", "b", None}
    assert set(done["job"][~women]) <= {"c", "d"}
    assert [v is None for v in done["job"]] == [v is None for v in frame["job"]]


def test_mistakes_are_refused() -> None:
    frame = {"job": ["a", "b"]}
    with pytest.raises(BadOption, match="row 'a' of the matrix is not a distribution"):
        dk.post_randomise(frame, ["job"], matrix={"a": {"a": 0.7}, "b": {"b": 1.0}}, seed=1)
    with pytest.raises(BadOption, match="row 'a' of the matrix is not a distribution"):
        dk.post_randomise(frame, ["job"], matrix={"a": {"a": float("nan"), "b": 1.0}, "b": {"b": 1.0}}, seed=1)
    with pytest.raises(BadOption, match="no row 'b'"):
        dk.post_randomise(frame, ["job"], matrix={"a": {"a": 1.0}}, seed=1)
    with pytest.raises(UnknownCode):
        dk.post_randomise(frame, ["job"], matrix={"a": {"q": 1.0}, "b": {"b": 1.0}}, seed=1)
    for options in ({}, {"keep": 1.5}, {"keep": 0.5, "matrix": MATRIX}):
        with pytest.raises(BadOption):
            dk.post_randomise(frame, ["job"], seed=1, **options)
