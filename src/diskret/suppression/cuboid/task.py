"""What securing subtables reads and changes, and securing some of them one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.trees import strides_of
from diskret.suppression._corner_kernels import Asked, System
from diskret.suppression.cuboid import _kernels
from diskret.suppression.cuboid.subtables import Segments

CARRY = {"off": 0, "once": 1, "always": 2}


@dataclass(eq=False, kw_only=True)
class SubtableTask:
    """Flat arrays over the cells: what the engine reads, and what it changes (state, creator, up, down)."""

    shape: tuple[int, ...]
    value: Floats
    up: Floats
    """How far above the value an attacker thinks it possible."""
    down: Floats
    """How far below."""
    state: npt.NDArray[np.uint8]
    creator: Ints
    """Which subtable suppressed a secondary cell; -1: none of this run."""
    cost: Floats
    needs: Asked
    """Range, and how far down and up every cell must reach at least."""
    barrier: Floats
    powers: Floats
    person: Ints
    """Who is alone in a cell, where somebody is: a number that only compares."""
    single_rule: bool = True
    carry: str = "off"
    carried: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    """Which cells had their interval narrowed already (with ``carry``)."""

    def system(self, segments: Segments) -> System:
        """How codes of subtables become places in these arrays."""
        return System(first=segments.first, items=segments.items, strides=strides_of(self.shape), person=self.person)


class Secured(NamedTuple):
    """What securing some subtables brought: moves, failures, cells newly hidden, cells whose interval was narrowed."""

    moves: Floats
    failures: Floats
    fresh: Ints
    narrowed: Ints


def secure_piece(task: SubtableTask, system: System, rows: Ints, names: Ints) -> Secured:
    """Secure subtables (``rows``: their segments) one after the other; changes the task."""
    mode = CARRY[task.carry]
    carry = np.zeros(task.value.size if mode else 0, dtype=np.uint8)
    cells = _kernels.Cells(
        value=task.value, up=task.up, down=task.down, state=task.state, cost=task.cost, creator=task.creator
    )
    rules = _kernels.Rules(
        barrier=task.barrier, prune_rank=bool(task.barrier.min() >= 0), powers=task.powers,
        single_rule=task.single_rule, mode=mode,
    )  # fmt: skip
    given = tuple(tuple(part) for part in (system, cells, task.needs, rules))
    moves: list[Floats] = []
    failures: list[Floats] = []
    fresh: list[Ints] = []
    start, room = 0, 1 << 14
    while start < names.size:
        found = _kernels.Results(
            moves=np.empty((room, 6)), failures=np.empty((room, 3)), fresh=np.empty(room, dtype=np.int64),
            filled=np.zeros(3, dtype=np.int64), carry=carry, carried=task.carried,
        )  # fmt: skip
        start += _kernels.secure_subtables(rows[start:], names[start:], given, tuple(found))
        m, f, n = found.filled
        moves.append(found.moves[:m].copy())
        failures.append(found.failures[:f].copy())
        fresh.append(found.fresh[:n].copy())
        room *= 2
    return Secured(np.concatenate(moves), np.concatenate(failures), np.concatenate(fresh), np.flatnonzero(carry))
