"""What a newcomer sees: few names first, the others in namespaces, and every older name where it was."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import diskret as dk
from diskret import _HOME, _NAMESPACES  # type: ignore[attr-defined]

SOURCE = Path(dk.__file__).parent
ROOMS = [name for name in _NAMESPACES if name not in ("methods", "tree_edits")]


def names_in(stub: Path) -> set[str]:
    """The names a stub gives away."""
    found = ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
    return {alias.asname or alias.name for node in found if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_about_twenty_names_come_first() -> None:
    assert len(dk.__all__) <= 22
    assert {"Promise", "suppress", "audit", "Table"} <= set(dk.__all__)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_name_is_there_and_the_types_say_the_same() -> None:
    assert all(getattr(dk, name) is not None for name in (*_HOME, *_NAMESPACES))
    assert names_in(SOURCE / "__init__.pyi") == {*_HOME, *_NAMESPACES}


@pytest.mark.parametrize("room", ROOMS)
def test_a_namespace_gives_away_what_its_types_say(room: str) -> None:
    space: ModuleType = getattr(dk, room)
    assert set(dir(space)) == names_in(SOURCE / room / "__init__.pyi")
    modules = {path.stem for path in (SOURCE / room).glob("*.py")}
    assert not set(dir(space)) & modules, "a module of that name would take the place of what is meant"
    assert all(getattr(space, name) is not None for name in dir(space))
