"""docs/cuboid.md tells what the engine does: its worked example is up to date, and its examples run."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "cuboid.md"


@pytest.fixture(scope="module")
def writer() -> Any:
    spec = importlib.util.spec_from_file_location("worked_example", DOCS / "worked_example.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_worked_example_is_up_to_date(writer: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert writer.page(text) == text, "run `python docs/worked_example.py`"


def test_pattern_on_the_page_is_the_printed_one(writer: Any) -> None:
    expected = json.loads(writer.GOLDEN.read_text(encoding="utf-8"))["expected"]["secondary"]
    text = PAGE.read_text(encoding="utf-8").split("### The pattern against exact computation")[1].split("\n### ")[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    columns = [code.strip("*") for code in head]
    marked = [
        [row[0].strip("*"), column]
        for row in rows
        for column, entry in zip(columns, row[1:], strict=True)
        if re.fullmatch(r"\*\d+ S\*", entry)
    ]
    assert sorted(marked) == sorted(expected)


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 50
    assert doctest.DocTestRunner().run(test).failed == 0
