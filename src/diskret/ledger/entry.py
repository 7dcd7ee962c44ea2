"""An entry: one table as it was published, what it counts, and what the office alone knows about its cells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.ledger.about import About
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.hierarchy import Hierarchy
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Said:
    """What is said of cells, one place each; all but ``shown`` and the bounds is confidential."""

    shown: Floats
    """The value as published, in the plain unit; undefined (NaN) where it was hidden."""
    lower: Floats
    """What was published besides: an interval, or how far rounding may have gone; -inf where nothing was."""
    upper: Floats
    value: Floats
    """The true value; undefined (NaN) where the ledger was not told."""
    status: npt.NDArray[np.uint8]
    below: Floats
    above: Floats
    count: Ints
    """Contributors; -1 where the ledger was not told."""
    largest: Floats
    """The largest contributions, descending, along a further axis; undefined (NaN) where not told."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EntryCells(Said):
    """The cells of an entry."""

    at: tuple[Ints, ...]
    """For each classification the position of the code of every cell."""

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.shown.size)

    @property
    def hidden(self) -> Bools:
        """Cells whose value was withheld."""
        result: Bools = np.isnan(self.shown)
        return result

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays by the names of their columns."""
        codes = {f"at.{i}": each for i, each in enumerate(self.at)}
        largest = {f"largest.{i}": self.largest[:, i] for i in range(self.largest.shape[1])}
        names = ("shown", "lower", "upper", "value", "status", "below", "above", "count")
        return codes | {name: getattr(self, name) for name in names} | largest

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], axes: int) -> EntryCells:
        """From columns as a file keeps them."""
        ranks = sum(name.startswith("largest.") for name in arrays)
        rows = arrays["shown"].size
        largest = [arrays[f"largest.{i}"] for i in range(ranks)]
        names = ("shown", "lower", "upper", "value", "status", "below", "above", "count")
        return cls(
            at=tuple(arrays[f"at.{i}"] for i in range(axes)),
            largest=np.column_stack(largest) if ranks else np.empty((rows, 0)),
            **{name: arrays[name] for name in names},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry:
    """What a ledger remembers of one table."""

    number: int
    name: str
    on: str
    """When it was entered: a date."""
    about: About
    response: str
    by: Mapping[str, Hierarchy]
    """Its classifications, under the names of the ledger."""
    cells: int
    hidden: int
    decimals: int | None
    frequency: bool
    nonnegative: bool
    told: bool
    """Whether the true values behind hidden cells are known."""
    promise: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """By which promise it was protected; confidential."""
    rules: tuple[str, ...] = ()
    data: str = ""
    """A fingerprint of the data it was made from."""
    previous: str = ""
    """Hash of the entry before."""
    hash: str = ""
    """Of this entry with all it holds."""

    @cached_property
    def subject(self) -> tuple[str, str, str]:
        """Population, value and plain unit: only cells that have these in common can be one cell."""
        return self.about.population, self.about.value or self.response, self.about.scale[1]

    def head(self) -> dict[str, Any]:
        """As plain data, without its hash."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("hash", "by", "about")}
        by = {name: hierarchy.describe() for name, hierarchy in self.by.items()}
        return plain | {
            "rules": list(self.rules),
            "promise": dict(self.promise),
            "by": by,
            "about": self.about.to_dict(),
        }

    @classmethod
    def from_head(cls, head: Mapping[str, Any], found: str) -> Entry:
        """From plain data and the hash it goes by."""
        by = {name: hierarchy_from(plain) for name, plain in head["by"].items()}
        given = {
            **head,
            "by": by,
            "about": About.from_dict(head["about"]),
            "rules": tuple(head["rules"]),
            "hash": found,
        }
        return cls(**given)


def hierarchy_from(plain: Mapping[str, Any]) -> Hierarchy:
    """A hierarchy from what `Hierarchy.describe` says."""
    further = (tuple(parents) for parents in plain.get("further", ()))
    return _hierarchy(tuple(plain["codes"]), tuple(plain["labels"]), (tuple(plain["parents"]), *further))


@lru_cache(maxsize=256)
def _hierarchy(codes: tuple[str, ...], labels: tuple[str, ...], ways: tuple[tuple[str | None, ...], ...]) -> Hierarchy:
    """A hierarchy from the parents of its codes in every grouping; thousands of entries share a few of them."""
    place = {code: i for i, code in enumerate(codes)}
    parents, *further = ([-1 if p is None else place[p] for p in each] for each in ways)
    return Hierarchy.restored(codes, parents, labels, further)


def hash_of(head: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """The fingerprint of an entry: of what it says, of every number, and so of all entries before it."""
    found = sha256(json.dumps(head, ensure_ascii=False, sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(name.encode())
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def cells_of(table: Table, about: About, bounds: tuple[Floats, Floats] | None = None) -> EntryCells:
    """The cells of a table as they are published, values in the plain unit.

    ``bounds`` are intervals that were published with the table, in its own unit.
    """
    factor = 1.0 if about.ratio is not None else about.scale[0]
    hidden = table.hidden.reshape(-1)
    value = scaled(table.value.reshape(-1), factor)
    shown = np.where(hidden, np.nan, scaled(table.published_value.reshape(-1), factor))
    lower, upper = np.full(value.size, -np.inf), np.full(value.size, np.inf)
    if about.ratio is not None and table.given is None:
        # a table adds up what it is not given, and nobody adds up rates
        shown = np.where(table.inner.reshape(-1), shown, np.nan)
    if about.rounded and about.ratio is None:
        step = about.rounded * factor
        shown = np.where(hidden, np.nan, np.rint(shown / step) * step)
        lower, upper = shown - step / 2, shown + step / 2
        lower, upper = np.where(hidden, -np.inf, lower), np.where(hidden, np.inf, upper)
    if bounds is not None:
        lower = np.where(hidden, np.maximum(lower, scaled(bounds[0].reshape(-1), factor)), lower)
        upper = np.where(hidden, np.minimum(upper, scaled(bounds[1].reshape(-1), factor)), upper)
    people = table.respondents if table.counted else None
    return EntryCells(
        at=tuple(each.reshape(-1).astype(np.int64) for each in table.code_numbers),
        shown=shown,
        lower=np.where(np.isnan(lower), -np.inf, lower),
        upper=np.where(np.isnan(upper), np.inf, upper),
        value=value,
        status=table.status.reshape(-1).astype(np.uint8),
        below=_levels(table.below, value.size, factor),
        above=_levels(table.above, value.size, factor),
        count=np.full(value.size, -1) if people is None else people.count.reshape(-1).astype(np.int64),
        largest=_largest(people, value.size, factor),
    )


def scaled(values: Floats, factor: float) -> Floats:
    """Values in the plain unit, without what binary fractions add."""
    if factor == 1.0:
        return values.astype(np.float64)
    return np.round(values * factor, 9)


def _levels(given: Floats | None, size: int, factor: float) -> Floats:
    return np.zeros(size) if given is None else scaled(given.reshape(-1), factor)


def _largest(people: Contributors | None, size: int, factor: float) -> Floats:
    if people is None or people.largest is None:
        return np.empty((size, 0))
    return scaled(people.largest.reshape(size, -1), factor)


def promise_in(entry: Entry) -> Promise:
    """The promise an entry was protected by."""
    return Promise.from_dict(entry.promise) if entry.promise else Promise()


def is_primary(cells: EntryCells) -> Bools:
    """Cells that are sensitive by themselves."""
    result: Bools = cells.status == Status.PRIMARY
    return result
