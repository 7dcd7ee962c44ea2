"""Small random systems and tables with overlapping groupings: what is called safe, another solver cannot compute."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import diskret as dk
from diskret.auditing.certificate import certificate_of
from diskret.model.arrays import Floats
from diskret.model.cells import Cells
from diskret.suppression.methods import Complete, Cuboids, Moves, Optimal

ASKED = dk.Promise(guard="public", knowledge=dk.Knowledge.intervals())
CLOSE = 1e-6


def random_system(seed: int) -> dk.System:
    """Cells that add up in random ways, some with coefficients of their own; sums are made to hold."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 100, int(rng.integers(6, 14))).astype(float).tolist()
    equations: list[dict[str, float]] = []
    for _ in range(int(rng.integers(2, 7))):
        parts = rng.choice(len(value), int(rng.integers(2, 5)), replace=False).tolist()
        factors = rng.choice([1, 1, 1, 2, 3], len(parts)).astype(float)
        equations.append({f"c{p}": f for p, f in zip(parts, factors, strict=True)} | {f"c{len(value)}": -1.0})
        value.append(float(factors @ np.array([value[p] for p in parts])))
    if rng.random() < 0.5:
        # the same told in another way: an equation with several cells on both sides
        one, other = equations[0], equations[-1]
        equations.append({c: one.get(c, 0.0) - other.get(c, 0.0) for c in {**one, **other}})
    return dk.System.of([f"c{i}" for i in range(len(value))], value, equations, **columns(np.array(value), rng))


def columns(value: Floats, rng: np.random.Generator) -> dict[str, Any]:
    """Statuses, levels and bounds."""
    status = rng.choice([0, 0, 0, 0, 1, 3], value.shape)
    return {
        "status": status, "below": np.floor(value * 0.2), "above": np.ceil(value * 0.2),
        "lower": np.zeros(value.shape), "upper": 3 * value + 5,
    }  # fmt: skip


def random_table(seed: int) -> dk.Table:
    """A table of two classifications, one with several groupings."""
    rng = np.random.default_rng(seed)
    leaves = [f"l{i}" for i in range(6)]
    tree = dk.Hierarchy.from_parents({leaf: f"s{i % 2}" for i, leaf in enumerate(leaves)} | {"s0": "T", "s1": "T"})
    mixed = rng.permutation(leaves).tolist()
    cut = int(rng.integers(1, 6))
    region = dk.Hierarchy.from_groupings(
        tree, {"x": mixed[:cut], "y": mixed[cut:], "T": ["x", "y"]}, {"z": rng.permutation(leaves)[:3].tolist()}
    )
    by = {"r": region, "t": dk.Hierarchy.flat("uvw")}
    cells = {"r": np.repeat(leaves, 3), "t": np.tile(list("uvw"), 6), "n": rng.integers(0, 50, 18)}
    table = dk.Table.from_cells(cells, by=by, value="n", positive=True)
    found = columns(table.value, rng)
    return replace(table, status=found.pop("status").astype(np.uint8), **found)


def reach(cells: Cells, cell: int, side: int) -> float:
    """How far a cell can go down (0) or up (1) for the public, by a solver that only knows arrays."""
    everything = cells.equations(np.ones(cells.size, dtype=np.bool_))
    matrix = np.zeros((everything.rows, cells.size))
    matrix[everything.row_of(), everything.columns] = everything.coefficients
    value, hidden = cells.value.reshape(-1), cells.hidden.reshape(-1)
    assert cells.lower is not None
    assert cells.upper is not None
    assert np.abs(matrix @ value).max(initial=0.0) == 0
    low = np.where(hidden, cells.lower.reshape(-1) - value, 0.0)
    high = np.where(hidden, cells.upper.reshape(-1) - value, 0.0)
    cost = np.zeros(cells.size)
    cost[cell] = 1.0 - 2.0 * side
    found = linprog(cost, A_eq=matrix, b_eq=np.zeros(everything.rows), bounds=np.column_stack([low, high]))
    assert found.status == 0
    return float(abs(found.fun))


def exposed(cells: Cells) -> set[str]:
    """Primary cells whose levels are out of reach."""
    assert cells.below is not None
    assert cells.above is not None
    levels = cells.below.reshape(-1), cells.above.reshape(-1)
    return {
        cells.name_of(cell)
        for cell in np.flatnonzero(cells.status.reshape(-1) == dk.Status.PRIMARY).tolist()
        for side in (0, 1)
        # a cell without levels must be able to move at all
        if reach(cells, cell, side) < levels[side][cell] * (1 - CLOSE)
        or (levels[0][cell] + levels[1][cell] == 0 and reach(cells, cell, 0) + reach(cells, cell, 1) < CLOSE)
    }


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", [random_system, random_table])
def test_the_audit_and_another_solver_agree_before_and_after(make: type, seed: int) -> None:
    cells = make(seed)
    assert {e.cell for e in dk.audit(cells, ASKED).exposed} == exposed(cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        done = dk.suppress(cells, ASKED, Moves())
    assert {u.cell for u in done.unprotected} == exposed(done.table)
    never = cells.status == dk.Status.NEVER
    assert not done.table.hidden[never].any()
    partners = (cells.status == dk.Status.OPEN) & (cells.value != 0)
    everything = replace(cells, status=np.where(partners, np.uint8(dk.Status.SECONDARY), cells.status))
    # what nothing can protect stays exposed even with everything hidden
    assert {u.cell for u in done.unprotected} == exposed(everything)
    assert done.audit is not None
    assert dk.verify(done.table, certificate_of(done.audit)).broken_moves == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [random_system, random_table])
def test_the_optimum_is_safe_and_no_more_expensive(make: type, seed: int) -> None:
    cells = make(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        best = dk.suppress(cells, ASKED, Optimal(seconds=20))
        other = dk.suppress(cells, ASKED, Moves())
    assert {u.cell for u in best.unprotected} == exposed(best.table)
    if not other.unprotected:
        assert cells.value[best.secondary].sum() <= cells.value[other.secondary].sum() + CLOSE


@pytest.mark.parametrize("make", [random_system, random_table])
def test_rounding_holds_every_equation(make: type) -> None:
    for seed in range(6):
        cells = make(seed)
        try:
            rounded = dk.round_table(cells, 5, seed=1).table
        except dk.DiskretError:
            continue  # not every system can be rounded
        everything = rounded.equations(np.ones(rounded.size, dtype=np.bool_))
        assert (everything.times(rounded.value.reshape(-1)) == 0).all()
        assert (rounded.value % 5 == 0).all()


@pytest.mark.parametrize("make", [random_system, random_table])
def test_cuboid_methods_refuse_what_is_not_a_product(make: type) -> None:
    for method in (Cuboids(), Complete()):
        with pytest.raises(dk.DiskretError, match="needs one tree"):
            dk.suppress(make(1), ASKED, method)
    with pytest.raises(dk.DiskretError, match="without moves"):
        dk.perturb(make(1), seed=1)
    with (
        pytest.warns(dk.ProtectionWarning, match="made from hidden values"),
        pytest.raises(dk.DiskretError, match="needs one tree"),
    ):
        dk.printed_intervals(make(1), ASKED)


@pytest.mark.filterwarnings("ignore:.*cannot be protected as asked", "ignore:.*no intervals are given near them")
@pytest.mark.parametrize("make", [random_system, random_table])
def test_intervals_to_publish_hold_the_values_of_any_equations(make: type) -> None:
    for seed in range(4):
        done = dk.suppress(make(seed), ASKED).table
        found = dk.publishable_intervals(done, dk.Promise(guard="public"))
        shown = np.isfinite(found.lower)
        assert (found.lower[shown] <= done.value[shown]).all()
        assert (done.value[shown] <= found.upper[shown]).all()
