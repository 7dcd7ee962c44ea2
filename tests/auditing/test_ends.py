"""Exact intervals of many cells at once are those of a solver that is asked about one cell and one end at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from benchmarks import grids
from diskret.auditing.audit import exact_intervals
from diskret.auditing.ends import narrowed
from diskret.model.grid import ENDLESS


def hidden(seed: int, *, counts: bool) -> tuple[grids.Grid, dk.Table]:
    """A table of which half the cells are hidden, a few of them primary."""
    grid = grids.filled("small", "trees", [(2, 2), (3,), (2,)], 60, skew=1.0, seed=seed)
    rng = np.random.default_rng(seed)
    value = grid.table.count.astype(float) if counts else grid.table.value
    chance = rng.random(grid.shape)
    status = np.where(chance < 0.15, dk.Status.PRIMARY, np.where(chance < 0.5, dk.Status.SECONDARY, dk.Status.OPEN))
    bounds: Any = {"lower": np.maximum(value - 3, 0), "upper": value + 4} if seed % 2 else {}
    table = replace(
        grid.table, value=value, status=status.astype(np.uint8), below=None, above=None, respondents=None,
        frequency=counts, **bounds,
    )  # fmt: skip
    return grid, table


@pytest.mark.parametrize(("counts", "whole"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("seed", range(4))
def test_every_end_is_that_of_another_solver(seed: int, counts: bool, whole: bool) -> None:
    """Counts that are taken for real numbers end at the last whole number within."""
    grid, table = hidden(seed, counts=counts)
    knowledge = dk.Knowledge.intervals() if seed % 2 else dk.Knowledge.positive()
    found = exact_intervals(table, dk.Promise(guard="public", knowledge=knowledge, levels=False), whole=whole)
    value, secret = grid.own(table.value).reshape(-1), grid.own(table.hidden).reshape(-1)
    rows = np.zeros((sum(1 for _ in grids.sums(grid.parents, grid.shape)), value.size))
    for row, (total, parts) in zip(rows, grids.sums(grid.parents, grid.shape), strict=True):
        row[parts], row[total] = 1.0, -1.0
    low, high = np.where(secret, 0.0, value), np.where(secret, np.inf, value)
    if seed % 2:
        low, high = np.where(secret, np.maximum(value - 3, 0), value), np.where(secret, value + 4, value)
    order = np.arange(value.size).reshape(grid.shape)
    place = np.empty_like(order)
    place[np.ix_(*([h.index(str(i)) for i in range(len(h))] for h in grid.hierarchies.values()))] = order
    primary = place.reshape(-1)[np.flatnonzero(table.status.reshape(-1) == dk.Status.PRIMARY)]
    for k, cell in enumerate(primary.tolist()):
        for side, ends in ((1.0, found[0]), (-1.0, found[1])):
            goal = np.zeros(value.size)
            goal[cell] = side
            done = milp(
                goal, integrality=np.full(value.size, int(counts and whole)), bounds=Bounds(low, high),
                constraints=LinearConstraint(rows, 0.0, 0.0),
            )  # fmt: skip
            last = done.fun if whole else np.ceil(done.fun - 1e-6)
            assert side * last == pytest.approx(ends[k], abs=1e-6)


def test_rooms_narrow_each_other_and_lose_nothing() -> None:
    _, table = hidden(0, counts=True)
    system = table.equations()
    value = table.value.reshape(-1)[system.cells].astype(np.int64)
    up, down = narrowed(system, np.full(value.size, ENDLESS), value)
    assert (down <= value).all()
    assert (up != ENDLESS).any()
    rng = np.random.default_rng(1)
    goal = rng.normal(size=value.size)
    rows = np.zeros((system.rows, value.size))
    rows[system.row_of(), system.columns] = system.coefficients
    found = milp(goal, bounds=Bounds(-value, 50.0), constraints=LinearConstraint(rows, 0.0, 0.0)).x
    assert (found <= np.where(up == ENDLESS, np.inf, up) + 1e-6).all()
    assert (-found <= down + 1e-6).all()
