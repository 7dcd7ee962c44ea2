"""All cells of some entries as nodes: one for everything that counts the same, with all that was said about it.

Every row of every entry becomes a key: its subject, and for each classification the set behind its code. Equal keys are
one cell. Where an entry revised another, a cell has several values, one after the other: it has several versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.ledger.codes import Scheme, codes_of
from diskret.ledger.entry import Entry, EntryCells, Said
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact import apart
from diskret.model.status import Status

Keys = npt.NDArray[np.int32]


@dataclass(eq=False)
class Sets:
    """The sets of every classification in use, each with a number; 0 is everything."""

    schemes: Mapping[str, Scheme]
    numbers: dict[str, dict[int, int]] = field(default_factory=dict)

    def number(self, axis: str, own: int) -> int:
        """The number of a set."""
        known = self.numbers.setdefault(axis, {self.schemes[axis].whole: 0})
        return known.setdefault(own, len(known))

    def of_codes(self, axis: str, codes: Sequence[str]) -> Ints:
        """The numbers of codes."""
        scheme = self.schemes[axis]
        return np.array([self.number(axis, scheme.set_of(code)) for code in codes], dtype=np.int64)

    def sets(self, axis: str) -> list[int]:
        """The sets by their numbers."""
        return list(self.numbers.setdefault(axis, {self.schemes[axis].whole: 0}))


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows(Said):
    """The cells of several entries, row by row, in the order of the entries."""

    axes: tuple[str, ...]
    key: Keys
    """Number of the subject, then of the set in every classification."""
    entry: Ints
    """Place of the entry of every row."""
    row: Ints
    """Place of the cell in its entry."""


def rows_of(
    given: Sequence[tuple[Entry, EntryCells]], sets: Sets, subjects: Mapping[tuple[str, str, str], int]
) -> Rows:
    """The rows of entries, each with its key."""
    axes = tuple(sets.schemes)
    ranks = max((cells.largest.shape[1] for _, cells in given), default=0)
    keys = [key_of(entry, cells, axes, sets, subjects) for entry, cells in given]

    def joined(name: str) -> npt.NDArray[np.float64]:
        return np.concatenate([getattr(cells, name) for _, cells in given])

    largest = [
        np.column_stack([cells.largest, np.full((cells.size, ranks - cells.largest.shape[1]), np.nan)])
        for _, cells in given
    ]
    return Rows(
        axes=axes,
        key=np.concatenate(keys),
        entry=np.repeat(np.arange(len(given)), [cells.size for _, cells in given]),
        row=np.concatenate([np.arange(cells.size) for _, cells in given]),
        shown=joined("shown"), lower=joined("lower"), upper=joined("upper"), value=joined("value"),
        status=joined("status").astype(np.uint8), below=joined("below"), above=joined("above"),
        count=joined("count").astype(np.int64), largest=np.concatenate(largest),
    )  # fmt: skip


def key_of(
    entry: Entry, cells: EntryCells, axes: Sequence[str], sets: Sets, subjects: Mapping[tuple[str, str, str], int]
) -> Keys:
    """What every cell of an entry counts, in numbers."""
    key = np.zeros((cells.size, 1 + len(axes)), dtype=np.int32)
    key[:, 0] = subjects[entry.subject]
    fixed = entry.about.codes
    for i, axis in enumerate(axes, start=1):
        if axis in entry.by:
            numbers = sets.of_codes(axis, codes_of(axis, entry.by[axis]))
            key[:, i] = numbers[cells.at[list(entry.by).index(axis)]]
        elif axis in fixed:
            key[:, i] = sets.of_codes(axis, [fixed[axis]])[0]
    return key


def numbered(key: Keys) -> Ints:
    """One number per row, equal for equal keys, in the order of the keys."""
    found = np.zeros(key.shape[0], dtype=np.int64)
    most = 1
    for column in key.T:
        size = int(column.max(initial=0)) + 1
        if most > 2**62 // size:
            found = np.unique(found, return_inverse=True)[1]
            most = int(found.max(initial=0)) + 1
        found = found * size + column
        most *= size
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Nodes:
    """Every distinct cell, with what is known of it by all rows that show it."""

    key: Keys
    version: Ints
    """Which of several values, one after the other; 0 for the first."""
    of_row: Ints
    """The node behind every row; -1 for rows that only say a ratio."""
    shown: Floats
    """The value everybody knows exactly; undefined (NaN) for others."""
    lower: Floats
    upper: Floats
    """What was published besides."""
    value: Floats
    """The true value; undefined (NaN) where nobody told."""
    primary: Bools
    hidden: Bools
    """Whether some entry withheld it."""
    below: Floats
    above: Floats
    count: Ints
    largest: Floats

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.version.size)


def nodes_of(rows: Rows, chosen: Bools) -> Nodes:
    """Rows that count the same as one; ``chosen`` rows are cells, the others only say ratios."""
    low, high = _claims(rows)
    number = numbered(rows.key)
    key, first, group = np.unique(number[chosen], return_index=True, return_inverse=True)
    at = np.flatnonzero(chosen)
    most, least = np.full(key.size, -np.inf), np.full(key.size, np.inf)
    np.maximum.at(most, group, low[at])
    np.minimum.at(least, group, high[at])
    hair = _apart(low, high)
    near = np.zeros(key.size)
    np.maximum.at(near, group, hair[at])
    torn = most > least + near
    version = np.zeros(at.size, dtype=np.int64)
    if torn.any():
        order = np.lexsort((rows.entry[at], group))
        order = order[torn[group[order]]]
        for own in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            version[own] = _versions(low[at[own]], high[at[own]], hair[at[own]])
    _, first, own = np.unique(group * (version.max(initial=0) + 1) + version, return_index=True, return_inverse=True)
    of_row = np.full(rows.entry.size, -1, dtype=np.int64)
    of_row[at] = own
    return _gathered(rows, at, own, of_row, rows.key[at[first]], version[first])


def _claims(rows: Rows) -> tuple[Floats, Floats]:
    """Between which values the true one lies, by each row."""
    known = ~np.isnan(rows.value)
    exact = ~known & ~np.isnan(rows.shown) & ~np.isfinite(rows.lower)
    low = np.where(known, rows.value, np.where(exact, rows.shown, rows.lower))
    high = np.where(known, rows.value, np.where(exact, rows.shown, rows.upper))
    return low, high


def _apart(low: Floats, high: Floats) -> Floats:
    """How far what rows say may lie apart without being another value."""
    ends = np.concatenate([low, high])
    found = np.zeros(ends.size)
    told = np.isfinite(ends)
    found[told] = apart(ends[told])
    result: Floats = found.reshape(2, -1).max(axis=0)
    return result


def _versions(low: Floats, high: Floats, near: Floats) -> list[int]:
    """Versions of one cell, in the order of its rows; what is as near as that is no other value."""
    found, version = [], 0
    least, most = -np.inf, np.inf
    for one, other, hair in zip(low.tolist(), high.tolist(), near.tolist(), strict=True):
        if max(least, one) > min(most, other) + hair:
            version += 1
            least, most = one, other
        least, most = max(least, one), min(most, other)
        found.append(version)
    return found


def _gathered(rows: Rows, at: Ints, own: Ints, of_row: Ints, key: Keys, version: Ints) -> Nodes:
    """What all rows of a node say together."""
    size = version.size

    def most(values: Floats, start: float) -> Floats:
        found = np.full(size, start)
        np.fmax.at(found, own, values)
        return found

    exact = np.where(np.isfinite(rows.lower[at]), np.nan, rows.shown[at])
    shown, value = np.full(size, np.nan), np.full(size, np.nan)
    np.fmax.at(shown, own, exact)
    np.fmax.at(value, own, rows.value[at])
    upper = np.full(size, np.inf)
    np.fmin.at(upper, own, rows.upper[at])
    hidden, primary = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    np.logical_or.at(hidden, own, np.isnan(rows.shown[at]))
    np.logical_or.at(primary, own, rows.status[at] == Status.PRIMARY)
    count = np.full(size, np.iinfo(np.int64).max)
    told = rows.count[at] >= 0
    np.minimum.at(count, own[told], rows.count[at][told])
    largest = np.full((size, rows.largest.shape[1]), np.nan)
    np.fmax.at(largest, own, rows.largest[at])
    return Nodes(
        key=key, version=version, of_row=of_row, shown=shown, lower=most(rows.lower[at], -np.inf), upper=upper,
        value=np.where(np.isnan(value), shown, value), primary=primary, hidden=hidden,
        below=most(rows.below[at], 0.0), above=most(rows.above[at], 0.0),
        count=np.where(count == np.iinfo(np.int64).max, -1, count), largest=largest,
    )  # fmt: skip
