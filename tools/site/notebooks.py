"""Runs a notebook cell by cell in one process, and shows it as a page; what is stored has no outputs."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Shown:
    """A cell: its text, what it printed, and the value of its last line."""

    kind: str
    source: str
    printed: str = ""
    value: object = None

    @property
    def html(self) -> str:
        """What a notebook shows below the cell."""
        view = getattr(self.value, "_repr_html_", None)
        text = f"<pre>{escape(self.printed)}</pre>" if self.printed else ""
        if self.value is None:
            return text
        return text + (str(view()) if view else f"<pre>{escape(repr(self.value))}</pre>")


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells as they are stored."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def run(path: Path, folder: Path) -> list[Shown]:
    """All cells in order, standing in an empty folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_run(cell["cell_type"], "".join(cell["source"]), names) for cell in cells_of(path)]


def _run(kind: str, source: str, names: dict[str, Any]) -> Shown:
    if kind != "code":
        return Shown(kind, source)
    tree, value = ast.parse(source), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return Shown(kind, source, printed.getvalue(), value)


def page_of(cells: list[Shown]) -> str:
    """A run notebook as Markdown."""
    parts = []
    for cell in cells:
        if cell.kind != "code":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if cell.html:
            # one line: blank lines would end the HTML
            parts.append(f'<div class="output">{cell.html.replace(chr(10), "&#10;")}</div>')
    return "\n\n".join(parts) + "\n"
