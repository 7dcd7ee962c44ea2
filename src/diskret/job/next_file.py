"""The same job for another file: next year's data, last year's pattern, outputs that take nobody's place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.job.form import Writes, named_files
from diskret.job.models import Job
from diskret.job.naming import ROLES, data_file, named_outputs
from diskret.job.paths import with_paths
from diskret.model.errors import BadOption, listed


def with_data(content: Mapping[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """A job as plain data that reads another file; of linked tables NAME=FILE is the file of one of them.

    >>> with_data({"data": {"cells": "2023.csv", "decimal": ","}}, ["2024.csv"])
    {'data': {'cells': '2024.csv', 'decimal': ','}}
    """
    changed = dict(content)
    for said in files:
        table, file = meant(content, said)
        if table is None:
            changed["data"] = _replaced(changed.get("data"), file, "the job has no [data]")
        else:
            why = f"table {table!r} has no data of its own: give the file of [data]"
            tables = changed["tables"]
            own = _replaced(tables[table].get("data"), file, why)
            changed["tables"] = {**tables, table: {**tables[table], "data": own}}
    return changed


def with_previous(content: Mapping[str, Any], files: Sequence[str], at_most: float | None = None) -> dict[str, Any]:
    """A job as plain data that keeps the pattern of an earlier result where that is cheap: by ``at_most`` a share more.

    >>> with_previous({"suppression": {}}, ["2023.working.parquet"])
    {'suppression': {'previous': '2023.working.parquet'}}
    """
    changed = dict(content)
    asked = changed.get("suppression")
    if (files or at_most is not None) and not isinstance(asked, Mapping):
        raise BadOption("the job hides nothing, so there is no pattern to keep", hint="add [suppression] to the job.")
    if at_most is not None:
        changed["suppression"] = {**changed["suppression"], "at_most": at_most}
    for said in files:
        table, file = meant(content, said)
        if table is not None:
            tables = changed["tables"]
            changed["tables"] = {**tables, table: {**tables[table], "previous": file}}
        elif isinstance(changed.get("tables"), Mapping):
            raise BadOption("which of the linked tables?", hint=f"NAME=FILE; there are {listed(changed['tables'])}.")
        else:
            changed["suppression"] = {**changed["suppression"], "previous": file}
    return changed


def meant(content: Mapping[str, Any], said: str) -> tuple[str | None, str]:
    """The table of a pool and its file, or a file: a name with an equals sign is one, too."""
    name, sign, file = said.partition("=")
    tables = content.get("tables")
    if sign and isinstance(tables, Mapping) and isinstance(tables.get(name), Mapping):
        return name, file
    return None, said


def _replaced(data: object, file: str, why: str) -> dict[str, Any]:
    role = next((each for each in ROLES if isinstance(data, Mapping) and data.get(each)), None)
    if role is None:
        raise BadOption(why, hint="name the file in the job.")
    assert isinstance(data, Mapping)
    return {**data, role: file}


def into_folder(content: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """A job as plain data that writes all its files into one folder, under the names they have.

    >>> into_folder({"output": {"publish": ["out/table.csv"]}}, "2024")
    {'output': {'publish': ['2024/table.csv']}}
    """
    return with_paths(content, lambda name: (Path(folder) / Path(name).name).as_posix(), Writes)


def refuse_taken(before: Job, after: Job, here: Path) -> None:
    """Refuse to write over what the job wrote, or will write, for its own data."""
    own, new = _files(before), _files(after)
    if [_place(here, name) for name in own] == [_place(here, name) for name in new]:
        return  # the same file by another name
    theirs = _outputs(before, here)
    taken = {name for place, name in _outputs(after, here).items() if place in theirs and os.path.exists(place)}
    if taken:
        raise BadOption(
            f"{listed(sorted(taken))} would take the place of what the job wrote for its own data",
            hint="give --out FOLDER, or write {data} into the names of outputs, such as out/{data}.csv.",
        )


def _files(job: Job) -> list[str]:
    content = job.model_dump(exclude_unset=True)
    tables = content.get("tables") or {}
    every = [content.get("data"), *(each.get("data") for each in tables.values())]
    return [file for data in every if (file := data_file(data))]


def _outputs(job: Job, here: Path) -> dict[str, str]:
    named = named_outputs(job, here)
    return {_place(here, name): name for _, name, mark in named_files(named) if isinstance(mark, Writes)}


def _place(here: Path, name: str) -> str:
    return os.path.realpath(here / name)
