"""Files of statistical programs: Stata (.dta), SPSS (.sav, .zsav, .por), SAS (.sas7bdat, .xpt).

Codes stay the codes, and their labels go with them. A value that its file calls missing is a code where it classifies
("refused"), and no number where numbers are added up: 999 is not added to turnovers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from diskret.model.damage import reading
from diskret.model.errors import EmptyData, MissingExtra, UnreadableFile
from diskret.model.limits import refuse_more
from diskret.model.places import plain_file
from diskret.model.sheets import unique_names

STATISTICAL = {".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"}
READERS = {".dta": "read_dta", ".por": "read_por", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}
USER_MISSING = {".dta", ".sav", ".zsav", ".sas7bdat"}
"""Files that tell values that are missing for a reason from those that are just not there."""
DATES = {date: "DATE", datetime: "TIMESTAMP", time: "TIME"}


@dataclass(frozen=True, kw_only=True)
class Statistical:
    """A file of a statistical program; the encoding only where the file does not tell it, or not rightly."""

    path: Path
    encoding: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReadVariables:
    """What was read: columns, what kind of dates they are, their labels, and which entries mean a missing value."""

    columns: dict[str, list[Any]]
    dates: Mapping[str, str]
    """Types of the engine for columns of dates, which come as text."""
    labels: Mapping[str, Mapping[str, str]]
    """By column labels of codes."""
    absent: Mapping[str, list[bool]]
    """Of columns with such entries, which entries stand for a missing value."""


def read_statistical(source: Statistical) -> ReadVariables:
    """Read a file of a statistical program whole."""
    try:
        import pyreadstat
    except ImportError as e:
        raise MissingExtra.needed("stats", f"reading {source.path.suffix} files") from e
    path, ending = plain_file(source.path), source.path.suffix.lower()
    if path.stat().st_size == 0:
        raise EmptyData("the file is empty", where=str(path), hint="was it written completely?")
    refuse_more("bytes", path.stat().st_size, "the file has {} bytes", str(path))
    read = getattr(pyreadstat, READERS.get(ending, "read_sav"))
    given: dict[str, Any] = {"output_format": "dict"}
    given |= {"encoding": source.encoding} if source.encoding and ending != ".por" else {}
    damaged = "the file is damaged, or not what its name says"
    with reading(path, damaged, "open it in the program that wrote it, and save it again."):
        try:
            _, told = read(str(path), metadataonly=True, **given)
            _refuse_large(told, str(path))
            columns, told = read(str(path), **given, **({"user_missing": True} if ending in USER_MISSING else {}))
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as e:
            raise UnreadableFile(damaged, hint="open it in the program that wrote it, and save it again.") from e
        return _variables(columns, told)


def _refuse_large(told: Any, where: str) -> None:
    rows, columns = max(told.number_rows or 0, 0), max(told.number_columns or 0, 0)
    refuse_more("rows", rows, "the file has {} rows", where)
    refuse_more("columns", columns, "the file has {} columns", where)
    refuse_more("bytes", rows * columns * 8, "the file unpacks to {} bytes", where)


def _variables(given: Mapping[str, Sequence[Any]], told: Any) -> ReadVariables:
    names = dict(zip(given, unique_names([name.strip() for name in given]), strict=True))
    columns, dates, absent = {}, {}, {}
    for name, new in names.items():
        values = list(given[name])
        flags = _absent(values, told.missing_ranges.get(name, ()), set(told.missing_user_values.get(name, ())))
        kinds = {type(v) for v in values if v is not None}
        if kinds and kinds <= set(DATES):
            dates[new] = DATES[datetime] if datetime in kinds else DATES[next(iter(kinds))]
            columns[new] = [None if v is None else v.isoformat() for v in values]
        elif kinds <= {int, float}:
            columns[new] = [float("nan") if v is None else float(v) for v in values]
        else:
            columns[new] = [None if v is None else code_text(v) for v in values]
        if any(flags):
            absent[new] = flags
    labels = {
        names[name]: {code_text(code): str(label) for code, label in each.items()}
        for name, each in told.variable_value_labels.items() if name in names
    }  # fmt: skip
    return ReadVariables(columns=columns, dates=dates, labels=labels, absent=absent)


def _absent(values: Sequence[Any], ranges: Sequence[Mapping[str, Any]], letters: set[Any]) -> list[bool]:
    """Which values the file calls missing: by ranges (SPSS), or by letters (Stata, SAS)."""
    if not ranges and not letters:
        return []

    def is_absent(value: Any) -> bool:
        if value in letters:
            return True
        return any(type(value) is type(r["lo"]) and r["lo"] <= value <= r["hi"] for r in ranges)

    return [is_absent(value) for value in values]


def code_text(value: Any) -> str:
    """A value as a code.

    >>> code_text(1.0), code_text(1.5), code_text("A ")
    ('1', '1.5', 'A')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if isinstance(value, date | time) else str(value).strip()
