"""Two ways to call the command: as a user does, in a process of its own, and quickly, in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diskret.cli import main

COMMAND = Path(sys.executable).parent / "diskret"

FIRMS = """region,size,owner,turnover,wages
N,small,h1,10.5,4
N,small,h1,20,5
N,small,,30,6
N,large,h2,7919.73,300
S,small,,40,7
S,small,,50,8
S,small,,60,9
S,small,,70,9
S,large,h2,6011.37,200
S,large,,10,3
"""
JOB = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = ["turnover", "wages"]
[rules]
min_count = 3
[output]
unprotected = true
publish = ["out/t.csv", "out/t.xlsx", "out/t.json", "out/t.px", "out/t.parquet"]
working = "out/w.parquet"
"""


@dataclass(frozen=True)
class Done:
    """What a call of the command came to."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything the user sees."""
        return self.out + self.err


Call = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder the user stands in, with data and a job."""
    (tmp_path / "firms.csv").write_text(FIRMS, encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISKRET_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def diskret(folder: Path) -> Call:
    """The installed command in a process of its own."""

    def call(*arguments: object, **options: Any) -> Done:
        words = [str(COMMAND), *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "100"}
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600,
                              env=environment, **options)  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def typed(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The same command in this process: `main`, which turns errors into exit codes."""

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["diskret", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        seen = capsys.readouterr()
        return Done(int(stopped.value.code or 0), seen.out, seen.err)

    return call


@pytest.fixture
def everything() -> Callable[[Path], dict[str, bytes]]:
    """All files below a folder with their bytes."""
    return lambda folder: {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
