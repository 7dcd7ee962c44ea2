"""What stands in the way of a table is cured in the main area of a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.web.case import Served, firms
from tests.web.test_browser import Screen, folder, screen

__all__ = ["folder", "screen"]


def test_an_error_of_the_data_is_cured_by_a_button_and_its_rows_are_shown_on_demand(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    firms(folder / "firms.csv")
    (folder / "gaps.csv").write_text((folder / "firms.csv").read_text() + "F1,A,N1,\n")
    served = serve(folder)
    screen.open(served.address)
    screen.choose("#file", "gaps.csv")
    screen.choose("[data-column='turnover']", "value")
    assert "column 'turnover' has 1 missing" in screen.see(".trouble").text
    screen.press("#show-rows")
    screen.driver.switch_to.alert.accept()
    screen.see("#trouble-rows td", "F1")
    screen.shot("trouble")
    screen.run("document.querySelector('#internal').click()")
    screen.wait(lambda: not screen.find("#trouble-rows td"), "rows that went with the internal view")
    screen.press("[data-cure='leave those rows out']")
    screen.see(".grid")
    assert not screen.find(".trouble")
    screen.press("#undo")
    screen.see(".trouble")
    assert [each for each in screen.complaints() if "status of 422" not in each] == []
