"""What cures the errors of a job: keys it may really be given, seen from the job as its user wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from diskret.job.form import Section, problems_of
from diskret.job.models import job_of, split
from diskret.model.cures import Cure, key_of
from diskret.model.errors import DiskretError, DuplicateCell, MissingColumn

COLUMNS = ("by", "value", "count", "largest", "owner", "status", "below", "above", "lower", "upper", "cost",
           "weight", "holding")  # fmt: skip
"""Keys of [table] that name columns."""


@contextmanager
def cures_for(job: Section, folder: Path) -> Iterator[None]:
    """Errors inside carry the cures that this job may be given, and no others."""
    try:
        yield
    except DiskretError as e:
        content = job.model_dump(exclude_unset=True)
        e.cured_by(*_of_columns(content, e), *_as_records(content, e))
        e.cures = tuple(cure for cure in e.cures if _is_possible(content, cure, folder))
        raise


def with_cure(content: Mapping[str, Any], cure: Cure) -> dict[str, Any]:
    """A job as plain data with a cure applied.

    >>> leave_out = Cure(key="table.without_value", value="leave out", label="leave those rows out")
    >>> with_cure({"table": {"by": ["region"]}}, leave_out)
    {'table': {'by': ['region'], 'without_value': 'leave out'}}
    """
    return _set(content, cure.path, cure.value)


def _set(content: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    first, *rest = path
    inner = content.get(first)
    return {**content, first: _set(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value}


def _is_possible(content: Mapping[str, Any], cure: Cure, folder: Path) -> bool:
    """Whether the job with the cure is one."""
    try:
        own, problems = split(with_cure(content, cure))
        return not problems and not problems_of(job_of(own), folder)
    except ValidationError:
        return False


def _of_columns(content: Mapping[str, Any], error: DiskretError) -> Iterator[Cure]:
    """Columns that are called a little differently in the file."""
    table = content.get("table")
    if not isinstance(error, MissingColumn) or not isinstance(table, Mapping):
        return
    for key in COLUMNS:
        said = table.get(key)
        names = [said] if isinstance(said, str) else said or []
        meant = [error.near.get(name, name) for name in names]
        if meant != names:
            value: object = meant[0] if isinstance(said, str) else meant
            yield Cure(key=key_of("table", key), value=value, label="take the column with a similar name")


def _as_records(content: Mapping[str, Any], error: DiskretError) -> Iterator[Cure]:
    """Records that were taken for cells."""
    data = content.get("data")
    if isinstance(error, DuplicateCell) and isinstance(data, Mapping) and data.get("cells"):
        others = {key: each for key, each in data.items() if key not in ("cells", "metadata")}
        yield Cure(key="data", value={"microdata": data["cells"], **others}, label="take the rows as records")
