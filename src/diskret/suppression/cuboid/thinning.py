"""A second look at a finished pattern: secondaries that no pivot needs are opened again, the dearest first.

Pivots are secured one after the other, and a later cuboid often makes an earlier one unnecessary. Every pivot keeps, in
each of its subtables, a cuboid (or a pair) of hidden cells as wide as asked; only what none of them needs is opened. A
secondary that stays hidden keeps a cuboid in the subtable that made it as well: were it computable there, it would
protect nothing elsewhere.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.suppression.cuboid import _kernels, _thin_kernels
from diskret.suppression.cuboid.engine import Task
from diskret.suppression.cuboid.subtables import Segments

WORTH_A_ROUND = 100
"""Another round is made as long as the last one opened more than one cell in so many."""


def thin(task: Task, segments: Segments, moves: Floats, untouchable: Bools) -> Floats:
    """Open unneeded secondaries in ``task.state``; returns the moves that still protect the pivots."""
    of_pivots, of_partners = _requirements(moves), _own_partners(task, moves)
    pivots, firsts, seconds, names = (np.concatenate(both) for both in zip(of_pivots, of_partners, strict=True))
    kinds = np.where(task.state[pivots] & _kernels.PRIMARY == 0, _thin_kernels.INCOMING, _thin_kernels.FIRST_HAND)
    kinds[of_pivots[0].size :] = _thin_kernels.OWN
    secondary = (task.state & _kernels.HIDDEN > 0) & (task.state & _kernels.PRIMARY == 0) & ~untouchable
    cells = np.flatnonzero(secondary)
    order = cells[np.lexsort((cells, -task.cost[cells]))]
    rows = segments.rows(names)
    strides = np.array([int(np.prod(task.shape[i + 1 :])) for i in range(len(task.shape))], dtype=np.int64)
    widest = int(np.diff(segments.first).max())
    while order.size:
        opened = _thin_kernels.reopen(
            order, (pivots, firsts, seconds, rows, kinds), (segments.first, segments.items, strides),
            (task.state, task.up, task.down, (task.need, task.need_down, task.need_up)),
            (task.single_rule, task.carry != "off"), secondary, widest,
        )  # fmt: skip
        if opened * WORTH_A_ROUND <= order.size:
            break
        order = order[task.state[order] & _kernels.HIDDEN > 0]
    task.creator[task.state & _kernels.HIDDEN == 0] = -1
    kept = (task.state[pivots] & _kernels.HIDDEN > 0) & (kinds != _thin_kernels.OWN)
    return _moves(task, segments, pivots[kept], firsts[kept], seconds[kept], names[kept])


def _requirements(moves: Floats) -> tuple[Ints, Ints, Ints, Ints]:
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


def _own_partners(task: Task, moves: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """The secondaries a subtable made itself, each with the cuboid it was made for, seen from its own corner."""
    pivot, diametral, name = (moves[:, c].astype(np.int64) for c in (0, 1, 4))
    g, d = np.unravel_index(pivot, task.shape), np.unravel_index(diametral, task.shape)
    corners = [pivot]
    for axis in range(len(task.shape)):
        shift = (d[axis] - g[axis]) * int(np.prod(task.shape[axis + 1 :]))
        corners += [c + shift for c in corners]
    cells = np.stack(corners)
    own = (task.state[cells] & _kernels.PRIMARY == 0) & (task.creator[cells] == name)
    found, opposite = cells[own], (pivot + diametral - cells)[own]
    made_by = np.broadcast_to(name, cells.shape)[own]
    found, once = np.unique(found, return_index=True)
    return found, opposite[once], np.full(found.size, -1, dtype=np.int64), made_by[once]


def _moves(task: Task, segments: Segments, pivots: Ints, firsts: Ints, seconds: Ints, names: Ints) -> Floats:
    """Rows like those of the engine for the cuboids that are left, with how far each can go."""
    rows = np.empty((pivots.size + int((seconds >= 0).sum()), 6))
    slot = (
        np.arange(pivots.size) + np.concatenate([[0], np.cumsum(seconds >= 0)[:-1]])
        if pivots.size
        else np.empty(0, int)
    )
    rows[slot, 0], rows[slot, 1], rows[slot, 4], rows[slot, 5] = pivots, firsts, names, 0
    double = seconds >= 0
    rows[slot[double] + 1, 0], rows[slot[double] + 1, 1] = pivots[double], seconds[double]
    rows[slot[double] + 1, 4], rows[slot[double] + 1, 5] = names[double], 1
    up, down = reaches(
        task, segments, rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64), rows[:, 4].astype(np.int64)
    )
    rows[:, 2], rows[:, 3] = up, down
    return rows


def reaches(task: Task, segments: Segments, pivots: Ints, diametrals: Ints, names: Ints) -> tuple[Floats, Floats]:
    """How far up and down each cuboid can go, by the parity rule."""
    up, down = task.up[pivots].copy(), task.down[pivots].copy()
    cells, signs = [pivots], [np.ones(pivots.size)]
    totals = segments.items[segments.first[segments.rows(names) + 1] - 1]
    g, d = np.unravel_index(pivots, task.shape), np.unravel_index(diametrals, task.shape)
    for axis in range(len(task.shape)):
        stride = int(np.prod(task.shape[axis + 1 :]))
        margin = (g[axis] == totals[:, axis]) | (d[axis] == totals[:, axis])
        flip = np.where(margin, 1.0, -1.0)
        cells += [c + (d[axis] - g[axis]) * stride for c in cells]
        signs += [s * flip for s in signs]
    for c, s in zip(cells, signs, strict=True):
        up = np.minimum(up, np.where(s > 0, task.up[c], task.down[c]))
        down = np.minimum(down, np.where(s > 0, task.down[c], task.up[c]))
    return up, down
