"""The page by keyboard alone, and on narrow screens, in a real browser."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.web.case import Served
from tests.web.test_browser import Screen, folder, screen

__all__ = ["folder", "screen"]  # the browser and the folder with some firms are those of the other walks

SEEN = """
const active = document.activeElement;
if (!active.matches(arguments[0])) return null;
const shown = active.matches("input[type=file]") ? active.closest(".drop") : active;
const { outlineStyle, outlineWidth } = getComputedStyle(shown);
return [outlineStyle !== "none" && parseFloat(outlineWidth) > 0, shown.getClientRects().length > 0];
"""


class Keyboard:
    """Somebody without a mouse."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def press(self, *keys: str) -> None:
        ActionChains(self.screen.driver).send_keys(*keys).perform()

    def reach(self, css: str, most: int = 270) -> None:
        """Walk by Tab until a control has the focus, and see that it has. A page drawn anew begins again."""
        self.screen.see(css)
        for _ in range(most):
            if found := self.screen.run(SEEN, css):
                assert found == [True, True], f"{css} has the focus, and nobody sees it"
                return
            for kind in ("keyDown", "keyUp"):
                key = {"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
                self.screen.driver.execute_cdp_cmd("Input.dispatchKeyEvent", key)
        raise AssertionError(f"no way to {css} by Tab")

    def take(self, css: str) -> None:
        """Walk to a control and press it."""
        self.reach(css)
        self.press(Keys.ENTER)


def titled(data: Path, book: Path) -> None:
    """The same data in a workbook, with titles above the names."""
    import xlsxwriter

    with xlsxwriter.Workbook(book) as made:
        sheet = made.add_worksheet("Firms")
        sheet.write(0, 0, "Turnover of firms in Musterland")
        for r, row in enumerate(csv.reader(data.read_text(encoding="utf-8").splitlines())):
            for c, text in enumerate(row):
                sheet.write(r + 3, c, float(text) if r and c == 3 else text)


def test_from_a_file_to_an_exported_table_by_keyboard_alone(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    titled(folder / "firms.csv", folder / "firms.xlsx")
    screen.open(serve(folder).address)
    screen.see("[data-look='firms.xlsx']")
    keys = Keyboard(screen)
    keys.take("#tour-start")
    keys.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert screen.read(".step.pointed", "id") == "step-rules"
    keys.press(Keys.ESCAPE)
    screen.wait(lambda: not screen.find("#tour, .pointed"), "the tour is over")
    keys.take("[data-look='firms.xlsx']")
    screen.see("#preview-columns", "turnover")
    assert not screen.find("#preview-rows")  # rows of a file are confidential
    keys.take("#show-first")
    keys.reach("[data-row='4']")
    keys.press(Keys.ARROW_DOWN, Keys.ENTER)
    screen.wait(lambda: screen.read("#read-header", "value") == "5", "another row of names")
    screen.wait(lambda: "turnover" not in screen.read("#preview-columns"), "other columns")
    keys.press(Keys.ARROW_UP, Keys.ENTER)
    screen.wait(lambda: screen.read("#read-header", "value") == "4, 5", "two rows of names")
    keys.press(Keys.ARROW_DOWN, Keys.ENTER)
    screen.wait(lambda: screen.read("#read-header", "value") == "4", "the right row of names")
    keys.take("#to-table")
    screen.see("#cell-0-0")
    keys.take("#step-rules summary")
    keys.reach("#rule-dominance")
    keys.press(Keys.SPACE)
    keys.reach("[data-rule='dominance.1']")
    keys.press(Keys.BACKSPACE * 4, "70", Keys.TAB)
    screen.see("[data-marks=dominance] b")
    keys.take("#to-protect")
    keys.reach("#effort")
    keys.press("q")
    screen.wait(lambda: screen.read("#effort", "value") == "quick", "the quick way is chosen")
    keys.take("#run")
    screen.see("#audit")
    screen.see(".cell[data-status=secondary]")
    keys.reach("#sums")
    keys.press(Keys.ARROW_DOWN)
    keys.reach(".grid")
    keys.press(Keys.ENTER)
    screen.see(".inspector h2")
    keys.press(Keys.ESCAPE)
    screen.wait(lambda: not screen.find(".inspecting"), "the explanation is closed")
    keys.take("[data-export=csv]")
    lines = screen.saved(".csv").decode().splitlines()
    assert lines[1].startswith("A,")  # sums stand after their parts, as on the screen
    assert lines[-1].startswith("Total,Total,")
    # a question about a choice that has changed meanwhile is refused, and the browser notes that
    assert [told for told in screen.complaints() if "/api/draft/marks" not in told] == []


WRONG = """
const visible = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".grid, [inert]");
const seen = ({ x, y }, e) => {
  for (let p = e.parentElement; p; p = p.parentElement) {
    const edge = p.getBoundingClientRect();
    const clips = getComputedStyle(p).overflow !== "visible";
    if (clips && (x < edge.left || x > edge.right || y < edge.top || y > edge.bottom)) return false;
  }
  return x > 0 && y > 0 && x < innerWidth && y < innerHeight;
};
const middle = (e) => {
  const box = e.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
};
const controls = [...document.querySelectorAll("button, select, input:not(.seen-not), summary")].filter(visible);
const covered = controls.filter((e) => {
  const at = middle(e);
  const top = seen(at, e) ? document.elementFromPoint(at.x, at.y) : e;
  return !(e.contains(top) || top?.closest("label")?.contains(e));
});
const pen = document.createElement("canvas").getContext("2d");
const cut = controls.filter((e) => e.tagName === "SELECT" && e.selectedOptions.length).filter((e) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(e);
  pen.font = font;
  const room = e.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return pen.measureText(e.selectedOptions[0].text).width > room;
});
const beyond = [...document.querySelectorAll("main *")].filter(visible).filter((e) => !e.closest(".wide, .tabs"))
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3);
const name = (what, found) => found.map((e) => `${what}: ${e.outerHTML.slice(0, 100)}`);
const sideways = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [];
return [...sideways, ...name("covered", covered), ...name("cut off", cut), ...name("beyond the edge", beyond)];
"""


@pytest.fixture
def resized(screen: Screen) -> Iterator[Callable[[int], None]]:
    def resize(width: int) -> None:
        size: dict[str, Any] = {"width": width, "height": 768, "deviceScaleFactor": 1, "mobile": False}
        screen.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    yield resize
    resize(1366)


def test_on_narrow_screens_nothing_overlaps_or_is_cut_off(
    screen: Screen, serve: Callable[[Path], Served], folder: Path, resized: Callable[[int], None]
) -> None:
    """At 900 pixels the table keeps two thirds of the page; at 600 the steps fold into a drawer."""
    long = "turnover_of_all_enterprises_by_industry_and_region_2026_final_version.csv"
    (folder / "firms.csv").rename(folder / long)
    screen.open(serve(folder).address)
    wrong: dict[str, list[str]] = {}

    def judge(where: str, widths: tuple[int, ...] = (900, 600)) -> None:
        for width in widths:
            resized(width)
            if found := screen.run(WRONG):
                wrong[f"{where} at {width}"] = found

    for language in ("en", "de"):
        screen.choose("#language", language)
        screen.press("#home")
        screen.see("[data-use]")
        judge(f"first page, {language}")
        screen.press("[data-look]")
        screen.see("#preview-columns")
        judge(f"file, {language}")
        screen.press("#use-file") if language == "en" else screen.press("#to-table")
        screen.see("#cell-0-0")
        judge(f"table, {language}")
        screen.press("#drawer")
        screen.run("document.querySelector('#step-rules').open = true")
        screen.press("#rule-dominance")
        screen.see("[data-marks=dominance] b")
        judge(f"drawer, {language}", (600,))
        screen.press("#rule-dominance")
        screen.press(".drawer-close")
        screen.wait(lambda: not screen.find(".drawn"), "the drawer is closed")
        resized(900)
        assert float(screen.run("return document.querySelector('section.shown').clientWidth / innerWidth")) > 0.66
        for page in ("plan", "records", "runs"):
            screen.press(f"#tab-{page}")
            screen.see({"plan": "#estimates", "records": "#records-file", "runs": ".sheet"}[page])
            judge(f"{page}, {language}")
        screen.press("#tab-table")
    assert wrong == {}
    assert screen.complaints() == []
