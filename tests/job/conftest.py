"""A folder with a job in it, and what comes out when it is run."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diskret.job.outcome import JobResult
from diskret.job.read import read_job
from diskret.job.run import run_job

FIRMS = """region,size,owner,turnover,wages,weight
N,small,h1,10.5,4,2
N,small,h1,20,5,1
N,small,,30,6,1
N,large,h2,900,300,1
S,small,,40,7,3
S,small,,50,8,1
S,small,,60,9,1
S,small,,70,9,1
S,large,h2,800,200,1
S,large,,10,3,1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small file of microdata."""
    (tmp_path / "firms.csv").write_text(FIRMS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Callable[..., JobResult]:
    """Run a job given as text."""

    def go(text: str, **options: Any) -> JobResult:
        (folder / "job.toml").write_text(text, encoding="utf-8")
        return run_job(read_job(folder / "job.toml"), folder, **options)

    return go


@pytest.fixture
def published() -> Callable[[Path, int], dict[tuple[str, ...], list[str]]]:
    """Read a published CSV file: codes -> what stands in the columns behind them."""

    def read(path: Path, classifications: int) -> dict[tuple[str, ...], list[str]]:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return {tuple(row[:classifications]): row[classifications:] for row in rows[1:]}

    return read
