"""On the page, a total in the data and a column per size class are questions with two buttons each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.web.case import Served
from tests.web.test_browser import Screen, folder, screen

__all__ = ["folder", "screen"]

WIDE = """region;small;medium;large;Insgesamt
Nord;120;240;350;710
Süd;130;260;410;800
West;140;280;430;850
Insgesamt;390;780;1190;2360
"""


def test_a_pivot_with_totals_becomes_the_table_it_shows(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    (folder / "pivot.csv").write_text(WIDE, encoding="utf-8")
    screen.open(serve(folder).address)
    screen.see("#file option[value='pivot.csv']")
    screen.choose("#file", "pivot.csv")
    screen.press("#make-rows")
    screen.see("[data-column=category]")
    for key in ("region", "category"):  # a question for each classification with a total
        screen.press(".trouble .cures button", f"classifications.{key}.total")
    screen.wait(lambda: "Nord" in screen.read(".grid"), "the table")
    shown = screen.read(".grid")
    assert shown.count("Insgesamt") == 2, "once beside the rows, once above the columns"
    assert "Total" not in shown
    assert [each for each in screen.complaints() if "422" not in each] == []
