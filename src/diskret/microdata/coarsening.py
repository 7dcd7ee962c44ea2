"""Information reduction: dropping columns, coarser classes, values withheld, units not released.

Each step is a small value; `coarsen` applies them in order and counts every class before and after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from diskret.microdata.condition import Condition
from diskret.microdata.records import Column, Records, coded, read_records
from diskret.model.arrays import Bools
from diskret.model.errors import BadOption, MissingCode, UnknownCode, listed
from diskret.model.hierarchy import Hierarchy

Decides = Literal["unit", "record"]


@dataclass(frozen=True)
class Drop:
    """Remove columns."""

    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Recode:
    """Put coarser classes in the place of codes.

    Either ``mapping`` (code to class) or ``hierarchy`` with ``level`` (1 the finest; a code that stands higher stays).
    With ``prefix`` only that many first characters of a code are looked up. Units with a code in ``removed`` are not
    released. Every other code must be known.
    """

    column: str
    mapping: Mapping[str, str] | None = None
    hierarchy: Hierarchy | None = None
    level: int | None = None
    prefix: int | None = None
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Withhold:
    """Blank the values of columns for units under a condition."""

    columns: tuple[str, ...]
    where: str
    decides: Decides = "unit"


@dataclass(frozen=True)
class Release:
    """Release only units under a condition."""

    where: str
    decides: Decides = "unit"


Step = Drop | Recode | Withhold | Release


@dataclass(frozen=True, eq=False)
class Coarsened:
    """Coarser records, which rows of the source they are, and the classes before and after."""

    frame: Records
    kept: Bools
    dropped: tuple[str, ...] = ()
    before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    after: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Counts and names only."""
        return {
            "method": "information reduction",
            "records": self.frame.rows,
            "records not released": int((~self.kept).sum()),
            "columns dropped": list(self.dropped),
            "classes": {n: [len(self.before[n]), len(self.after[n])] for n in self.after},
        }


def coarsen(source: object, steps: Sequence[Step], *, unit: str | None = None) -> Coarsened:
    """Apply steps of information reduction in order.

    ``unit`` names the column that joins the waves of a panel: a unit is then withheld if the condition holds in any of
    its waves, and released if it holds in all of them (``decides="record"`` judges every record on its own). Where the
    condition looks at a missing value, the waves that have one decide; a unit without any is withheld, not released.

    >>> firms = {"industry": ["1511", "1600", "3710"], "region": ["Bayern", "Berlin", "Sachsen"],
    ...          "staff": [20, 1200, 5]}
    >>> done = coarsen(firms, [Recode("industry", {"15": "2", "16": "2"}, prefix=2, removed=("37",)),
    ...                        Withhold(("region",), "staff >= 1000"), Drop(("staff",))])
    >>> {name: column.tolist() for name, column in done.frame.items()}
    {'industry': ['2', '2'], 'region': ['Bayern', None]}
    >>> done.before["industry"], done.after["industry"]
    ({'1511': 1, '1600': 1, '3710': 1}, {'2': 2})
    """
    original = records = read_records(source)
    kept = np.ones(records.rows, dtype=np.bool_)
    dropped: list[str] = []
    touched: list[str] = []
    for step in steps:
        if isinstance(step, Drop):
            records.require(step.columns)
            records = records.without(step.columns)
            if not len(records):
                raise BadOption("no column would be released", hint="leave a column in.")
            dropped += step.columns
        elif isinstance(step, Recode):
            records.require([step.column])
            new, stays = recoded(records[step.column], step, records.where)
            records = records.with_columns({step.column: new})
            records, kept = _only(records, kept, _all_waves(records, stays, unit))
            touched.append(step.column)
        elif isinstance(step, Withhold):
            records.require(step.columns)
            hit = _judged(records, step.where, unit if step.decides == "unit" else None, withhold=True)
            records = records.with_columns({n: _blanked(records[n], hit) for n in step.columns})
            touched += step.columns
        else:
            stays = _judged(records, step.where, unit if step.decides == "unit" else None, withhold=False)
            records, kept = _only(records, kept, stays)
    shown = [n for n in dict.fromkeys(touched) if n in records]
    before = {n: coded(original[n]).counts() for n in shown}
    after = {n: coded(records[n]).counts() for n in shown}
    return Coarsened(records, kept, tuple(dropped), before, after)


def recoded(column: Column, step: Recode, where: str = "") -> tuple[Column, Bools]:
    """A column in its coarser classes, and which records stay."""
    if (step.mapping is None) == (step.hierarchy is None):
        raise BadOption(f"recoding {step.column!r} needs a mapping or a hierarchy", hint="give one of the two.")
    classes = coded(column)
    if (classes.index < 0).any():
        rows = np.flatnonzero(classes.index < 0) + 1
        raise MissingCode(
            f"records without a code in column {step.column!r}",
            where=f"{where}, rows {listed(rows.tolist())}",
            hint="fill the codes in, or leave these records out.",
        )
    short = [code[: step.prefix] for code in classes.codes]
    known = step.mapping if step.mapping is not None else _at_level(step)
    unknown = [c for c in dict.fromkeys(short) if c not in known and c not in step.removed]
    if unknown:
        raise UnknownCode.in_column(step.column, unknown, known)
    target = np.array([known.get(c) if c not in step.removed else None for c in short], dtype=object)
    gone = np.array([c in step.removed for c in short])
    return target[classes.index], ~gone[classes.index]


def _at_level(step: Recode) -> dict[str, str]:
    """Every code of a hierarchy and the code it belongs to on a level."""
    tree, level = step.hierarchy, step.level
    assert tree is not None
    if level is None or not 1 <= level <= tree.depth:
        raise BadOption(
            f"level of {step.column!r} is 1 to {tree.depth}", hint="1 is the finest, the highest the total."
        )
    found = {}
    for i, code in enumerate(tree.codes):
        at = i
        while tree.levels[at] < level:
            at = tree.parents[at]
        found[code] = tree.codes[at]
    return found


def _judged(records: Records, where: str, unit: str | None, withhold: bool) -> Bools:
    """Which records are withheld (or stay), by record or by unit."""
    true, known = Condition.parse(where).holds(records)
    if unit is None:
        return true | ~known if withhold else true
    records.require([unit])
    index = coded(records[unit]).index
    size = int(index.max()) + 2
    some = np.bincount(index + 1, weights=true & known, minlength=size)[index + 1] > 0
    none_false = np.bincount(index + 1, weights=~true & known, minlength=size)[index + 1] == 0
    ever = np.bincount(index + 1, weights=known, minlength=size)[index + 1] > 0
    return some | ~ever if withhold else none_false & ever


def _all_waves(records: Records, stays: Bools, unit: str | None) -> Bools:
    """A unit stays only if all of its records do."""
    if unit is None or stays.all():
        return stays
    records.require([unit])
    index = coded(records[unit]).index
    gone = np.bincount(index + 1, weights=~stays, minlength=int(index.max()) + 2)
    left: Bools = gone[index + 1] == 0
    return left


def _only(records: Records, kept: Bools, stays: Bools) -> tuple[Records, Bools]:
    if not stays.any():
        raise BadOption("no record would be released", hint="check the condition and the removed codes.")
    if stays.all():
        return records, kept
    left = kept.copy()
    left[np.flatnonzero(kept)[~stays]] = False
    return records.take(stays), left


def _blanked(column: Column, hit: Bools) -> Column:
    if column.dtype.kind == "f":
        return np.where(hit, np.nan, column)
    new = column.astype(object)
    new[hit] = None
    return new
