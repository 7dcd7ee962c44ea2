"""The pages of requests and of the ledger in a real browser: by mouse and by keyboard, in both languages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.houses import house_in
from tests.web.test_records_browser import Screen


@pytest.fixture
def screen(chromium: Any, serve: Callable[[Path], Any], tmp_path: Path) -> Screen:
    house_in(tmp_path)
    return Screen(chromium, serve(tmp_path).address)


def choose(screen: Screen, name: str, value: str) -> None:
    def chosen() -> bool:
        Select(screen.see(name)).select_by_value(value)
        return True

    screen.until(chosen)


def test_from_a_request_to_the_ledger(screen: Screen) -> None:
    screen.click("tab-request")
    screen.until(lambda: len(screen.see("request-house").find_elements(By.TAG_NAME, "option")) == 2)
    choose(screen, "request-house", "house.toml")
    screen.click("request-by-region")
    screen.until(lambda: screen.see("request-by-region").get_attribute("aria-pressed") == "true")
    screen.click("ask")
    assert screen.until(lambda: screen.see("answer").get_attribute("data-answer")) in ("table", "reduced")
    # one firm less: by the keyboard alone
    screen.press("add-filter", Keys.ENTER)
    choose(screen, "filter-0-column", "employees")
    choose(screen, "filter-0-way", "at_most")
    screen.press("filter-0-number", "58" + Keys.TAB)
    screen.press("ask", Keys.ENTER)
    screen.until(lambda: "employees 58 or less" in screen.see("answer").text)
    assert screen.see("answer").get_attribute("data-answer") in ("reduced", "refused")
    assert "differs" not in screen.text()
    screen.keep("request")
    # its regions are codes that the ledger, which has an answer by now, does not know
    screen.click("check-outputs")
    assert screen.until(lambda: screen.see("checked").get_attribute("data-verdict")) == "refuse"
    screen.keep("request-outputs")
    screen.click("tab-ledger")
    screen.until(lambda: screen.browser.find_element(By.CSS_SELECTOR, "#entries tr[data-entry='1']"))
    screen.press("look-1", Keys.ENTER)
    screen.until(lambda: screen.browser.switch_to.active_element.get_attribute("id") == "entry")
    screen.keep("ledger")
    assert "request 1" in screen.text()


def test_both_pages_speak_german(screen: Screen) -> None:
    screen.speak("de")
    screen.click("tab-request")
    choose(screen, "request-house", "house.toml")
    screen.click("request-by-sector")
    screen.click("ask")
    screen.until(lambda: screen.see("answer"))
    screen.click("check-outputs")
    screen.until(lambda: "es ist der Wert zu weniger Einheiten" in screen.text())
    screen.keep("request-german")
    screen.click("tab-ledger")
    screen.until(lambda: "Anfragen und Ergebnisse" in screen.text())
    assert "request." not in screen.text()
    assert "ledger." not in screen.text()
    screen.keep("ledger-german")
