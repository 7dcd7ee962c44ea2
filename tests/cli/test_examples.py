"""Whoever installed diskret has its examples: a copy of them runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


def test_examples_are_copied_and_run(diskret: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "copied the examples to first" in diskret("examples", "first").out
    assert not list((tmp_path / "first").rglob("*.parquet"))
    done = diskret("run", "first/turnover.toml", "--quiet")
    assert done.code == 0
    assert (tmp_path / "first" / "out" / "turnover.xlsx").is_file()


def test_what_is_there_is_not_written_over(diskret: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "firms.csv").write_text("a\n", encoding="utf-8")
    done = diskret("examples", "mine")
    assert done.code == 2
    assert "name a new folder" in done.err
    assert (tmp_path / "mine" / "firms.csv").read_text(encoding="utf-8") == "a\n"
