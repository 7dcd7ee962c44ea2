"""Two tabs of a browser: each has its own choice, and nothing runs that its tab does not show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.web import tabs
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web.case import JOB, ORIGIN, PORT

PATHS = {"table": "/api/draft", "records": "/api/choices/records", "plan": "/api/choices/plan"}
OTHER = {**JOB, "rules": {"min_count": 5}}


class Tab:
    """A tab that says who it is and what it shows, as the page does."""

    def __init__(self, page: TestClient, number: int, copy: int = 0) -> None:
        self.page, self.seen = page, dict[str, str]()
        self.headers = {"x-diskret-tab": name(number)} | ({"x-diskret-copy": name(copy)} if copy else {})
        for each in PATHS:
            self.look(each)

    def look(self, page: str = "table") -> dict[str, Any]:
        return self._adopt(page, self.ask("GET", PATHS[page]))

    def put(self, content: Mapping[str, Any], page: str = "table") -> int:
        answer = self.ask("PUT", PATHS[page], json=content)
        if answer.status_code == 200:
            self._adopt(page, answer)
        return int(answer.status_code)

    def _adopt(self, page: str, answer: Any) -> dict[str, Any]:
        found: dict[str, Any] = answer.json()
        self.seen[page] = found["version"]
        return found

    def ask(self, method: str, path: str, **given: Any) -> Any:
        seen = ";".join(f"{page}={version}" for page, version in self.seen.items())
        return self.page.request(method, path, headers=self.headers | {"x-diskret-seen": seen}, **given)


def name(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


@pytest.fixture
def started(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Runs that would have been started: their names and jobs."""
    found: list[tuple[str, Any]] = []

    def start(content: Any, *, name: str = "", kind: str = "job", of: str = "") -> dict[str, Any]:
        found.append((name, content))
        return {"id": name}

    monkeypatch.setattr(bench.runs, "start", start)
    return found


def test_each_tab_protects_its_own_choice(page: TestClient, started: list[tuple[str, Any]]) -> None:
    one, two = Tab(page, 1), Tab(page, 2)
    one.put(JOB)
    two.put(OTHER)
    assert one.ask("POST", "/api/runs", json={"name": "one"}).status_code == 201
    assert two.ask("POST", "/api/runs", json={"name": "two"}).status_code == 201
    assert [(n, c["rules"]) for n, c in started] == [("one", JOB["rules"]), ("two", OTHER["rules"])]
    assert one.look()["content"] == JOB


def test_a_new_tab_begins_with_what_was_changed_last_and_a_duplicate_with_its_origin(page: TestClient) -> None:
    one = Tab(page, 1)
    one.put(JOB)
    two = Tab(page, 2)
    assert two.look()["content"] == JOB
    two.put(OTHER)
    assert Tab(page, 3).look()["content"] == OTHER
    copy = Tab(page, 4, copy=1)
    assert copy.look() == one.look()
    copy.put({})
    assert one.look()["content"] == JOB


@pytest.mark.parametrize(
    ("page_of", "method", "path"),
    [
        ("table", "POST", "/api/runs"), ("table", "GET", "/api/draft/marks"), ("table", "GET", "/api/tables/draft"),
        ("table", "GET", "/api/tables/draft/cells?response=turnover&rows=industry&r=0"),
        ("table", "GET", "/api/tables/draft/cell?response=turnover&cell=0,0"), ("table", "PUT", "/api/draft"),
        ("table", "POST", "/api/draft/undo"), ("table", "POST", "/api/examples/turnover"),
        ("table", "POST", "/api/savejob"), ("records", "POST", "/api/records/runs"),
        ("records", "PUT", "/api/choices/records"), ("records", "POST", "/api/choices/records/undo"),
        ("plan", "PUT", "/api/choices/plan"), ("plan", "GET", "/api/plan/plan.toml"),
    ],
)  # fmt: skip
def test_what_belongs_to_another_choice_than_the_tab_shows_is_refused(
    page: TestClient, started: list[tuple[str, Any]], page_of: str, method: str, path: str
) -> None:
    one, twin = Tab(page, 1), Tab(page, 1)  # a browser that cannot tell two tabs apart
    twin.put(JOB, page_of)
    given: dict[str, Any] = {} if method == "GET" else {"json": {}}
    answer = one.ask(method, path, **given)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "W8")
    assert one.look(page_of)["content"] == JOB
    assert not started


def test_a_file_that_changes_under_its_table_is_looked_at_again(
    page: TestClient, bench: Workbench, started: list[tuple[str, Any]]
) -> None:
    one = Tab(page, 1)
    one.put(JOB)
    assert one.ask("GET", "/api/draft/marks").status_code == 200
    file = bench.workspace.root / "firms.csv"
    os.utime(file, ns=(0, 1 + file.stat().st_mtime_ns))
    for method, path in (("POST", "/api/runs"), ("GET", "/api/tables/draft"), ("GET", "/api/draft/marks")):
        assert one.ask(method, path).json()["error"]["what"].startswith("a file of this choice has changed")
    assert not started
    assert one.put(OTHER) == 200  # who changes the choice sees the table anew anyway
    assert one.ask("POST", "/api/runs").status_code == 201


def test_a_file_of_the_same_size_and_time_is_another_file(page: TestClient, bench: Workbench) -> None:
    one, file = Tab(page, 1), bench.workspace.root / "firms.csv"
    one.put(JOB)
    before, kept = file.stat(), bench.workspace.state_of(JOB)
    file.write_bytes(file.read_bytes().replace(b",N1,", b",N2,"))
    os.utime(file, ns=(0, before.st_mtime_ns))
    assert (file.stat().st_size, bench.workspace.state_of(JOB)) == (before.st_size, kept)
    assert one.ask("GET", "/api/draft/marks").status_code == 409


@pytest.mark.parametrize(
    ("named", "beside"),
    [("firms.sqlite", "firms.sqlite-wal"), ("firms.duckdb", "firms.duckdb.wal"), ("firms.rda", "region.hrc")],
)
def test_files_that_are_read_along_belong_to_the_state_of_the_data(bench: Workbench, named: str, beside: str) -> None:
    root = bench.workspace.root
    (root / named).touch()
    content = {"data": {"metadata": named} if named.endswith(".rda") else {"microdata": named}}
    before = bench.workspace.state_of(content)
    (root / "another.csv").write_text("x", encoding="utf-8")
    assert bench.workspace.state_of(content) == before
    (root / beside).write_text("x", encoding="utf-8")
    assert bench.workspace.state_of(content) != before


def test_a_tab_that_does_not_say_what_it_shows_runs_nothing(page: TestClient, started: list[tuple[str, Any]]) -> None:
    Tab(page, 1).put(JOB)
    assert page.post("/api/runs", headers={"x-diskret-tab": name(1)}).status_code == 409
    assert not started


def test_a_restart_finds_the_choices_of_every_tab(page: TestClient, bench: Workbench) -> None:
    Tab(page, 1).put(JOB)
    Tab(page, 2).put(OTHER)
    again = Workbench.at(bench.workspace.root, PORT, reading=Here())
    later = TestClient(make_app(again), base_url=ORIGIN, headers={"origin": ORIGIN})
    later.post("/api/session", json={"token": again.sessions.token})
    assert [Tab(later, n).look()["content"] for n in (1, 2)] == [JOB, OTHER]
    assert Tab(later, 1).ask("POST", "/api/draft/undo").json()["content"] == {}


def test_the_choices_of_few_tabs_are_kept(page: TestClient, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "MOST", 3)
    for number in range(1, 8):
        Tab(page, number).put({**JOB, "rules": {"min_count": number}})
    kept = bench.workspace.runs / tabs.FOLDER
    assert sorted(each.name for each in kept.iterdir()) == [name(n) for n in (5, 6, 7)]
    assert {each.stat().st_mode & 0o777 for each in kept.rglob("*.json")} == {0o600}
    assert {each.stat().st_mode & 0o777 for each in [kept, *kept.iterdir()]} == {0o700}


def test_names_of_tabs_lead_nowhere_else(page: TestClient, bench: Workbench, tmp_path: Path) -> None:
    for wrong in ("../../elsewhere", "x", "tabs/../../y", name(1) + "/..", name(1).upper().replace("0", "A")):
        assert page.get("/api/draft", headers={"x-diskret-tab": wrong}).json()["error"]["code"] == "W2"
    assert page.get("/api/draft", headers={"x-diskret-tab": name(1), "x-diskret-copy": "../.."}).status_code == 200
    assert not (tmp_path / "elsewhere").exists()


def test_the_internal_view_is_switched_on_for_one_tab(page: TestClient) -> None:
    one, two = Tab(page, 1), Tab(page, 2)
    one.ask("PUT", "/api/view", json={"internal": True})
    assert one.ask("GET", "/api/state").json()["internal"] is True
    assert two.ask("GET", "/api/state").json()["internal"] is False
