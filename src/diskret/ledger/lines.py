"""Everything that adds up among cells, and the cells that nobody published but everybody can compute.

Cells that differ in one classification only stand on a line. What adds up on lines of one kind is found once, by the
sets they show (`families`). Where a sum is shown and only some of its parts, the rest is a cell too: a derived one. It
stands on lines of its own, so that differences of differences are found, until nothing new follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.ledger.about import PERIOD
from diskret.ledger.families import Family, family_of
from diskret.ledger.nodes import Keys, Sets, numbered
from diskret.model.arrays import Floats, Ints

MOST_TIMES = 3
AT_LEAST = 50_000
"""Derived cells are followed up to so many times the cells that are shown, or so many."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """Cells (the shown ones first, then derived ones) and the sums among them, row by row."""

    key: Keys
    shown: int
    start: Ints
    cell: Ints
    coefficient: Floats
    """-1 for the sum, 1 for its parts."""
    axis: Ints
    """Along which classification each row adds."""
    closed: bool
    """Whether everything that follows was followed up."""

    @property
    def rows(self) -> int:
        """How many sums."""
        return int(self.axis.size)


def sums_among(key: Keys, axes: Sequence[str], sets: Sets, still: Sequence[int] = ()) -> Sums:
    """All sums among cells with different keys; values of the subjects in ``still`` do not add up over periods."""
    shown = key.shape[0]
    most = max(MOST_TIMES * shown, AT_LEAST)
    known: dict[tuple[str, bytes], Family] = {}
    groupings = {axis: sets.schemes[axis].groupings() for axis in axes}
    for _ in range(2 * len(axes) + 2):
        flowing = key[~np.isin(key[:, 0], still)]
        found = [
            _along(flowing if axis == PERIOD else key, column, axis, sets, groupings[axis], known)
            for column, axis in enumerate(axes, start=1)
        ]
        fresh = np.concatenate([key[:0], *(each.fresh for each in found)])
        if not fresh.size:
            return _joined(key, shown, found, sets, closed=all(f.closed for f in known.values()))
        fresh = np.unique(fresh, axis=0)
        if key.shape[0] + fresh.shape[0] - shown > most:
            break
        key = np.concatenate([key, fresh])
    return _joined(key, shown, found, sets, closed=False)


@dataclass(frozen=True, eq=False)
class _Along:
    """The sums along one classification, each with the keys of its cells."""

    axis: int
    wholes: list[Keys]
    """For each kind of sum the keys of the cells on all lines that have it: whole first, then its parts."""
    fresh: Keys
    """Keys of derived cells that are not there yet."""


def _along(
    key: Keys, column: int, axis: str, sets: Sets, groupings: dict[int, list[tuple[int, ...]]],
    known: dict[tuple[str, bytes], Family],
) -> _Along:  # fmt: skip
    """What adds up on the lines along one classification."""
    others = np.delete(key, column, axis=1)
    line = numbered(others)
    order = np.lexsort((key[:, column], line))
    begin = np.flatnonzero(np.concatenate([[True], np.diff(line[order]) != 0]))
    lengths = np.diff(np.append(begin, order.size))
    at = key[order, column].astype(np.int64)
    several = np.flatnonzero(lengths > 1)
    kinds: dict[bytes, list[int]] = {}
    for k in several.tolist():
        kinds.setdefault(at[begin[k] : begin[k] + lengths[k]].tobytes(), []).append(k)
    wholes: list[Keys] = []
    fresh: list[Keys] = [key[:0]]
    for shape, lines in kinds.items():
        numbers = np.frombuffer(shape, dtype=np.int64)
        if (axis, shape) not in known:
            masks = sets.sets(axis)
            known[axis, shape] = family_of([masks[i] for i in numbers.tolist()], groupings)
        family = known[axis, shape]
        if not family.sums:
            continue
        places = np.array([sets.number(axis, own) for own in family.sets], dtype=np.int32)
        base = key[order[begin[lines]]]
        for whole, parts in family.sums:
            cells = np.repeat(base[:, None, :], 1 + len(parts), axis=1)
            cells[:, :, column] = places[[whole, *parts]]
            wholes.append(cells)
        if len(family.sets) > family.shown:
            derived = np.repeat(base[:, None, :], len(family.sets) - family.shown, axis=1)
            derived[:, :, column] = places[family.shown :]
            fresh.append(derived.reshape(-1, key.shape[1]))
    return _Along(column - 1, wholes, np.concatenate(fresh))


def _joined(key: Keys, shown: int, found: Sequence[_Along], sets: Sets, *, closed: bool) -> Sums:
    """All sums with the numbers of their cells; those with a cell that is not there are left out."""
    blocks = [(each.axis, cells) for each in found for cells in each.wholes]
    if not blocks:
        empty = np.empty(0, np.int64)
        return Sums(
            key=key, shown=shown, start=np.zeros(1, np.int64), cell=empty, coefficient=np.empty(0), axis=empty,
            closed=closed,
        )  # fmt: skip
    every = np.concatenate([key, *(cells.reshape(-1, key.shape[1]) for _, cells in blocks)])
    number = numbered(every)
    own = number[: key.shape[0]]
    order = np.argsort(own, kind="stable")
    at = np.minimum(np.searchsorted(own[order], number[key.shape[0] :]), own.size - 1)
    cell = np.where(own[order][at] == number[key.shape[0] :], order[at], -1)
    lengths = np.concatenate([np.full(cells.shape[0], cells.shape[1]) for _, cells in blocks])
    axis = np.concatenate([np.full(cells.shape[0], a) for a, cells in blocks])
    start = np.append(0, np.cumsum(lengths))
    row = np.repeat(np.arange(lengths.size), lengths)
    coefficient = np.ones(cell.size)
    coefficient[start[:-1]] = -1.0
    whole = np.bincount(row, weights=cell < 0, minlength=lengths.size) == 0
    # a sum that two classifications say alike is one
    kept = whole[row]
    lengths, axis = lengths[whole], axis[whole]
    return Sums(
        key=key, shown=shown, start=np.append(0, np.cumsum(lengths)).astype(np.int64), cell=cell[kept].astype(np.int64),
        coefficient=coefficient[kept], axis=axis.astype(np.int64), closed=closed,
    )  # fmt: skip
