"""The editor of trees in a real browser: by keyboard and by dragging, until the table is shown by the new tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from diskret import read_hierarchy
from tests.web.case import JOB, firms
from tests.web.test_browser import Screen

SHOWN = """
return [...document.querySelectorAll(".tree .leaf")]
  .sort((a, b) => Number(a.id.slice(5)) - Number(b.id.slice(5)))
  .map((e) => "@".repeat(Number(e.getAttribute("aria-level")) - 1) + e.dataset.code);
"""
CHOOSE_RECORDS = """
return import("/static/js/choices.js").then(async ({ Choices }) => {
  const chosen = new Choices("records");
  await chosen.load();
  await chosen.change(() => arguments[0]);
  chosen.end();
});
"""


@pytest.fixture
def screen(chromium: Any, tmp_path: Path) -> Iterator[Screen]:
    yield Screen(chromium, tmp_path / "downloads")
    chromium.get("about:blank")
    chromium.delete_all_cookies()


def choose_job(screen: Screen, job: Any) -> None:
    """What is chosen in the tab, as if it had been chosen step by step."""
    change = "store.change((content) => { Object.assign(content, arguments[0]); })"
    screen.run(f"return import('/static/js/store.js').then((store) => {change})", job)


def keys(screen: Screen, *pressed: str) -> None:
    """Press keys wherever the keyboard is; several at once as one word."""
    for each in pressed:
        made = ActionChains(screen.driver)
        held = [k for k in each[:-1] if k in (Keys.CONTROL, Keys.SHIFT)]
        for key in held:
            made.key_down(key)
        made.send_keys(each[len(held) :])
        for key in held:
            made.key_up(key)
        made.perform()


def leaf(screen: Screen, code: str) -> Any:
    return screen.see(f'.tree .leaf[data-code="{code}"]')


def test_a_tree_is_grouped_by_keyboard_dragged_undone_and_saved(
    screen: Screen, serve: Callable[[Path], Any], tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    firms(folder / "firms.csv")
    (folder / "old.csv").write_text("code;parent\nN1;N\nN2;N\n")
    screen.open(serve(folder).address)
    choose_job(screen, JOB | {"classifications": {}})
    screen.press("#step-roles > summary")
    screen.wait(lambda: "old.csv" in screen.read('[data-hierarchy="region"]'), "the hierarchy is offered")
    assert "firms.csv" not in screen.read('[data-hierarchy="region"]')
    screen.press("#tree-of-region")
    screen.see(".tree .leaf.active")

    def shown(*lines: str) -> None:
        screen.wait(lambda: screen.run(SHOWN) == list(lines), f"{lines}; shown: {screen.run(SHOWN)}")

    shown("Total", "@N1", "@N2", "@S1", "@S2", "@S3")
    # by keyboard: the first two under a new sum
    keys(screen, Keys.ARROW_DOWN, Keys.SHIFT + Keys.ARROW_DOWN, Keys.CONTROL + "g")
    screen.see("#ask-name")
    keys(screen, "north", Keys.ENTER)
    shown("Total", "@north", "@@N1", "@@N2", "@S1", "@S2", "@S3")
    # S1 into the sum before it, and out again behind it
    ActionChains(screen.driver).click(leaf(screen, "S1")).perform()
    keys(screen, Keys.CONTROL + Keys.ARROW_RIGHT)
    shown("Total", "@north", "@@N1", "@@N2", "@@S1", "@S2", "@S3")
    keys(screen, Keys.CONTROL + "z")
    shown("Total", "@north", "@@N1", "@@N2", "@S1", "@S2", "@S3")
    # cut and paste
    ActionChains(screen.driver).click(leaf(screen, "S3")).perform()
    keys(screen, Keys.CONTROL + "x", Keys.HOME, Keys.ARROW_DOWN, Keys.CONTROL + "v")
    shown("Total", "@north", "@@N1", "@@N2", "@@S3", "@S1", "@S2")
    # by pointer: several at once out of the sum, onto the total
    ActionChains(screen.driver).click(leaf(screen, "N2")).key_down(Keys.SHIFT).click(leaf(screen, "S3")).key_up(
        Keys.SHIFT
    ).perform()
    ActionChains(screen.driver).click_and_hold(leaf(screen, "S3")).move_by_offset(8, 8).move_to_element(
        leaf(screen, "Total")
    ).release().perform()
    shown("Total", "@north", "@@N1", "@S1", "@S2", "@N2", "@S3")
    screen.shot("tree-editor")
    screen.press("#tree-single")
    shown("Total", "@N1", "@S1", "@S2", "@N2", "@S3")
    screen.press("#tree-undo")
    screen.press("#tree-save")
    screen.wait(lambda: not screen.find(".tree-editor"), "the editor closes")
    assert read_hierarchy(folder / "region-tree.csv").codes == ("N1", "north", "S1", "S2", "N2", "S3", "Total")
    screen.wait(lambda: screen.read('[data-hierarchy="region"]', "value") == "file:region-tree.csv", "it is set")
    screen.see(".grid", "north")
    # a hierarchy that lacks codes: the error leads into the editor, which shows what is missing
    screen.choose('[data-hierarchy="region"]', "file:old.csv")
    screen.press("[data-cure='edit the hierarchy']")
    screen.see(".tree .leaf.lacking", "S1")
    assert screen.run("return document.getElementById('tree-save').disabled")
    assert not [said for said in screen.complaints() if "422" not in said]


def test_statuses_recoding_and_withholding_have_forms(
    screen: Screen, serve: Callable[[Path], Any], tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    firms(folder / "firms.csv")
    screen.open(serve(folder).address)
    choose_job(screen, JOB)
    screen.press_cell(".cell[data-status=open]")
    screen.choose("#hand-other", "published")
    screen.see(".cell[data-status=published]")
    screen.press("#step-rules > summary")
    screen.see("#by-hand", "Published earlier")
    screen.press("#hand-remove-0")
    screen.wait(lambda: not screen.find("#by-hand"), "taken back")

    def choices() -> Any:
        return screen.run("return import('/static/js/api.js').then((api) => api.get('/api/choices/records'))")[
            "content"
        ]

    def steps() -> Any:
        return choices().get("microdata", {}).get("steps", [])

    records = {
        "values": ["turnover"],
        "classes": ["industry", "region"],
        "steps": [{"do": "drop", "columns": ["firm"]}],
    }
    content = {"data": {"microdata": "firms.csv"}, "microdata": records}
    screen.run(CHOOSE_RECORDS, content)
    screen.press("#tab-records")
    screen.press("#add-recode")
    screen.choose("#recode-0", "region")
    screen.wait(lambda: steps()[0].get("column") == "region", "the column is chosen")
    screen.press("#fill-0")
    screen.wait(lambda: "S3 = S3" in screen.read("#mapping-0", "value"), "codes are filled in")
    screen.choose("#mapping-0", "N1 = N\nN1 = S")
    screen.see("#step-protection small.bad", "N1 = S")
    screen.choose("#mapping-0", "N1 = N\nN2 = N\nS1 = S\nS2 = S\nS3 = S")
    screen.wait(lambda: steps()[0]["mapping"].get("S3") == "S", "classes are kept")
    screen.press("#add-withhold")
    screen.choose("#where-1", "turnover about 3")
    screen.see("#step-protection small.bad", "is not a condition")
    screen.choose("#where-1", "turnover >= 9000000")
    screen.wait(lambda: steps()[1].get("where") == "turnover >= 9000000", "the condition is kept")
    assert [step["do"] for step in steps()] == ["recode", "withhold", "drop"]
    screen.shot("records-reduce")
    assert not [said for said in screen.complaints() if "422" not in said]
