"""The pages on records and plans in a real browser: by mouse and by keyboard, in both languages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.web.case import SCREENSHOTS

SECONDS = 60


class Screen:
    """A page with a little patience."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.get("about:blank")
        browser.get(address)
        self.until(lambda: browser.find_element(By.CSS_SELECTOR, "body[data-ready]"))
        self.speak("en")

    def until(self, what: Callable[[], Any]) -> Any:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                found = what()
            except WebDriverException:
                found = None
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not seen within {SECONDS} s; said: {self.browser.get_log('browser')}")

    def see(self, name: str) -> Any:
        return self.until(lambda: self.browser.find_element(By.ID, name))

    def click(self, name: str) -> None:
        self.until(lambda: self.browser.find_element(By.ID, name).click() or True)

    def press(self, name: str, keys: str) -> None:
        self.until(lambda: self.browser.find_element(By.ID, name).send_keys(keys) or True)

    def unfold(self, step: str) -> None:
        if self.see(f"step-{step}").get_attribute("open") is None:
            self.until(lambda: self.browser.find_element(By.CSS_SELECTOR, f"#step-{step} > summary").click() or True)

    def speak(self, language: str) -> None:
        choose = "const s = document.getElementById('language'); s.value = arguments[0]; "
        self.browser.execute_script(choose + "s.dispatchEvent(new Event('change'))", language)
        self.until(lambda: self.browser.find_element(By.CSS_SELECTOR, f"html[lang={language}]"))

    def text(self) -> str:
        return str(self.browser.find_element(By.TAG_NAME, "body").text)

    def keep(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.browser.save_screenshot(str(SCREENSHOTS / f"{name}.png"))


@pytest.fixture
def screen(chromium: Any, serve: Callable[[Path], Any], tmp_path: Path) -> Screen:
    return Screen(chromium, serve(tmp_path).address)


RAW_KEY = re.compile(r"\b(?:step|use|safe|plan|figures|make|live|what|records|stage|measure)\.(?!toml)[a-z]\w+")


def test_from_an_example_to_an_anonymous_file_with_its_course(screen: Screen) -> None:
    screen.click("tab-records")
    screen.click("example-care")
    screen.until(lambda: screen.see("step-control").get_attribute("open") is not None)
    screen.keep("records-1-choices")
    screen.unfold("make")
    screen.click("make")
    screen.see("attack-figures")
    plots = screen.browser.find_elements(By.CSS_SELECTOR, ".plot > svg[role=img]")
    assert len(plots) >= 2
    assert all(p.get_attribute("aria-label") for p in plots)
    assert screen.browser.find_elements(By.CSS_SELECTOR, "#course path.curve")
    screen.keep("records-2-anonymous")
    screen.speak("de")
    screen.until(lambda: "Was ein Angreifer findet" in screen.text())
    assert not RAW_KEY.search(screen.text())
    assert not [e for e in screen.browser.get_log("browser") if e["level"] == "SEVERE"]


def test_from_an_example_to_a_scientific_use_file_with_its_attack(screen: Screen) -> None:
    screen.click("tab-records")
    screen.click("example-firms")
    screen.click("add-noise")
    screen.until(lambda: screen.browser.find_element(By.CSS_SELECTOR, "[data-step=noise]"))
    screen.click("records-undo")
    screen.until(lambda: not screen.browser.find_elements(By.CSS_SELECTOR, "[data-step=noise]"))
    for step in ("used", "protection", "attack", "make"):
        screen.unfold(step)
    for control in screen.browser.find_elements(By.CSS_SELECTOR, "main input, main select, main button"):
        assert control.accessible_name or not control.is_displayed(), control.get_attribute("outerHTML")
    screen.click("make")
    screen.see("moments")
    screen.see("risks")
    screen.keep("records-3-scientific-use")
    screen.click("records-save-job")
    screen.until(lambda: "is saved in the workspace" in screen.text())
    assert not RAW_KEY.search(screen.text())


def test_a_survey_is_planned_with_the_keyboard_alone(screen: Screen) -> None:
    screen.click("tab-plan")
    key = "#estimates [data-estimator=orwell] b"

    def share() -> float:
        # found and read in one go: the figures are drawn anew whenever an estimate comes
        shown: str = screen.until(lambda: screen.browser.find_element(By.CSS_SELECTOR, key).text)
        return float(shown.rstrip(" %"))

    before = share()
    screen.press("plan-n", Keys.ARROW_RIGHT * 8)
    screen.until(lambda: share() < before)
    # the choice has come to rest and is kept: only then are the controls drawn anew
    screen.until(lambda: screen.browser.find_element(By.ID, "plan-undo").is_enabled())
    fewer = share()
    screen.press("levels-region", Keys.ARROW_RIGHT * 3)
    screen.until(lambda: share() > fewer)
    assert screen.browser.switch_to.active_element.get_attribute("id") == "levels-region"
    screen.until(lambda: screen.browser.find_element(By.CSS_SELECTOR, "#merges .badge"))
    screen.keep("plan")
    screen.click("save-plan")
    screen.until(lambda: "plan.toml is saved" in screen.text())
    for control in screen.browser.find_elements(By.CSS_SELECTOR, "main input, main select"):
        name = control.accessible_name
        assert name, control.get_attribute("outerHTML")
