"""Securing a table subtable by subtable, from the top down, until a pass adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.occupied import Occupied
from diskret.model.workers import PARTS_EACH, Threads, Workers
from diskret.suppression._corner_kernels import HIDDEN, System
from diskret.suppression.cuboid.blocks import secure_apart, secure_boxes
from diskret.suppression.cuboid.boxes import boxes_of
from diskret.suppression.cuboid.subtables import Segments, subtables_of
from diskret.suppression.cuboid.task import Secured, SubtableTask, secure_piece

Progress = Callable[[str, int, int], None]
MOST_PASSES = 100


@dataclass(eq=False, kw_only=True)
class Outcome:
    """What a run found: moves (pivot, diametral, up, down, subtable, second of a pair), failures, passes."""

    moves: list[Floats] = field(default_factory=list)
    failures: dict[int, float] = field(default_factory=dict)
    passes: int = 0
    fresh: int = 0
    finished: bool = True


def secure(
    task: SubtableTask, segments: Segments, workers: Workers | None = None, progress: Progress | None = None,
    occupied: Occupied | None = None,
) -> Outcome:  # fmt: skip
    """Run passes over all subtables that hold a pivot or changed since they were last secured.

    Where only ``occupied`` cells are held, the task holds these, and an empty one behind them.
    """
    say, workers = progress or (lambda what, done, of: None), workers or Threads()
    if task.carry != "off" and not task.carried.size:
        task.carried = np.zeros(task.value.size, dtype=np.uint8)
    containing = segments.containing(task.shape)
    waiting = np.zeros(segments.number, dtype=np.bool_)
    hidden = np.flatnonzero(task.state & HIDDEN)
    waiting[subtables_of(_places(hidden, occupied), task.shape, containing, segments.counts)] = True
    groups = list(segments.by_level())
    outcome = Outcome()
    failed: dict[int, dict[int, float]] = {}
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
            touched = _secure_group(task, segments, chosen, outcome, failed, workers, occupied)
            again = subtables_of(_places(touched, occupied), task.shape, containing, segments.counts)
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
    workers: Workers, occupied: Occupied | None,
) -> Ints:  # fmt: skip
    """Secure subtables of one group, in parallel: they share no cell, so the order cannot matter."""
    touched = [np.empty(0, dtype=np.int64)]
    # distances are counted on the axes of the whole table, which a block does not know
    apart = workers.far and not task.powers.size
    if occupied is not None:
        found = secure_boxes(task, boxes_of(occupied, segments, chosen), workers)
    else:
        found = (secure_apart if apart else _secure_here)(task, segments, chosen, workers)
    for moves, failures, fresh, narrowed in found:
        outcome.moves.append(moves)
        outcome.fresh += fresh.size
        for cell, name, reach in failures:
            failed.setdefault(int(name), {})[int(cell)] = float(reach)
        touched += [fresh, narrowed]
    return np.concatenate(touched)


def _places(cells: Ints, occupied: Occupied | None) -> Ints:
    """Where cells stand in the product."""
    return cells if occupied is None else occupied.places[cells]


def _secure_here(task: SubtableTask, segments: Segments, chosen: Ints, workers: Workers) -> list[Secured]:
    """In memory that all workers have in common."""
    system = task.system(segments)
    pieces = np.array_split(chosen, min(chosen.size, workers.count * PARTS_EACH)) if workers.count > 1 else [chosen]
    rows = [(segments.rows(names), names) for names in pieces]
    return workers.map(_piece, (task, system), rows)


def _piece(shared: tuple[SubtableTask, System], part: tuple[Ints, Ints]) -> Secured:
    return secure_piece(*shared, *part)
