"""The printed method: find a feasible solution (phase 1), then optimise it (phase 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.safe import _printed_kernels
from diskret.safe.cells import ControlCells
from diskret.safe.clock import Clock
from diskret.safe.history import History
from diskret.safe.options import PrintedSearch
from diskret.safe.start import rounded_start, with_total

ONE, SEVERAL = 0, 1
CHUNK = 1 << 14
NEIGHBOURS = 2
"""Rows before and after a case that technique 2 looks at."""
Progress = Callable[[str, int, int], None]


@dataclass
class PrintedRun:
    """Where a run of the printed method stands."""

    cells: ControlCells
    k: int
    options: PrintedSearch
    weight: npt.NDArray[np.int32]
    x: Ints
    clock: Clock
    say: Progress
    objects: int = field(init=False)
    deviation: npt.NDArray[np.int32] = field(init=False)
    total: Ints = field(init=False)
    kind: npt.NDArray[np.int8] = field(init=False)
    limit: npt.NDArray[np.int32] = field(init=False)
    bounds: tuple[int, int] = field(init=False)
    raises: int = 0
    passes: int = 0
    groups: int = 0
    history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        self.objects = int(self.x.sum())
        self.deviation = np.zeros(self.cells.size + 1, dtype=np.int32)
        # k - 1 is the least limit of the total at which every case can go one way or the other
        self.total = np.array([0, self.k - 1], dtype=np.int64)
        self.kind = (self.cells.dimension > 1).astype(np.int8)
        self.set_bounds(self.options.start)

    def set_bounds(self, bounds: tuple[int, int]) -> None:
        """Limits b + g: b for one- and for multi-dimensional cells, g the weight of the cell."""
        self.bounds = bounds
        self.limit = (np.array(bounds, dtype=np.int32)[self.kind] + self.weight).astype(np.int32)

    def set_frequencies(self, x: Ints) -> None:
        """Go on from other frequencies."""
        self.x = x
        self.deviation[:-1] = self.cells.deviation(x)
        self.total[0] = int(x.sum()) - self.objects

    def run_pass(self, sequence: Ints, phase: int) -> bool:
        """Slide groups along a sequence; false if time is over."""
        for start in range(0, sequence.size, CHUNK):
            if self.clock.over():
                return False
            stop = min(start + CHUNK, sequence.size)
            tested, _ = _printed_kernels.run_pass(
                sequence, start, stop, self.options.group, self.k, phase, self.cells.number, self.deviation, self.limit,
                self.x, self.total,
            )  # fmt: skip
            self.groups += tested
            self.deviation[-1] = 0
        self.passes += 1
        return True


def search_printed(
    cells: ControlCells, frequency: Ints, k: int, weight: npt.NDArray[np.int32], options: PrintedSearch, clock: Clock,
    progress: Progress, history: History | None = None,
) -> tuple[Ints, PrintedRun]:  # fmt: skip
    """Both phases; anonymous frequencies with the number of objects kept, at whatever moment time is over."""
    run = PrintedRun(cells, k, options, weight, frequency.astype(np.int64), clock, progress)
    run.history = history or History()
    best: Ints | None = None
    try:
        if find_feasible(run):
            best = with_total(run.x, run.objects, k)
            best = optimise(run)
    except KeyboardInterrupt:
        clock.stop()
    if best is None:  # time was over in phase 1: round what is left
        best = with_total(rounded_start(run.x, k), run.objects, k)
    return best, run


# --- phase 1 ---------------------------------------------------------------------------------------------------------


def find_feasible(run: PrintedRun) -> bool:
    """Remove all cases inside limits that are raised only when nothing else helps; false if time is over."""
    asked, n = run.options, run.x.size
    active, technique = min(asked.part, n), 0
    start = max(1, number_of_cases(run, n))
    while True:
        before = number_of_cases(run, active)
        if before and not run.run_pass(sequence_of(run, active, technique), 1):
            return False
        cases = number_of_cases(run, active)
        left = number_of_cases(run, n)
        run.say("phase 1", start - left, start)
        run.history.note("phase 1", run.groups, left, run.bounds, largest(run))
        if active == n and cases == 0:
            return True
        if active < n and cases <= asked.almost * asked.part:
            active, technique = min(active + asked.part, n), 0
        elif before - cases >= asked.expected[technique] * before:
            technique = 0
        elif technique < 2 or (technique == 2 and active == n and cases <= asked.rare * n):
            technique += 1
        else:
            raise_bounds(run)
            technique = 0


def raise_bounds(run: PrintedRun) -> None:
    """Raise the bound of multi-dimensional cells until the distance is reached, then both."""
    one, several = run.bounds
    if several - one < run.options.distance:
        run.set_bounds((one, several + 1))
    else:
        run.set_bounds((one + 1, several + 1))
    run.raises += 1


def number_of_cases(run: PrintedRun, active: int) -> int:
    """Rows of the active part that are neither empty nor anonymous."""
    x = run.x[:active]
    return int(((x > 0) & (x < run.k)).sum())


def sequence_of(run: PrintedRun, active: int, technique: int) -> Ints:
    """The rows a pass looks at: 0 the cases, 1 all occupied rows, 2 the cases with their neighbours, 3 all rows."""
    x = run.x[:active]
    return chosen_rows(technique, (x > 0) & (x < run.k), x)


def chosen_rows(technique: int, case: Bools, x: Ints) -> Ints:
    """The rows of a selection technique.

    >>> case = np.array([0, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
    >>> [chosen_rows(t, case, np.array([3, 0, 1, 0, 0, 0, 4, 0])).tolist() for t in range(3)]
    [[2], [0, 2, 6], [0, 1, 2, 3, 4]]
    """
    if technique == 0:
        return np.flatnonzero(case)
    if technique == 1:
        return np.flatnonzero(x > 0)
    if technique == 2:
        near = case.copy()
        for step in range(1, NEIGHBOURS + 1):
            near[step:] |= case[:-step]
            near[:-step] |= case[step:]
        return np.flatnonzero(near)
    return np.arange(x.size)


# --- phase 2 ---------------------------------------------------------------------------------------------------------


def lowered_limits(observed: Ints, target: int) -> Ints:
    """The next limits of one dimension type by weight class, from the observed maxima.

    One below the maximum where that is above the target, never below the limit of the next smaller weight.

    >>> lowered_limits(np.array([6, 7, 8, 8, 9, 11, 12, 11, 13]), 8).tolist()
    [6, 7, 8, 8, 8, 10, 11, 11, 12]
    """
    wanted = np.where(observed > target, observed - 1, observed)
    return np.maximum.accumulate(wanted)


def optimise(run: PrintedRun) -> Ints:
    """Lower the limits class by class while the cells beyond them can be brought back; the best file found."""
    weights = run.weight.astype(np.int64)
    classes = int(weights.max(initial=0)) + 1
    group = run.kind.astype(np.int64) * classes + weights
    frozen = np.zeros((2, classes), dtype=np.bool_)
    best = restore_total(run, group, classes)
    start = int(observed_maxima(run, group, classes).max())
    while not run.clock.over():
        observed = observed_maxima(run, group, classes)
        run.say("phase 2", start - int(observed.max()), start)
        run.history.note("phase 2", run.groups, None, (), largest(run))
        limits, lowered = next_limits(run, observed, group, frozen)
        if not lowered.any():
            break
        run.limit = limits.reshape(-1)[group].astype(np.int32)
        if heal(run):
            best = run.x.copy()
            continue
        stuck = np.zeros(2 * classes, dtype=np.bool_)
        stuck[group[np.abs(run.deviation[:-1]) > run.limit]] = True
        frozen |= stuck.reshape(2, classes)
        run.set_frequencies(best.copy())
    return best


def restore_total(run: PrintedRun, group: Ints, classes: int) -> Ints:
    """Bring the number of objects back by steps inside the limits reached; by force at the largest rows if need be."""
    run.total[1] = 0
    run.limit = observed_maxima(run, group, classes).reshape(-1)[group].astype(np.int32)
    if not heal(run):
        run.set_frequencies(with_total(run.x, run.objects, run.k))
    return run.x.copy()


def largest(run: PrintedRun) -> tuple[int, ...]:
    """Largest deviation beyond its weight, of one-dimensional cells and of all others."""
    size = np.maximum(np.abs(run.deviation[:-1]) - run.weight, 0)
    return tuple(int(size[run.kind == kind].max(initial=0)) for kind in np.unique(run.kind))


def observed_maxima(run: PrintedRun, group: Ints, classes: int) -> Ints:
    """Largest deviation by dimension type and weight class."""
    observed = np.zeros(2 * classes, dtype=np.int64)
    np.maximum.at(observed, group, np.abs(run.deviation[:-1]).astype(np.int64))
    return observed.reshape(2, classes)


def next_limits(run: PrintedRun, observed: Ints, group: Ints, frozen: Bools) -> tuple[Ints, Bools]:
    """Limits lowered in reading order, one-dimensional first, as long as not too many cells lie beyond them."""
    limits = np.maximum.accumulate(observed, axis=1)
    lowered = np.zeros(observed.shape, dtype=np.bool_)
    size = np.abs(run.deviation[:-1])
    violations = 0
    for kind in (ONE, SEVERAL):
        wanted = lowered_limits(observed[kind], run.options.targets[kind])
        for g in range(observed.shape[1]):
            floor = limits[kind, g - 1] if g else 0
            new = max(int(wanted[g]), int(floor))
            if frozen[kind, g] or new >= observed[kind, g]:
                continue
            more = int(((group == kind * observed.shape[1] + g) & (size > new)).sum())
            if violations + more <= run.options.most_violations:
                limits[kind, g] = new
                lowered[kind, g] = True
                violations += more
    return limits, lowered


def heal(run: PrintedRun) -> bool:
    """Passes until no cell is beyond its limit; false if no technique gets further, or time is over."""
    technique = 0
    while True:
        beyond = np.zeros(run.deviation.size, dtype=np.bool_)
        beyond[:-1] = np.abs(run.deviation[:-1]) > run.limit
        before = int(beyond.sum()) + (run.total[0] != 0)
        if before == 0:
            return True
        marked = np.zeros(run.x.size, dtype=np.bool_)
        _printed_kernels.rows_beyond(run.cells.number, beyond, marked)
        if not run.run_pass(chosen_rows(technique, marked, run.x), 2):
            return False
        after = int((np.abs(run.deviation[:-1]) > run.limit).sum()) + (run.total[0] != 0)
        if before - after >= max(1.0, run.options.expected[technique] * before):
            technique = 0
        elif technique < 3:
            technique += 1
        else:
            return bool(after == 0)
