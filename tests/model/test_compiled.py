"""Compiled kernels are kept, found where nobody may write, and made again where nothing can be kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from diskret.model import compiled
from diskret.model.arrays import Floats


class Store(NamedTuple):
    values: Floats
    rest: tuple[Floats, int]


@compiled.kernel
def filled(store: Store) -> int:
    lent = compiled.borrowed(store)
    for i in range(lent.rest[0].size):
        lent.rest[0][i] = lent.values.sum() + 4
    return int(lent.rest[1])


def doubled(x: int) -> int:
    return 2 * x


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def test_what_was_compiled_is_read_where_nobody_may_write(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled.kernel(doubled)(3) == 6
    kept = sorted(place.rglob("*.nb?"))
    assert len(kept) == 2
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    again = compiled.kernel(doubled)
    assert again(4) == 8
    assert sum(again.stats.cache_hits.values()) == 1
    assert again(0.5) == 1.0  # compiled now, and not kept
    assert sorted(place.rglob("*.nb?")) == kept


def test_without_any_folder_kernels_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    made = compiled.kernel(doubled)
    assert made(3) == 6
    assert not made.stats.cache_path


def test_a_part_keeps_nothing(place: Path) -> None:
    part = compiled.part(doubled)
    made = compiled.kernel(numba.njit(lambda x: part(x)).py_func)
    assert made(3) == 6
    assert not list(place.rglob("doubled*"))


def test_borrowed_arrays_are_the_same_arrays() -> None:
    store = Store(np.arange(3.0), (np.zeros(2), 5))
    assert filled(store) == 5
    assert store.rest[0].tolist() == [7.0, 7.0]
