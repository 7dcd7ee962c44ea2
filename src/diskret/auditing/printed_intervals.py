"""Intervals as the Quaderverfahren prints them (3.2.3.3): to repeat its results, not to publish.

A complete cuboid lies in one single subtable: none of its cells is secured anywhere else as well. Only cells of
complete cuboids get an interval, and it is the union over all complete cuboids they belong to, rounded outwards: no
end lies nearer to the value than any interval that protects somebody. Taken as mere bounds they expose nothing: the
table is attacked again with all of them as prior knowledge, and where they would expose a cell there are none. But
their ends are made from hidden values, often the sum of two. Of 50, 40 and 10 hidden in a line the intervals are
[0; 90], [0; 90] and [0; 60], and whoever knows how they are made takes 90 from the published 100 and has the third
value. `publishable_intervals` gives those that can be published.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import prod

import numpy as np

from diskret.auditing import _complete_kernels
from diskret.auditing.published_intervals import Intervals, exposed_to, groups_of, near_exposed
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import ProtectionWarning
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING

NOT_TO_PUBLISH = (
    "these intervals are made from hidden values: whoever knows how they are made can compute hidden values from them; "
    "publish those of publishable_intervals instead"
)


def printed_intervals(table: Table, promise: Promise = Promise(), *, decimals: int | None = None) -> Intervals:
    """Intervals of hidden cells by complete cuboids, as printed; warns, because they tell more than they seem to.

    ``promise`` is that of the suppression. Bounds are rounded outwards to ``decimals`` (left out: those of the table;
    negative ones round to tens, hundreds and so on). Cells that several tables of a pool share have no interval, nor do
    those that equations link with a cell that is exposed already.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [10, 90, 20, 30], "st": ["primary", *["secondary"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     found = printed_intervals(table)
    >>> found.of("a", "u"), found.of("b", "v"), found.count
    ((0.0, 30.0), (20.0, 50.0), 4)
    """
    table.refuse_sparse("printed intervals")
    warnings.warn(NOT_TO_PUBLISH, ProtectionWarning, stacklevel=2)
    up, down = promise.knowledge.room(table)
    rise, fall = _union(table, up, down)
    shown = np.isfinite(rise) & np.isfinite(fall) & (rise + fall > 0)
    value = table.value.reshape(-1)
    lower, upper = _outwards(value - fall, value + rise, table.decimals if decimals is None else decimals)
    groups = groups_of(table)
    exposed_anyway = exposed_to(table, promise)
    # every bound near a cell that is found out already would only help to find out more
    shown &= ~near_exposed(table, groups, {cell for cell, _ in exposed_anyway})
    while shown.any():
        room_up = np.where(shown, np.minimum(up, upper - value), up)
        room_down = np.where(shown, np.minimum(down, value - lower), down)
        narrow = replace(
            table, lower=(value - room_down).reshape(table.shape), upper=(value + room_up).reshape(table.shape)
        )
        fresh = exposed_to(narrow, replace(promise, knowledge=Knowledge.intervals())) - exposed_anyway
        if not fresh:
            break
        # an interval that harms stands in the same group of equations as the cell it harms
        shown &= ~np.isin(groups, groups[sorted({cell for cell, _ in fresh})])
    nothing = np.full(value.size, np.nan)
    return Intervals(
        table,
        np.where(shown, lower, nothing).reshape(table.shape),
        np.where(shown, upper, nothing).reshape(table.shape),
        promise.knowledge,
        printed=True,
    )


# --- complete cuboids -----------------------------------------------------------------------------------------------


def _union(table: Table, up: Floats, down: Floats) -> tuple[Floats, Floats]:
    """How far complete cuboids carry each cell; of a pool those of its tables, without what they share."""
    rise, fall = np.zeros(table.size), np.zeros(table.size)
    if not table.linked:
        table.refuse_without_product("an interval that may be published")
        return _carried(table, _usable(table, complete_cells(table)), up, down)
    lines = np.bincount(table.equations(np.ones(table.size, dtype=np.bool_)).columns, minlength=table.size)
    shared = table.shared
    for name, one in table.split().items():
        if not one.product:
            continue
        cells = table.linked[name][1]
        system = one.equations(np.ones(one.size, dtype=np.bool_))
        # a cell of an equation that only the pool knows is secured there as well
        own = np.bincount(system.columns, minlength=one.size) == lines[cells]
        usable = _usable(one, complete_cells(one) & ~shared[cells] & own)
        rise[cells], fall[cells] = (
            np.maximum(old[cells], new)
            for old, new in zip((rise, fall), _carried(one, usable, up[cells], down[cells]), strict=True)
        )
    return rise, fall


def _usable(table: Table, complete: Bools) -> Bools:
    """Hidden cells that stand in one subtable only, and below no hidden sum that stands in several."""
    hidden = table.hidden.reshape(-1)
    system = table.equations()
    elsewhere = (hidden & ~complete)[system.sum_cell]
    usable = complete & hidden
    usable[system.cells[system.columns[elsewhere[system.row_of()]]]] = False
    return usable


def complete_cells(table: Table) -> Bools:
    """Cells that stand in one subtable only (flat): on every axis a code is a part or a sum, never both."""
    once = np.ones(table.shape, dtype=np.bool_)
    for axis, hierarchy in enumerate(table.hierarchies):
        shape = [1] * len(table.shape)
        shape[axis] = len(hierarchy)
        once &= ((hierarchy.parent_index >= 0) != ~hierarchy.is_leaf).reshape(shape)
    return once.reshape(-1)


def _carried(table: Table, usable: Bools, up: Floats, down: Floats) -> tuple[Floats, Floats]:
    cells = np.flatnonzero(usable)
    codes = np.stack(np.unravel_index(cells, table.shape), axis=1)
    tops = [
        np.where(h.parent_index >= 0, h.parent_index, np.arange(len(h)))[codes[:, axis]]
        for axis, h in enumerate(table.hierarchies)
    ]
    subtable = np.ravel_multi_index(tops, table.shape)
    order = np.argsort(subtable, kind="stable")
    _, first = np.unique(subtable[order], return_index=True)
    start = np.append(first, cells.size).astype(np.int64)
    parent = np.concatenate([h.parent_index for h in table.hierarchies]).astype(np.int64)
    offset = np.cumsum([0, *table.shape[:-1]]).astype(np.int64)
    strides = np.array([prod(table.shape[axis + 1 :]) for axis in range(len(table.shape))], dtype=np.int64)
    rise, fall = np.zeros(table.size), np.zeros(table.size)
    _complete_kernels.widest(start, codes[order], usable, parent, offset, strides, up, down, rise, fall)
    return rise, fall


def _outwards(lower: Floats, upper: Floats, decimals: int | None) -> tuple[Floats, Floats]:
    """Rounded so that nothing is cut off; what is on the grid already stays there."""
    if decimals is None:
        return lower, upper
    scale = 10.0 ** abs(decimals)
    with np.errstate(invalid="ignore"):
        if decimals >= 0:
            return np.floor(lower * scale + ROUNDING) / scale + 0.0, np.ceil(upper * scale - ROUNDING) / scale + 0.0
        return np.floor(lower / scale + ROUNDING) * scale + 0.0, np.ceil(upper / scale - ROUNDING) * scale + 0.0
