"""The page itself: nothing from outside, nothing inline, the same words in both languages, all of it in the package."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

import diskret.web
from diskret.job.examples import here
from diskret.web import examples

STATIC = Path(diskret.web.__file__).parent / "static"
ROOT = Path(__file__).parents[2]
SOURCES = sorted(p for p in STATIC.rglob("*") if p.suffix in (".js", ".html", ".css", ".svg"))


def words(language: str) -> dict[str, str]:
    """The words of all dictionaries of a language."""
    books = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((STATIC / "i18n").glob(f"{language}*.json"))
    ]
    return {key: said for book in books for key, said in book.items()}


WORDS = {language: words(language) for language in ("en", "de")}


def test_both_languages_have_the_same_words_to_fill_in() -> None:
    english, german = WORDS["en"], WORDS["de"]
    assert english.keys() == german.keys()
    for key in english:
        assert bool(german[key].strip()) == bool(english[key].strip()), key
        gaps = [set(re.findall(r"\{(\w+)\}", said[key])) for said in (english, german)]
        assert gaps[0] == gaps[1], key
        assert english[key].count("|") == german[key].count("|"), key


def test_every_key_the_page_uses_has_words() -> None:
    used: set[str] = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r"""\bt\(\s*"([\w.+%−() ,]+)\"""", text))
        used |= set(re.findall(r'data-i18n(?:-label|-title)?="([\w.]+)"', text))
    assert len(used) > 100
    missing = {key for key in used if key not in WORDS["en"] and not any(w.startswith(key) for w in WORDS["en"])}
    assert not missing


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(STATIC)))
def test_nothing_comes_from_outside(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//[a-z]+\.[a-z]|@import|url\(", text)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(STATIC)))
def test_no_text_of_a_file_can_become_part_of_the_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
    if path.suffix == ".html":
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", text)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(STATIC)))
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_examples_are_found_and_complete() -> None:
    for job in examples.EXAMPLES.values():
        assert (here() / job).is_file()


@pytest.mark.slow
def test_the_wheel_holds_the_page_and_its_examples(tmp_path: Path) -> None:
    build = pytest.importorskip("hatchling.builders.wheel")
    (wheel,) = build.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as book:
        names = set(book.namelist())
    for path in SOURCES:
        assert f"diskret/web/static/{path.relative_to(STATIC).as_posix()}" in names
    assert {"diskret/examples/turnover.toml", "diskret/examples/firms.csv", "diskret/web/static/i18n/de.json"} <= names


def test_what_the_first_page_asks_for_at_once_is_what_it_needs() -> None:
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    asked = [STATIC / name for name in re.findall(r'href="/static/([\w/]+\.js)"', text)]
    needed = [STATIC / "js/main.js", STATIC / "pages/table.js"]
    for path in needed:  # grows while it is walked
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8")):
            found = (path.parent / name).resolve()
            if found not in needed:
                needed.append(found)
    assert {p.resolve() for p in asked} == {p.resolve() for p in needed} - {(STATIC / "js/main.js").resolve()}
