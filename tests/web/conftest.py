"""A workbench on an empty folder, asked in this process; and a browser for the tests that need one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web import case


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    """A workbench on a folder with some firms."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    case.firms(folder / "firms.csv")
    made = Workbench.at(folder, case.PORT, reading=Here())
    yield made
    made.close()


@pytest.fixture
def stranger(bench: Workbench) -> TestClient:
    """Somebody on this machine without the token."""
    return TestClient(make_app(bench, most_upload=1_000_000), base_url=case.ORIGIN, headers={"origin": case.ORIGIN})


@pytest.fixture
def page(bench: Workbench, stranger: TestClient) -> TestClient:
    """The page after it has shown its token."""
    assert stranger.post("/api/session", json={"token": bench.sessions.token}).status_code == 200
    return stranger


@pytest.fixture
def chosen(page: TestClient) -> TestClient:
    """The page with a table chosen."""
    assert page.put("/api/draft", json=case.JOB).status_code == 200
    return page


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Any]]:
    """Start servers that are ended with the test."""
    started: list[Any] = []

    def start(folder: Path) -> Any:
        started.append(case.Served(folder))
        return started[-1]

    yield start
    for each in started:
        if each.process.returncode is None:
            each.end()


# --- a browser -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's chromium without a window."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("chromium and chromedriver are not installed: `make chromium` as root does it")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en", "--disable-gpu"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(service=Service(driver), options=options)
    # the screen of a laptop, whatever frame the browser draws around its page
    screen = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    made.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    yield made
    made.quit()
