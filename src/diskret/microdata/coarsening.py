"""Information reduction: dropping columns, coarser classes, values withheld, units not released.

Each step is a small value; `coarsen` applies them in order and counts every class before and after.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from diskret.microdata.columns import Column, Records, coded, read_records
from diskret.microdata.condition import Condition
from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools
from diskret.model.errors import BadOption, MissingCode, UnknownCode
from diskret.model.hierarchy import Hierarchy
from diskret.model.notebook import Told
from diskret.model.spelling import plain

Decides = Literal["unit", "record"]


@dataclass(frozen=True, kw_only=True)
class Drop:
    """Remove columns."""

    columns: tuple[str, ...]

    def apply(self, found: Coarsened, unit: str | None) -> Coarsened:
        """The records without the columns."""
        found.frame.require(self.columns)
        left = found.frame.without(self.columns)
        if not len(left):
            raise BadOption("no column would be released", hint="leave a column in.")
        return replace(found, frame=left, dropped=(*found.dropped, *self.columns))


@dataclass(frozen=True, eq=False, kw_only=True)
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

    def apply(self, found: Coarsened, unit: str | None) -> Coarsened:
        """The records in their coarser classes, without the units that are removed."""
        found.frame.require([self.column])
        if (self.mapping is None) == (self.hierarchy is None):
            raise BadOption(f"recoding {self.column!r} needs a mapping or a hierarchy", hint="give one of the two.")
        classes = coded(found.frame[self.column])
        what = f"records without a code in column {self.column!r}"
        found.frame.refuse(classes.index < 0, what, "fill the codes in, or leave these records out.", MissingCode)
        warn_of_spellings(self.column, classes.codes)
        short = [code[: self.prefix] for code in classes.codes]
        known = self.mapping if self.mapping is not None else self._at_level()
        removed = {*self.removed}
        unknown = [c for c in dict.fromkeys(short) if c not in known and c not in removed]
        if unknown:
            raise UnknownCode.in_column(self.column, unknown, known)
        target = np.array([None if c in removed else known[c] for c in short], dtype=object)
        stays = np.array([c not in removed for c in short])[classes.index]
        recoded = found.frame.with_columns({self.column: target[classes.index]})
        return replace(found, frame=recoded).only(_all_waves(recoded, stays, unit))

    def normalised(self) -> Recode:
        """The same with codes as they look."""
        mapping = None if self.mapping is None else {plain(code): plain(to) for code, to in self.mapping.items()}
        return replace(
            self, mapping=mapping, hierarchy=self.hierarchy and self.hierarchy.normalised(),
            removed=tuple(map(plain, self.removed)),
        )  # fmt: skip

    def _at_level(self) -> dict[str, str]:
        """Every code of the hierarchy and the code it belongs to on the level."""
        tree, level = self.hierarchy, self.level
        assert tree is not None
        if level is None or not 1 <= level <= tree.depth:
            hint = "1 is the finest, the highest the total."
            raise BadOption(f"level of {self.column!r} is 1 to {tree.depth}", hint=hint)
        at = list(range(len(tree)))
        levels = tree.levels.tolist()
        for i in reversed(at):  # sums come after their parts
            if levels[i] < level:
                at[i] = at[tree.parents[i]]
        return {code: tree.codes[i] for code, i in zip(tree.codes, at, strict=True)}


@dataclass(frozen=True, kw_only=True)
class Withhold:
    """Blank the values of columns for units under a condition."""

    columns: tuple[str, ...]
    where: str
    decides: Decides = "unit"

    def apply(self, found: Coarsened, unit: str | None) -> Coarsened:
        """The records with blanks."""
        records = found.frame
        records.require(self.columns)
        hit = _judged(records, self.where, unit if self.decides == "unit" else None, withhold=True)
        return replace(found, frame=records.with_columns({n: _blanked(records[n], hit) for n in self.columns}))


@dataclass(frozen=True, kw_only=True)
class ReleaseUnits:
    """Release only units under a condition."""

    where: str
    decides: Decides = "unit"

    def apply(self, found: Coarsened, unit: str | None) -> Coarsened:
        """The records of these units."""
        return found.only(_judged(found.frame, self.where, unit if self.decides == "unit" else None, withhold=False))


Step = Drop | Recode | Withhold | ReleaseUnits


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Coarsened(Told):
    """Coarser records, which rows of the source they are, and the classes before and after."""

    frame: Records
    kept: Bools
    dropped: tuple[str, ...] = ()
    before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    after: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def only(self, stays: Bools) -> Coarsened:
        """Some of the records."""
        if not stays.any():
            raise BadOption("no record would be released", hint="check the condition and the removed codes.")
        kept = self.kept.copy()
        kept[kept] = stays
        return replace(self, frame=self.frame.take(stays), kept=kept)

    def __str__(self) -> str:
        lines = [f"{self.frame.rows} records in coarser classes, {int((~self.kept).sum())} not released"]
        lines += [f"  {name} dropped" for name in self.dropped]
        return "\n".join(
            lines + [f"  {n}: {len(self.before[n])} classes, now {len(self.after[n])}" for n in self.after]
        )

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
    >>> industry = Recode(column="industry", mapping={"15": "2", "16": "2"}, prefix=2, removed=("37",))
    >>> region = Withhold(columns=("region",), where="staff >= 1000")
    >>> done = coarsen(firms, [industry, region, Drop(columns=("staff",))])
    >>> {name: column.tolist() for name, column in done.frame.items()}
    {'industry': ['2', '2'], 'region': ['Bayern', None]}
    >>> done.before["industry"], done.after["industry"]
    ({'1511': 1, '1600': 1, '3710': 1}, {'2': 2})
    """
    original = read_records(source)
    found = Coarsened(frame=original, kept=np.ones(original.rows, dtype=np.bool_))
    touched: list[str] = []
    for step in steps:
        found = step.apply(found, unit)
        touched += [step.column] if isinstance(step, Recode) else step.columns if isinstance(step, Withhold) else []
    shown = [n for n in dict.fromkeys(touched) if n in found.frame]
    before, after = ({n: coded(of[n]).counts() for n in shown} for of in (original, found.frame))
    return replace(found, before=before, after=after)


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


def _blanked(column: Column, hit: Bools) -> Column:
    if column.dtype.kind == "f":
        return np.where(hit, np.nan, column)
    new = column.astype(object)
    new[hit] = None
    return new


def __getattr__(name: str) -> object:
    """`ReleaseUnits` by the name it had when publication had no `Release`."""
    if name != "Release":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("Release is deprecated: say ReleaseUnits", DeprecationWarning, stacklevel=2)
    return ReleaseUnits
