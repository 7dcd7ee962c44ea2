"""The default search: rounded start, annealing, a ladder of falling limits, polish.

Every move keeps the number of objects and k-anonymity, so that every moment of the search is a valid file. All random
numbers follow from the seed, the round and the place in the round; groups are priced on a snapshot, in parallel, and
carried out one after the other. The result depends on neither the number of threads nor where a run was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.safe import _search_kernels
from diskret.safe.clock import Clock
from diskret.safe.field import Field
from diskret.safe.history import History
from diskret.safe.ladder_state import LadderState
from diskret.safe.options import LadderSearch
from diskret.safe.rungs import next_rung

Progress = Callable[[str, int, int], None]
BATCH = 1024
"""Groups priced on one snapshot. The result depends on it, so it is no option."""
HOT, COLD = 0.8, 0.05
"""Warmth at the start and end of annealing, per control table."""
WARM = 0.04
"""Warmth at the start of the polish, likewise."""
NEAR = 3.0
"""Price of a cell at its limit in the ladder, in units of one object beyond it."""
WALL = 1e5
"""Price of an object beyond a limit in the polish."""
EACH = 30
"""Rows drawn of a cell beyond its limit per round."""
ROUND = 40_000
"""Rows drawn in one round at the most."""
LOOK = 2_000
"""Cells that can be looked over in the time of one group; counts against the effort."""
FADE, EVERY = 0.7, 50
"""What is left of grown weights after so many rounds."""
MARGIN = 64
"""How much further than now deviations may go before the penalty table ends."""
QUENCH = 2
"""Sweeps downhill after an interruption in the heat."""


class Moves:
    """Carries groups of rows out on a field, with a pool of threads for pricing."""

    def __init__(self, field: Field, state: LadderState, threads: int) -> None:
        self.field = field
        self.state = state
        self.threads = threads
        self.history = History()
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        bits = (np.arange(4096) + 0.5) / 4096
        self.noise = (-np.log(-np.log(bits))).astype(np.float32)

    def close(self) -> None:
        """Let the threads go."""
        if self.pool is not None:
            self.pool.shutdown()

    def run(self, rows: npt.NDArray[np.int32], which: npt.NDArray[np.int16], warmth: float, clock: Clock) -> bool:
        """One round of groups; false if it was cut short."""
        f, state = self.field, self.state
        wanted = np.zeros(rows.size, dtype=np.uint8)
        seed = (state.seed * 2_654_435_761 + state.round) << 32 & 0x7FFF_FFFF_FFFF_FFFF
        whole = True
        for start in range(0, rows.size, BATCH):
            if start and clock.over():
                whole = False
                break
            stop = min(start + BATCH, rows.size)
            rest: tuple[Any, ...] = (
                seed, f.order, f.place, f.reach, f.swaps, f.key, f.codes, f.touched, f.number, f.state, f.base, f.span,
                f.heavy, f.weight, f.step, f.turned, state.x, f.k, np.float32(warmth), self.noise, wanted,
            )  # fmt: skip
            if self.pool is None or stop - start < 256:
                _search_kernels.price(rows, which, start, stop, *rest)
            else:
                cuts = np.linspace(start, stop, self.threads + 1).astype(np.int64)
                jobs = [
                    self.pool.submit(_search_kernels.price, rows, which, int(a), int(b), *rest)
                    for a, b in pairwise(cuts)
                ]
                for job in jobs:
                    job.result()
            _search_kernels.move(rows, which, start, stop, *rest)
            state.groups += stop - start
        state.round += 1
        return whole


def search_ladder(
    field: Field, state: LadderState, options: LadderSearch, clock: Clock, threads: int, progress: Progress,
    save: Callable[[LadderState], None], history: History | None = None,
) -> npt.NDArray[np.int32]:  # fmt: skip
    """Carry the search on from where its state stands until it is done, time is over, or the user stops it.

    Gives the best file so far. ``save`` is called with the state between rounds.
    """
    moves = Moves(field, state, threads)
    moves.history = history or History()
    stages = {"anneal": _anneal, "ladder": _ladder, "polish": _polish}
    try:
        while state.stage != "done" and not clock.over():
            stages[state.stage](moves, options, clock, progress, save)
    except KeyboardInterrupt:
        clock.stop()
    finally:
        moves.close()
    return _quenched(field, state) if state.stage == "anneal" else state.best


def _quenched(field: Field, state: LadderState) -> npt.NDArray[np.int32]:
    """Frequencies in the heat of annealing are no result: a few sweeps downhill, on a copy."""
    copy = replace(state, x=state.x.copy())
    field.squares(copy.x)
    moves = Moves(field, copy, 1)
    for _ in range(QUENCH):
        moves.run(*_along(field, copy), 0.0, Clock())
    return copy.x


def sweeps_of(options: LadderSearch, rows: int) -> int:
    """Sweeps of the annealing: many on small files, fewer on large ones."""
    return max(8, round(options.effort * min(300, max(70, 25_000_000 / rows))))


def budget_of(options: LadderSearch, rows: int) -> int:
    """Groups the ladder may test."""
    return round(options.effort * min(6_000_000 + 70 * rows, 2_000 * rows))


def _anneal(
    moves: Moves, options: LadderSearch, clock: Clock, say: Progress, save: Callable[[LadderState], None]
) -> None:
    """Sum of squares, one-dimensional cells three times, along one sort order after the other."""
    field, state = moves.field, moves.state
    field.squares(state.x)
    total = sweeps_of(options, field.rows)
    while state.sweep < total:
        passed = max(state.sweep / total, clock.share() / 0.4)
        if clock.over():
            return
        if passed >= 1:
            break
        say("annealing", state.sweep, total)
        moves.history.note("annealing", state.groups, None, (), field.largest())
        warmth = field.tables * HOT * (COLD / HOT) ** passed
        if not moves.run(*_along(field, state), warmth, clock):
            return
        state.sweep += 1
        save(state)
    reached = field.maxima(state.x)
    state.best, state.reached, state.sweep = state.x.copy(), reached, 0
    state.rung = next_rung(reached, (), options, field.k, first=True)
    state.stage = "ladder" if state.rung else "polish"


def _along(field: Field, state: LadderState) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16]]:
    """All rows along a sort order, from a place that changes."""
    which = state.round % field.order.shape[0]
    begin = (state.round * 2_654_435_761) % field.rows
    rows = np.concatenate([field.order[which, begin:], field.order[which, :begin]])
    return rows, np.full(rows.size, which, dtype=np.int16)


def _ladder(
    moves: Moves, options: LadderSearch, clock: Clock, say: Progress, save: Callable[[LadderState], None]
) -> None:
    """One rung: groups through cells beyond their limit, whose weight grows as long as they stay there."""
    field, state = moves.field, moves.state
    budget = budget_of(options, field.rows)
    if state.weight is None:
        state.weight, state.spent, state.least = np.ones(field.cells + 1, dtype=np.float32), 0, -1
        state.weight[-1] = 0
    field.ladder(state.x, state.rung, state.weight, NEAR, MARGIN)
    found = np.empty(field.cells, dtype=np.int32)
    allowed = max(0.6 * (budget - state.climbed), 0.02 * budget)
    words = "limits " + "/".join(map(str, state.rung))
    start = 0
    while True:
        beyond, _ = _search_kernels.find_over(field.state, field.base, field.limit, found)
        start = max(start, beyond)
        say(words, start - beyond, start)
        moves.history.note("ladder", state.groups, int(beyond), state.rung, state.reached)
        if beyond == 0 or state.spent >= allowed:
            break
        if clock.over() or (clock.share() > 0.85 and state.reached):
            break
        state.least = beyond if state.least < 0 else min(state.least, beyond)
        each = max(1, min(EACH, ROUND // beyond))
        cells = found[:beyond]
        rows, which = field.draw(cells, each, state)
        if rows.size == 0:
            break
        moves.run(rows, which, 0.0, clock)
        state.spent += rows.size + field.cells // LOOK
        state.weight[cells] += 1
        state.rounds += 1
        if state.rounds % EVERY == 0:
            np.subtract(state.weight, 1, out=state.weight)
            np.multiply(state.weight, np.float32(FADE), out=state.weight)
            np.add(state.weight, 1, out=state.weight)
            state.weight[-1] = 0
        save(state)
    if beyond and clock.over():
        return
    state.climbed += state.spent
    if beyond == 0:
        state.reached, state.best = field.maxima(state.x), state.x.copy()
        state.reached = tuple(min(a, b) for a, b in zip(state.reached, state.rung, strict=True))
    else:
        state.failed = (*state.failed, state.rung)
        state.x = state.best.copy()
    state.weight = None
    late = clock.share() > 0.85
    rung = next_rung(state.reached, state.failed, options, field.k) if state.climbed < budget and not late else ()
    state.rung = rung
    state.stage = "ladder" if rung else "polish"


def _polish(
    moves: Moves, options: LadderSearch, clock: Clock, say: Progress, save: Callable[[LadderState], None]
) -> None:
    """Sum of squares again, inside the limits reached."""
    field, state = moves.field, moves.state
    field.walls(state.x, state.reached, WALL, MARGIN)
    total = max(4, sweeps_of(options, field.rows) // 5)
    while state.sweep < total:
        if clock.over():
            return
        say("polishing", state.sweep, total)
        moves.history.note("polishing", state.groups, None, state.reached, field.largest())
        warmth = field.tables * WARM * max(0.0, 1 - state.sweep / (total - 1))
        if not moves.run(*_along(field, state), warmth, clock):
            return
        state.sweep += 1
        state.best = state.x.copy()
        save(state)
    state.stage = "done"
