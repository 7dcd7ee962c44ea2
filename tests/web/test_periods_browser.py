"""On the page, dates are classified by periods, and what is not sure is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.web.case import Served
from tests.web.test_browser import Screen, folder, screen

__all__ = ["folder", "screen"]


def test_dates_are_classified_and_doubts_are_said(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    rows = [f"{i % 4},0{i % 9 + 1}/0{i % 7 + 1}/202{i % 2 + 4},{i}.5" for i in range(90)]
    (folder / "sales.csv").write_text("V1,sold,turnover\n" + "\n".join(rows) + "\n", encoding="utf-8")
    screen.open(serve(folder).address)
    screen.see("#file option[value='sales.csv']")
    screen.choose("#file", "sales.csv")
    screen.see(".column .unsure", "Not sure")
    screen.choose("[data-column=sold]", "classification")
    screen.choose("[data-period=sold]", "month")
    screen.see(".trouble", "day first")
    screen.choose("[data-dates=sold]", "day first")
    screen.wait(lambda: "2024-01" in screen.read(".grid"), "months in the table")
    # until it is said what comes first, there is no table
    assert not [said for said in screen.complaints() if "422" not in said]
