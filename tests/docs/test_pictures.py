"""Every picture is made by a script, and those that are drawn from code are up to date."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted(path for path in DOCS.rglob("*") if path.suffix in (".svg", ".png"))


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_house_is_the_one_that_is_built() -> None:
    house = script("house")
    assert house.PICTURE.read_text(encoding="utf-8") == house.picture(), "run `python docs/house.py`"
    assert {room for floor in house.FLOORS.values() for room in floor} == set(house.rooms())


def test_the_table_is_the_one_that_the_example_gives() -> None:
    assert (DOCS / "table.svg").read_text(encoding="utf-8") == script("picture").picture(), (
        "run `python docs/picture.py`"
    )


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_script_makes_the_picture_and_a_page_shows_it(path: Path) -> None:
    root = DOCS.parent
    scripts = [*DOCS.glob("*.py"), root / "benchmarks" / "pictures.py"]
    name = path.stem.removeprefix("workbench-")
    assert any(re.search(rf"\b{name}\b", made.read_text(encoding="utf-8")) for made in scripts)
    pages = [*DOCS.rglob("*.md"), root / "README.md"]
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)
