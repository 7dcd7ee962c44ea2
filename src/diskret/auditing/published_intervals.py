"""Intervals that may be published instead of marks (Quaderverfahren, 3.2.3.3).

A complete cuboid lies in one single subtable: none of its cells is secured anywhere else as well. Only cells of
complete cuboids get an interval, and it is the union over all complete cuboids they belong to, rounded outwards: no
published end lies nearer to the value than any interval that protects somebody. Whoever reads an interval knows it from
then on. So the table is attacked again with all intervals as prior knowledge, and where they would expose a cell they
are not published. Ends are made from hidden values, often the sum of two: below a hidden sum that is secured elsewhere
too they would give it away to whoever knows the rule, so there are none.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from diskret.auditing import _complete_kernels
from diskret.auditing.audit import audit
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.knowledge import Knowledge
from diskret.model.older import older_attack
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING


@dataclass(frozen=True, eq=False)
class Intervals:
    """What may be published about hidden cells: lower and upper bounds, undefined (NaN) where only the mark may."""

    table: Table
    lower: Floats
    upper: Floats
    knowledge: Knowledge
    """What everybody knows besides."""

    @property
    def count(self) -> int:
        """Number of cells with an interval."""
        return int(np.isfinite(self.lower).sum())

    def of(self, *codes: str) -> tuple[float, float] | None:
        """The interval of a cell; None if it may not have one."""
        at = self.table.index(*codes)
        return (float(self.lower[at]), float(self.upper[at])) if np.isfinite(self.lower[at]) else None

    def known(self) -> Table:
        """The same table once the intervals are out: they narrow what everybody knows (``lower`` and ``upper``).

        What is known besides stays in. Put the table into a pool with the next one: prior knowledge of shared cells is
        intersected there. Use ``Knowledge.intervals()``.
        """
        up, down = (room.reshape(self.table.shape) for room in self.knowledge.room(self.table))
        lower, upper = self.table.value - down, self.table.value + up
        return replace(self.table, lower=np.fmax(lower, self.lower), upper=np.fmin(upper, self.upper))

    def split(self) -> dict[str, Intervals]:
        """The intervals of a pool, table by table."""
        if not self.table.linked:
            raise BadOption("these are intervals of a single table", hint="only those of a pool can be split.")
        pool, result = self.table, {}
        up, down = self.knowledge.room(pool)
        for name, table in pool.split().items():
            cells, shape = pool.linked[name][1], table.shape
            if self.knowledge.kind == "intervals":
                # what is known about a shared cell from another table is known here too
                low, high = (pool.value - down)[cells].reshape(shape), (pool.value + up)[cells].reshape(shape)
                table = replace(table, lower=low, upper=high)
            lower, upper = (end[cells].reshape(shape) for end in (self.lower, self.upper))
            result[name] = Intervals(table, lower, upper, self.knowledge)
        return result


def publishable_intervals(
    table: Table, promise: Promise = Promise(), *, decimals: int | None = None, **older: Any
) -> Intervals:
    """Intervals for hidden cells of a protected table or pool, as far as they may be published.

    ``promise`` is that of the suppression. Bounds are rounded outwards to ``decimals`` (left
    out: those of the table; negative ones round to tens, hundreds and so on). Cells that several tables of a pool
    share never get an interval, nor do those that equations link with a cell that is exposed already.

    >>> cells = {"s": list("aabb"), "t": list("uvuv"), "x": [10, 90, 20, 30], "st": ["primary", *["secondary"] * 3]}
    >>> table = Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")
    >>> found = publishable_intervals(table)
    >>> found.of("a", "u"), found.of("b", "v"), found.count
    ((0.0, 30.0), (20.0, 50.0), 4)
    """
    if older:
        table, promise = older_attack(table, promise, older)
    up, down = promise.knowledge.room(table)
    rise, fall = _union(table, up, down)
    shown = np.isfinite(rise) & np.isfinite(fall) & (rise + fall > 0)
    value = table.value.reshape(-1)
    lower, upper = _outwards(value - fall, value + rise, table.decimals if decimals is None else decimals)
    groups = _groups(table)
    exposed_anyway = _exposed(table, up, down, promise)
    if exposed_anyway:
        # every bound near a cell that is found out already would only help to find out more
        cells = sorted({cell for cell, _ in exposed_anyway})
        shown &= ~np.isin(groups, groups[cells])
        warnings.warn(
            f"{len(cells)} cells are exposed whether intervals are published or not: "
            f"{listed([table.name_of(c) for c in cells])}; no intervals are given near them; protect the table first",
            ProtectionWarning,
            stacklevel=2,
        )
    while shown.any():
        room_up = np.where(shown, np.minimum(up, upper - value), up)
        room_down = np.where(shown, np.minimum(down, value - lower), down)
        fresh = _exposed(table, room_up, room_down, promise) - exposed_anyway
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
    )


def if_range_is_known(lower: float, upper: float, min_relative_range: float) -> tuple[float, float]:
    """What is left of an interval for somebody who knows the required relative range (Quaderverfahren, 3.2.4).

    He concludes that the value is below length over range: the parameter must stay secret. The new upper end does not
    belong to the interval.

    >>> if_range_is_known(99.9, 150.1, 0.5)[1]
    100.4
    """
    bound = round((upper - lower) / min_relative_range, 9)
    if bound <= lower:
        raise BadOption(
            "no value of the interval has the required relative range", hint="the interval was not protected with it."
        )
    return lower, min(upper, bound)


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


# --- the attack with what is published --------------------------------------------------------------------------------


def _exposed(table: Table, up: Floats, down: Floats, promise: Promise) -> set[tuple[int, str]]:
    """Primary cells that are found out (or not decided), and by whom, by an attacker with this prior knowledge."""
    value = table.value.reshape(-1)
    narrow = replace(table, lower=(value - down).reshape(table.shape), upper=(value + up).reshape(table.shape))
    report = audit(narrow, replace(promise, knowledge=Knowledge.intervals(), unions=False))
    found = {(int(np.ravel_multi_index(e.index, table.shape)), e.by) for e in report.exposed}
    names = {table.name_of(int(c)): int(c) for c in np.flatnonzero(table.hidden.reshape(-1))}
    return found | {(names[name], "?") for name in report.undecided}


def _groups(table: Table) -> Ints:
    """A number per cell: equal for hidden cells that equations link, directly or over others."""
    system = table.equations()
    result = np.full(table.size, -1, dtype=np.int64)
    result[system.cells] = system.components()
    return result
