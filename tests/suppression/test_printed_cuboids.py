"""Single cuboids of chapters 2 and 3: cells, even and odd sets, ranges and intervals as printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Knowledge, Promise, Status, Table
from diskret.moves.move import Move
from diskret.suppression._corner_kernels import corners_of
from diskret.suppression.by_cuboids import _segments, _task
from diskret.suppression.cuboid.expanded import expanded
from diskret.suppression.cuboid.thinning import reaches
from diskret.suppression.methods import Cuboids
from tests.printed import ReadFile, ReadPrinted


def cuboid(table: Table, knowledge: Knowledge, pivot: Sequence[object], diametral: Sequence[object]) -> Move:
    """The cuboid of two diametral cells as a move, with how far it can go."""
    segments = _segments(table, ())
    task = _task(table, Promise(levels=False, knowledge=knowledge), Cuboids())
    g, d = (np.array([np.ravel_multi_index(table.index(*map(str, c)), table.shape)]) for c in (pivot, diametral))
    inside = segments.containing(table.shape)
    name = 0
    for axis, count in enumerate(segments.counts):
        both = set(inside[axis][np.unravel_index(g[0], table.shape)[axis]]) & set(
            inside[axis][np.unravel_index(d[0], table.shape)[axis]]
        )
        name = name * count + int(max(both))
    up, down = reaches(task, segments, g, d, np.array([name]))
    return expanded(np.stack([g, d, up, down, [name], [0]], axis=1).astype(float), table)[0]


def with_bounds(printed: ReadPrinted, name: str) -> Table:
    """A golden table whose cells may carry prior intervals."""
    p = printed(name)
    lower, upper = np.zeros(p.table.shape), np.full(p.table.shape, np.inf)
    for cell in p.content["table"]["cells"]:
        at = p.table.index(*map(str, cell["coord"]))
        lower[at] = cell.get("lower") or 0.0
        upper[at] = np.inf if cell.get("upper") is None else cell["upper"]
    return replace(p.table, lower=lower, upper=upper)


def check_intervals(table: Table, move: Any, said: Any) -> None:
    for each in said:
        cell = int(np.ravel_multi_index(table.index(*map(str, each["coord"])), table.shape))
        low, high = move.interval(cell, float(table.value.reshape(-1)[cell]))
        assert (low, high) == (each["lower"], each["upper"]), each


@pytest.mark.parametrize(
    "golden",
    [
        "ch3-fig3.6-top-subtable", "ch3-fig3.7-left-subtable", "ch3-fig3.8-left-with-carried-intervals",
        "ch3-fig3.10-right-subtable", "ch3-fig3.5-second-pass-top",
    ],
)  # fmt: skip
def test_intervals_of_the_chain_of_figure_3_5(printed: ReadPrinted, golden: str) -> None:
    table = with_bounds(printed, golden)
    expected = printed(golden).content["expected"]
    move = cuboid(table, Knowledge.intervals(), expected["pivot"], expected["diametral"])
    assert {move.up, move.down} == {expected["eps_plus"], expected["eps_minus"]}
    check_intervals(table, move, expected["intervals"])


def test_3_9_exact_bounds_accept_what_the_short_form_refuses(printed: ReadPrinted) -> None:
    table = with_bounds(printed, "ch3-fig3.9-left-corner-cuboid")
    expected = printed("ch3-fig3.9-left-corner-cuboid").content["expected"]
    move = cuboid(table, Knowledge.intervals(), expected["pivot"], expected["diametral"])
    assert move.range == expected["exact"]["range"] == 81
    check_intervals(table, move, expected["exact"]["intervals"])
    assert set(move.coefficients.tolist()) == {1}


def test_3_1_knowing_every_cell_to_50_percent_makes_the_range_collapse(printed: ReadPrinted) -> None:
    table = with_bounds(printed, "ch3-fig3.1-prior50-collapse")
    expected = printed("ch3-fig3.1-prior50-collapse").content["expected"]
    for knowledge, key in ((Knowledge.positive(), "positive_only"), (Knowledge.intervals(), "with_prior_pm50")):
        move = cuboid(table, knowledge, (1, 1), (2, 2))
        assert (move.up, move.down) == (expected[key]["eps_plus"], expected[key]["eps_minus"])
        check_intervals(table, move, expected[key]["intervals"])
    assert cuboid(table, Knowledge.relative(0.5), (1, 1), (2, 2)).range == expected["with_prior_pm50"]["range"]


def test_corner_cuboid_has_no_odd_cell_and_no_upper_end(printed: ReadPrinted) -> None:
    p = printed("ch3-parity-corner-cuboid")
    move = cuboid(p.table, Knowledge.positive(), ("g", "g"), ("d", "d"))
    assert move.coefficients.tolist() == [1, 1, 1, 1]
    assert move.interval(0, 20.0) == (0.0, np.inf)


def test_even_and_odd_cells_of_a_cuboid_without_margins(printed_file: ReadFile) -> None:
    expected = printed_file("ch3-parity-inner-3d")["expected"]
    from diskret import Hierarchy

    by = {f"d{i}": Hierarchy.flat(["g", "d", "other"]) for i in range(3)}
    status = np.full((4, 4, 4), Status.OPEN, dtype=np.uint8)
    table = Table(by, "x", np.ones((4, 4, 4)), status)
    move = cuboid(table, Knowledge.none(), "ggg", "ddd")
    signs = {table.codes(tuple(int(i) for i in np.unravel_index(c, table.shape))): s
             for c, s in zip(move.cells, move.coefficients, strict=True)}  # fmt: skip
    for name, sign in (("even", 1), ("odd", -1)):
        assert all(signs[tuple(cell)] == sign for cell in expected["subsets_by_number_of_d"][name])
    assert len(signs) == expected["cells"]


def test_cuboid_index_formula_and_number_of_cuboids(printed_file: ReadFile) -> None:
    expected = printed_file("ch2-cuboid-index-and-effort")["expected"]["derived"]
    for case in (expected["enumeration_n2"], expected["enumeration_n3"]):
        n = len(case["g"])
        steps = 10 ** np.arange(n - 1, -1, -1)
        cells = np.empty(1 << n, dtype=np.int64)
        g, d = (int(np.dot(case[k], steps)) for k in ("g", "d"))
        corners_of(g, d, steps, cells)
        assert set(cells.tolist()) == {int(np.dot(c, steps)) for c in case["cells_in_order_k"]}
        assert (cells[0], cells[-1]) == (g, d)


def test_candidates_of_pivot_53_are_refused_by_their_smallest_opposite_cell(printed: ReadPrinted) -> None:
    p = printed("ch3-fig3.0-pivot53-candidates")
    expected = p.content["expected"]
    assert cuboid(p.table, Knowledge.positive(), expected["pivot"], expected["selected_diametral"]).range == 221
    for each in expected["min_odd_by_diametral"]:
        assert cuboid(p.table, Knowledge.positive(), expected["pivot"], each["diametral"]).up == each["min_odd"]
    for diametral in expected["rejected_span"]:
        assert cuboid(p.table, Knowledge.positive(), expected["pivot"], diametral).range <= 1.25 * 53


def test_candidates_of_pivot_95_are_refused_as_printed(printed: ReadPrinted) -> None:
    p = printed("ch3-fig3.0-pivot95-candidates")
    expected = p.content["expected"]
    assert cuboid(p.table, Knowledge.positive(), expected["pivot"], expected["selected_diametral"]).range == 290
    for diametral in expected["rejected_range_zero"]:
        assert cuboid(p.table, Knowledge.positive(), expected["pivot"], diametral).range == 0
    for each in expected["rejected_relative_not_above_1"]:
        assert cuboid(p.table, Knowledge.positive(), expected["pivot"], each["diametral"]).range <= 95
