"""Whoever installs diskret without extras gets all that it imports when it starts."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = {"Jinja2": "jinja2", "XlsxWriter": "xlsxwriter"}
EXTRAS = {"web": {"starlette", "uvicorn", "anyio"}}
"""Rooms that an extra is for."""


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports when it is imported itself."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_every_module_imports_only_what_is_installed_with_it() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = [re.split(r"[<>=!\[; ]", each)[0] for each in listed]
    there = {NAMES.get(name, name) for name in names} | {"diskret", *sys.stdlib_module_names}
    src = ROOT / "src" / "diskret"
    missing = {
        (str(file.relative_to(src)), name)
        for file in src.rglob("*.py")
        for name in imported(ast.parse(file.read_text(encoding="utf-8")))
        if name not in there | EXTRAS.get(file.relative_to(src).parts[0], set())
    }
    assert not missing
