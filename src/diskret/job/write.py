"""Writing a job file: what was set, section by section, each key with the words that describe it.

Reading the text gives the same job, so `diskret run` repeats to the byte what was done on the page or in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from diskret.io.files import whole_file
from diskret.io.toml import toml_key, toml_value
from diskret.job.models import Job, job_of
from diskret.job.paths import seen_from, with_paths

LINE = 118
HEAD = "# A job for diskret. Run it with: diskret run THIS_FILE\n"
SECRET = {
    "rules": "parameters are secret: do not publish this file",
    "promise": "ranges are secret too",
    "perturbation": "secret, the seed above all: do not publish this file",
    "microdata": "a seed is secret: do not publish this file",
    "adjustment": "secret: do not publish this file",
    "cell_key": "secret: do not publish this file",
}


def job_as_text(job: Job) -> str:
    """A job as the text of a job file, with what every key is for.

    >>> job = job_of({"data": {"cells": "cells.csv"}, "table": {"by": ["nace"], "value": "turnover"}})
    >>> print(job_as_text(job))
    # A job for diskret. Run it with: diskret run THIS_FILE
    <BLANKLINE>
    [data]
    cells = "cells.csv"  # file with one row per cell: .parquet, .csv, .xlsx, .tab with metadata
    <BLANKLINE>
    [table]
    by = ["nace"]  # columns that classify, in the order of the table
    value = ["turnover"]  # column or columns to add up; none for a frequency table
    <BLANKLINE>
    """
    parts = [HEAD, *([f'kind = "{job.kind}"\n'] if "kind" in job.model_fields_set else [])]
    for name in type(job).model_fields:
        if name in job.model_fields_set:
            parts += _part(name, getattr(job, name))
    return "\n".join(parts)


def write_job(job: Job, path: str | Path, folder: str | Path | None = None) -> None:
    """Write a job file; ``folder`` is where the job's files are looked for now, if not beside the job file."""
    target = Path(path)
    text = job_as_text(job if folder is None else moved(job, folder, target.parent))
    with whole_file(target, private=True) as part:
        part.write_text(text, encoding="utf-8", newline="")


def moved(job: Job, before: str | Path, after: str | Path) -> Job:
    """The same job seen from another folder: relative paths lead to the same files as before.

    Absolute paths become relative where the file lies in the new folder, and stay as they are elsewhere.

    >>> job = job_of({"data": {"cells": "cells.csv"}, "table": {"by": ["nace"], "value": "turnover"}})
    >>> moved(job, "data", "jobs").data.cells
    '../data/cells.csv'
    """
    return job_of(with_paths(job.model_dump(exclude_unset=True), seen_from(before, after)))


def _part(path: str, value: Any) -> Iterator[str]:
    """One top-level key: a section, sections by name, or a list of them."""
    if isinstance(value, BaseModel):
        yield _section(f"[{path}]", path, value)
        for name in _lists(value):
            for each in getattr(value, name):
                yield _section(f"[[{path}.{name}]]", f"{path}.{name}", each)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield _section(f"[{path}.{toml_key(name)}]", path, each)
    elif isinstance(value, list):
        for each in value:
            yield _section(f"[[{path}]]", path, each)


def _lists(section: BaseModel) -> list[str]:
    """Keys whose entries are sections of their own, in the order of the model."""
    found = {k: getattr(section, k) for k in type(section).model_fields if k in section.model_fields_set}
    return [k for k, v in found.items() if isinstance(v, list) and v and all(isinstance(e, BaseModel) for e in v)]


def _section(head: str, path: str, section: BaseModel) -> str:
    """The lines of one section; what is nothing is left out, which means the same."""
    secret = SECRET.get(path)
    lines = [f"{head}  # {secret}" if secret else head]
    apart = _lists(section)
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if key not in section.model_fields_set or value is None or key in apart:
            continue
        line = f"{toml_key(key)} = {toml_value(_plain(value))}"
        words = (field.description or "").replace("\n", " ")
        if not words:
            lines.append(line)
        elif "\n" not in line and len(line) + len(words) + 4 <= LINE:
            lines.append(f"{line}  # {words}")
        else:
            lines += [f"# {words}", line]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {k: _plain(v) for k, v in value if k in value.model_fields_set and v is not None}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value
