"""What holds for every method that changes records."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import MissingColumn, ProtectionWarning

NUMBERS = ["x", "y"]
BLOCKS = dk.NoiseOptions(pairing="blocks")
PANEL = dk.NoiseOptions(unit="id", wave="year", nearest=True)
Method = Callable[[Any, int], Any]
METHODS: dict[str, Method] = {
    "fixed": lambda f, seed: dk.microaggregate(f, NUMBERS, method="fixed"),
    "optimal": lambda f, seed: dk.microaggregate(f, NUMBERS, m=5),
    "variance": lambda f, seed: dk.microaggregate(f, NUMBERS, keep_variance=True),
    "waves": lambda f, seed: dk.microaggregate(f, NUMBERS, wave="year"),
    "noise": lambda f, seed: dk.add_noise(f, NUMBERS, sd=0.1, seed=seed),
    "two peaks": lambda f, seed: dk.add_noise(f, NUMBERS, sd=0.1, shift=0.06, seed=seed, options=BLOCKS),
    "panel": lambda f, seed: dk.add_noise(f, NUMBERS, sd=0.1, seed=seed, options=PANEL),
    "Kim-Winkler": lambda f, seed: dk.add_noise(f, NUMBERS, amount=0.1, seed=seed),
    "swap": lambda f, seed: dk.swap_records(f, ["region"], risk=["job"], similar=[["year"]], rate=0.3, seed=seed),
    "pram": lambda f, seed: dk.post_randomise(f, ["job"], keep=0.5, seed=seed),
}
CHANGES = {"swap": ["region"], "pram": ["job"]}


def records(n: int = 120, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    frame = {
        "id": np.repeat(np.arange(n // 2), 2),
        "year": np.tile([1, 2], n // 2),
        "x": np.exp(5 + size + 0.2 * rng.normal(size=n)),
        "y": np.exp(3 + size + 0.2 * rng.normal(size=n)),
        "region": rng.choice(np.array(["N", "S", "W"], dtype=object), n),
        "job": rng.choice(np.array(["a", "b", "c", None], dtype=object), n),
    }
    frame["x"][::7], frame["y"][::11] = np.nan, 0.0
    return frame


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        yield


@pytest.mark.parametrize("name", METHODS)
def test_input_is_untouched_and_other_columns_stay(name: str) -> None:
    given, same = records(), records()
    done = METHODS[name](given, 3).frame
    changed = CHANGES.get(name, NUMBERS)
    for column, values in same.items():
        assert np.array_equal(given[column], values, equal_nan=values.dtype.kind == "f")
        if column not in changed:
            after = done[column]
            assert np.array_equal(after, values, equal_nan=values.dtype.kind == "f")
    assert list(done) == list(given)
    assert any(not np.array_equal(done[c], same[c]) for c in changed)


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_values(name: str) -> None:
    one, two = (METHODS[name](records(), 9).frame for _ in range(2))
    for column in one:
        assert np.array_equal(one[column], two[column], equal_nan=one[column].dtype.kind == "f")


@pytest.mark.parametrize("name", METHODS)
def test_missing_stays_missing_and_zero_stays_zero(name: str) -> None:
    given = records()
    done = METHODS[name](given, 3).frame
    for column in NUMBERS:
        assert np.array_equal(np.isnan(done[column]), np.isnan(given[column]))
        assert np.array_equal(done[column] == 0, given[column] == 0)
        assert not (done[column] < 0).any()
    assert [j is None for j in done["job"]] == [j is None for j in given["job"]]


@pytest.mark.parametrize("name", METHODS)
def test_summary_holds_no_value_and_no_parameter(name: str) -> None:
    given = records()
    done = METHODS[name](given, 918273645)
    said = repr(done) + str(done.summary())
    assert "918273645" not in said
    assert "0.06" not in said
    assert not any(f"{v:.6g}" in said for v in given["x"][~np.isnan(given["x"])])


@pytest.mark.parametrize("name", METHODS)
def test_a_missing_column_is_named(name: str) -> None:
    with pytest.raises(MissingColumn):
        METHODS[name]({"z": [1.0, 2.0, 3.0]}, 3)
