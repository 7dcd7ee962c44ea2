"""Two tabs of a real browser, and a page that is loaded again while its run is at work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from diskret.job.models import job_of
from diskret.job.write import write_job
from tests.web.case import JOB, LONG_JOB, Served, firms, many_firms
from tests.web.test_browser import Screen


@pytest.fixture
def served(serve: Callable[[Path], Served], tmp_path: Path) -> Served:
    folder = tmp_path / "workspace"
    folder.mkdir()
    firms(folder / "firms.csv")
    many_firms(folder / "trade.csv")
    write_job(job_of(JOB), folder / "short.toml")
    write_job(job_of(LONG_JOB), folder / "long.toml")
    return serve(folder)


@pytest.fixture
def screen(chromium: Any, tmp_path: Path) -> Iterator[Screen]:
    made = Screen(chromium, tmp_path / "downloads")
    first = chromium.current_window_handle
    yield made
    for each in chromium.window_handles:
        chromium.switch_to.window(each)
        if each != first:
            chromium.close()
    chromium.switch_to.window(first)
    chromium.get("about:blank")
    chromium.delete_all_cookies()


def runs_of(folder: Path) -> dict[str, Any]:
    """The jobs of all runs by the names of the runs."""
    found = folder.glob("workspace/.diskret-runs/*/status.json")
    return {read(each)["name"]: read(each.with_name("job.json")) for each in found}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def protect(screen: Screen, name: str) -> None:
    screen.run("document.querySelector('#step-protect').open = true")
    screen.see("#run-name").send_keys(name)
    screen.press("#run")


def test_each_of_two_tabs_protects_its_own_table_under_its_own_name(
    screen: Screen, served: Served, tmp_path: Path
) -> None:
    screen.open(served.address)
    screen.choose("#file", "short.toml")
    screen.see("[data-marks=p_percent] b")
    one = screen.driver.current_window_handle
    # a tab opened by a page takes its session along, as a duplicated one does
    screen.run("window.open(location.href)")
    (two,) = set(screen.driver.window_handles) - {one}
    screen.driver.switch_to.window(two)
    screen.see("body[data-ready]")
    screen.see(".notice", "with choices of its own")
    screen.choose("[data-rule='min_count.0']", "6")
    screen.wait(lambda: screen.read("[data-rule='min_count.0']", "value") == "6", "changed in the copy")
    protect(screen, "six")
    screen.see("#audit")
    screen.driver.switch_to.window(one)
    assert screen.read("[data-rule='min_count.0']", "value") == "3"
    protect(screen, "three")
    screen.see("#step-result .said", "three")
    rules = {name: job["rules"]["min_count"] for name, job in runs_of(tmp_path).items()}
    assert rules == {"six": 6, "three": 3}
    # the run of the other tab shows its own settings here, and they can be taken over
    six = screen.run(
        "return [...document.querySelectorAll('#shown-table option')].find((o) => o.textContent === 'six').value"
    )
    screen.choose("#shown-table", six)
    screen.see(".settings-of", "six")
    screen.wait(lambda: screen.read("[data-rule='min_count.0']", "value") == "6", "the settings of the run")
    assert not screen.driver.find_element("css selector", "[data-rule='min_count.0']").is_enabled()
    screen.press(".settings-of .back")
    screen.wait(lambda: screen.read("[data-rule='min_count.0']", "value") == "3", "the choice of this tab")
    assert screen.complaints() == []


def test_a_page_that_is_loaded_again_shows_the_progress_of_its_run(screen: Screen, served: Served) -> None:
    screen.open(served.address)
    screen.choose("#file", "long.toml")
    screen.see("[data-marks=min_count] b")
    protect(screen, "long and long " * 5)
    run = screen.read(".running", "data-run")
    screen.driver.refresh()
    screen.see("body[data-ready]")
    assert screen.read(".running", "data-run") == run
    box = screen.run("return document.querySelector('.running .cancel').getBoundingClientRect().toJSON()")
    side = screen.run("return document.querySelector('.side').getBoundingClientRect().toJSON()")
    assert side["left"] <= box["left"] < box["right"] <= side["right"]
    screen.press(".running .cancel")
    screen.wait(lambda: not screen.find(".running"), "cancelled")
    assert screen.complaints() == []
