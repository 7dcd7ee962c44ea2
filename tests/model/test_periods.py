"""Dates become years, quarters or months; what is no date, too coarse or can be read both ways is refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from diskret import Table, in_periods, tabulate
from diskret.model.errors import DiskretError, ProtectionWarning
from diskret.model.periods import Period
from diskret.model.source import normalised, open_source

SAME = ("2024-12-31", "2025-01-01", "2025-04-30")
WRITTEN: dict[str, list[Any]] = {
    "iso": [*SAME],
    "iso with times": ["2024-12-31 23:59:59", "2025-01-01T00:00:00.001", "2025-04-30 12:00+02"],
    "year first": ["2024/12/31", "2025/1/1", "2025/4/30"],
    "eight digits": ["20241231", "20250101", "20250430"],
    "eight digits as numbers": [20241231, 20250101, 20250430],
    "German": ["31.12.2024", "1.1.2025", "30. 4. 2025"],
    "German with times": ["31.12.2024 23:59", "01.01.2025 00:00", "30.04.2025 12:00"],
    "day first": ["31/12/2024", "1/1/2025", "30/04/2025"],
    "month first": ["12/31/2024", "1/1/2025", "04/30/2025"],
    "dates": [date(2024, 12, 31), date(2025, 1, 1), date(2025, 4, 30)],
    "moments": [datetime(2024, 12, 31, 23), datetime(2025, 1, 1, 1), datetime(2025, 4, 30)],
    "months": ["2024-12", "2025-01", "2025-04"],
    "months as numbers": [202412, 202501, 202504],
    "months as decimals": [202412.0, 202501.0, 202504.0],
    "months with M": ["2024M12", "2025-M01", "2025M04"],
    "months first": ["12/2024", "01.2025", "4/2025"],
    "mixed, each clear": ["31.12.2024", "2025-01-01", "202504"],
}
CODES: dict[Period, list[str]] = {
    "year": ["2024", "2025", "2025"],
    "quarter": ["2024-Q4", "2025-Q1", "2025-Q2"],
    "month": ["2024-12", "2025-01", "2025-04"],
}


def codes(entries: list[Any], period: Period, **orders: Any) -> list[str]:
    data = open_source(in_periods({"day": entries}, {"day": period}, orders))
    return [c for (c,) in data.query(f"SELECT {data.code('day')} FROM {data.view}")]


@pytest.mark.parametrize("way", WRITTEN)
def test_a_date_is_the_same_however_it_is_written(way: str) -> None:
    assert {period: codes(WRITTEN[way], period) for period in CODES} == CODES


@pytest.mark.parametrize("entries", [["2024Q4", "2025-Q1", "2025 q2"], ["Q4 2024", "Q1/2025", "Q2 2025"],
                                     ["4. Quartal 2024", "1. Quartal 2025", "2. Quartal 2025"]])  # fmt: skip
def test_quarters_are_quarters_and_no_months(entries: list[str]) -> None:
    assert codes(entries, "quarter") == CODES["quarter"]
    assert codes(entries, "year") == CODES["year"]
    with pytest.raises(DiskretError, match="holds quarters, no months"):
        codes(entries, "month")


def test_day_and_month_that_could_change_places_are_asked_about() -> None:
    unclear = ["3/4/2025", "5/6/2025", "12/11/2024"]
    with pytest.raises(DiskretError, match="day or the month") as refused:
        codes(unclear, "month")
    assert 'dates = "day first" or "month first"' in refused.value.hint
    answers = [(cure.path, cure.value) for cure in refused.value.cures]
    assert answers == [(("classifications", "day", "dates"), order) for order in ("day first", "month first")]
    assert codes(unclear, "year") == ["2025", "2025", "2024"]
    assert codes(unclear, "month", day="day first") == ["2025-04", "2025-06", "2024-11"]
    assert codes(unclear, "month", day="month first") == ["2025-03", "2025-05", "2024-12"]


@pytest.mark.parametrize("wrong", ["30.02.2025", "2025-13-01", "soon", "31.04.25", "2025", "45000", "12:30"])
def test_what_is_no_date_of_that_kind_is_refused_with_its_row(wrong: str) -> None:
    with pytest.raises(DiskretError, match="1 entry that is not a date") as refused:
        codes(["2025-01-31", wrong], "month")
    assert "rows 2" in refused.value.where
    assert wrong not in refused.value.what


def test_days_that_no_order_makes_a_date_are_refused() -> None:
    with pytest.raises(DiskretError, match="not a date"):
        codes(["13/14/2025", "1/2/2025"], "month")
    with pytest.raises(DiskretError, match="not a date"):
        codes(["31/12/2024", "1/2/2025"], "month", day="month first")


def test_unknown_periods_and_columns_are_refused() -> None:
    with pytest.raises(DiskretError, match="'week'"):
        in_periods({}, {"day": "week"})  # type: ignore[dict-item]
    with pytest.raises(DiskretError, match="'date'"):
        open_source(in_periods({"day": ["2025-01-01"]}, {"date": "year"}))


def test_rows_without_a_date_stay_without_one() -> None:
    assert codes(["2025-01-31", None, " "], "month") == ["2025-01", None, None]


@pytest.mark.filterwarnings("ignore:column .moment. holds moments with a time zone")
def test_moments_fall_on_the_same_day_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        data = open_source({"a": ["x"]})
        data.query(f"COPY (SELECT TIMESTAMPTZ '2024-12-31 23:30:00+00' AS moment) TO '{tmp_path / 'm.parquet'}'")
        read = open_source(in_periods(tmp_path / "m.parquet", {"moment": "year"}))
        assert read.query(f"SELECT moment FROM {read.view}") == [("2024",)]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_whatever_reads_a_source_reads_periods() -> None:
    sales = {"day ": ["2025-01-31", "2025-02-01"], "x": [1.5, 2.5]}
    cells = Table.from_cells(in_periods(sales, {"day ": "month"}), by={"day ": None}, value="x")
    assert cells.by["day "].codes == ("2025-01", "2025-02", "Total")
    looking = in_periods(normalised(sales), {"day": "quarter"})
    assert tabulate(looking, by={"day": None}, value="x").by["day"].codes == ("2025-Q1", "Total")


@pytest.mark.spark
def test_spark_reads_the_same_periods(spark: Any) -> None:
    from diskret.tabulation.spark_backend import open_spark

    ways = ("iso with times", "German", "day first", "dates", "moments", "months as decimals", "mixed, each clear")
    for period, expected in CODES.items():
        backend = open_spark(in_periods({way: WRITTEN[way] for way in ways}, dict.fromkeys(ways, period)), spark)
        data = backend.data
        rows = data.query(f"SELECT {', '.join(map(data.code, ways))} FROM {data.view}")
        assert rows == [(code,) * len(ways) for code in expected]
        backend.close()


def test_moments_with_a_zone_are_said_to_be_counted_in_utc() -> None:
    midnight = datetime(2025, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    with pytest.warns(ProtectionWarning, match="the day before"):
        table = tabulate(in_periods({"day": [midnight], "x": [1]}, {"day": "year"}), by={"day": None}, value="x")
    assert table.hierarchies[0].codes == ("2024", "Total")
