"""What the columns of a file are, with the reason in words: a proposal that a person looks through."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from diskret.job.recognition.column import NOTES as NOTES
from diskret.job.recognition.column import WHY as WHY
from diskret.job.recognition.column import Column, Role
from diskret.job.recognition.facts import MOST_CODES, facts_of
from diskret.job.recognition.judges import judged
from diskret.job.recognition.names import meaning_of
from diskret.model.errors import BadOption
from diskret.model.numerals import Evidence
from diskret.model.source import Relation, open_source
from diskret.model.wide import by_column, evidence_by_column

Kind = Literal["microdata", "cells"]

MOST_CELLS = 1_000_000
MOST_PAIRS = 20
"""Pairs of columns that are looked at for codes and their labels."""
FIRST = 3
GRID = 0.5
"""From this share of all combinations on, rows that never repeat one are the cells of a table."""


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """The columns of a file, and whether its rows are records or the cells of a table."""

    columns: tuple[Column, ...]
    kind: Kind
    rows: int
    decimal: str = "."
    """Decimal sign of a text file: a comma where only that makes numbers of a column."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """What else was found of how the file is to be read, by the keys a job has for it."""
    further: Mapping[str, Any] | None = None
    """Further roles of columns that metadata tell, by the keys of a table; None where there are no metadata."""

    def named(self, role: Role) -> list[str]:
        """Columns of a role that a first table should use, in the order of the file; the best value comes first."""
        return [c.name for c in sorted(_chosen(self.columns, role), key=lambda c: -c.rank)]

    @property
    def frequency(self) -> bool:
        """Whether the values of a list of cells are counts of units."""
        return self.kind == "cells" and any(c.reason == "frequency" for c in self.columns)

    def content(self, file: str) -> dict[str, Any]:
        """A first job as plain data, for a file of this name; records by three classifications at most."""
        values = self.named("value")
        by = [c.name for c in self.first]
        table: dict[str, Any] = {"by": by}
        table |= {"value": values[:1]} if values else {}
        if self.further is not None:
            table |= self.further
        elif self.kind == "cells":
            table |= {role: names[0] for role in ("count", "status") if (names := self.named(role))}
            table |= {"frequency": True} if self.frequency else {}
        data = {self.kind: file, **self.found}
        said = {c.name: c.section for c in self.first if c.section}
        content = {"data": data, "table": table, "rules": self._rules(), "suppression": {}}
        return content | ({"classifications": said} if said else {})

    @property
    def first(self) -> list[Column]:
        """Classifications of a first table: all of cells, three of records, the sure ones before the others."""
        by = _chosen(self.columns, "classification")
        if self.kind == "cells":
            return by
        few = sorted(by, key=lambda c: not c.sure)[:FIRST]
        return [c for c in by if c in few]

    def _rules(self) -> dict[str, Any]:
        """First rules: by contributors where they are known, by counts in a frequency table."""
        if self.frequency or not self.named("value"):
            return {"small_cells": 3}
        if self.kind == "microdata":
            return {"p_percent": 10.0, "min_count": 3}
        return {"min_count": 3} if self.named("count") else {}


def recognise(source: object, kind: Kind | None = None) -> Recognised:
    """What the columns of a file or frame are; ``kind`` says it where the rows do not tell.

    >>> firms = {"firm": [f"F{i}" for i in range(40)], "region": ["05111", "05112", "06111", "06112"] * 10,
    ...          "turnover": [1.5 * i for i in range(40)]}
    >>> [(c.name, c.role, c.prefixes) for c in recognise(firms).columns]
    [('firm', 'identifier', ()), ('region', 'classification', (2,)), ('turnover', 'value', ())]
    """
    if kind not in (None, "microdata", "cells"):
        raise BadOption(f"kind {kind!r}", hint="'microdata' or 'cells'.")
    data = source if isinstance(source, Relation) else open_source(source)
    with by_column(data) as asking:
        seen = evidence_by_column(data, asking)
        found = [judged(facts) for facts in facts_of(data, asking, seen)]
    columns = _one_per_row(_small_enough(_without_labels(data, _like_siblings(found))), kind)
    rows = columns[0].rows if columns else 0
    guess: Kind = kind or ("cells" if _are_cells(data, columns, rows) else "microdata")
    signs = _signs([seen[c.name] for c in columns if c.name in seen and c.role in ("value", "weight", "count")])
    return Recognised(
        columns=tuple(_of_kind(columns, guess)), kind=guess, rows=rows, decimal=signs.get("decimal", "."),
        found={**data.found, **signs},
    )  # fmt: skip


def _like_siblings(columns: Sequence[Column]) -> list[Column]:
    """Columns of one size class each, exported side by side, are values all of them, also where numbers are few.

    >>> found = recognise({f"{what}_{size}": [i % few + 0.5 * (few > 4) for i in range(40)]
    ...                    for what, few in (("rent", 9), ("cars", 3)) for size in ("s", "l")} | {"cars_l": range(40)})
    >>> [c.role for c in found.columns]
    ['value', 'value', 'value', 'value']
    """
    ends = [(c, re.split("[_. -]", c.name)) for c in columns]
    values = [parts for c, parts in ends if c.role == "value" and len(parts) > 1]
    first, last = {parts[0] for parts in values}, {parts[-1] for parts in values}
    return [
        replace(c, role="value", reason="numbers", prefixes=(), alternatives=("classification",))
        if c.reason == "few" and len(parts) > 1 and parts[0] in first and parts[-1] in last
        else c
        for c, parts in ends
    ]


def _without_labels(data: Relation, columns: Sequence[Column]) -> list[Column]:
    """Columns that say the codes of an earlier one in other words are not chosen: a table shows each code once."""
    by = [c for c in _chosen(columns, "classification") if c.codes > FIRST and not c.period]
    pairs = [(a, b) for a, b in combinations(by, 2) if a.codes == b.codes and a.blanks == b.blanks][:MOST_PAIRS]
    if not pairs:
        return list(columns)
    asked = [f"count(DISTINCT {data.code(a.name)} || ' = ' || {data.code(b.name)})" for a, b in pairs]
    (row, *_) = data.query(f"SELECT {', '.join(asked)} FROM {data.view}")
    same = {b.name for (a, b), found in zip(pairs, row, strict=True) if found == a.codes}
    return [replace(c, reason="label", chosen=False) if c.name in same else c for c in columns]


def _small_enough(columns: Sequence[Column]) -> list[Column]:
    """Classifications that would make the first table too large are not chosen."""
    found, cells = [], 1
    for column in columns:
        classifies = column.role == "classification" and column.chosen
        codes = column.periods[column.period] if column.period else column.codes
        if classifies and cells * (codes + 1) <= MOST_CELLS:
            cells *= codes + 1
        elif classifies:
            column = replace(column, chosen=False)
        found.append(column)
    return found


def _signs(seen: Sequence[Evidence]) -> dict[str, str]:
    """The signs in numbers, as the keys of a job, where they are not what is meant without them."""
    found = [each.numerals for each in seen if each.numerals and not each.mixed]
    commas = any(each.only_commas for each in seen) and not any(each.only_points for each in seen)
    others = {n.thousands for n in found} & {" ", "'"}
    if commas:
        return {"decimal": ","} | ({"thousands": min(others)} if others else {})
    grouped = sorted(others | ({n.thousands for n in found} & {","}))
    return {"decimal": ".", "thousands": grouped[0]} if len(grouped) == 1 else {}


def _one_per_row(columns: list[Column], kind: Kind | None) -> list[Column]:
    """Without any other classification, codes that occur once each are those of a list of cells in one of them."""
    if kind == "microdata" or _chosen(columns, "classification"):
        return columns
    keys = [c for c in columns if c.role == "classification" and c.codes == c.rows and not c.period]
    own = keys or [c for c in columns if c.reason == "own" and c.codes <= MOST_CODES]
    if len(own) != 1 or (not keys and any(c.role == "classification" for c in columns)):
        return columns
    named = replace(own[0], chosen=True) if keys else replace(own[0], role="classification", reason="codes")
    labels = [replace(c, role="other", reason="label", chosen=False) if c.reason == "own" else c for c in columns]
    return [named if c is own[0] else label for c, label in zip(columns, labels, strict=True)]


def _chosen(columns: Sequence[Column], role: Role) -> list[Column]:
    return [c for c in columns if c.role == role and c.chosen]


def _are_cells(data: Relation, columns: Sequence[Column], rows: int) -> bool:
    """Whether no combination of codes occurs twice and the rows fill a good part of the grid."""
    by = _chosen(columns, "classification")
    if not by or not _chosen(columns, "value") or _chosen(columns, "identifier"):
        return False
    if rows < GRID * math.prod(c.codes for c in by):
        return False
    names = ", ".join(data.code(c.name) for c in by)
    (found, *_) = data.query(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {data.view})")
    return int(found[0]) == rows


def _of_kind(columns: Sequence[Column], kind: Kind) -> list[Column]:
    """Counts are a role of cells only; the only number of a list of cells, named like a count, is its value."""
    if kind != "cells":
        return [replace(c, role="other", chosen=False) if c.role == "status" else c for c in columns]
    values = _chosen(columns, "value")
    counts = [c for c in values if meaning_of(c.name) == "count"]
    found: dict[str, Any] = {"reason": "frequency"} if counts == values else {"role": "count", "reason": "count"}
    return [replace(c, **found) if c in counts[:1] else _of_cells(c) for c in columns]


def _of_cells(column: Column) -> Column:
    """Dates of cells keep their codes, or one for one: the coarsest period that joins no two of them."""
    if not column.period:
        return column
    period = next((p for p, codes in column.periods.items() if codes == column.codes), None)
    prefixes = column.prefixes if period != "year" else ()
    return replace(column, period=period, prefixes=prefixes if period else (), reason="dates" if period else "codes")
