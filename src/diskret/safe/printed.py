"""The printed method: find a feasible solution (phase 1), then optimise it (phase 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.safe import _printed_kernels
from diskret.safe.clock import Clock
from diskret.safe.control_cells import ControlCells
from diskret.safe.history import History
from diskret.safe.options import PrintedSearch, Progress
from diskret.safe.start import rounded_start, with_total

ONE, SEVERAL = 0, 1
CHUNK = 1 << 14
"""Groups of a step, after which a run may end."""
NEIGHBOURS = 2
"""Rows before and after a case that technique 2 looks at."""


@dataclass(kw_only=True)
class PrintedRun:
    """A run of the printed method and where it stands."""

    cells: ControlCells
    k: int
    options: PrintedSearch
    weight: npt.NDArray[np.int32]
    x: Ints
    clock: Clock
    say: Progress
    history: History
    objects: int = field(init=False)
    deviation: npt.NDArray[np.int32] = field(init=False)
    total: Ints = field(init=False)
    """Deviation and limit of the number of objects."""
    kind: Ints = field(init=False)
    """One- or multi-dimensional, by cell; with the weight class it makes the ``group`` of a cell."""
    group: Ints = field(init=False)
    limit: npt.NDArray[np.int32] = field(init=False)
    bounds: tuple[int, int] = field(init=False)
    groups: int = 0

    def __post_init__(self) -> None:
        self.objects = int(self.x.sum())
        self.deviation = np.zeros(self.cells.size + 1, dtype=np.int32)
        # k - 1 is the least limit of the total at which every case can go one way or the other
        self.total = np.array([0, self.k - 1], dtype=np.int64)
        self.kind = (self.cells.dimension > 1).astype(np.int64)
        self.group = self.kind * self.classes + self.weight
        self._set_bounds(self.options.start)

    @property
    def classes(self) -> int:
        """Number of weight classes."""
        return int(self.weight.max(initial=0)) + 1

    @property
    def sizes(self) -> npt.NDArray[np.int32]:
        """Absolute deviations."""
        return np.abs(self.deviation[:-1])

    def search(self) -> Ints:
        """Both phases; anonymous frequencies with the number of objects kept, at whatever moment time is over."""
        best: Ints | None = None
        try:
            if self._find_feasible():
                best = with_total(self.x, self.objects, self.k)
                best = self._optimise()
        except KeyboardInterrupt:
            self.clock.stop()
        if best is None:  # time was over in phase 1: round what is left
            best = with_total(rounded_start(self.x, self.k), self.objects, self.k)
        return best

    def _set_bounds(self, bounds: tuple[int, int]) -> None:
        """Limits b + g: b for one- and for multi-dimensional cells, g the weight of the cell."""
        self.bounds = bounds
        self.limit = (np.array(bounds, dtype=np.int32)[self.kind] + self.weight).astype(np.int32)

    def _set_frequencies(self, x: Ints) -> None:
        """Go on from other frequencies."""
        self.x = x
        self.deviation[:-1] = self.cells.deviation(x)
        self.total[0] = int(x.sum()) - self.objects

    def _run_pass(self, sequence: Ints, phase: int) -> bool:
        """Slide groups along a sequence; false if time is over."""
        step = _printed_kernels.Step(
            number=self.cells.number, deviation=self.deviation, limit=self.limit, x=self.x, total=self.total, k=self.k,
            phase=phase,
        )  # fmt: skip
        for start in range(0, sequence.size, CHUNK):
            if self.clock.over():
                return False
            stop = min(start + CHUNK, sequence.size)
            self.groups += int(_printed_kernels.run_pass(sequence, start, stop, self.options.group, step))
            self.deviation[-1] = 0
            self.clock.step()
        return True

    def _note(self, phase: str, cases: int | None, limits: tuple[int, ...]) -> None:
        """With the largest deviation beyond its weight, of one-dimensional cells and of all others."""
        size = np.maximum(self.sizes - self.weight, 0)
        largest = tuple(
            int(size[self.kind == kind].max(initial=0)) for kind in sorted({int(self.kind.min()), int(self.kind.max())})
        )
        self.history.note(phase, self.groups, cases, limits, largest)

    # --- phase 1 -----------------------------------------------------------------------------------------------------

    def _cases(self, active: int) -> Bools:
        """Rows of the active part that are neither empty nor anonymous."""
        x = self.x[:active]
        return (x > 0) & (x < self.k)

    def _find_feasible(self) -> bool:
        """Remove all cases inside limits that are raised only when nothing else helps; false if time is over."""
        asked, n = self.options, self.x.size
        active, technique = min(asked.part, n), 0
        start = max(1, int(self._cases(n).sum()))
        while True:
            case = self._cases(active)
            before = int(case.sum())
            if before and not self._run_pass(chosen_rows(technique, case, self.x[:active]), 1):
                return False
            cases, left = int(self._cases(active).sum()), int(self._cases(n).sum())
            self.say("phase 1", start - left, start)
            self._note("phase 1", left, self.bounds)
            if active == n and cases == 0:
                return True
            if active < n and cases <= asked.almost * asked.part:
                active, technique = min(active + asked.part, n), 0
            elif before - cases >= asked.expected[technique] * before:
                technique = 0
            else:
                technique = self._next_technique(technique, active == n and cases <= asked.rare * n)

    def _next_technique(self, technique: int, rare: bool) -> int:
        """The next one; after the last, wider limits and the first again."""
        if technique < 2 or (technique == 2 and rare):
            return technique + 1
        # the bound of multi-dimensional cells until the distance is reached, then both
        one, several = self.bounds
        self._set_bounds((one + (several - one >= self.options.distance), several + 1))
        return 0

    # --- phase 2 -----------------------------------------------------------------------------------------------------

    def _optimise(self) -> Ints:
        """Lower the limits class by class while the cells beyond them can be brought back; the best file found."""
        frozen = np.zeros((2, self.classes), dtype=np.bool_)
        best = self._restored_total()
        start = int(self._observed().max())
        while not self.clock.over():
            observed = self._observed()
            self.say("phase 2", start - int(observed.max()), start)
            self._note("phase 2", None, ())
            limits = self._next_limits(observed, frozen)
            if limits is None:
                break
            self.limit = limits.reshape(-1)[self.group].astype(np.int32)
            if self._heal():
                best = self.x.copy()
                continue
            frozen.reshape(-1)[self.group[self.sizes > self.limit]] = True
            self._set_frequencies(best.copy())
        return best

    def _restored_total(self) -> Ints:
        """The number of objects brought back by steps inside the limits reached; by force at the largest rows else."""
        self.total[1] = 0
        self.limit = self._observed().reshape(-1)[self.group].astype(np.int32)
        if not self._heal():
            self._set_frequencies(with_total(self.x, self.objects, self.k))
        return self.x.copy()

    def _observed(self) -> Ints:
        """Largest deviation by dimension type and weight class."""
        observed = np.zeros(2 * self.classes, dtype=np.int64)
        np.maximum.at(observed, self.group, self.sizes.astype(np.int64))
        return observed.reshape(2, -1)

    def _next_limits(self, observed: Ints, frozen: Bools) -> Ints | None:
        """Limits lowered in reading order, one-dimensional first, as long as not too many cells exceed them.

        None if no limit can be lowered.
        """
        limits, violations, lowered = np.maximum.accumulate(observed, axis=1), 0, False
        for kind in (ONE, SEVERAL):
            wanted = lowered_limits(observed[kind], self.options.targets[kind])
            for g in range(self.classes):
                new = max(int(wanted[g]), int(limits[kind, g - 1]) if g else 0)
                if frozen[kind, g] or new >= observed[kind, g]:
                    continue
                more = int(((self.group == kind * self.classes + g) & (self.sizes > new)).sum())
                if violations + more <= self.options.most_violations:
                    limits[kind, g], lowered = new, True
                    violations += more
        return limits if lowered else None

    def _heal(self) -> bool:
        """Passes until no cell is beyond its limit; false if no technique gets further, or time is over."""
        technique = 0
        while True:
            beyond = np.append(self.sizes > self.limit, False)
            before = int(beyond.sum()) + (self.total[0] != 0)
            if before == 0:
                return True
            touched: Bools = np.any(beyond[self.cells.number], axis=1)
            if not self._run_pass(chosen_rows(technique, touched, self.x), 2):
                return False
            after = int((self.sizes > self.limit).sum()) + (self.total[0] != 0)
            if before - after >= max(1.0, self.options.expected[technique] * before):
                technique = 0
            elif technique < 3:
                technique += 1
            else:
                return bool(after == 0)


def chosen_rows(technique: int, case: Bools, x: Ints) -> Ints:
    """The rows of a technique: 0 the cases, 1 all occupied rows, 2 the cases with their neighbours, 3 all rows.

    >>> case = np.array([0, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
    >>> [chosen_rows(t, case, np.array([3, 0, 1, 0, 0, 0, 4, 0])).tolist() for t in range(3)]
    [[2], [0, 2, 6], [0, 1, 2, 3, 4]]
    """
    if technique == 2:
        case = np.convolve(case, np.ones(2 * NEIGHBOURS + 1), mode="full")[NEIGHBOURS:][: case.size] > 0
    chosen = {1: x > 0, 3: np.ones(x.size, dtype=np.bool_)}
    return np.flatnonzero(chosen.get(technique, case))


def lowered_limits(observed: Ints, target: int) -> Ints:
    """The next limits of one dimension type by weight class, from the observed maxima.

    One below the maximum where that is above the target, never below the limit of the next smaller weight.

    >>> lowered_limits(np.array([6, 7, 8, 8, 9, 11, 12, 11, 13]), 8).tolist()
    [6, 7, 8, 8, 8, 10, 11, 11, 12]
    """
    return np.maximum.accumulate(np.where(observed > target, observed - 1, observed))
