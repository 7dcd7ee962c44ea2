"""Periods: which of them add up, tables that run over them, and periods that nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

import diskret as dk
from diskret.ledger.about import About, Ratio
from diskret.ledger.ledger import Ledger
from diskret.model.errors import MeaningUnknown

REGION = dk.Hierarchy.flat("abcd", total="DE")
SERIES = dk.Hierarchy.flat(["2023", "2024"], total="both years")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return dk.open_ledger(tmp_path / "ledger", create=True)


def regions(*values: float, alone: bool = False) -> dk.Table:
    cells = {"r": list("abcd"), "x": list(values), "n": [1 if alone else 5, 5, 5, 5]}
    table = dk.Table.from_cells(cells, by={"r": REGION}, value="x", count="n")
    return table.with_status("primary", [["a"]]).with_status("secondary", [["b"]]) if alone else table


def series(status: str) -> dk.Table:
    cells = {"period": ["2023", "2024"], "x": [60, 40], "n": [1, 1], "st": [status] * 2}
    return dk.Table.from_cells(cells, by={"period": SERIES}, value="x", count="n", status="st")


def firms(period: str = "", **more: object) -> About:
    return About(population="firms", unit="EUR", period=period, **more)  # type: ignore[arg-type]


def test_a_table_may_run_over_periods_and_its_total_is_their_sum(ledger: Ledger) -> None:
    ledger.add(series("primary"), firms(), name="series")
    year = dk.Table.from_cells({"k": ["k"], "x": [60], "n": [5]}, by={"k": None}, value="x", count="n")
    found = ledger.check(year, firms("2023"), name="2023")
    assert not found.safe
    assert "minus 2023, period=2023" in found.report()
    assert [t["shown"] for t in ledger.history({"period": "2024"})] == [None]
    assert [t["shown"] for t in ledger.history({"period": "2023+2024"})] == [100.0]


def test_series_of_other_years_do_not_have_one_total(ledger: Ledger) -> None:
    ledger.add(series("open"), firms(), name="two years")
    three = dk.Table.from_cells(
        {"period": ["2022", "2023", "2024"], "x": [7, 60, 40], "n": [5, 5, 5]},
        by={"period": dk.Hierarchy.flat(["2022", "2023", "2024"], total="both years")}, value="x", count="n",
    )  # fmt: skip
    assert ledger.check(three, firms()).safe, "another sum under the same word contradicts nothing"
    entry = ledger.add(three, firms(), name="three years")
    assert ledger.verify() == ()
    assert entry.number == 2


@pytest.mark.parametrize("said", ["2023-2024", "winter"])
def test_a_grouping_of_several_years_is_followed(ledger: Ledger, said: str) -> None:
    both = {"period": {said: ["2023", "2024"]}}
    ledger.add(regions(60, 200, 300, 400), firms(said, groupings=both), name="both years")
    ledger.add(regions(20, 50, 70, 100), firms("2023"), name="2023")
    found = ledger.check(regions(40, 150, 230, 300, alone=True), firms("2024"))
    assert found.connected == ("both years", "2023")
    assert "r=a, period=2024" in {e.cell for e in found.audit.exposed}


def test_two_quarters_hang_together_by_a_year_that_is_shown_only(ledger: Ledger) -> None:
    ledger.add(regions(1, 2, 3, 4), firms("2024-Q1"), name="Q1")
    assert ledger.check(regions(1, 2, 3, 4), firms("2024-Q2")).connected == ()
    ledger.add(regions(9, 9, 9, 9), firms("2024"), name="year")
    assert ledger.check(regions(1, 2, 3, 4, alone=True), firms("2024-Q2")).connected == ("Q1", "year")


@pytest.mark.parametrize("period", ["2024Q3", "2024-q3", "2024-Q5", "2024-13", "2024-W05", "2024-H1", "Q3 2024", "24"])
def test_a_period_that_nobody_can_add_up_is_refused(ledger: Ledger, period: str) -> None:
    ledger.add(regions(1, 2, 3, 4), firms("2024"), name="year")
    with pytest.raises(MeaningUnknown, match="what period"):
        ledger.check(regions(1, 2, 3, 4), firms(period))
    with pytest.raises(MeaningUnknown, match="what period"):
        ledger.add(regions(1, 2, 3, 4), firms(period), name="part of it")
    staff = firms(period, stock=True, value="staff", apart="of a day")
    ledger.add(regions(1, 2, 3, 4), staff, name="staff")


def test_values_of_a_day_and_values_that_add_up_are_two_values(ledger: Ledger) -> None:
    ledger.add(regions(1, 2, 3, 4), firms("2024"), name="year")
    with pytest.raises(MeaningUnknown, match="stock"):
        ledger.add(regions(1, 2, 3, 4), firms("2024-12", stock=True), name="by mistake")
    ledger.add(regions(1, 2, 3, 4), firms("2024-12", stock=True, value="staff", apart="of a day"), name="staff")
    with pytest.raises(MeaningUnknown, match="stock"):
        ledger.check(regions(1, 2, 3, 4), firms("2024-11", value="staff"))


def test_a_ratio_over_values_of_a_day_leaves_quarters_adding_up(ledger: Ledger) -> None:
    """Turnover per person employed at the end of the year: turnover adds up, those employed do not."""
    ledger.add(regions(100, 200, 300, 400), firms("2024"), name="year")
    for quarter in (1, 2, 3):
        ledger.add(regions(20, 50, 70, 100), firms(f"2024-Q{quarter}"), name=f"Q{quarter}")
    staff = firms("2024", stock=True, value="staff", apart="of a day")
    ledger.add(regions(10, 20, 30, 40), staff, name="staff")
    each = dk.Table.from_cells({"r": list("abcd"), "g": [10.0] * 4}, by={"r": REGION}, value="g")
    ledger.add(each, firms("2024", value="x", ratio=Ratio(under={"value": "staff"})), name="per head")
    found = ledger.check(regions(40, 50, 90, 100, alone=True), firms("2024-Q4"))
    assert any(e.cell.startswith("r=a, period=2024-Q4") for e in found.audit.exposed)


def test_a_period_of_which_somebody_says_what_it_is_made_of_is_known(ledger: Ledger) -> None:
    half = {"period": {"2024-H1": ["2024-Q1", "2024-Q2"]}}
    ledger.add(regions(60, 200, 300, 400), firms("2024-H1", groupings=half), name="half")
    ledger.add(regions(20, 50, 70, 100), firms("2024-Q1"), name="Q1")
    found = ledger.check(regions(40, 150, 230, 300, alone=True), firms("2024-Q2"))
    assert "r=a, period=2024-Q2" in {e.cell for e in found.audit.exposed}
