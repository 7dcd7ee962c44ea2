"""Compiled kernels are kept, found where nobody may write, and made again where nothing can be kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from diskret.model import compiled
from diskret.model.arrays import Floats
from diskret.model.lent import lend


class Inner(NamedTuple):
    values: Floats


class Store(NamedTuple):
    values: Floats
    inner: Inner
    rest: tuple[Floats, int]


@compiled.kernel
def filled(store: Store) -> int:
    lent = lend(store)
    for i in range(lent.inner.values.size):
        lent.inner.values[i] = lent.values.sum() + 4
    return int(lent.rest[1])


def doubled(x: int) -> int:
    return 2 * x


def with_two_operators(x: int) -> int:
    return x * x + x * x + x * x - x


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


def test_lent_arrays_are_the_same_arrays() -> None:
    store = Store(np.arange(3.0), Inner(np.zeros(2)), (np.zeros(2), 5))
    assert filled(store) == 5
    assert store.inner.values.tolist() == [7.0, 7.0]


def test_numba_is_asked_once_what_an_operator_gives_and_only_while_kernels_are_compiled(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, plain = [], BaseFunction.get_call_type

    def heard(function: Any, context: Any, args: Any, kws: Any) -> Any:
        asked.append((function, args))
        return plain(function, context, args, kws)

    monkeypatch.setattr(BaseFunction, "get_call_type", heard)
    made = compiled.kernel(with_two_operators)
    assert made(3) == 24
    assert asked
    assert len(asked) == len(set(asked))
    assert BaseFunction.get_call_type is heard
    with pytest.raises(numba.TypingError):
        made("x")
    assert BaseFunction.get_call_type is heard
