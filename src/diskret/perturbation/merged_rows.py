"""Rows of a table joined: what the rules would see if some codes of a classification were one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats
from diskret.model.contributors import Contributors
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table

Group = Sequence[int]


def merged_rows(table: Table, axis: int, groups: Sequence[Group], hierarchy: Hierarchy) -> Table:
    """A table whose codes along one axis are groups of old ones, one group per code of the new ``hierarchy``.

    Contributors of different codes are taken as different: counts add up, and the largest contributions of a group are
    the largest of all its lists. Marks of the rules are not carried over; a status set by hand is where all of its
    group have it. Cell keys are not known from those of the parts to the last digit: tabulate again for them.
    """
    flat = np.concatenate([np.asarray(g, dtype=np.int64) for g in groups])
    start = np.concatenate([[0], np.cumsum([len(g) for g in groups])[:-1]]).astype(np.int64)

    def by_group(reduce: np.ufunc, array: npt.NDArray[Any] | None) -> Any:
        if array is None:
            return None
        moved = np.moveaxis(array, axis, 0)
        return np.ascontiguousarray(np.moveaxis(reduce.reduceat(moved[flat], start, axis=0), 0, axis))

    def added(array: npt.NDArray[Any] | None) -> Any:
        return by_group(np.add, array)

    def largest_of(array: Floats | None) -> Any:
        """Lists of largest contributions joined; the last axis ranks them."""
        if array is None:
            return None
        moved = np.moveaxis(array, axis, 0)
        joined = np.zeros((len(groups), *moved.shape[1:]))
        sizes = np.array([len(g) for g in groups])
        for size in np.unique(sizes).tolist():
            # all groups of one size at once: their lists end to end, sorted, the first of them kept
            chosen = np.flatnonzero(sizes == size)
            members = np.array([groups[g] for g in chosen.tolist()])
            lists = np.moveaxis(moved[members], 1, -2).reshape(chosen.size, *moved.shape[1:-1], -1)
            joined[chosen] = -np.sort(-lists, axis=-1)[..., : moved.shape[-1]]
        return np.ascontiguousarray(np.moveaxis(joined, 0, axis))

    def people(level: Contributors | None) -> Contributors | None:
        if level is None:
            return None
        return Contributors(
            added(level.count), largest_of(level.largest), added(level.absolute), added(level.protected_count),
            by_group(np.maximum, level.protected_largest), added(level.public_count), added(level.public_value),
            asked=by_group(np.maximum, level.asked), weight=added(level.weight),
            shadow_largest=largest_of(level.shadow_largest), shadow_absolute=added(level.shadow_absolute),
            shadow_total=added(level.shadow_total),
        )  # fmt: skip

    name = table.names[axis]
    by = {n: hierarchy if n == name else h for n, h in table.by.items()}
    value = added(table.value)
    if table.decimals is not None:
        value = np.round(value, table.decimals)
    by_hand = np.where(_set_by_hand(table), table.status, np.uint8(Status.OPEN))
    least, most = by_group(np.minimum, by_hand), by_group(np.maximum, by_hand)
    status = np.where(least == most, least, np.uint8(Status.OPEN)).astype(np.uint8)
    return replace(
        table, by=by, value=value, status=status,
        respondents=people(table.respondents), holdings=people(table.holdings), rules=(), rule=None, below=None,
        above=None, lower=None, upper=None, weight=None, creator=None, key=None, given=None, judges=(),
    )  # fmt: skip


def _set_by_hand(table: Table) -> Bools:
    """Cells whose status no rule and no suppression gave them."""
    if table.rule is None:
        return np.ones(table.shape, dtype=np.bool_)
    secondary = table.status == Status.SECONDARY
    by_rule = (table.status == Status.PRIMARY) & (table.rule & 1 == 0)
    by_hand: Bools = ~(secondary | by_rule)
    return by_hand
