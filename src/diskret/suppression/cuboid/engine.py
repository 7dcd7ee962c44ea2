"""Securing a table subtable by subtable, from the top down, until a pass adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.trees import strides_of
from diskret.suppression._corner_kernels import HIDDEN, Asked, System
from diskret.suppression.cuboid import _kernels
from diskret.suppression.cuboid.subtables import Segments, subtables_of

Progress = Callable[[str, int, int], None]
CARRY = {"off": 0, "once": 1, "always": 2}
MOST_PASSES = 100


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


@dataclass(eq=False, kw_only=True)
class Outcome:
    """What a run found: moves (pivot, diametral, up, down, subtable, second of a pair), failures, passes."""

    moves: list[Floats] = field(default_factory=list)
    failures: dict[int, float] = field(default_factory=dict)
    passes: int = 0
    fresh: int = 0
    finished: bool = True


def secure(task: SubtableTask, segments: Segments, threads: int = 1, progress: Progress | None = None) -> Outcome:
    """Run passes over all subtables that hold a pivot or changed since they were last secured."""
    say = progress or (lambda what, done, of: None)
    if task.carry != "off" and not task.carried.size:
        task.carried = np.zeros(task.value.size, dtype=np.uint8)
    containing = segments.containing(task.shape)
    waiting = np.zeros(segments.number, dtype=np.bool_)
    hidden = np.flatnonzero(task.state & HIDDEN)
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
    outcome.failures = _shortest(failed)
    return outcome


def _shortest(failed: dict[int, dict[int, float]]) -> dict[int, float]:
    """How far every unprotected cell reaches, in the subtable where it reaches least."""
    found: dict[int, float] = {}
    for cells in failed.values():
        for cell, reach in cells.items():
            found[cell] = min(reach, found.get(cell, np.inf))
    return found


def _secure_group(
    task: SubtableTask, segments: Segments, chosen: Ints, outcome: Outcome, failed: dict[int, dict[int, float]],
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


def _secure_piece(task: SubtableTask, segments: Segments, names: Ints) -> tuple[Floats, Floats, Ints, Ints]:
    mode = CARRY[task.carry]
    carry = np.zeros(task.value.size if mode else 0, dtype=np.uint8)
    cells = _kernels.Cells(
        value=task.value, up=task.up, down=task.down, state=task.state, cost=task.cost, creator=task.creator
    )
    rules = _kernels.Rules(
        barrier=task.barrier, prune_rank=bool(task.barrier.min() >= 0), powers=task.powers,
        single_rule=task.single_rule, mode=mode,
    )  # fmt: skip
    given = tuple(tuple(part) for part in (task.system(segments), cells, task.needs, rules))
    rows = segments.rows(names)
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
    return np.concatenate(moves), np.concatenate(failures), np.concatenate(fresh), np.flatnonzero(carry)
