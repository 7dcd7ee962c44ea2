"""Pictures of every page of the workbench for the documents, taken in chromium from the examples.

    python -m benchmarks.pictures [--only start,cell] [--into docs/images]

Every picture is called workbench-NAME.png. A picture that cannot be taken is named at the end, and the others are
there; the page is in English, on a screen of 1280 x 720.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from tests.web import test_browser
from tests.web.case import Served
from tests.web.test_browser import Screen, protect

ROOT = Path(__file__).parent.parent
SIZE = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
COLOURS = 96
"""Enough for a page of few colours; the files stay small."""


@dataclass
class Camera:
    """Takes the pictures that are wanted, and notes those that are missing."""

    screen: Screen
    into: Path
    only: frozenset[str]
    taken: list[str] = field(default_factory=list)

    def wants(self, *names: str) -> bool:
        """Whether any of these pictures is wanted."""
        return not self.only or any(name in self.only for name in names)

    def take(self, name: str) -> None:
        """The page as it is, when it has come to rest."""
        self.screen.driver.execute_async_script("setTimeout(arguments[arguments.length - 1], 400)")
        if self.only and name not in self.only:
            return
        picture = Image.open(io.BytesIO(self.screen.driver.get_screenshot_as_png())).convert("RGB")
        small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(self.into / f"workbench-{name}.png", optimize=True)
        self.taken.append(name)


# --- the scenes ------------------------------------------------------------------------------------------------------


def first_page(camera: Camera) -> None:
    """What can be done, and the tour."""
    screen = camera.screen
    screen.see("[data-look]")
    camera.take("start")
    screen.press("#help")
    screen.press("#tour-next")
    screen.see(".pointed")
    camera.take("tour")
    screen.press("#tour-end")


def a_file(camera: Camera) -> None:
    """A file before it is used, and the row of its names picked."""
    screen = camera.screen
    screen.press("#home")
    screen.press("[data-look='firms.csv']")
    screen.see("#preview-columns")
    camera.take("preview")
    screen.press("#to-start")
    screen.press("[data-look='Umsatz.xlsx']")
    screen.press("#show-first")
    screen.see("#preview-rows")
    screen.run("document.querySelector('.preview section:last-child').scrollIntoView({block: 'start'})")
    camera.take("header")
    screen.press("#hide-rows")


def a_table(camera: Camera) -> None:
    """From an example to an audited table, its runs and a comparison."""
    screen = camera.screen
    screen.press("#home")
    screen.press("[data-example=turnover]")
    screen.see(".cell[data-status=primary]")
    _unfold(screen, "roles")
    screen.see("[data-column=region]")
    camera.take("columns")
    _unfold(screen, "rules")
    camera.take("rules")
    protect(screen, "default")
    screen.see("#audit")
    screen.see(".cell[data-status=secondary]")
    camera.take("table")
    screen.press_cell(".cell[data-status=primary]")
    screen.see(".interval .ends")
    camera.take("cell")
    screen.press("#audit")
    screen.see("#step-result .badge.good")
    screen.run("document.getElementById('audit').scrollIntoView({block: 'center'})")
    camera.take("audit")
    screen.press("#step-protect summary")
    screen.choose("[name=guarantee][value=subtables]", "subtables")
    screen.press("[name=guarantee][value=subtables]")
    screen.press("#run")
    screen.wait(lambda: not screen.find(".running") and screen.find("#audit"), "another run")
    screen.press("#tab-runs")
    screen.see("#compared table")
    camera.take("runs")
    screen.run("document.getElementById('compared').scrollIntoView({block: 'start'})")
    camera.take("compare")


def a_tree(camera: Camera) -> None:
    """The editor of hierarchies."""
    screen = camera.screen
    screen.press("#home")
    screen.press("[data-example=turnover]")
    screen.see("#cell-0-0")
    _unfold(screen, "roles")
    screen.press("#tree-of-region")
    screen.see(".tree .leaf.active")
    camera.take("tree")


def an_error(camera: Camera) -> None:
    """A file that cannot be a table as it is, with what cures it."""
    screen = camera.screen
    screen.press("#home")
    screen.press("[data-use='gaps.csv']")
    _unfold(screen, "roles")
    screen.choose("[data-column=turnover]", "value")
    screen.see("section.shown:not(.waiting) .trouble")
    camera.take("error")


def records(camera: Camera) -> None:
    """An anonymous file, and a scientific-use file."""
    screen = camera.screen
    for example, name, sign in (("care", "safe", "#attack-figures"), ("firms", "suf", "#moments")):
        screen.press("#tab-records")
        screen.see("details.step[open]")  # the page is there when it has unfolded a step
        _unfold(screen, "records")
        screen.press(f"#example-{example}")
        screen.wait(lambda: screen.find("#step-control[open], #step-protection[open]"), "the example is chosen")
        _unfold(screen, "make")
        screen.press("#make")
        screen.see(sign)
        camera.take(name)


def plan(camera: Camera) -> None:
    """A survey before it is held."""
    camera.screen.press("#tab-plan")
    camera.screen.see("#merges .badge")
    camera.take("plan")


SCENES: dict[Callable[[Camera], None], tuple[str, ...]] = {
    first_page: ("start", "tour"),
    a_file: ("preview", "header"),
    a_table: ("columns", "rules", "table", "cell", "audit", "runs", "compare"),
    a_tree: ("tree",),
    an_error: ("error",),
    records: ("safe", "suf"),
    plan: ("plan",),
}


def _unfold(screen: Screen, step: str) -> None:
    script = "document.querySelectorAll('details.step').forEach((e) => { e.open = e.id === arguments[0] })"
    screen.run(script, f"step-{step}")


# --- what they are taken of ------------------------------------------------------------------------------------------


def furnish(folder: Path) -> None:
    """A workspace as an office has it: a plain file, one with titles above its names, one with gaps."""
    import xlsxwriter

    shutil.copy(ROOT / "examples" / "firms.csv", folder / "firms.csv")
    rows = (ROOT / "examples" / "firms.csv").read_text(encoding="utf-8").splitlines()
    head, first, second, *others = rows
    blank = {i: "" for i, name in enumerate(head.split(",")) if name in ("employees", "turnover")}
    gaps = [",".join(blank.get(i, each) for i, each in enumerate(line.split(","))) for line in (first, second)]
    (folder / "gaps.csv").write_text("\n".join([head, *gaps, *others, ""]), encoding="utf-8")
    with xlsxwriter.Workbook(folder / "Umsatz.xlsx") as book:
        sheet = book.add_worksheet("Betriebe")
        book.add_worksheet("Hinweise").write(0, 0, "Quelle: Musterland")
        sheet.write(0, 0, "Umsatz der Betriebe in Musterland")
        sheet.write(1, 0, "in 1 000 Euro")
        for r, line in enumerate([head, first, second, *others]):
            for c, text in enumerate(line.split(",")):
                number = r > 0 and c >= len(head.split(",")) - 2
                sheet.write(r + 3, c, float(text) if number else text)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        yield driver
    finally:
        driver.quit()


def main() -> int:
    """Take them all; every scene has a workspace and a server of its own."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--only", default="", help="names of pictures, separated by commas")
    given.add_argument("--into", type=Path, default=ROOT / "docs" / "images")
    asked = given.parse_args()
    only = frozenset(filter(None, asked.only.split(",")))
    asked.into.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []
    test_browser.PATIENCE = 180.0
    with browser() as driver, tempfile.TemporaryDirectory() as place:
        for scene, names in SCENES.items():
            folder = Path(place) / scene.__name__ / "workspace"
            folder.mkdir(parents=True)
            furnish(folder)
            served = Served(folder)
            camera = Camera(Screen(driver, Path(place) / "saved"), asked.into, only)
            try:
                if camera.wants(*names):
                    camera.screen.open(served.address)
                    scene(camera)
            except Exception as e:  # the other scenes are there all the same
                print(f"{scene.__name__}: {str(e).splitlines()[0]}", file=sys.stderr)
            finally:
                served.end()
            missing += [n for n in names if (not only or n in only) and n not in camera.taken]
            print(f"{scene.__name__}: {', '.join(camera.taken) or 'nothing'}")
    if missing:
        print(f"missing: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
