"""A file that crashes its reader, lets it loop or fills the memory ends in a message; the server goes on."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from diskret.model.errors import BadOption, ReadingFailed, TooLarge
from diskret.model.limits import refuse_more
from diskret.web.answers import OurMistake
from diskret.web.reading import Apart
from diskret.web.routes import column_roles
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web import case
from tests.web.crashing import die

ENDLESS = (re.match, "(a+)+$", "a" * 60 + "b")
"""Computes for ever, without a moment for anybody else in its process."""


@pytest.fixture(scope="module")
def reading() -> Iterator[Apart]:
    made = Apart(seconds=20, memory=3 << 30)
    yield made
    made.close()


def test_a_reader_that_dies_is_replaced_and_the_file_is_named(reading: Apart) -> None:
    first = reading.do(os.getpid)
    with pytest.raises(ReadingFailed, match="crashed") as caught:
        reading.do(os.abort, where="firms.csv")
    assert caught.value.where == "firms.csv"
    second = reading.do(os.getpid)
    assert len({os.getpid(), first, second}) == 3
    assert reading.do(os.getpid) == second  # which is kept


def test_a_reader_without_end_is_ended(reading: Apart) -> None:
    process = reading.do(os.getpid)
    with pytest.raises(ReadingFailed, match=r"took longer than 0\.2 seconds"):
        reading.do(*ENDLESS, seconds=0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_reader_that_needs_too_much_memory_is_told_so(reading: Apart) -> None:
    with pytest.raises(ReadingFailed, match="more memory than it may have"):
        reading.do(bytearray, 4 << 30)


def test_mistakes_and_refusals_come_back_as_they_are(reading: Apart) -> None:
    with pytest.raises(TooLarge, match="100,000 columns") as refused:
        reading.do(refuse_more, "columns", 100_000, "{} columns", "firms.csv")
    assert (refused.value.where, "DISKRET_LIMITS" in refused.value.hint) == ("firms.csv", True)
    with pytest.raises(OurMistake, match="ValueError") as mistake:
        reading.do(int, "4711.08")
    assert "4711" not in str(mistake.value)  # a mistake in diskret may quote the data


def test_what_a_reader_prints_and_leaves_is_seen_by_nobody(reading: Apart) -> None:
    assert reading.do(os.write, 1, b"4711") == 4
    place = Path(reading.do(tempfile.gettempdir))
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert reading.do(os.umask, 0o077) == 0o077


def test_no_more_wait_than_there_is_room_for() -> None:
    with pytest.raises(BadOption, match="many files are being read"):
        Apart(most_waiting=0).do(max, 1, 2)


def test_readers_end_with_the_server(reading: Apart) -> None:
    other = Apart()
    process, place = other.do(os.getpid), other.temporary[0].path
    other.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert not place.exists()
    with pytest.raises(BadOption, match="ending"):
        other.do(max, 1, 2)


def test_the_page_goes_on_after_a_file_that_kills_its_reader(
    bench: Workbench, reading: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Workbench.at(bench.workspace.root, case.PORT, reading=reading)
    page = TestClient(make_app(made), base_url=case.ORIGIN, headers={"origin": case.ORIGIN})
    page.post("/api/session", json={"token": made.sessions.token})
    monkeypatch.setattr(column_roles, "recognised", die)
    error = page.get("/api/recognise", params={"file": "firms.csv"}).json()["error"]
    assert (error["code"], error["where"]) == ("W7", "firms.csv")
    monkeypatch.undo()
    assert page.get("/api/recognise", params={"file": "firms.csv"}).json()["rows"] > 20
