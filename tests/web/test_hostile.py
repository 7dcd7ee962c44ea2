"""Whatever is asked is answered or refused: no question breaks the server, no file of the workspace makes it wait."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from benchmarks.fuzz_page import campaign, furnish
from diskret.model.errors import BadOption
from diskret.web.workbench import Workbench
from diskret.web.workspace import Workspace

BODIES = [
    rb'{"token": "\ud800"}', rb'{"token": "a\u0000b"}', b'{"token": NaN}', b'{"token": 1e999}',
    b'{"token": ' + b"9" * 99 + b"}",
    b'{"token": ' + b"[" * 120 + b"]" * 120 + b"}", b"\xff{}", b'{"token": ',
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_a_request_that_is_no_text_or_no_number_is_refused(stranger: TestClient, body: bytes) -> None:
    answer = stranger.post("/api/session", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["what"] == "the request is not a JSON object"


def test_pipes_and_names_that_are_no_text_are_not_listed(page: TestClient, bench: Workbench) -> None:
    furnish(bench.workspace.root)
    assert [each["name"] for each in page.get("/api/files").json()["files"] if each["name"].endswith(".csv")] == [
        "firms.csv"
    ]


def test_nobody_waits_for_a_pipe(page: TestClient, bench: Workbench) -> None:
    furnish(bench.workspace.root)
    job = {"data": {"microdata": "pipe.csv"}, "table": {"by": ["industry"]}}
    hierarchy = job | {"data": {"microdata": "firms.csv"}, "classifications": {"industry": {"hierarchy": "pipe.csv"}}}
    answers = [
        page.get("/api/recognise", params={"file": "pipe.csv"}), page.put("/api/draft", json=job),
        page.put("/api/draft", json=hierarchy), page.post("/api/jobs/pipe.toml"),
        page.post("/api/records/jobs/pipe.toml"), page.put("/api/files/pipe.csv?replace=yes", content=b"a\n1\n"),
    ]  # fmt: skip
    for answer in answers:
        assert answer.json()["error"]["what"] == "this is not a file"


def test_nothing_is_written_through_a_link(page: TestClient, bench: Workbench) -> None:
    (bench.workspace.root / "other.csv").symlink_to("firms.csv")
    before = (bench.workspace.root / "firms.csv").read_bytes()
    answer = page.put("/api/files/other.csv?replace=yes", content=b"a\n1\n")
    assert answer.json()["error"]["what"] == "'other.csv' is a link or a folder"
    assert (bench.workspace.root / "firms.csv").read_bytes() == before


def test_runs_are_kept_in_a_folder_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    runs = tmp_path / "workspace" / ".diskret-runs"
    makes: list[Callable[[], object]] = [runs.touch, lambda: os.mkfifo(runs), lambda: runs.symlink_to(tmp_path)]
    for make in makes:
        make()
        with pytest.raises(BadOption, match="kept in a folder"):
            Workspace.at(tmp_path / "workspace")
        runs.unlink()


def test_hostile_questions_to_every_route_are_answered(tmp_path: Path) -> None:
    """A sample; `python -m benchmarks.fuzz_page` asks without end."""
    count = campaign(tmp_path, 40)
    assert count.unanswered == []
    assert count.by_status[200] > 5


def test_whatever_the_umask_runs_and_choices_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        bench = Workbench.at(tmp_path / "new", 1)
        bench.tabs.choices()["table"].put({"rules": {}})
    finally:
        os.umask(before)
    made = [bench.workspace.root, *bench.workspace.root.rglob("*")]
    assert len(made) == 4
    assert not any(each.stat().st_mode & 0o077 for each in made if each.name != ".gitignore")
