"""Small files that need work: few objects, many combinations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.safe.checkpoint import Keeper
from diskret.safe.control import Control, control_tables
from diskret.safe.control_cells import ControlCells, control_cells
from diskret.tabulation.combinations import Combinations, count_combinations

REGION = dk.Hierarchy.from_nested(
    {"All": {"N": {"Na": ["N1", "N2", "N3"], "Nb": ["N4"]}, "S": {"Sa": ["S1", "S2"]}, "free city": None}}
)


def made_persons(n: int, seed: int) -> dict[str, Any]:
    """Persons in a ragged region, correlated enough to have rare combinations."""
    random = np.random.default_rng(seed)
    leaves = [c for c, leaf in zip(REGION.codes, REGION.is_leaf, strict=True) if leaf]
    at = (len(leaves) * random.random(n) ** 2).astype(int)
    age = np.clip((at / 2 + random.normal(2, 1.5, n)).astype(int), 0, 5)
    job = np.clip((age / 2 + random.exponential(1.2, n)).astype(int), 0, 6)
    return {
        "region": np.array(leaves, dtype=object)[at],
        "age": np.array([f"a{i}" for i in range(6)], dtype=object)[age],
        "job": np.array([f"j{i}" for i in range(7)], dtype=object)[job],
        "sex": random.choice(np.array(["m", "w"], dtype=object), n),
    }


ATTRIBUTES: dict[str, dk.Hierarchy | None] = {"region": REGION, "age": None, "job": None, "sex": None}


@pytest.fixture(scope="session")
def persons() -> dict[str, Any]:
    """900 persons with more than 256 combinations."""
    return made_persons(900, 1)


@pytest.fixture(scope="session")
def counted(persons: dict[str, Any]) -> tuple[Combinations, ControlCells]:
    """The same as combinations with their control cells up to three dimensions."""
    found = count_combinations(persons, by=ATTRIBUTES)
    return found, control_cells(found, control_tables(Control(), found.by))


@contextmanager
def killed_after(at: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A run that is ended right after it wrote its checkpoint `at` + 1 times; it writes whenever it may."""
    written, write = iter(range(10**9)), Keeper.write

    def killed(keeper: Keeper) -> None:
        write(keeper)
        if next(written) == at:
            raise SystemExit

    with monkeypatch.context() as during:
        during.setattr("diskret.safe.checkpoint.SAVE_EVERY", 0)
        during.setattr("diskret.safe.checkpoint.SHARE", 1e9)
        during.setattr(Keeper, "write", killed)
        with pytest.raises(SystemExit):
            yield
