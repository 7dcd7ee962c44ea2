"""The default search: a rounded start or mixtures, annealing, a ladder of falling limits, polish.

Every move keeps the number of objects and k-anonymity, so that every moment of the search is a valid file. All random
numbers follow from the seed, the round and the place in the round; groups are priced on a snapshot, in parallel, and
carried out one after the other. The result depends on neither the number of threads nor where a run was interrupted.

Deviations up to the floor cost nothing in the last stage, which therefore wanders among the files within the limits:
how close to the original the search came before is forgotten, and cannot be read off the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.safe import _search_kernels
from diskret.safe._search_kernels import Chance, Groups
from diskret.safe.chance import round_seed
from diskret.safe.checkpoint import LadderState
from diskret.safe.clock import Clock
from diskret.safe.control_cells import ControlCells
from diskret.safe.field import Field, Limits
from diskret.safe.history import History
from diskret.safe.mixtures import Mixtures, are_needed
from diskret.safe.options import LadderSearch, Progress

BATCH, LARGEST_BATCH, SHARE = 1024, 16_384, 256
"""Groups priced on one snapshot, more in large files (one for so many rows): threads then wait less for each other. The
result depends on it, so it is not an option."""
ALONE = 256
"""Groups below which threads are not worth their start."""
HOT, MILD, COLD = 0.8, 0.2, 0.05
"""Warmth at the start and end of annealing, per control table; the start is milder where there are few sweeps: more
would be forgotten than they find again."""
LONG = 70
"""Sweeps that begin hot."""
FEWEST, MIXED = 20, 100
"""Sweeps of annealing and of mixtures with which even the largest files begin."""
WARM = 0.04
"""Warmth at the start of the polish, likewise."""
CALM = 0.02
"""The least share of it: moves that cost nothing go on being made, others are not."""
WANDER = 2
"""Sweeps of polish that a search cut short still makes: after two, the means of three public files stay as they are."""
LEGS = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""Shares of the effort. A search within a limit runs each in turn and keeps the best file, so that it has a good one
early and again and again; the first is always carried to its end. Without a limit only the last is run."""
MANY = 3_000
"""Control tables up to which the effort is as asked for: 40 attributes make 10,700 tables."""
EACH = 30
"""Rows drawn of a cell beyond its limit per round."""
ROUND = 40_000
"""Rows drawn in one round at most."""
LOOK = 2_000
"""Cells that can be looked over in the time of one group; counts against the effort."""
FADE, EVERY = 0.7, 50
"""What is left of grown weights after this many rounds."""
QUENCH = 2
"""Sweeps downhill after an interruption in the heat."""
Rows = npt.NDArray[np.int32]
Within = tuple[Rows, Limits]
"""Frequencies, and the limits within which they were drawn."""
GUMBEL = (-np.log(-np.log((np.arange(4096) + 0.5) / 4096))).astype(np.float32)
"""What prices are shifted by: the cheapest is then drawn with probability proportional to exp(-price / warmth)."""


@dataclass(kw_only=True)
class LadderRun:
    """A search and where it stands. ``save`` is called with the state between rounds."""

    field: Field
    state: LadderState
    options: LadderSearch
    clock: Clock
    threads: int
    say: Progress
    save: Callable[[LadderState], None]
    history: History
    pool: ThreadPoolExecutor | None = None

    def search(self) -> Within:
        """Carry the search on until it is done, time is over, or the user stops it; the best file so far."""
        stages = {"mix": self._mix, "anneal": self._anneal, "ladder": self._climb, "polish": self._polish}
        self.pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            while self.state.stage != "done" and not self.clock.over():
                stages[self.state.stage]()
        except KeyboardInterrupt:
            self.clock.stop()
        finally:
            if self.pool is not None:
                self.pool.shutdown()
        return self._ended()

    @property
    def effort(self) -> float:
        """The effort of this leg; where there are very many tables every group takes longer, and fewer are tested."""
        return self.options.effort * LEGS[self.state.leg] * min(1.0, MANY / self.field.tables)

    @property
    def sweeps(self) -> int:
        """Sweeps of the annealing: many on small files, fewer on large ones."""
        return self._sweeps(FEWEST)

    def _sweeps(self, fewest: int) -> int:
        return int(max(8, round(self.effort * min(300, max(fewest, 25_000_000 / self.field.rows)))))

    @property
    def budget(self) -> int:
        """Groups the ladder may test."""
        rows: int = self.field.rows
        return round(self.effort * min(6_000_000 + 70 * rows, 20_000_000 + 20 * rows, 2_000 * rows))

    def _ended(self) -> Within:
        """The best file at the end: that of an earlier leg unless this one came further."""
        state = self.state
        begun = state.stage in ("mix", "anneal") or not state.reached
        if state.kept is not None and (begun or not _closer(self._walls(state.reached), state.kept_within)):
            return state.kept, state.kept_within
        if begun:
            return self._quenched()
        if state.stage in ("polish", "done") and state.sweep:
            return state.best, self._walls(state.reached)
        return self.wandered(state.best)

    # --- rounds of groups --------------------------------------------------------------------------------------------

    def _round(self, rows: Rows, which: npt.NDArray[np.int16], warmth: float = 0.0) -> bool:
        """One round of groups; false if it was cut short."""
        state, ground, penalty = self.state, self.field.ground, self.field.penalty
        groups = Groups(rows=rows, which=which, wanted=np.zeros(rows.size, dtype=np.uint8))
        seed = round_seed(state.seed, "groups", state.round)
        rest: tuple[Any, ...] = (
            ground,
            self.field.places,
            penalty,
            Chance(seed=seed, warmth=np.float32(warmth), noise=GUMBEL),
            state.x,
        )
        state.round += 1
        batch = max(BATCH, min(LARGEST_BATCH, self.field.rows // SHARE))
        for start in range(0, rows.size, batch):
            if start and self.clock.stopped:
                return False
            stop = min(start + batch, rows.size)
            if self.pool is None or stop - start < ALONE:
                _search_kernels.run_groups(groups, start, stop, *rest, False)
            else:
                cuts = np.linspace(start, stop, self.threads + 1).astype(np.int64).tolist()
                run: Callable[..., None] = _search_kernels.run_groups
                for job in [self.pool.submit(run, groups, a, b, *rest, False) for a, b in pairwise(cuts)]:
                    job.result()
            _search_kernels.run_groups(groups, start, stop, *rest, True)
            state.groups += stop - start
        self.clock.step(may_end=state.leg > 0 or len(LEGS) == 1)
        return True

    def _sweep(self, warmth: float = 0.0) -> bool:
        """All rows along a sort order, from a place that changes."""
        order, turn = self.field.ground.order, self.state.round
        which = turn % len(order)
        rows = np.roll(order[which], -((turn * 2_654_435_761) % self.field.rows))
        return self._round(rows, np.full(rows.size, which, dtype=np.int16), warmth)

    # --- stages ------------------------------------------------------------------------------------------------------

    def _mix(self) -> None:
        """Mixtures that cool down to frequencies."""
        field, state, total = self.field, self.state, self._sweeps(MIXED)
        mixtures = Mixtures.of(field.original, field.control, field.k, state.mean, state.warmth, state.spread)
        state.mean, state.warmth, state.spread = mixtures.mean, mixtures.warmth, mixtures.spread
        while state.sweep < total:
            if self.clock.over():
                return
            self.say("mixing", state.sweep, total)
            mixtures.sweep(state.sweep, total, round_seed(state.seed, "mixtures", state.round))
            state.warmth, state.spread = mixtures.warmth, mixtures.spread
            state.round += 1
            state.sweep += 1
            self.clock.step(may_end=state.leg > 0 or len(LEGS) == 1)
            self.save(state)
        state.x, state.mean = mixtures.frequencies(), None
        self._begin_ladder()

    def _anneal(self) -> None:
        """Sum of squares, one-dimensional cells three times, along one sort order after the other."""
        field, state, total = self.field, self.state, self.sweeps
        field.squares(state.x)
        hot = max(MILD, HOT * min(1.0, total / LONG))
        while state.sweep < total:
            if self.clock.over():
                return
            self.say("annealing", state.sweep, total)
            self.history.note("annealing", state.groups, None, (), field.largest())
            if not self._sweep(field.tables * hot * (COLD / hot) ** (state.sweep / total)):
                return
            state.sweep += 1
            self.save(state)
        self._begin_ladder()

    def _begin_ladder(self) -> None:
        state = self.state
        state.best, state.reached, state.sweep = state.x.copy(), self.field.maxima(state.x), 0
        state.rung = self._next_rung(first=True)
        state.stage = "ladder" if state.rung else "polish"

    def _quenched(self) -> Within:
        """Frequencies in the heat of annealing are not a result: a few sweeps downhill, on a copy."""
        calm = self._apart(self.state.x)
        calm.field.squares(calm.state.x)
        for _ in range(QUENCH):
            calm._sweep()
        return calm.wandered(calm.state.x)

    def wandered(self, x: Rows) -> Within:
        """Some sweeps of polish inside the limits that frequencies keep, on a copy."""
        calm = self._apart(x)
        walls = self._walls(calm.field.maxima(x))
        calm.field.polish(calm.state.x, walls, self._floor)
        for _ in range(WANDER):
            calm._sweep(calm.field.tables * WARM * CALM)
        return calm.state.x, walls

    def _apart(self, x: Rows) -> LadderRun:
        """The same run on a copy, which nothing ends."""
        return replace(self, state=replace(self.state, x=x.copy()), clock=Clock(), pool=None)

    @cached_property
    def _floor(self) -> Limits:
        return floor_of(self.field.control, self.options, self.field.k)

    def _next_rung(self, *, first: bool = False) -> Limits:
        reached, asked = self.state.reached, self.options.limits
        lowest = tuple(map(min, reached, self._floor if asked is None else _each(asked, len(reached))))
        return next_rung(reached, self.state.failed, lowest, asked=asked is not None, first=first)

    def _walls(self, reached: Limits) -> Limits:
        """Limits that the polish keeps: those reached, never below the floor."""
        return tuple(map(max, reached, self._floor))

    def _climb(self) -> None:
        """One rung: groups through cells beyond their limit, whose weight grows as long as they stay there."""
        state = self.state
        if state.weight is None:
            state.weight, state.spent = self.field.equal_weights(), 0
        self.field.ladder(state.x, state.rung, state.weight, state.reached)
        beyond = self._healed(state.weight, max(0.6 * (self.budget - state.climbed), 0.02 * self.budget))
        if beyond is None or (beyond and self.clock.over()):
            return
        state.climbed += state.spent
        if beyond == 0:
            maxima = self.field.maxima(state.x)
            state.reached, state.best = tuple(map(min, maxima, state.rung)), state.x.copy()
        else:
            state.failed, state.x = (*state.failed, state.rung), state.best.copy()
        state.weight, state.rung = None, ()
        if state.climbed < self.budget:
            state.rung = self._next_rung()
        state.stage = "ladder" if state.rung else "polish"

    def _healed(self, weight: npt.NDArray[np.float32], allowed: float) -> int | None:
        """Rounds until no cell is beyond its limit, or effort or time is spent; how many are left.

        None if a round was cut short: what it began is no step.
        """
        state, penalty = self.state, self.field.penalty
        found = np.empty(self.field.cells, dtype=np.int32)
        words = "limits " + "/".join(map(str, state.rung))
        most = 0
        while True:
            beyond = int(_search_kernels.find_over(penalty.state, penalty.base, penalty.limit, found))
            most = max(most, beyond)
            self.say(words, most - beyond, most)
            self.history.note("ladder", state.groups, beyond, state.rung, state.reached)
            if beyond == 0 or state.spent >= allowed or self.clock.over():
                return beyond
            rows, which = self._drawn(found[:beyond])
            if rows.size == 0:
                return beyond
            if not self._round(rows, which):
                return None
            state.spent += rows.size + self.field.cells // LOOK
            weight[found[:beyond]] += 1
            state.rounds += 1
            if state.rounds % EVERY == 0:
                weight[:-1] = (weight[:-1] - 1) * np.float32(FADE) + 1
            self.save(state)

    def _drawn(self, cells: Rows) -> tuple[Rows, npt.NDArray[np.int16]]:
        """Rows of cells beyond their limit, each with a sort order that leads out of its cell."""
        each = max(1, min(EACH, ROUND // cells.size))
        seed = round_seed(self.state.seed, "rows", self.state.round)
        field = self.field
        rows, which = _search_kernels.draw(
            cells, each, seed, field.penalty, field.places, field.index, field.exits, self.state.x
        )
        return rows, which

    def _polish(self) -> None:
        """Squares of what is beyond the floor, inside the limits reached."""
        field, state = self.field, self.state
        field.polish(state.x, self._walls(state.reached), self._floor)
        total = max(4, self.sweeps // 5)
        while state.sweep < total:
            if self.clock.over():
                return
            self.say("polishing", state.sweep, total)
            self.history.note("polishing", state.groups, None, state.reached, field.largest())
            if not self._sweep(field.tables * WARM * max(CALM, 1 - state.sweep / (total - 1))):
                return
            state.sweep += 1
            state.best = state.x.copy()
            self.save(state)
        self._next_leg()

    def _next_leg(self) -> None:
        """Keep the better file of this leg and those before; begin the next, if there is one."""
        state = self.state
        within = self._walls(state.reached)
        if state.kept is None or not _closer(state.kept_within, within):
            state.kept, state.kept_within = state.best.copy(), within
        if state.leg + 1 == len(LEGS):
            state.best, state.reached, state.stage = state.kept.copy(), state.kept_within, "done"
            return
        first = state.leg == 0
        state.leg, state.stage, state.sweep = state.leg + 1, first_stage(self.field.original), 0
        state.failed, state.climbed = (), 0
        if first:
            self.clock.look()


def first_stage(original: Ints) -> str:
    """What a search begins with."""
    return "mix" if are_needed(original) else "anneal"


def _closer(one: Limits, other: Limits) -> bool:
    """Whether limits are the better ones: by the largest, then by all together."""
    return (max(one), sum(one)) < (max(other), sum(other))


def next_rung(
    reached: Limits, failed: Sequence[Limits], lowest: Limits, *, asked: bool = False, first: bool = False
) -> Limits:
    """Limits to try after the ones reached; empty if there is nothing left to try. ``lowest`` may have been asked for.

    First all multi-dimensional limits together, by a fifth while they are large; where that failed by one, then one
    dimension alone, the one-dimensional limit last.

    >>> next_rung((6, 12, 17), (), (1, 2, 2), first=True), next_rung((2, 10, 13), (), (1, 2, 2))
    ((2, 12, 14), (2, 10, 11))
    >>> next_rung((1, 3, 3), [(1, 2, 2)], (1, 2, 2)), next_rung((1, 2, 2), (), (1, 2, 2))
    ((1, 2, 3), ())
    """
    for limits in _proposals(reached, lowest, asked=asked, first=first):
        lower = any(new < old for new, old in zip(limits, reached, strict=True))
        hopeless = any(all(new <= bad for new, bad in zip(limits, each, strict=True)) for each in failed)
        if lower and not hopeless:
            return limits
    return ()


def _proposals(reached: Limits, floor: Limits, *, asked: bool, first: bool) -> Iterator[Limits]:
    """Limits worth trying, the boldest first."""
    # one-dimensional cells without any deviation leave hardly a move: that comes last
    high = (max(floor[0], min(1, reached[0])), *floor[1:])
    if first:
        one = high[0] if asked else max(high[0], min(2, reached[0] - 1))
        yield _all_lower(reached, high, fast=True, one=min(reached[0], one))
    else:
        yield _all_lower(reached, high, fast=True)
        yield _all_lower(reached, high, fast=False)
    for at in [*range(1, len(reached)), 0]:
        yield tuple(max(f, r - (i == at)) for i, (r, f) in enumerate(zip(reached, floor, strict=True)))


def floor_of(cells: ControlCells, options: LadderSearch, k: int) -> Limits:
    """The lowest limits to try, from one dimension up; nothing is gained by deviations that are smaller.

    k - 1; ``one_way`` in one dimension, if no count there is small; what was asked for, if that is less. Counts between
    k and 2k - 4 are taken for small: then each number the file may show for a small count may stand for k others.
    """
    alone = cells.original[cells.dimension == 1]
    one = options.one_way if alone.min(initial=2 * k) >= max(k, 2 * k - 4) else max(options.one_way, k - 1)
    usual = (one, *[k - 1] * (int(cells.dimension.max()) - 1))
    return usual if options.limits is None else tuple(map(min, usual, _each(options.limits, len(usual))))


def _each(asked: Limits, dimensions: int) -> Limits:
    """Limits asked for, dimension by dimension: the last holds for all higher ones."""
    return tuple(asked[min(i, len(asked) - 1)] for i in range(dimensions))


def _all_lower(reached: Limits, floor: Limits, *, fast: bool, one: int | None = None) -> Limits:
    """The largest multi-dimensional limit lowered, and every other that is above the new one."""
    several = reached[1:] or reached
    top = max(several)
    new = top - (max(1, top // 5) if fast else 1)
    lowered = tuple(max(f, min(r, new)) for r, f in zip(reached, floor, strict=True))
    if len(reached) == 1:
        return lowered
    return (max(floor[0], min(reached[0] if one is None else one, new)), *lowered[1:])
