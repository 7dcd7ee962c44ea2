"""`diskret cell-key` and `diskret compare` as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import diskret as dk

Call = Callable[..., Any]


@pytest.fixture
def files(folder: Path) -> Path:
    keys = dk.draw_keys(60, 3)
    lines = ["region,sex,turnover,rkey"]
    lines += [f"{'NNNSSW'[i % 6]},{'mw'[i % 2]},{(i % 7) * 10 + 3},{keys[i]:.15f}" for i in range(60)]
    (folder / "persons.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_counts_with_noise_are_published(typed: Call, files: Path) -> None:
    done = typed("cell-key", "persons.csv", "--by", "region", "--key", "rkey", "--out", "counts.csv")
    assert done.code == 0, done.said
    assert "rkey" not in (files / "counts.csv").read_text(encoding="utf-8")
    assert "wrote" in done.out


def test_methods_are_shown_side_by_side(typed: Call, files: Path) -> None:
    done = typed(
        "compare", "persons.csv", "--by", "region", "--by", "sex", "--small-cells", "4", "--method", "suppression",
        "--method", "cell key", "--out", "methods.json",
    )  # fmt: skip
    assert done.code == 0, done.said
    assert "cells lost" in done.out
    assert "cell key" in done.out
    assert len(json.loads((files / "methods.json").read_text(encoding="utf-8"))["methods"]) == 2


def test_a_comparison_without_rules_is_refused(typed: Call, files: Path) -> None:
    done = typed("compare", "persons.csv", "--by", "region")
    assert done.code == 2
    assert "rules" in done.err


def test_keys_out_of_range_are_refused(typed: Call, files: Path) -> None:
    done = typed("cell-key", "persons.csv", "--by", "region", "--key", "turnover", "--out", "counts.csv")
    assert done.code == 2
    assert "[K2]" in done.err
    assert not (files / "counts.csv").exists()
