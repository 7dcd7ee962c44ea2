"""Protection intervals of a table protected by complete cuboids, as printed: to repeat results, not to publish.

The interval of a cell is the union of what all its complete cuboids leave possible (Quaderverfahren, 3.2.3.3): no end
comes closer to the value than any cuboid allows. But ends are sums and differences of hidden values, and whoever knows
how they are made computes hidden values from them. `publishable_intervals` gives those that can be published.
"""

from __future__ import annotations

import warnings

import numpy as np

from diskret.auditing.printed_intervals import NOT_TO_PUBLISH
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.promise import Promise
from diskret.suppression.complete.by_complete import search_of
from diskret.suppression.complete.engine import in_turn
from diskret.suppression.methods import Complete
from diskret.suppression.prices import Cost
from diskret.suppression.result import Suppression


def printed_protection_intervals(result: Suppression, *, deformations: int = 1) -> tuple[Floats, Floats]:
    """Lower and upper ends of every hidden cell as printed, rounded outwards to the table's decimals; else NaN.

    The union runs over the cuboids that were built, and over all hidden ones in the smallest candidate range of every
    primary cell. ``deformations`` are those of the run. Ends may be infinite. Warns, because the ends tell more than
    they seem to.

    >>> from diskret import Table, methods, suppress
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     lower, upper = printed_protection_intervals(suppress(table, method=methods.Complete()))
    >>> lower.tolist(), upper.tolist()
    ([0.0, 0.0, nan, nan], [30.0, 30.0, nan, nan])
    """
    found = _intervals(result, deformations)
    warnings.warn(NOT_TO_PUBLISH, ProtectionWarning, stacklevel=2)
    return found


def protection_intervals(result: Suppression, *, deformations: int = 1) -> tuple[Floats, Floats]:
    """The older name of `printed_protection_intervals`; it goes with version 1.0.

    >>> from diskret import Table, methods, suppress
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     lower, upper = protection_intervals(suppress(table, method=methods.Complete()))
    >>> upper.tolist()
    [30.0, 30.0, nan, nan]
    """
    warnings.warn("protection_intervals is now called printed_protection_intervals", DeprecationWarning, stacklevel=2)
    warnings.warn(NOT_TO_PUBLISH, ProtectionWarning, stacklevel=2)
    return _intervals(result, deformations)


def _intervals(result: Suppression, deformations: int) -> tuple[Floats, Floats]:
    table = result.table
    if result.moves.subtable is not None:
        raise BadOption(
            "intervals of a table protected subtable by subtable",
            hint="cuboids of subtables are complete only without subtotals; use the method Complete.",
        )
    plain = Promise(levels=False, guard="public", knowledge=result.promise.knowledge)
    search = search_of(table, plain, Complete(cost=Cost(by="unity"), deformations=deformations))
    value = table.value.reshape(-1)
    lower, upper = np.full(table.size, np.inf), np.full(table.size, -np.inf)

    def widen(cells: Ints, signs: Floats, up: float, down: float) -> None:
        ends = np.stack([value[cells] + signs * up, value[cells] - signs * down])
        lower[cells] = np.minimum(lower[cells], ends.min(axis=0))
        upper[cells] = np.maximum(upper[cells], ends.max(axis=0))

    for move in result.moves:
        widen(move.cells, move.coefficients, move.up, move.down)
    for pivot in in_turn(search.task).tolist():
        for cuboid in search.inside(pivot):
            widen(cuboid.cells, cuboid.coefficients, cuboid.up, cuboid.down)
    none = lower > upper
    lower[none], upper[none] = np.nan, np.nan
    lower, upper = _outwards(lower, np.floor, table.decimals), _outwards(upper, np.ceil, table.decimals)
    return lower.reshape(table.shape), upper.reshape(table.shape)


def _outwards(ends: Floats, towards: np.ufunc, decimals: int | None) -> Floats:
    if decimals is None:
        return ends
    scaled = ends * 10.0**decimals
    near = np.round(scaled)
    # what is a whole number up to rounding is one already
    with np.errstate(invalid="ignore"):
        exact = np.abs(scaled - near) <= 1e-9 * np.maximum(1.0, np.abs(scaled))
    rounded: Floats = np.where(exact, near, towards(scaled)) / 10.0**decimals
    return rounded
