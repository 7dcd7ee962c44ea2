"""Wide files, as spreadsheets export pivot tables: several columns whose names are codes of one classification."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.hidden_sums import ENOUGH, Siblings, hidden_sums, step_of
from diskret.model.source import Relation
from diskret.model.total_names import named_total

FEWEST = 3
"""Columns that make a pivot table."""
MOST_COLUMNS = 500
MOST_ROWS = 20_000
"""Rows by which it is decided whether columns add up to another."""
MONTHS = "jan feb mar mrz mär apr may mai jun jul aug sep oct okt nov dec dez".split()  # noqa: SIM905
KINDS = {
    "year": r"(19|20)\d\d",
    "quarter": r"(19|20)?\d?\d?[ /.-]?(q|quartal )[1-4]([ /.-](19|20)\d\d)?",
    "month": rf"((19|20)\d\d[-/.](0?[1-9]|1[0-2])|({'|'.join(MONTHS)})[a-zä]*\.?( (19|20)\d\d)?)",
    "size": r"(unter |under |less than |<|bis |up to |über |over |>|>=|ab |von |from )*\d[\d.,]*"
    r"( ?(-|–|bis|to|bis unter|to under) ?(unter |under )?\d[\d.,]*| ?\+| und mehr| and more| or more| und darüber)?"
    r"( [a-zäöü€%.]+)?",
}
"""Names of columns that are codes, in small letters; tried in this order."""


@dataclass(frozen=True, kw_only=True)
class Pivot:
    """Columns that could become rows."""

    columns: tuple[str, ...]
    into: str
    value: str
    total: str | None = None
    """The column that is the sum of the others."""
    alike: bool = True
    """Whether the names look like codes; otherwise only their sum tells."""

    @property
    def sure(self) -> bool:
        """Whether a person who looks through it may find it done; otherwise it is only offered."""
        return self.alike or named_total(self.total or "") is not None

    @property
    def why(self) -> str:
        """The reason in words."""
        names = f"{len(self.columns)} columns are named like codes of one classification" if self.alike else ""
        sums = f"column {self.total!r} is the sum of {len(self.columns) - 1} others" if self.total else ""
        return " and ".join(filter(None, (names, sums)))

    @property
    def content(self) -> dict[str, Any]:
        """The section `[data.unpivot]` as plain data."""
        return {"columns": list(self.columns), "into": self.into, "value": self.value}


def pivot_of(data: Relation, values: Sequence[str]) -> Pivot | None:
    """Whether columns of numbers are codes of one classification; None if nothing speaks for it.

    ``values`` are columns that are numbers for other reasons than their names.

    >>> from diskret.model.source import open_source
    >>> wide = open_source({"region": ["N", "S"], "2023": [1, 2], "2024": [3, 4], "2025": [5, 6]})
    >>> pivot_of(wide, []).content
    {'columns': ['2023', '2024', '2025'], 'into': 'year', 'value': 'value'}
    """
    named = _alike(data.columns)
    if len(named) > 1:
        return None  # several kinds, and nobody knows which
    for kind, own in named.items():
        numbers = _numbers(data, [*own, *(n for n in data.columns if named_total(n)), *values])
        chosen = [n for n in data.columns if n in own and n in numbers]
        total = _total(data, chosen, [n for n in data.columns if n in numbers and n not in own])
        if len(chosen) >= FEWEST:
            columns = [n for n in data.columns if n in chosen or n == total]
            codes = bool(re.fullmatch(KINDS.get(kind, ""), own[0].strip().lower()))
            return _pivot(data, columns, kind, total, alike=codes or total is not None)
    names = _numbers(data, [*values, *(n for n in data.columns if named_total(n))])
    total = next((n for n in names if _total(data, [m for m in names if m != n], [n])), None)
    return _pivot(data, names, "category", total, alike=False) if total else None


def _numbers(data: Relation, names: Sequence[str]) -> list[str]:
    """Those of the columns that hold numbers, in the order of the file; blanks are no other things."""
    asked = [name for name in data.columns if name in names][:MOST_COLUMNS]
    if not asked:
        return []
    bad = (f"count(CASE WHEN {data.bad_number(n)} AND {data.code(n)} IS NOT NULL THEN 1 END)" for n in asked)
    (counts, *_) = data.query(f"SELECT {', '.join(bad)} FROM {data.view}")
    return [name for name, wrong in zip(asked, counts, strict=True) if not wrong]


def _pivot(data: Relation, names: Sequence[str], into: str, total: str | None, alike: bool) -> Pivot:
    others = {name.lower() for name in data.columns if name not in names}
    return Pivot(columns=tuple(names), into=_free(into, others), value=_free("value", others), total=total, alike=alike)


def _free(name: str, others: set[str]) -> str:
    while name in others:
        name += "_"
    return name


def _alike(names: Sequence[str]) -> dict[str, list[str]]:
    """Names that are codes of one kind, by the kind, or that differ in a number at their end, by the rest."""
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for kind, pattern in KINDS.items():
        fitting = [n for n in names if n not in taken and re.fullmatch(pattern, n.strip().lower())]
        if len(fitting) >= FEWEST:
            found[kind] = fitting
            taken |= {*fitting}
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = re.sub(r"[ _.-]*\d[\d –+-]*$", "", name)
        if stem and stem != name and name not in taken:
            stems.setdefault(stem, []).append(name)
    return found | {stem: own for stem, own in stems.items() if len(own) >= FEWEST}


def _total(data: Relation, parts: Sequence[str], possible: Sequence[str]) -> str | None:
    """The column that is the sum of others, row by row."""
    if len(parts) < 2:
        return None
    names = [*parts, *possible]
    shown = ", ".join(f"CAST({data.number(name)} AS DOUBLE) AS c{i}" for i, name in enumerate(names))
    found = data.arrays(f"SELECT {shown} FROM {data.view} LIMIT {MOST_ROWS}")
    rows = np.nan_to_num(np.stack([np.asarray(found[f"c{i}"], dtype=np.float64) for i in range(len(names))]))
    step = step_of(rows)
    for at in range(len(parts), len(names)):
        chosen = rows[[*range(len(parts)), at]]
        codes = [f"{i:06}" for i in range(len(chosen))]
        siblings = Siblings(codes=codes, rows=partial(_once, chosen), margin=chosen.sum(axis=1), step=step)
        sums = hidden_sums(siblings).totals
        strange = [s for s in sums if s.at == len(parts)]
        if strange and (strange[0].bits >= ENOUGH or named_total(names[at])):
            return names[at]
    return None


def _once(rows: Floats) -> Iterator[Floats]:
    yield rows
