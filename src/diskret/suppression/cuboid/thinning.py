"""A second look at a finished pattern: secondaries that no pivot needs are opened again, the most expensive first.

Pivots are secured one after the other, and a later cuboid often makes an earlier one unnecessary. Every pivot keeps, in
each of its subtables, a cuboid (or a pair) of hidden cells as wide as asked; only what none of them needs is opened. A
secondary that stays hidden keeps a cuboid in the subtable that made it as well: were it computable there, it would
protect nothing elsewhere.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.trees import strides_of
from diskret.suppression._corner_kernels import HIDDEN, PRIMARY
from diskret.suppression.cuboid import _thin_kernels
from diskret.suppression.cuboid.subtables import Segments
from diskret.suppression.cuboid.task import SubtableTask

WORTH_A_ROUND = 100
"""Another round is made as long as the last one opened more than one cell in this many."""


def thin(task: SubtableTask, segments: Segments, moves: Floats, untouchable: Bools) -> Floats:
    """Open unneeded secondaries in ``task.state``; returns the moves that still protect the pivots."""
    of_pivots, of_partners = _latest(moves), _own_partners(task, moves)
    pivots, firsts, seconds, names = (np.concatenate(both) for both in zip(of_pivots, of_partners, strict=True))
    kinds = np.where(task.state[pivots] & PRIMARY == 0, _thin_kernels.INCOMING, _thin_kernels.FIRST_HAND)
    kinds[of_pivots[0].size :] = _thin_kernels.OWN
    secondary = (task.state & HIDDEN > 0) & (task.state & PRIMARY == 0) & ~untouchable
    order = np.flatnonzero(secondary)
    order = order[np.lexsort((order, -task.cost[order]))]
    requirements = _thin_kernels.Requirements(
        pivots=pivots, firsts=firsts, seconds=seconds, rows=segments.rows(names), kinds=kinds
    )
    cells = _thin_kernels.Cells(state=task.state, up=task.up, down=task.down, needs=tuple(task.needs))
    widest = int(np.diff(segments.first).max())
    while order.size:
        opened = _thin_kernels.reopen(
            order, tuple(requirements), tuple(task.system(segments)), tuple(cells),
            (task.single_rule, task.carry != "off"), secondary, widest,
        )  # fmt: skip
        if opened * WORTH_A_ROUND <= order.size:
            break
        order = order[task.state[order] & HIDDEN > 0]
    task.creator[task.state & HIDDEN == 0] = -1
    kept = (task.state[pivots] & HIDDEN > 0) & (kinds != _thin_kernels.OWN)
    return _moves(task, segments, pivots[kept], np.stack([firsts, seconds], axis=1)[kept], names[kept])


def _latest(moves: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """The latest cuboids of every pivot in every subtable: pivot, first and second diametral cell, subtable."""
    pivot, diametral, name = (moves[:, c].astype(np.int64) for c in (0, 1, 4))
    second = moves[:, 5] == 1
    leading = np.flatnonzero(~second)
    # the last leading move of each (pivot, subtable) counts; a second one stands right behind its first
    _, last = np.unique(np.stack([pivot[leading], name[leading]])[:, ::-1], axis=1, return_index=True)
    chosen = np.sort(leading.size - 1 - last)
    at = leading[chosen]
    follower = np.minimum(at + 1, len(moves) - 1)
    paired = second[follower] & (follower > at)
    return pivot[at], diametral[at], np.where(paired, diametral[follower], -1), name[at]


def _own_partners(task: SubtableTask, moves: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """The secondaries a subtable made itself, each with the cuboid it was made for, seen from its own corner."""
    pivot, diametral, name = (moves[:, c].astype(np.int64) for c in (0, 1, 4))
    cells = _corners(task, pivot, diametral)
    own = (task.state[cells] & PRIMARY == 0) & (task.creator[cells] == name)
    found, opposite = cells[own], (pivot + diametral - cells)[own]
    made_by = np.broadcast_to(name, cells.shape)[own]
    found, once = np.unique(found, return_index=True)
    return found, opposite[once], np.full(found.size, -1, dtype=np.int64), made_by[once]


def _moves(task: SubtableTask, segments: Segments, pivots: Ints, diametrals: Ints, names: Ints) -> Floats:
    """Rows like those of the engine for the cuboids that are left, with how far each can go."""
    at, second = np.nonzero(diametrals >= 0)
    pivot, diametral, name = pivots[at], diametrals[at, second], names[at]
    up, down = reaches(task, segments, pivot, diametral, name)
    return np.stack([pivot, diametral, up, down, name, second], axis=1).astype(np.float64)


def reaches(
    task: SubtableTask, segments: Segments, pivots: Ints, diametrals: Ints, names: Ints
) -> tuple[Floats, Floats]:
    """How far up and down each cuboid can go, by the parity rule."""
    totals = segments.items[segments.first[segments.rows(names) + 1] - 1]
    g, d = np.unravel_index(pivots, task.shape), np.unravel_index(diametrals, task.shape)
    alike = [np.ones(pivots.size, dtype=np.bool_)]
    for axis in range(len(task.shape)):
        margin = (g[axis] == totals[:, axis]) | (d[axis] == totals[:, axis])
        alike += [a == margin for a in alike]
    cells, with_pivot = _corners(task, pivots, diametrals), np.stack(alike)
    up = np.where(with_pivot, task.up[cells], task.down[cells]).min(axis=0)
    down = np.where(with_pivot, task.down[cells], task.up[cells]).min(axis=0)
    return up, down


def _corners(task: SubtableTask, pivots: Ints, diametrals: Ints) -> Ints:
    """The corners of cuboids, one column each, pivot first; an axis that is fixed repeats them."""
    g, d = np.unravel_index(pivots, task.shape), np.unravel_index(diametrals, task.shape)
    cells = [pivots]
    for axis, stride in enumerate(strides_of(task.shape)):
        cells += [c + (d[axis] - g[axis]) * stride for c in cells]
    return np.stack(cells)
