"""Printed patterns of chapters 1 to 5 and appendix A.3, cell for cell, by one engine with the options of the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Cost, Hierarchy, Knowledge, Promise, Status, Table, methods, suppress
from diskret.suppression.time_series import weighed
from tests.printed import ReadPrinted

pytestmark = pytest.mark.filterwarnings("ignore:the table has subtotals")


def secondary(result: Any) -> set[tuple[str, ...]]:
    table = result.table
    return {table.codes(tuple(int(i) for i in at)) for at in np.argwhere(table.status == Status.SECONDARY)}


@pytest.mark.parametrize(
    ("golden", "options"),
    [
        pytest.param("ch1-min-count", {}, id="1.3"),
        pytest.param("ch1-sparse-forces-margins", {}, id="1.5"),
        pytest.param("ch1-hierarchical-two-dims", {"barriers": "off"}, id="1.7"),
        pytest.param("ch1-hierarchical-two-dims", {}, id="1.7 with barriers"),
        pytest.param("ch1-hierarchical-two-dims", {"cost": Cost("log")}, id="1.7 with log classes"),
        pytest.param("ch2-all-single-contributors", {}, id="2.2"),
        pytest.param("ch2-single-contributor-in-margins", {}, id="2.3"),
        pytest.param("ch2-paired-single-no-pool", {}, id="2.5"),
    ],
)
def test_pattern_against_exact_computation(printed: ReadPrinted, golden: str, options: Any) -> None:
    p = printed(golden)
    result = suppress(p.table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(**options))
    assert secondary(result) == p.expected("secondary", "secondary_cells")
    assert result.unprotected == ()


def test_1_6_totals_suppressed_from_above_force_cells_inside(printed: ReadPrinted) -> None:
    first = suppress(
        printed("ch1-min-count").table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(thin=False)
    )
    p = printed("ch1-higher-level-forces-inner")
    from_above = first.table.with_status(Status.SECONDARY, p.content["expected"]["pivots"])
    result = suppress(from_above, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(thin=False))
    assert p.names(result.secondary) == p.expected("secondary_new")
    assert p.names(result.table.hidden) == p.expected("suppressed_final")


def test_2_4_counts_that_do_not_add_up_need_the_row_of_totals_as_a_table(printed: ReadPrinted) -> None:
    p = printed("ch2-nonadditive-counts-pool")
    alone = suppress(p.table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(thin=False))
    assert secondary(alone) == p.codes(p.content["expected"]["main_table_alone"]["secondary"])
    pooled = suppress(
        p.table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(thin=False, non_additive=("row",))
    )
    assert secondary(pooled) == p.codes(p.content["expected"]["after_alignment"]["secondary"])


@pytest.mark.parametrize("cost", [Cost(), Cost("log")], ids=["value", "log"])
def test_3_0_interval_protection_with_zeros_as_partners(printed: ReadPrinted, cost: Any) -> None:
    p = printed("ch3-fig3.0-span125-zero-partners")
    result = suppress(
        p.table,
        Promise(levels=False, min_relative_range=1.25, knowledge=Knowledge.positive()),
        methods.Cuboids(cost=cost, zeros="allowed", thin=False),
    )
    assert secondary(result) == p.expected("secondary")


@pytest.mark.parametrize(
    ("knowledge", "key"),
    [
        pytest.param(Knowledge.positive(), "secondary_non_negative", id="non-negative"),
        pytest.param(Knowledge.relative(4.0), "secondary_estimate_error_400", id="known to within 400 %"),
    ],
)
def test_a_3_minimum_range_of_299_percent(printed: ReadPrinted, knowledge: Any, key: Any) -> None:
    p = printed("appA-3-example-table-q299")
    table = replace(p.table, positive=True)
    result = suppress(
        table,
        Promise(levels=False, min_relative_range=2.99, knowledge=knowledge),
        methods.Cuboids(barriers="off", thin=False),
    )
    assert secondary(result) == p.expected(key)


LAYER_TOTALS: dict[tuple[str, ...], int] = {("largest", "total"): 1, ("second", "total"): 1}


def test_4_1_dominance_protection_leaves_only_the_total_open(printed: ReadPrinted) -> None:
    p = printed("ch4-abb4-1-positive-table")
    table = p.with_counts(LAYER_TOTALS)
    result = suppress(
        table,
        Promise(levels=False, min_relative_range=0.5, knowledge=Knowledge.positive()),
        methods.Cuboids(thin=False),
    )
    assert secondary(result) == p.expected("secondary_cells")


def test_4_1_with_estimate_intervals_nothing_stays_open(printed: ReadPrinted) -> None:
    p = printed("ch4-abb4-1-estimate-intervals")
    table = p.with_counts(LAYER_TOTALS)
    result = suppress(
        table,
        Promise(levels=False, min_relative_range=0.5, knowledge=Knowledge.intervals()),
        methods.Cuboids(thin=False),
    )
    assert result.table.hidden.all()


# --- the chain of figure 3.5: intervals handed from subtable to subtable --------------------------------------------


def test_3_5_first_pass_without_transfer(printed: ReadPrinted) -> None:
    p = printed("ch3-fig3.5-base-table")
    result = suppress(
        p.table,
        Promise(levels=False, min_relative_range=0.2, knowledge=Knowledge.positive()),
        methods.Cuboids(thin=False),
    )
    assert secondary(result) == p.expected("secondary")
    top = result.moves[0]
    assert p.names(np.isin(np.arange(p.table.size).reshape(p.table.shape), top.cells)) == p.codes(
        p.content["expected"]["cuboids"]["top"]
    )
    assert (top.up, top.down) == (80.0, 1.0)
    values = p.table.value.reshape(-1)
    for each in printed("ch3-fig3.6-top-subtable").content["expected"]["intervals"]:
        cell = int(np.ravel_multi_index(p.table.index(*map(str, each["coord"])), p.table.shape))
        assert top.interval(cell, values[cell]) == (each["lower"], each["upper"])


def test_3_8_to_3_10_intervals_carried_once(printed: ReadPrinted) -> None:
    p = printed("ch3-fig3.5-base-table")
    result = suppress(
        p.table,
        Promise(levels=False, min_relative_range=0.2, knowledge=Knowledge.positive()),
        methods.Cuboids(thin=False, carry="once"),
    )
    marks = [(2, 2), (2, 3), (2, 4), (2, 6), (1, 4), (1, 6), (3, 1), (3, 2), (3, 3), (3, 4), (3, 6)]
    assert secondary(result) == {(str(a), str(b)) for a, b in marks}


def test_3_10_the_right_subtable_moves_between_minus_39_and_1(printed: ReadPrinted) -> None:
    p = printed("ch3-fig3.5-base-table")
    result = suppress(
        p.table,
        Promise(levels=False, min_relative_range=0.2, knowledge=Knowledge.positive()),
        methods.Cuboids(thin=False, carry="once"),
    )
    expected = printed("ch3-fig3.10-right-subtable").content["expected"]
    wanted = p.codes(expected["even"])
    cells = np.arange(p.table.size).reshape(p.table.shape)
    moves = [m for m in result.moves if p.names(np.isin(cells, m.cells)) == wanted]
    assert moves
    assert {tuple(sorted((m.up, m.down))) for m in moves} == {(1.0, 39.0)}


def test_repeated_transfer_makes_intervals_collapse(printed: ReadPrinted) -> None:
    """The source warns of it: with every pass narrower, cell 90 can no longer be protected."""
    p = printed("ch3-fig3.5-base-table")
    with pytest.warns(match="cannot be protected"):
        result = suppress(
            p.table,
            Promise(levels=False, min_relative_range=0.2, knowledge=Knowledge.positive()),
            methods.Cuboids(thin=False, carry="always"),
        )
    assert "row=2, col=3" in {u.cell for u in result.unprotected}


# --- chapter 5 ------------------------------------------------------------------------------------------------------


def test_5_1_2_3_two_zeros_protect_each_other_only_if_signs_are_unknown() -> None:
    cells = {"s": ["a", "b", "c"], "x": [0, 0, 5], "status": ["primary", "zero", "never"]}
    table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="status")
    table = table.with_status(Status.NEVER, [["Total"]])
    assert secondary(
        suppress(table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(thin=False))
    ) == {("b",)}
    with pytest.warns(match="cannot be protected"):
        assert (
            suppress(table, Promise(levels=False, knowledge=Knowledge.positive()), methods.Cuboids(thin=False))
            .unprotected[0]
            .reached
            == 0.0
        )


def test_5_3_2_time_series_weights(printed_vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    for each in printed_vectors("ch5-3-2-time-series-weight-vectors"):
        if each["combined"] is None:
            continue
        now = one_cell(each["current"])
        before = one_cell(each["previous"], Status.OPEN if each["previous_open"] else Status.PRIMARY)
        weight = weighed(now, before).weight
        assert weight is not None
        assert weight[0, 0] == pytest.approx(each["combined"]), each


def one_cell(value: float, status: Status = Status.OPEN) -> Table:
    by = {"r": Hierarchy.flat(["1"]), "c": Hierarchy.flat(["1"])}
    cells = {"r": ["1"], "c": ["1"], "x": [value], "s": [status.text]}
    return Table.from_cells(cells, by=by, value="x", status="s")


@pytest.mark.parametrize("powers", [(2, 2), (1, 0), (-1, 2)])
def test_5_3_3_far_cells_cost_more_by_the_printed_distance(powers: Any) -> None:
    """Among equal values the partners with the smallest |distance| ** p are taken: the cost decides alone."""
    names = ["r", "c"]
    codes = [str(i) for i in range(1, 6)]
    by = {n: Hierarchy.flat(codes) for n in names}
    value = np.full((6, 6), 7.0)
    value[5], value[:, 5] = 35.0, 35.0
    value[5, 5] = 175.0
    status = np.zeros((6, 6), dtype=np.uint8)
    status[0, 1] = Status.PRIMARY
    table = Table(by, "x", value, status)
    result = suppress(
        table,
        Promise(levels=False, knowledge=Knowledge.none()),
        methods.Cuboids(cost=Cost(distance=dict(zip(names, powers, strict=True))), thin=False),
    )

    def weight(cell: Any) -> float:
        gaps = [abs(q - g) for q, g in zip(cell, (0, 1), strict=True)]
        return sum((gap**p if gap else float(p == 0)) for gap, p in zip(gaps, powers, strict=True))

    def price(d: Any) -> float:
        return sum(7.0 * weight(cell) for cell in ((0, d[1]), (d[0], 1), d))

    inner = [(i, j) for i in range(1, 5) for j in (0, 2, 3, 4)]
    best = min(inner, key=price)
    chosen = {tuple(int(i) for i in at) for at in np.argwhere(result.table.status == Status.SECONDARY)}
    assert price(best) == pytest.approx(sum(7.0 * weight(c) for c in chosen))
