"""Tables of a time series: keep last period's pattern where that is cheap, and say what it costs.

A suppressed value can be estimated from an open value of the last period, and the other way round. So cells that were
open before are made expensive, and cells that are easily estimated more so (Quaderverfahren, 5.3.2).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.suppression.prices import CLASSES
from diskret.suppression.result import Suppression

Previous = Table | Mapping[str, Table]
Aligned = tuple[Bools, Floats, Bools]


def weighed(table: Table, previous: Previous, *, by_error: bool = True) -> Table:
    """The table or pool with weights that prefer cells suppressed in the previous one.

    Open before: weight 100,000 times the cells of a cuboid, over the squared error of carrying the old value forward;
    suppressed before: the squared error. Codes that are new get weight 1. Of a pool the previous tables are found by
    their names; what none of them shows gets weight 1 too.
    """
    known, value, hidden = _aligned(table, previous)
    weight = np.where(hidden, 1.0, CLASSES * 2.0 ** len(table.names))
    if by_error:
        error = carry_forward_error(table.value, value)
        # an old value that is met exactly gives no finite weight: cap it
        weight = weight * np.where(
            hidden, np.clip(error**2, 1e-6, 1e6), np.clip(1 / np.maximum(error**2, 1e-6), 1e-6, 1e6)
        )
    own = np.ones(table.shape) if table.weight is None else table.weight
    return replace(table, weight=np.where(known, weight, 1.0) * own)


def carry_forward_error(value: Floats, before: Floats) -> Floats:
    """Relative error of taking the old value for the new one; the old value itself where the new one is zero.

    >>> carry_forward_error(np.array([100.0, 0.0]), np.array([90.0, 3.0])).tolist()
    [0.1, 3.0]
    """
    size = np.abs(value)
    return np.where(size > 0, np.abs(value - before) / np.where(size > 0, size, 1.0), np.abs(before))


def _aligned(table: Table, previous: Previous) -> Aligned:
    """The previous table on the codes of the current one: which cells it knows, their values, which were hidden."""
    if table.linked:
        return _aligned_pool(table, previous)
    if isinstance(previous, Mapping) or previous.linked:
        raise BadOption("several previous tables for one table", hint="give the one of the same classifications.")
    if set(previous.names) != set(table.names):
        raise BadOption(
            f"the previous table has other classifications: {listed(previous.names)}",
            hint=f"expected {listed(table.names)}.",
        )
    if not table.by:
        return _aligned_cells(table, previous)
    old = np.transpose(np.arange(previous.size).reshape(previous.shape), [previous.names.index(n) for n in table.names])
    picks, known = [], np.ones(table.shape, dtype=np.bool_)
    for axis, (name, hierarchy) in enumerate(table.by.items()):
        before = previous.by[name]
        warn_of_spellings(name, dict.fromkeys([*hierarchy.codes, *before.codes]))
        at = np.array([before.index(c) if c in before else -1 for c in hierarchy.codes])
        shape = [1] * len(table.shape)
        shape[axis] = at.size
        known &= (at >= 0).reshape(shape)
        picks.append(np.maximum(at, 0))
    cells = old[np.ix_(*picks)]
    return known, previous.value.reshape(-1)[cells], previous.hidden.reshape(-1)[cells] & known


def _aligned_cells(system: Table, previous: Table) -> Aligned:
    """Cell by cell, by their codes."""
    before = {previous.codes((cell,)): cell for cell in range(previous.size)}
    at = np.array([before.get(system.codes((cell,)), -1) for cell in range(system.size)], dtype=np.int64)
    return at >= 0, previous.value[at], previous.hidden[at] & (at >= 0)


def _aligned_pool(pool: Table, previous: Previous) -> Aligned:
    """Table by table, by their names; a cell that any previous table hid was hidden."""
    before = previous if isinstance(previous, Mapping) else previous.split()
    if not before:
        raise BadOption("one previous table for a pool", hint="give the previous pool, or its tables by their names.")
    unknown = [name for name in before if name not in pool.linked]
    if unknown:
        raise BadOption(f"no table {listed(unknown)} in the pool", hint=f"it has {listed(pool.linked)}.")
    known, hidden = np.zeros(pool.size, dtype=np.bool_), np.zeros(pool.size, dtype=np.bool_)
    value = np.zeros(pool.size)
    for name, old in before.items():
        mine, cells = pool.linked[name]
        seen, carried, was_hidden = _aligned(mine, old)
        value[cells] = np.where(seen.reshape(-1), carried.reshape(-1), value[cells])
        known[cells] |= seen.reshape(-1)
        hidden[cells] |= was_hidden.reshape(-1)
    return known, value, hidden


def consistency_of(
    previous: Previous, protect: Callable[[Table], Suppression], plain: Table, weighted: Table
) -> Suppression:
    """Protect with and without last period's weights; report how far the pattern was kept and what that cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what deserves care is said once, of the table that is kept
        free = protect(plain)
    kept = protect(weighted)
    _, _, before = _aligned(plain, previous)
    hidden, alone = kept.table.hidden, free.table.hidden
    price = {
        "hidden before": float(before.sum()),
        "hidden before and now": float((before & hidden).sum()),
        "hidden before and now, without consistency": float((before & alone).sum()),
        "more cells for consistency": float(hidden.sum()) - float(alone.sum()),
        "more value for consistency": float(np.abs(plain.value[hidden]).sum() - np.abs(plain.value[alone]).sum()),
    }
    table = replace(kept.table, weight=plain.weight)
    return replace(kept, table=table, before=plain, consistency=price)
