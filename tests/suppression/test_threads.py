"""The number of cores decides how soon a pattern is found, never which."""

from __future__ import annotations

import os

import pytest

import diskret as dk
from benchmarks import grids
from diskret.suppression.methods import AnyMethod, Cuboids, Moves

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


@pytest.mark.parametrize("method", [Cuboids(), Moves()], ids=["cuboids", "moves"])
def test_one_two_and_four_threads_give_the_same_bytes(method: AnyMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    table = grids.filled("small", "trees", [(3, 3), (3, 3)], 400, skew=1.3, seed=3).table
    found = set()
    for cores in (1, 2, 4):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, cores=cores: range(cores), raising=False)
        done = dk.suppress(table, dk.Promise(), method)
        found.add((done.table.status.tobytes(), done.moves.cells.tobytes(), done.moves.coefficients.tobytes()))
    assert len(found) == 1
