"""Subtables cut out of their table: what workers elsewhere need to secure them, and what comes back.

A block holds the cells of one subtable in its own order, its total last on every axis. Whoever secures it sees the same
cells in the same order as in the table, and finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.trees import strides_of
from diskret.model.workers import Workers, shares
from diskret.suppression._corner_kernels import HIDDEN, Asked, System
from diskret.suppression.cuboid.boxes import Boxes
from diskret.suppression.cuboid.subtables import Segments
from diskret.suppression.cuboid.task import Secured, SubtableTask, secure_piece

LOAD = 20_000_000
"""Cells that are under way at a time."""
Where = tuple[Ints, tuple[int, ...]]
"""Which cell stands at every place of a block, and its shape."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """One subtable, with nothing around it."""

    name: int
    task: SubtableTask

    def secure(self) -> Cut:
        """Secure it where it is."""
        shape = np.array(self.task.shape)
        first, items = np.append(0, np.cumsum(shape)), np.concatenate([np.arange(n) for n in shape])
        system = System(first=first, items=items, strides=strides_of(self.task.shape), person=self.task.person)
        found = secure_piece(self.task, system, np.arange(shape.size)[None, :], np.array([self.name]))
        return Cut(found=found, up=self.task.up[found.narrowed], down=self.task.down[found.narrowed])


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """What was found in a block, by the places of its cells, and how far narrowed cells may go now."""

    found: Secured
    up: Floats
    down: Floats


def secure_apart(task: SubtableTask, segments: Segments, chosen: Ints, workers: Workers) -> list[Secured]:
    """Send every subtable away as a block, and bring what comes back into the task."""
    rows = segments.rows(chosen)
    volumes = np.prod(np.diff(segments.first)[rows], axis=1)
    return _secured_as(task, chosen, volumes, lambda k: _cells_of(segments, rows[k], strides_of(task.shape)), workers)


def secure_boxes(task: SubtableTask, boxes: Boxes, workers: Workers) -> list[Secured]:
    """Secure subtables of which occupied cells are held only; behind these the task holds an empty one."""
    return _secured_as(task, boxes.names, boxes.volumes, boxes.where, workers)


def _secured_as(
    task: SubtableTask, chosen: Ints, volumes: Ints, where_of: Callable[[int], Where], workers: Workers
) -> list[Secured]:
    done: list[Secured] = []
    for share in _loads(shares(volumes, workers), volumes):
        cells = [[where_of(k) for k in part.tolist()] for part in share]
        parts = [
            [block_of(task, int(chosen[k]), *where) for k, where in zip(part.tolist(), mine, strict=True)]
            for part, mine in zip(share, cells, strict=True)
        ]
        for found, mine in zip(workers.map(_secured, None, parts), cells, strict=True):
            done += [_brought_in(task, cut, where) for cut, (where, _) in zip(found, mine, strict=True)]
    return done


def _loads(parts: Sequence[Ints], volumes: Ints) -> list[list[Ints]]:
    """Parts in as many loads as memory asks for."""
    loads: list[list[Ints]] = [[]]
    under_way = 0
    for part in parts:
        size = int(volumes[part].sum())
        if loads[-1] and under_way + size > LOAD:
            loads.append([])
            under_way = 0
        loads[-1].append(part)
        under_way += size
    return loads


def _cells_of(segments: Segments, row: Ints, strides: Ints) -> tuple[Ints, tuple[int, ...]]:
    """Where the cells of a subtable stand in the table, and its shape."""
    codes = [segments.items[segments.first[s] : segments.first[s + 1]] for s in row.tolist()]
    where = np.zeros((), dtype=np.int64)
    for code, stride in zip(codes, strides.tolist(), strict=True):
        where = where[..., None] + code * stride
    return where.reshape(-1), tuple(code.size for code in codes)


def block_of(task: SubtableTask, name: int, where: Ints, shape: tuple[int, ...]) -> Block:
    """A subtable cut out of its table."""
    needs = Asked(*(need[where] for need in task.needs))
    own = replace(
        task, shape=shape, value=task.value[where], up=task.up[where], down=task.down[where], state=task.state[where],
        creator=task.creator[where], cost=task.cost[where], needs=needs, person=task.person[where],
        carried=task.carried[where] if task.carried.size else task.carried,
    )  # fmt: skip
    return Block(name=name, task=own)


def _secured(_: None, blocks: Sequence[Block]) -> list[Cut]:
    return [block.secure() for block in blocks]


def _brought_in(task: SubtableTask, cut: Cut, where: Ints) -> Secured:
    """Change the task as the subtable was changed where it was secured; what was found, by the cells of the table."""
    moves, failures, fresh, narrowed = cut.found
    for column in (0, 1):
        moves[:, column] = where[moves[:, column].astype(np.int64)]
    failures[:, 0] = where[failures[:, 0].astype(np.int64)]
    fresh, narrowed = where[fresh], where[narrowed]
    task.state[fresh] |= HIDDEN
    if fresh.size:
        task.creator[fresh] = int(cut.found.moves[0, 4])
    task.up[narrowed], task.down[narrowed] = cut.up, cut.down
    if narrowed.size:
        task.carried[narrowed] = 1
    return Secured(moves, failures, fresh, narrowed)
