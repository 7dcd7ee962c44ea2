"""What differs between the file of a job and another one, before anything is done with it: columns, codes, rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from diskret.job.data_section import Data
from diskret.job.form import Section
from diskret.job.loading import classified_source, hierarchies_of
from diskret.job.models import Job
from diskret.job.naming import named_outputs
from diskret.job.pool_job import PoolJob
from diskret.job.table_job import TableJob
from diskret.job.table_sections import FlagColumn
from diskret.model.errors import DiskretError, listed
from diskret.model.places import files_fitting, is_pattern
from diskret.model.source import Relation, open_source
from diskret.publication.working import load_working

WORDS = {
    "new codes": "{name} has codes that were not there before: {what}",
    "codes gone": "{name} no longer has the codes {what}",
    "unknown codes": "{name} has codes that its hierarchy lacks: {what}",
    "further columns": "further columns, which the job does not use: {what}",
    "columns gone": "columns that the job does not use are gone: {what}",
    "type": "{name} holds {what}",
    "rows": "{what}",
    "gaps": "{name} has {what} rows without a number, none before",
    "decimal": "the numbers of {name} look as if written with a decimal {what}",
    "by the result": "the job's own data are not there; codes are compared with those of its working file",
    "nothing to compare": "the job's own data are not there, nor a working file of its result; "
    "only columns and hierarchies were looked at",
}
"""What is said about a difference of each kind."""
MOST_CODES = 20
ROLES = ("by", "value", "count", "largest", "owner", "status", "below", "above", "lower", "upper", "cost", "weight",
         "holding", "waiver", "request", "public")  # fmt: skip
NOTABLE = 0.2
"""Share of rows more or less that is told."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One of them: its kind, the column or table it is about, and what it is.

    >>> print(Difference(kind="new codes", name="'region'", what="'X9'"))
    'region' has codes that were not there before: 'X9'
    """

    kind: str
    name: str = ""
    what: str = ""

    def __str__(self) -> str:
        return WORDS[self.kind].format(name=self.name, what=self.what)


def differences(before: Job, after: Job, here: Path) -> list[Difference]:
    """What is different about the data of a job; a column that it needs and that is missing is refused.

    ``before`` is the job with its own data, which may be gone.
    """
    if isinstance(before, PoolJob) and isinstance(after, PoolJob):
        found = []
        for name in after.tables:
            each = _compared(before.alone(name), after.alone(name), here)
            found += [replace(d, name=f"{d.name} of table {name!r}" if d.name else d.name) for d in each]
        return list(dict.fromkeys(found))
    return list(_compared(before, after, here))


def _compared(before: Job, after: Job, here: Path) -> Iterator[Difference]:
    asked = _asked(after)
    new = _profile(after, here, asked)
    old = _seen_before(before, here, asked)
    if old is None:
        yield Difference(kind="nothing to compare")
    elif old.of_result:
        yield Difference(kind="by the result")
    yield from _codes(old, new)
    yield from _unknown(after, here, new, asked)
    if old is not None and not old.of_result:
        yield from _columns(old, new, [*asked.classifications, *asked.numbers, *asked.others])
        yield from _rows(old, new)
    yield from _numbers(old, new)


# --- what is looked at -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Columns that a job names."""

    classifications: Sequence[str] = ()
    numbers: Sequence[str] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class _Profile:
    """What a file looks like."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    codes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    decimals: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold numbers with the other decimal sign only."""
    of_result: bool = False


def _asked(job: Section) -> _Asked:
    table = getattr(job, "table", None)
    if table is None:
        return _Asked()
    named: dict[str, list[str]] = {}
    for role in ROLES:
        said = getattr(table, role)
        each = said if isinstance(said, list) else [said]
        named[role] = [one.column if isinstance(one, FlagColumn) else one for one in each if one]
    others = [n for role, names in named.items() if role not in ("by", "value") for n in names]
    return _Asked(classifications=named["by"], numbers=named["value"], others=others)


def _profile(job: Job, here: Path, asked: _Asked) -> _Profile:
    if job.data is None or job.data.table:
        return _of_tables(here / job.data.table) if job.data and job.data.table else _Profile()
    data = open_source(classified_source(job.data, getattr(job, "classifications", {}), here)[0])
    data.require([*asked.classifications, *asked.numbers, *asked.others])
    bad = {name: _bad(data, name) for name in asked.numbers}
    other = replace(data, decimal="." if data.decimal == "," else ",")
    kinds = {name: _kind(data, name, name in asked.numbers and not bad[name]) for name in data.columns}
    return _Profile(
        kinds=kinds,
        rows=int(data.query(f"SELECT count(*) FROM {data.view}")[0][0]),
        codes={name: _distinct(data, name) for name in asked.classifications},
        bad=bad,
        decimals={n: "comma" if other.decimal == "," else "point" for n in bad if bad[n] and not _bad(other, n)},
    )


def _bad(data: Relation, name: str) -> int:
    return int(data.query(f"SELECT count(*) FROM {data.view} WHERE {data.bad_number(name)}")[0][0])


def _distinct(data: Relation, name: str) -> list[str]:
    found = data.query(f"SELECT DISTINCT {data.code(name)} FROM {data.view} ORDER BY 1")
    return [code for (code,) in found if code is not None]


def _kind(data: Relation, name: str, number: bool) -> str:
    """A type in words; texts that are all numbers are numbers, where numbers are asked for."""
    said = data.types[name].upper()
    if data.is_text(name):
        return "numbers" if number else "text"
    if said.startswith(("DATE", "TIME")):
        return "dates"
    return "true or false" if said == "BOOLEAN" else "numbers"


def _seen_before(job: Job, here: Path, asked: _Asked) -> _Profile | None:
    """The job's own data if they are still there, else the result it wrote; None if neither can be read."""
    try:
        if job.data is not None and _is_there(job.data, here):
            return _profile(job, here, asked)
        working = getattr(getattr(named_outputs(job, here), "output", None), "working", None)
        if working and os.path.exists(here / working):
            return _of_tables(here / working)
    except DiskretError:
        pass
    return None


def _is_there(data: Data, here: Path) -> bool:
    name = data.microdata or data.cells or data.table or ""
    if is_pattern(name) and not os.path.lexists(here / name):
        return bool(files_fitting(here / name))
    return os.path.exists(here / name)


def _of_tables(path: Path) -> _Profile:
    """The finest codes of tables that anything is behind."""
    table = next(iter(load_working(path).values()))
    filled = ~np.asarray(table.empty).reshape(table.shape)
    codes: dict[str, Any] = {}
    for axis, (name, hierarchy) in enumerate(table.by.items()):
        some = np.atleast_1d(filled.any(axis=tuple(i for i in range(filled.ndim) if i != axis)))
        codes[name] = [
            c for c, leaf, any_ in zip(hierarchy.codes, hierarchy.is_leaf, some, strict=True) if leaf and any_
        ]
    return _Profile(codes=codes, of_result=True)


# --- what is told ----------------------------------------------------------------------------------------------------


def _codes(old: _Profile | None, new: _Profile) -> Iterator[Difference]:
    for name, codes in new.codes.items() if old is not None else ():
        assert old is not None
        before, now = {*old.codes.get(name, ())}, {*codes}
        if name in old.codes:
            yield from _told("new codes", name, [c for c in codes if c not in before])
            yield from _told("codes gone", name, [c for c in old.codes[name] if c not in now])


def _unknown(job: Job, here: Path, new: _Profile, asked: _Asked) -> Iterator[Difference]:
    """Codes that files of hierarchies lack; other hierarchies are made of the data."""
    files = {n: c for n, c in getattr(job, "classifications", {}).items() if c.hierarchy and n in new.codes}
    if not isinstance(job, TableJob) or not files or job.data.table:
        return
    data, described = classified_source(job.data, job.classifications, here)
    for name, hierarchy in hierarchies_of(job, here, files, data, described).items():
        yield from _told("unknown codes", name, [c for c in new.codes[name] if hierarchy and c not in hierarchy])


def _columns(old: _Profile, new: _Profile, used: Sequence[str]) -> Iterator[Difference]:
    yield from _told("further columns", "", [n for n in new.kinds if n not in old.kinds])
    yield from _told("columns gone", "", [n for n in old.kinds if n not in new.kinds])
    for name in used or new.kinds:
        kinds = new.kinds.get(name), old.kinds.get(name)
        if None not in kinds and kinds[0] != kinds[1]:
            yield Difference(kind="type", name=repr(name), what=f"{kinds[0]}, {kinds[1]} before")


def _rows(old: _Profile, new: _Profile) -> Iterator[Difference]:
    if abs(new.rows - old.rows) > NOTABLE * old.rows:
        yield Difference(kind="rows", what=f"{new.rows:,} rows, {old.rows:,} before")


def _numbers(old: _Profile | None, new: _Profile) -> Iterator[Difference]:
    for name, bad in new.bad.items():
        if name in new.decimals:
            yield Difference(kind="decimal", name=repr(name), what=new.decimals[name])
        elif bad and old is not None and not old.bad.get(name):
            yield Difference(kind="gaps", name=repr(name), what=f"{bad:,}")


def _told(kind: str, name: str, items: Sequence[str]) -> Iterator[Difference]:
    if items:
        yield Difference(kind=kind, name=repr(name) if name else "", what=listed(items, most=MOST_CODES))
