"""Protection intervals of a table protected by complete cuboids: what may be published instead of a mark.

A cell may be published with the union of what all its complete cuboids leave possible (Quaderverfahren, 3.2.3.3): no
end may come closer to the value than any cuboid allows. Cuboids of the complete table are complete, as long as no cell
of theirs is published in another table too.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.promise import Promise
from diskret.suppression.complete.by_complete import search_of
from diskret.suppression.complete.engine import in_turn
from diskret.suppression.methods import Complete
from diskret.suppression.prices import Cost
from diskret.suppression.result import Suppression


def protection_intervals(result: Suppression, *, deformations: int = 1) -> tuple[Floats, Floats]:
    """Lower and upper ends of every hidden cell, rounded outwards to the table's decimals; NaN where there are none.

    The union runs over the cuboids that were built, and over all hidden ones in the smallest candidate range of every
    primary cell. ``deformations`` are those of the run. Ends may be infinite.

    >>> from diskret import Table, methods, suppress
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> lower, upper = protection_intervals(suppress(table, method=methods.Complete()))
    >>> lower.tolist(), upper.tolist()
    ([0.0, 0.0, nan, nan], [30.0, 30.0, nan, nan])
    """
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
