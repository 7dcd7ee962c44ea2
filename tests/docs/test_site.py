"""The documentation is a site that is built strictly and read from a folder: nothing in it comes from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diskret as dk
from diskret import _HOME, _NAMESPACES  # type: ignore[attr-defined]

ROOT = Path(__file__).parents[2]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
ALONE = Path(__file__).with_name("with_extra.py")
OLDER = {"Protection", "Release", "Settings"}
"""Names of earlier versions whose later names are explained."""
LOADED = re.compile(r"""<(?:script|link|img|iframe|source)[^>]*\s(?:src|href)=["']?(?:https?:)?//""")


def test_the_extra_builds_the_site_strictly_and_search_works_from_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra `docs` is not installed")
    pytest.importorskip("mkdocstrings", reason="the extra `docs` is not installed")
    built = subprocess.run(
        [sys.executable, str(ALONE), "docs", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    pages = {page: page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    assert len(pages) > 40
    assert not [page.name for page, text in pages.items() if LOADED.search(text)]
    assert not [
        sheet.name for sheet in tmp_path.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", sheet.read_text())
    ]
    assert '<html lang="de"' in pages[tmp_path / "de" / "index.html"]
    assert '<html lang="en"' in pages[tmp_path / "index.html"]
    found = found_in_browser(tmp_path / "index.html", "dominance")
    assert found is None or any("rules" in link for link in found)


def found_in_browser(page: Path, words: str) -> list[str] | None:
    """What the search of the site finds, opened as a file; nothing where there is no browser."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        return None
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.wait import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(word)
    with webdriver.Chrome(service=Service(driver), options=options) as opened:
        opened.get(page.as_uri())
        opened.execute_script("document.querySelector('#__search').click()")
        opened.find_element("css selector", "[data-md-component=search-query]").send_keys(words)
        links = WebDriverWait(opened, 30).until(
            lambda shown: shown.find_elements("css selector", ".md-search-result__link")
        )
        return [str(link.get_attribute("href")) for link in links]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_public_name_stands_in_the_reference_and_no_other() -> None:
    named = [each for page in REFERENCE for each in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)]
    assert len(named) == len(set(named))
    explained = {name.rpartition(".")[2] for name in named}
    rooms = {
        name for room in _NAMESPACES if room != "tree_edits" for name in dir(getattr(dk, room)) if room != "methods"
    }
    assert {*_HOME, *rooms} - explained == OLDER & {*_HOME, *rooms}
    assert explained - {*_HOME, *rooms} == RESULTS | METHODS | TREE_EDITS


RESULTS = {"Suppression", "AuditReport"}
METHODS = {"Moves", "Cuboids", "Complete", "Optimal"}
TREE_EDITS = {"place", "group", "dissolve", "merge", "rename", "relabel", "remove", "Fit", "fit"}
