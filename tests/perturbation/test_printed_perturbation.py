"""Chapter 4.1 of the Quaderverfahren: signs, error intervals, changed values and rebooked contributors as printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import CuboidOptions, Hierarchy, Knowledge, Status, Table, perturb
from diskret.model.arrays import Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import ChangeOutOfReach
from diskret.moves.move import Move, MoveSet
from diskret.perturbation import _move_kernels as kernels
from diskret.perturbation.cuboids import most_cells, tree_of
from diskret.perturbation.perturbation_attack import steps_within

Golden = Callable[[str], Any]
FILE = "quader/ch4-1-perturbation-and-recount-vectors"


def table_of(rows: list[list[float]], pivot: list[int] | None = None) -> Table:
    value = np.array(rows, dtype=float)
    by = {"s": Hierarchy.flat("ab"), "t": Hierarchy.flat("uv")}
    status = np.zeros(value.shape, dtype=np.uint8)
    if pivot is not None:
        status[tuple(pivot)] = Status.PRIMARY
    return Table(by, "x", value, status, positive=True)


def move_of(said: dict[str, Any], table: Table) -> tuple[Ints, Ints]:
    """The printed cuboid as a move of finest cells: a partner in a margin means that the pivot moves alone."""
    pivot = said["pivot"]
    corner = next(c for c in said["cuboid"] if all(x != g for x, g in zip(c, pivot, strict=True)))
    against = [-1 if c == size - 1 else c for c, size in zip(corner, table.shape, strict=True)]
    cells, signs = (np.empty(most_cells(table), dtype=np.int64) for _ in range(2))
    size = kernels.spread(np.array(pivot), np.array(against), tree_of(table), cells, signs)
    return cells[:size], signs[:size]


def error_interval(table: Table, cells: Ints, signs: Ints, knowledge: Knowledge) -> tuple[float, float]:
    """Between which errors a move contradicts nothing that is known beforehand."""
    up, down = knowledge.room(table)
    moves = MoveSet.of([Move(cells=cells, coefficients=signs.astype(np.float64))])
    fall, rise = steps_within(moves, up, down)
    return float(fall[0]), float(rise[0])


@pytest.mark.parametrize("which", ["interior", "with_margins"])
def test_printed_cuboid_and_changed_values(golden: Golden, which: str) -> None:
    said, expected = golden(FILE)["table"][which], golden(FILE)["expected"][which]
    table = table_of(said["rows"])
    cells, signs = move_of(said, table)
    assert sorted(map(tuple, said["cuboid"])) == sorted(
        tuple(int(i) for i in np.unravel_index(c, table.shape)) for c in cells
    )
    if which == "interior":
        square = np.zeros((3, 3))
        square.reshape(-1)[cells] = signs
        assert square[:2, :2].tolist() == expected["signs"]
    else:
        assert (signs == expected["signs_all"]).all()
    changed = table.value.copy().reshape(-1)
    changed[cells] += signs * expected["example_eps"]
    assert changed.reshape(3, 3).tolist() == expected["perturbed"]


def test_printed_error_intervals(golden: Golden) -> None:
    said, expected = golden(FILE)["table"], golden(FILE)["expected"]
    inner, margin = (table_of(said[k]["rows"]) for k in ("interior", "with_margins"))
    assert (
        list(error_interval(inner, *move_of(said["interior"], inner), Knowledge.positive()))
        == (expected["interior"]["eps_interval_non_negative"])
    )
    assert (
        list(error_interval(inner, *move_of(said["interior"], inner), Knowledge.relative(0.5)))
        == (expected["interior"]["eps_interval_plus_minus_50_percent"])
    )
    fall, rise = error_interval(margin, *move_of(said["with_margins"], margin), Knowledge.positive())
    assert [fall, None if np.isinf(rise) else rise] == expected["with_margins"]["eps_interval_non_negative"]
    lower, upper = np.zeros((3, 3)), np.full((3, 3), np.inf)
    lower[0, 2], upper[0, 2] = 99, 180
    known = replace(margin, lower=lower, upper=upper)
    assert (
        list(error_interval(known, *move_of(said["with_margins"], known), Knowledge.intervals()))
        == (expected["with_margins"]["eps_interval_when_cell_0_2_is_known_within_99_180"])
    )


def test_errors_come_from_the_whole_printed_interval_and_never_vanish(golden: Golden) -> None:
    said, expected = golden(FILE)["table"]["interior"], golden(FILE)["expected"]["interior"]
    table = table_of(said["rows"], said["pivot"])
    fall, rise = expected["eps_interval_non_negative"]
    # margins that are out already leave the printed cuboid as the only one
    fixed = np.array(table.status)
    fixed[2, :] = fixed[:, 2] = Status.PUBLISHED
    table = replace(table, status=fixed)
    errors = set()
    for seed in range(600):
        done = perturb(table, options=CuboidOptions(max_relative_change=None), seed=seed)
        e = done.change[0, 0]
        errors.add(e)
        assert (done.change == e * np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]])).all()
    assert errors == set(range(fall, rise + 1)) - {0}


def recount(counts: list[list[int]], least: int) -> tuple[int, Ints]:
    """Rebook along the square, pivot first."""
    count = np.array(counts).reshape(-1)
    cells, signs = np.arange(4), np.array([1, -1, -1, 1])
    m = kernels.rebooked(4, cells, signs, count, least)
    return int(m), (count + m * signs).reshape(2, 2)


def test_printed_rebooking(golden: Golden) -> None:
    said, expected = golden(FILE)["table"]["recount"], golden(FILE)["expected"]["recount"]
    m, after = recount(said["counts"], said["minimum_count"])
    assert m == expected["m_used"] == expected["m_min"]
    assert m <= expected["m_max"]
    assert after.tolist() == expected["counts_after"]


def test_rebooking_looks_at_all_cells_that_gain_not_only_the_pivot(golden: Golden) -> None:
    said = golden(FILE)["expected"]["recount_gap_case"]
    m, after = recount(said["counts"], said["minimum_count"])
    assert m == said["m_required_for_all"]
    assert after.tolist() == said["counts_after_m_2"]


def test_cuboid_without_contributors_to_spare_is_refused() -> None:
    m, _ = recount([[1, 4], [7, 5]], 3)  # 4 - 3 = 1 to spare, 2 wanted
    assert m == -1


def test_rebooked_table_as_printed(golden: Golden) -> None:
    said, expected = golden(FILE)["table"]["recount"], golden(FILE)["expected"]["recount"]
    table = table_of([[100, 80, 180], [90, 60, 150], [190, 140, 330]], said["pivot"])
    count = np.zeros((3, 3), dtype=np.int64)
    count[:2, :2] = said["counts"]
    count[2, :2], count[:, 2] = count[:2, :2].sum(axis=0), count[:, :2].sum(axis=1)
    count[2, 2] = count[:2, :2].sum()
    table = replace(table, respondents=Contributors(count))
    done = perturb(table, options=CuboidOptions(min_count=said["minimum_count"]), seed=1)
    assert done.table.count[:2, :2].tolist() == expected["counts_after"]
    assert (done.table.count[2] == count[2]).all()
    assert (done.table.count[:, 2] == count[:, 2]).all()


def test_cell_that_cannot_be_rebooked_is_named() -> None:
    table = table_of([[100, 80, 180], [90, 60, 150], [190, 140, 330]], [0, 0])
    count = np.array([[1, 1, 2], [1, 1, 2], [2, 2, 4]])
    status = np.array(table.status)
    status[2, :] = status[:, 2] = Status.PUBLISHED
    with pytest.raises(ChangeOutOfReach, match="s=a, t=u"):
        perturb(
            replace(table, status=status, respondents=Contributors(count)), options=CuboidOptions(min_count=3), seed=1
        )
