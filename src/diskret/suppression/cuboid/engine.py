"""Securing a table subtable by subtable, from the top down, until a pass adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.suppression.cuboid import _kernels
from diskret.suppression.cuboid.subtables import Segments, subtables_of

Progress = Callable[[str, int, int], None]
CARRY = {"off": 0, "once": 1, "always": 2}
MOST_PASSES = 100


@dataclass(eq=False)
class Task:
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
    need: Floats
    need_down: Floats
    need_up: Floats
    barrier: Floats
    powers: Floats
    single_rule: bool = True
    carry: str = "off"
    carried: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    """Which cells had their interval narrowed already (with ``carry``)."""


@dataclass(eq=False)
class Outcome:
    """What a run found: moves (pivot, diametral, up, down, subtable, second of a pair), failures, passes."""

    moves: list[Floats] = field(default_factory=list)
    failures: dict[int, float] = field(default_factory=dict)
    passes: int = 0
    fresh: int = 0
    finished: bool = True


def secure(task: Task, segments: Segments, threads: int = 1, progress: Progress | None = None) -> Outcome:
    """Run passes over all subtables that hold a pivot or changed since they were last secured."""
    say = progress or (lambda what, done, of: None)
    if task.carry != "off" and not task.carried.size:
        task.carried = np.zeros(task.value.size, dtype=np.uint8)
    containing = segments.containing(task.shape)
    waiting = np.zeros(segments.number, dtype=np.bool_)
    hidden = np.flatnonzero(task.state & _kernels.HIDDEN)
    waiting[subtables_of(hidden, task.shape, containing, segments.counts)] = True
    groups = list(segments.by_level())
    outcome = Outcome()
    failed: dict[int, dict[int, float]] = {}
    with ThreadPoolExecutor(threads) as pool:
        while waiting.any() and outcome.passes < MOST_PASSES:
            outcome.passes += 1
            for done, group in enumerate(groups):
                say(f"pass {outcome.passes}", done, len(groups))
                chosen = group[waiting[group]]
                if not chosen.size:
                    continue
                waiting[chosen] = False
                for name in failed.keys() & set(chosen.tolist()):
                    del failed[name]
                touched = _secure_group(task, segments, chosen, outcome, failed, pool, threads)
                again = subtables_of(touched, task.shape, containing, segments.counts)
                # a subtable needs no second look at what it did itself
                waiting[again[~np.isin(again, chosen)]] = True
    outcome.finished = not waiting.any()
    for cells in failed.values():
        for cell, reach in cells.items():
            outcome.failures[cell] = min(reach, outcome.failures.get(cell, np.inf))
    return outcome


def _secure_group(
    task: Task, segments: Segments, chosen: Ints, outcome: Outcome, failed: dict[int, dict[int, float]],
    pool: ThreadPoolExecutor, threads: int,
) -> Ints:  # fmt: skip
    """Secure subtables of one group, in parallel: they share no cell, so the order cannot matter."""
    pieces = np.array_split(chosen, min(chosen.size, threads * 4)) if threads > 1 else [chosen]
    touched = []
    for moves, failures, fresh, narrowed in pool.map(lambda piece: _secure_piece(task, segments, piece), pieces):
        outcome.moves.append(moves)
        outcome.fresh += fresh.size
        for cell, name, reach in failures:
            failed.setdefault(int(name), {})[int(cell)] = float(reach)
        touched += [fresh, narrowed]
    return np.concatenate(touched)


def _secure_piece(task: Task, segments: Segments, names: Ints) -> tuple[Floats, Floats, Ints, Ints]:
    strides = np.array([int(np.prod(task.shape[i + 1 :])) for i in range(len(task.shape))], dtype=np.int64)
    mode = CARRY[task.carry]
    carry = np.zeros(task.value.size if mode else 0, dtype=np.uint8)
    options = (task.single_rule, mode > 0, mode)
    rows = segments.rows(names)
    moves, failures, fresh = [], [], []
    start, room = 0, 1 << 14
    while start < names.size:
        some_moves, some_failures = np.empty((room, 6)), np.empty((room, 3))
        some_fresh = np.empty(room, dtype=np.int64)
        m, f, n, done = _kernels.secure_subtables(
            rows[start:], names[start:], segments.first, segments.items, strides, task.value,
            (task.up, task.down, task.state, task.cost), task.creator, (task.need, task.need_down, task.need_up),
            task.barrier, task.powers, options, carry, task.carried, some_moves, some_failures, some_fresh,
        )  # fmt: skip
        moves.append(some_moves[:m].copy())
        failures.append(some_failures[:f].copy())
        fresh.append(some_fresh[:n].copy())
        start += done
        room *= 2
    return np.concatenate(moves), np.concatenate(failures), np.concatenate(fresh), np.flatnonzero(carry)
