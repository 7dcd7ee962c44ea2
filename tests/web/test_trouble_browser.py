"""What stands in the way of a table is cured in the main area of a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diskret.job.models import job_of
from diskret.job.write import write_job
from tests.web.case import JOB, Served, firms
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


def test_next_years_file_is_compared_before_it_is_used(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    write_job(job_of(JOB), folder / "job.toml")
    (folder / "next.csv").write_text((folder / "firms.csv").read_text().replace(",C,", ",D,"))
    screen.open(serve(folder).address)
    screen.choose("#file", "job.toml")
    screen.see(".grid")
    screen.run("document.querySelector('#step-data').open = true")
    screen.press(".next-year summary")
    screen.choose("#next-file", "next.csv")
    assert "codes that were not there before: 'D'" in screen.see("#next-year").text
    screen.shot("next-year")
    screen.press("#use-next")
    screen.see(".grid", "D")
    assert screen.read("#step-data .said") == "next.csv"
    screen.press("#undo")
    screen.wait(lambda: screen.read("#step-data .said") == "firms.csv", "the file before")
    assert [each for each in screen.complaints() if "status of 422" not in each] == []
