"""Every key of a job that names files, in one list: for whoever moves a job, or refuses where it leads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

FILES: Mapping[str, tuple[str, ...]] = {
    "data": ("microdata", "cells", "table", "metadata"),
    "classifications": ("hierarchy",),
    "tables": ("previous",),
    "suppression": ("previous",),
    "steps": ("file", "hierarchy"),
    "attack": ("external", "original"),
    "anonymise": ("fictitious", "checkpoint"),
    "cell_key": ("p_table", "small_values"),
    "compare": ("p_table", "files"),
    "output": (
        "publish", "working", "certificate", "tau_argus", "comparison", "risks", "risk_plot", "microdata", "quality",
        "deviations", "rematched", "records", "report",
    ),
}  # fmt: skip
"""Keys that name files, by section; "tables" for those a table of a pool has besides its own sections."""

Change = Callable[[str], str]


def with_paths(content: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A job as plain data with every path changed; what has the wrong shape stays as it is.

    >>> with_paths({"data": {"cells": "a.csv"}, "output": {"publish": ["b.csv"], "title": "T"}}, "out/".__add__)
    {'data': {'cells': 'out/a.csv'}, 'output': {'publish': ['out/b.csv'], 'title': 'T'}}
    """
    found = dict(content)
    for key, said in content.items():
        if key == "classifications" and isinstance(said, Mapping):
            found[key] = {name: _changed(each, FILES[key], change) for name, each in said.items()}
        elif key == "tables" and isinstance(said, Mapping):
            found[key] = {name: _of_pool(each, change) for name, each in said.items()}
        elif key == "microdata" and isinstance(said, Mapping) and isinstance(said.get("steps"), list):
            found[key] = {**said, "steps": [_changed(step, FILES["steps"], change) for step in said["steps"]]}
        elif key in FILES:
            found[key] = _changed(said, FILES[key], change)
    return found


def paths_in(content: Mapping[str, Any]) -> Iterator[str]:
    """Every file a job names.

    >>> list(paths_in({"data": {"microdata": "a.csv"}, "output": {"publish": ["b.csv"], "title": "T"}}))
    ['a.csv', 'b.csv']
    """
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    with_paths(content, note)
    return iter(found)


def seen_from(before: str | Path, after: str | Path) -> Change:
    """What a path in one folder is called in another.

    Absolute paths become relative where the file lies in the new folder, and stay as they are elsewhere.

    >>> seen_from("data", "jobs")("cells.csv")
    '../data/cells.csv'
    """
    old, new = os.path.abspath(before), os.path.abspath(after)

    def along(name: str) -> str:
        if os.path.isabs(name):
            inside = Path(name).is_relative_to(new)
            return Path(name).relative_to(new).as_posix() if inside else name
        return Path(os.path.relpath(os.path.join(old, name), new)).as_posix()

    return along


def _of_pool(table: Any, change: Change) -> Any:
    """A table of a pool: sections as a job has them, and keys of its own."""
    if not isinstance(table, Mapping):
        return table
    sections = {key: table[key] for key in ("data", "classifications", "output") if key in table}
    return _changed(table, FILES["tables"], change) | with_paths(sections, change)


def _changed(section: Any, keys: tuple[str, ...], change: Change) -> Any:
    if not isinstance(section, Mapping):
        return section
    found = dict(section)
    for key in keys:
        said = section.get(key)
        if isinstance(said, str):
            found[key] = change(said)
        elif isinstance(said, list):
            found[key] = [change(name) if isinstance(name, str) else name for name in said]
    return found
