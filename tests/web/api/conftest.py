"""The interface for programs on a folder with some firms: a program with the token, and strangers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web import case

TOKEN = "a-token-of-programs"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A workbench that answers programs."""
    folder = tmp_path_factory.mktemp("workspace")
    case.firms(folder / "firms.csv")
    made = Workbench.at(folder, case.PORT, reading=Here(), key=TOKEN)
    yield made
    made.close()


def client(bench: Workbench, token: str | None = TOKEN) -> TestClient:
    """A program, as programs ask: no origin, no cookie."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return TestClient(make_app(bench, most_upload=1_000_000), base_url=case.ORIGIN, headers=headers)


@pytest.fixture(scope="module")
def program(bench: Workbench) -> TestClient:
    """A program that has the token."""
    return client(bench)


@pytest.fixture
def folder(bench: Workbench) -> Path:
    """The workspace."""
    return bench.workspace.root
