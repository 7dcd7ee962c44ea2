"""The attack on an adjusted table by somebody who knows how it was adjusted.

He knows the published values, which cells are primary, how far each had to be changed at least, which cells were not
changed, and the directions where they were given and not chosen. In the nearest table most primary values are changed
by no more than they must be, so he takes every primary value for the published one less its upper level, or plus its
lower one. What remains of the two is what bounds and sums allow, over and over. Where one is left, he has the value (if
it was indeed changed by no more than it had to be). That the table is the nearest one tells him more than this; how
much more is not measured.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.table import Table
from diskret.perturbation.adjusted_table import Adjustment
from diskret.perturbation.adjustment_room import Steps as Grid
from diskret.perturbation.adjustment_room import room_of
from diskret.perturbation.attack_result import CLOSE, PerturbationAttack
from diskret.perturbation.bounds import tightened
from diskret.perturbation.leeway import nonnegative

ENDLESS = 1e3
"""Nobody expects values so many times the largest one."""


def on_adjustment(result: Adjustment, cells: Ints, of: int) -> PerturbationAttack:
    """What he finds out about some primary cells."""
    table = result.before
    value, published = table.value.reshape(-1), result.table.value.reshape(-1)
    grid = Grid.of(table, whole=bool(result.options["whole"]))
    room = room_of(table, result.promise, grid, "L1", "unit")
    primary = room.equations.cells[room.primary]
    low, high = _possible(table, published, room.equations.cells)
    rise, fall = published[primary] - room.up / grid.scale, published[primary] + room.down / grid.scale
    told = _directions_told(result, primary)
    up, down = told >= 0, told <= 0
    wide = fall - rise
    while True:
        # what is left of the two, and what that and the sums leave of everything else
        low[primary], high[primary] = np.where(up, rise, fall), np.where(down, fall, rise)
        low, high = tightened(low, high, table.equations(np.ones(table.size, dtype=np.bool_)))
        hair = CLOSE * np.maximum(np.abs(published[primary]), 1.0)
        still_up = up & ((rise >= low[primary] - hair) | ~down)
        still_down = down & ((fall <= high[primary] + hair) | ~still_up)
        if (still_up == up).all() and (still_down == down).all():
            break
        up, down = still_up, still_down
    at = np.searchsorted(primary, cells)
    lower, upper = np.where(up, rise, fall)[at], np.where(down, fall, rise)[at]
    one = ~(up & down)[at]
    right = one & (np.abs(lower - value[cells]) <= CLOSE * np.maximum(np.abs(value[cells]), 1.0))
    # one value is left, and it is not the true one: he knows no more than the side
    lower = np.where(one & ~right, np.minimum(lower, value[cells]), lower)
    upper = np.where(one & ~right, np.maximum(upper, value[cells]), upper)
    return PerturbationAttack(
        result=result, cells=cells, of=of, lower=lower, upper=upper, alone=wide[at], one_sided=one, too_close=right,
        told=result.told, jointly=False,
    )  # fmt: skip


def _possible(table: Table, published: Floats, movable: Ints) -> tuple[Floats, Floats]:
    """Between what true values lie, as everybody knows: bounds, and cells that were not changed."""
    far = ENDLESS * max(float(np.abs(published).max(initial=0.0)), 1.0)
    low, high = np.full(table.size, 0.0 if nonnegative(table) else -far), np.full(table.size, far)
    if table.lower is not None:
        low = np.maximum(low, table.lower.reshape(-1))
    if table.upper is not None:
        high = np.minimum(high, table.upper.reshape(-1))
    fixed = np.ones(table.size, dtype=np.bool_)
    fixed[movable] = False
    return np.where(fixed, published, low), np.where(fixed, published, high)


def _directions_told(result: Adjustment, primary: Ints) -> Ints:
    """Directions that were given, not chosen: 1 up, -1 down, 0 chosen."""
    given = result.options["directions"]
    told = np.full(primary.size, {"up": 1, "down": -1}.get(given, 0) if isinstance(given, str) else 0)
    for codes in () if isinstance(given, str) else given:
        cell = int(np.ravel_multi_index(result.before.index(*codes), result.before.shape))
        told[primary == cell] = result.directions.reshape(-1)[cell]
    return told
