"""The yardstick of patterns: its attack finds what the audit finds, and its optima are never undercut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from benchmarks import grids, lone, quality, yardsticks

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


@pytest.mark.parametrize("guard", ["public", "single"])
@pytest.mark.parametrize("seed", range(3))
def test_the_independent_attack_exposes_the_cells_that_the_audit_exposes(seed: int, guard: str) -> None:
    grid = grids.filled("small", "trees", [(2, 2), (4,)], 50, skew=1.3, seed=seed)
    rng = np.random.default_rng(seed)
    more = (grid.table.status == dk.Status.OPEN) & (grid.table.value > 0) & (rng.random(grid.shape) < 0.4)
    table = replace(grid.table, status=np.where(more, np.uint8(dk.Status.SECONDARY), grid.table.status))
    found = dk.audit(table, dk.Promise.from_dict({"guard": guard}))
    theirs = np.zeros(grid.shape, dtype=np.bool_)
    theirs[tuple(np.array([e.index for e in found.exposed]).T)] = True
    mine = lone.exposed(grid, grid.own(table.hidden), singles=guard == "single")
    assert mine == set(np.flatnonzero(grid.own(theirs)).tolist())


def test_a_table_of_firms_adds_up_and_keeps_its_fingerprint() -> None:
    grid = next(grids.seeded("trees", 1))
    assert all(
        grid.value.reshape(-1)[whole] == grid.value.reshape(-1)[parts].sum()
        for whole, parts in grids.sums(grid.parents, grid.shape)
    )
    assert np.array_equal(grid.own(grid.table.value), grid.value)
    assert (
        grid.fingerprint == next(grids.seeded("trees", 1)).fingerprint != next(grids.seeded("trees", 1, 1)).fingerprint
    )


def test_the_gap_is_measured_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "OPTIMA", tmp_path / "optima.json")
    monkeypatch.setattr(yardsticks, "warm", lambda: None)
    asked = ["--tables", "1", "--kinds", "flat", "--guards", "public", "--methods", "quick", "--into", str(tmp_path)]
    assert quality.main(asked) == 0
    assert quality.Optima.kept().popitem()[1].proved
    assert {"quality.md", "quality.csv", "quality.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_a_pattern_below_a_proved_optimum_is_an_error() -> None:
    known = quality.Optimum(table="t", price=100.0, bound=100.0, proved=True, seconds=1.0)
    with pytest.raises(RuntimeError, match="cheaper than a proved optimum"):
        known.better(replace(known, price=99.0, bound=0.0, proved=False))
