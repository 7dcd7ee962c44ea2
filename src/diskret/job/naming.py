"""Names of outputs that follow the data: ``{data}`` stands for the name of the data file, without its ending."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.job.form import Writes, named_files, problems_of
from diskret.job.models import Job, job_of
from diskret.job.paths import with_paths
from diskret.model.errors import BadJob

PLACE = "{data}"
PACKED = (".gz", ".zst")
ROLES = ("microdata", "cells", "table")


def stem_of(name: str) -> str:
    """What a data file is called, without its folder and its ending.

    >>> stem_of("in/firms.2024.csv.gz"), stem_of("firms*.csv")
    ('firms.2024', 'firms-')
    """
    path = Path(name)
    path = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return re.sub(r"[*?\[\]]+", "-", path.stem) or "data"


def data_file(data: object) -> str | None:
    """The file that a section on data names."""
    if not isinstance(data, Mapping):
        return None
    return next((str(data[role]) for role in ROLES if data.get(role)), None)


def named_outputs(job: Job, folder: Path) -> Job:
    """The job with the names its outputs get; refused if one of them would take another file's place."""
    if not any(PLACE in name for _, name, mark in named_files(job) if isinstance(mark, Writes)):
        return job
    content = job.model_dump(exclude_unset=True)
    tables = content.get("tables")
    if isinstance(tables, Mapping):
        content["tables"] = {name: _named_table(each, content) for name, each in tables.items()}
    found = job_of(_named(content, data_file(content.get("data"))))
    problems = problems_of(found, folder)
    if problems:
        raise BadJob("\n    ".join(map(str, problems)), hint=f"{PLACE} stands for the name of the data file.")
    return found


def _named_table(table: dict[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """A table of a pool: its outputs follow its own data, if it has some."""
    file = data_file(table.get("data")) or data_file(content.get("data"))
    inside: dict[str, Any] = _named({"tables": {"one": table}}, file)["tables"]["one"]
    return inside


def _named(content: Mapping[str, Any], file: str | None) -> dict[str, Any]:
    if file is None:
        return dict(content)
    return with_paths(content, lambda name: name.replace(PLACE, stem_of(file)), Writes)
