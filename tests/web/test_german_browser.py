"""With German chosen, no English word stands on any page of a real browser, in no label and no title."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from diskret.web.server import STATIC
from tests.web.case import Served, firms
from tests.web.test_browser import Screen, folder, screen
from tests.web.test_german import ENGLISH

__all__ = ["folder", "screen"]

TEXTS = """
const found = [document.title];
const shown = (e) => e.checkVisibility({ visibilityProperty: true }) || e.closest("option");
for (const e of document.querySelectorAll("body *")) {
  if (e.closest("noscript, #language, .brand, code") || !shown(e)) continue;
  for (const node of e.childNodes) if (node.nodeType === 3) found.push(node.data);
  for (const name of ["title", "aria-label", "placeholder", "alt"]) found.push(e.getAttribute(name) ?? "");
}
return found.filter((text) => text.trim());
"""
WORD = re.compile(r"[^\W\d_]{3,}")
SETTING = re.compile(r'[\w."]+ = \S.*|\w+=\S+|\S+\.(csv|toml|json|hrc)\b|/\S+')
"""Keys of a job with what they are set to, and names of files."""


def english_words(folder: Path) -> set[str]:
    """Words that only the English page has, and those of every English sentence; not what the user's files say."""
    books = {language: _words_of(STATIC / "i18n", language) for language in ("en", "de")}
    files = list(folder.rglob("*.csv"))
    own = {word.lower() for file in files for word in WORD.findall(f"{file.stem} {file.read_text()}")}
    return (books["en"] | ENGLISH | {"cell", "cells", "total"}) - books["de"] - own


def _words_of(place: Path, language: str) -> set[str]:
    values = [text for file in place.glob(f"{language}*.json") for text in json.loads(file.read_text()).values()]
    return {word.lower() for text in values for word in WORD.findall(re.sub(r"\{\w+\}", "", text))}


class Walk:
    """Looks at every text of a page on the way."""

    def __init__(self, screen: Screen, folder: Path) -> None:
        self.screen, self.folder = screen, folder
        self.found: list[str] = []

    def look(self, page: str) -> None:
        english = english_words(self.folder)
        self.screen.shot(f"german-{page}")
        for text in self.screen.run(TEXTS):
            words = {word.lower() for word in WORD.findall(SETTING.sub("", text))} & english
            if words:
                self.found.append(f"{page}: {text} {sorted(words)}")


def german_firms(folder: Path) -> None:
    """Firms whose columns have German names, a file with a gap and one with a code nobody knows."""
    text = (folder / "firms.csv").read_text().replace("firm,industry,region,turnover", "betrieb,branche,gebiet,umsatz")
    (folder / "firms.csv").unlink()
    (folder / "betriebe.csv").write_text(text)
    (folder / "luecken.csv").write_text(text + "F1,A,N1,\n")
    summed = [line.rsplit(",", 1)[1] for line in text.splitlines()[1:]]
    (folder / "summen.csv").write_text(text + f"F2,Insgesamt,N1,{sum(map(float, summed)):.2f}\n")


def test_every_page_speaks_german_once_german_is_chosen(
    screen: Screen, serve: Callable[[Path], Served], folder: Path
) -> None:
    firms(folder / "firms.csv")
    german_firms(folder)
    walk = Walk(screen, folder)
    screen.open(serve(folder).address)
    try:
        screen.choose("#language", "de")
        screen.see("[data-example=turnover]", "Umsatz von Betrieben")
        walk.look("start")
        screen.choose("#file", "luecken.csv")
        screen.choose("[data-column='umsatz']", "value")
        screen.see(".trouble", "fehlende")
        walk.look("trouble")
        screen.press("[data-cure='leave those rows out']")
        screen.see(".grid")
        screen.see("#step-rules .said")
        walk.look("marked")
        screen.run("document.querySelector('#step-rules').open = true")
        screen.press("#to-protect")
        screen.choose("#effort", "quick")
        screen.see("#step-protect .said")
        walk.look("protect")
        screen.press("#run")
        screen.see("#audit")
        screen.press_cell(".cell[data-status=primary]")
        screen.see(".interval .ends")
        walk.look("explained")
        screen.press_cell(".cell[data-status=open]")
        screen.see(".inspector .words", "nimmt dem Leser")
        walk.look("weighed")
        screen.press("#audit")
        screen.see("#step-result .badge.good", "nichts ist aufgedeckt")
        walk.look("audited")
        screen.choose("#file", "summen.csv")
        screen.see(".trouble", "sieht aus wie ein Insgesamt")
        walk.look("totals")
        screen.press("#tab-runs")
        screen.see("#page table")
        walk.look("runs")
        screen.press("#tab-plan")
        screen.see("#merges .badge")
        walk.look("plan")
        screen.press("#tab-records")
        screen.press("#example-care")
        screen.see("#step-control[open]")
        screen.run("for (const step of document.querySelectorAll('details')) step.open = true")
        screen.press("#make")
        screen.see("[role=progressbar], #attack-figures")
        walk.look("records")
    finally:
        screen.choose("#language", "en")
        screen.run("localStorage.clear()")
    assert walk.found == []
