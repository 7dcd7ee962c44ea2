"""Whoever builds an image is told what was compiled and where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from diskret.job import warm

Call = Callable[..., Any]


def test_the_command_says_what_it_did_and_where(diskret: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_do", lambda content, folder: None)
    done = diskret("warm", "risk")
    assert done.code == 0
    assert "compiled 0 functions" in done.out
    assert f"kept in {warm.kept_in()}" in done.out
    told = json.loads(diskret("warm", "risk", "--json").out)
    assert told["kinds"] == ["risk"]
    assert told["compiled"] == 0
