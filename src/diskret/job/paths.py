"""Every file a job names, for whoever moves a job, or refuses where it leads; the sections mark the keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from diskret.job.form import Reads, Section, Writes, by_name, file_mark, sections_in
from diskret.job.models import KINDS
from diskret.model.databases import is_server

Change = Callable[[str], str]
Chosen = Callable[[Sequence[FieldInfo]], Change | None]
"""What becomes of the files that a key names; None if it names none."""
Marks = type[Reads] | type[Writes] | tuple[type[Reads] | type[Writes], ...]


def with_paths(content: Mapping[str, Any], change: Change, marks: Marks = (Reads, Writes)) -> dict[str, Any]:
    """A job as plain data with every path changed, whatever its kind; what has the wrong shape stays as it is.

    ``marks`` chooses between files that are read and files that are written.

    >>> with_paths({"data": {"cells": "a.csv"}, "output": {"publish": ["b.csv"], "title": "T"}}, "out/".__add__)
    {'data': {'cells': 'out/a.csv'}, 'output': {'publish': ['out/b.csv'], 'title': 'T'}}
    """

    def chosen(fields: Sequence[FieldInfo]) -> Change | None:
        found = [mark for field in fields if (mark := file_mark(field))]
        return None if not found else change if any(isinstance(mark, marks) for mark in found) else str

    return _of_section(content, tuple(KINDS.values()), chosen)


def _of_section(said: Mapping[str, Any], sections: Sequence[type[Section]], chosen: Chosen) -> dict[str, Any]:
    """What is said in a section that may be one of several."""
    fields = {key: [s.model_fields[key] for s in sections if key in s.model_fields] for key in said}
    return {key: _of_key(each, fields[key], chosen) for key, each in said.items()}


def _of_key(said: Any, fields: Sequence[FieldInfo], chosen: Chosen) -> Any:
    """What is said under a key that may be one of several."""
    change = chosen(fields)
    if change is not None:
        return _renamed(said, change)
    inner = [section for field in fields for section in sections_in(field.annotation)]
    if isinstance(said, Mapping) and any(by_name(field) for field in fields):
        return {name: _inside(one, inner, chosen) for name, one in said.items()}
    return _inside(said, inner, chosen)


def _inside(said: Any, sections: Sequence[type[Section]], chosen: Chosen) -> Any:
    if isinstance(said, list):
        return [_inside(each, sections, chosen) for each in said]
    return _of_section(said, sections, chosen) if isinstance(said, Mapping) else said


def _renamed(said: Any, change: Change) -> Any:
    if isinstance(said, list):
        return [_renamed(name, change) for name in said]
    return change(said) if isinstance(said, str) else said


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
        if is_server(name):
            return name
        if os.path.isabs(name):
            inside = Path(name).is_relative_to(new)
            return Path(name).relative_to(new).as_posix() if inside else name
        return Path(os.path.relpath(os.path.join(old, name), new)).as_posix()

    return along
