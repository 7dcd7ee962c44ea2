"""What a reader of the published table can compute about its hidden cells; nothing that is hidden goes in.

Unknowns are the hidden values themselves, in whole units of the last published decimal. Every published line says what
its unknowns add up to, and everybody may know that none is negative. Those numbers, all published, are all that the
programmes below are made of: tables that are published alike give the same programmes, and the same answers to the last
bit, whatever they hide. A solver proposes how to combine lines; an end counts only as far as that combination, with
multipliers rounded to fractions, proves it in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.equations import Equations
from diskret.model.exact import decimals_of, exact
from diskret.model.lp import ALL_BUT_OPTIMAL, Matrix, Programme, Simplex, Way
from diskret.model.tolerances import SOLVER

Bound = int | None
"""In units; None: no limit."""
DIGITS = 12
"""Values that are no short decimals are taken to this many digits; what is lost widens the intervals."""
MOST_DIGITS = 25
SAME = 2.0**-50
"""Doubles that differ by less, relative to their size, mean the same decimal: a few operations lose that."""
CLEAR = 2.0**-3
"""In units, what rounding loses is less than this, or it could not be told from the next decimal."""
PASSES = 10
"""How often lines narrow each other before programmes do; long chains creep."""
SIZE = 2.0**10
"""The largest number of a programme: the solver's tolerance is then a small part of everything in it."""
DENOMINATORS = (1, 2, 6, 60)
STEEP = 2**24
"""Multipliers and denominators beyond this are noise; below, their products fit 64 bits."""
BATCH = 0.02
"""Programmes for many cells at once go on while they settle this share of them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Published:
    """The published lines that hold a hidden cell, in units of ``10 ** -decimals``."""

    system: Equations
    totals: Sequence[int]
    """What the unknowns of each line add up to."""
    off: Sequence[int]
    """How far that may be off, because values are no short decimals."""
    decimals: int
    signs: bool
    """Whether everybody knows that no value is negative."""
    whole: bool
    """Whether values are counts."""


def published(table: Cells, signs: bool) -> Published:
    """The lines as a reader sees them.

    >>> from diskret import Hierarchy, Table
    >>> cells = {"s": ["a", "b", "c"], "x": [1.5, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> seen = published(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"), True)
    >>> seen.totals, seen.decimals
    ([35], 1)
    """
    hidden = table.hidden.reshape(-1)
    everything = table.equations(np.ones(table.size, dtype=np.bool_))
    system, row = everything.among(hidden), everything.row_of()
    rows = np.unique(row[hidden[everything.columns]])
    place = np.full(everything.rows, -1)
    place[rows] = np.arange(rows.size)
    seen = (place[row] >= 0) & ~hidden[everything.columns]
    units, decimals, rounded = _units(table.value.reshape(-1), everything.columns[seen])
    totals, terms = [0] * rows.size, [0] * rows.size
    for r, unit, times in zip(place[row[seen]].tolist(), units, everything.coefficients[seen].tolist(), strict=True):
        totals[r] -= int(times) * unit
        terms[r] += abs(int(times))
    # half a unit for every rounded value, and as much again for sums of binary fractions
    off = [n + 1 if rounded else 0 for n in terms]
    return Published(
        system=system, totals=totals, off=off, decimals=decimals, signs=signs, whole=table.frequency and not rounded
    )


def _units(value: Floats, cells: Ints) -> tuple[list[int], int, bool]:
    """Values of some (open) cells in units, the decimals of a unit, and whether that rounded them."""
    known = value[cells]
    decimals = _decimals(known)
    if decimals is not None:
        return np.rint(known * 10.0**decimals).astype(np.int64).tolist(), decimals, False
    largest = float(np.abs(known).max())
    decimals = DIGITS - int(np.ceil(np.log10(largest)))
    scale = Fraction(10) ** decimals
    return [round(exact(v) * scale) for v in known.tolist()], decimals, True


def _decimals(known: Floats) -> int | None:
    """The decimals that values mean; doubles a hair off, as sums of decimals are, mean the decimal near them."""
    found = decimals_of(known)
    if found is not None:
        return found
    largest = float(np.abs(known).max())
    for decimals in range(MOST_DIGITS):
        scaled = known * 10.0**decimals
        if largest * 10.0**decimals * SAME >= CLEAR:
            break
        if (np.abs(scaled - np.rint(scaled)) <= SAME * np.abs(scaled)).all():
            return decimals
    return None


# --- line by line ---------------------------------------------------------------------------------------------------


def narrowed(seen: Published) -> tuple[list[Bound], list[Bound]]:
    """What single lines say about each unknown, over and over: certain, but not always all that can be computed."""
    count = seen.system.cells.size
    low: list[Bound] = [0 if seen.signs else None] * count
    high: list[Bound] = [None] * count
    start, columns = seen.system.start.tolist(), seen.system.columns.tolist()
    times = [int(c) for c in seen.system.coefficients.tolist()]
    waiting = set(range(seen.system.rows))
    lines_of: list[list[int]] = [[] for _ in range(count)]
    for r, c in zip(seen.system.row_of().tolist(), columns, strict=True):
        lines_of[c].append(r)
    for _ in range(PASSES):
        again: set[int] = set()
        for r in sorted(waiting):
            entries = [(columns[e], times[e]) for e in range(start[r], start[r + 1])]
            for c in _by_line(entries, seen.totals[r], seen.off[r], low, high, seen.whole):
                again.update(lines_of[c])
        waiting = again
        if not waiting:
            break
    return low, high


def _by_line(
    entries: list[tuple[int, int]], total: int, off: int, low: list[Bound], high: list[Bound], whole: bool
) -> Iterator[int]:
    """Narrow the unknowns of one line in place; those that changed."""
    least = [_times(t, low[c] if t > 0 else high[c]) for c, t in entries]
    most = [_times(t, high[c] if t > 0 else low[c]) for c, t in entries]
    for (c, t), above, below in zip(entries, _of_others(least), _of_others(most), strict=True):
        # t times the unknown is what the others leave
        ends = None if below is None else total - off - below, None if above is None else total + off - above
        smallest, largest = ends if t > 0 else (ends[1], ends[0])
        one = None if smallest is None else _divided(smallest, t, up=whole)
        other = None if largest is None else _divided(largest, t, up=not whole)
        higher, lower = _higher(low[c], one), _lower(high[c], other)
        if higher != low[c] or lower != high[c]:
            low[c], high[c] = higher, lower
            yield c


def _of_others(terms: list[Bound]) -> list[Bound]:
    """For each term the sum of all others; None if one of those has no limit."""
    unlimited, total = terms.count(None), sum(t for t in terms if t is not None)
    return [total - (t or 0) if unlimited == (t is None) else None for t in terms]


def _times(times: int, end: Bound) -> Bound:
    return None if end is None else times * end


def _divided(number: int, by: int, *, up: bool) -> int:
    return -(-number // by) if up else number // by


def _higher(one: Bound, other: Bound) -> Bound:
    return other if one is None else one if other is None else max(one, other)


def _lower(one: Bound, other: Bound) -> Bound:
    return other if one is None else one if other is None else min(one, other)


# --- all lines together ---------------------------------------------------------------------------------------------


def ends_of(
    seen: Published, most: int, progress: Callable[[int, int], None] | None = None
) -> tuple[list[Bound], list[Bound], Bools]:
    """The ends of every unknown that published lines prove, and which unknowns stand in groups larger than ``most``.

    In such groups lines are looked at one by one only. A group whose lines contradict each other has no ends.
    """
    low, high = narrowed(seen)
    groups = seen.system.components()
    order = np.argsort(groups, kind="stable")
    large = np.zeros(groups.size, dtype=np.bool_)
    done = 0
    for columns in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if groups.size else ():
        if columns.size > most:
            large[columns] = True
        else:
            _Group(seen, columns, low, high).settle()
        if any(a is not None and b is not None and a > b for a, b in ((low[c], high[c]) for c in columns)):
            for c in columns:
                low[c] = high[c] = None
        done += columns.size
        if progress is not None:
            progress(done, groups.size)
    return low, high, large


class _Group:
    """Unknowns that equations link: one programme, asked again and again; ends are narrowed in place."""

    def __init__(self, seen: Published, columns: Ints, low: list[Bound], high: list[Bound]) -> None:
        self.columns, self.low, self.high, self.whole = columns.tolist(), low, high, seen.whole
        self.system = seen.system.part(columns)
        rows = np.unique(seen.system.row_of()[np.isin(seen.system.columns, columns)]).tolist()
        self.totals, self.off = [seen.totals[r] for r in rows], [seen.off[r] for r in rows]
        self.times, self.row = self.system.coefficients.astype(np.int64), self.system.row_of()
        self.lower = np.array([-np.inf if low[c] is None else float(low[c] or 0) for c in self.columns])
        self.upper = np.array([np.inf if high[c] is None else float(high[c] or 0) for c in self.columns])
        self.settled = {True: self.lower == self.upper, False: self.lower == self.upper}
        largest = max((abs(t) for t in self.totals), default=0)
        # a power of two, so that dividing loses nothing
        self.unit = 2.0 ** np.ceil(np.log2(max(largest, 1) / SIZE))
        self.hair = 4 * SOLVER / SIZE * largest
        """What a point of the solver is off by, in units."""
        self.programme = self._programme()

    def _programme(self) -> Programme:
        totals, off = (np.array([float(n) for n in numbers]) / self.unit for numbers in (self.totals, self.off))
        return Programme(
            Matrix(self.system.start, self.system.columns, self.system.coefficients, by_rows=True),
            (totals - off, totals + off),
            lower=self.lower / self.unit,
            upper=self.upper / self.unit,
            way=Way(presolve=False, only_simplex=True, simplex=Simplex.PRIMAL, doubted=ALL_BUT_OPTIMAL),
        )

    def settle(self) -> None:
        """Look for the ends of all unknowns: first of many at once, then of those that are left one by one."""
        for upward in (True, False):
            self._together(upward)
            for at in range(len(self.columns)):
                if not self.settled[upward][at]:
                    self._alone(at, upward)

    def _together(self, upward: bool) -> None:
        """Programmes that push all unknowns that are left; what reaches the end that lines prove needs no other."""
        while True:
            left = np.flatnonzero(~self.settled[upward])
            if left.size < 2:
                return
            room = (self.upper - self.lower)[left]
            worth = np.zeros(len(self.columns))
            worth[left] = np.where(np.isfinite(room), self.unit / np.maximum(room, 1.0), 0.0)
            if self._pushed(-worth if upward else worth) is None:
                return
            if left.size - (~self.settled[upward]).sum() < BATCH * left.size:
                return

    def _pushed(self, cost: Floats) -> Floats | None:
        """The best point in units; whatever it brings to an end is settled there."""
        self.programme.set_costs(cost)
        point = self.programme.best()
        if point is None:
            return None
        point *= self.unit
        self.settled[False] |= point <= self.lower + self._near()
        self.settled[True] |= point >= self.upper - self._near()
        return point

    def _near(self) -> Floats:
        """How near to an end a point of the solver is at it: as near as the solver is right, if that is near at all."""
        near: Floats = np.minimum(0.01 + self.hair, (self.upper - self.lower) / 8)
        return near

    def _alone(self, at: int, upward: bool) -> None:
        """Push one unknown as far as it goes, and prove that it goes no farther."""
        cost = np.zeros(len(self.columns))
        cost[at] = -1.0 if upward else 1.0
        point = self._pushed(cost)
        self.settled[upward][at] = True
        if point is None:
            return
        for combination, q in _fractions(-self.programme.multipliers):
            end = self._proven(at, upward, combination, q)
            if end is None:
                continue
            self._narrow(at, upward, end)
            if abs(float(end) - point[at]) <= 1 + self._near()[at]:
                return

    def _narrow(self, at: int, upward: bool, end: int) -> None:
        column = self.columns[at]
        if upward:
            self.high[column] = _lower(self.high[column], end)
            self.upper[at] = min(self.upper[at], float(end))
        else:
            self.low[column] = _higher(self.low[column], end)
            self.lower[at] = max(self.lower[at], float(end))

    def _proven(self, at: int, upward: bool, combination: Ints, q: int) -> Bound:
        """The end that a combination of lines (times q) proves; None if an unknown without limit is left over."""
        sign = 1 if upward else -1
        left = np.zeros(len(self.columns), dtype=np.int64)
        np.subtract.at(left, self.system.columns, self.times * combination[self.row])
        left[at] += sign * q
        reach = 0
        for r in np.flatnonzero(combination).tolist():
            reach += int(combination[r]) * self.totals[r] + abs(int(combination[r])) * self.off[r]
        for c in np.flatnonzero(left).tolist():
            end = (self.high if left[c] > 0 else self.low)[self.columns[c]]
            if end is None:
                return None
            reach += int(left[c]) * end
        return sign * _divided(reach, q, up=not self.whole)


def _fractions(multipliers: Floats) -> Iterator[tuple[Ints, int]]:
    """Multipliers as whole numbers over a common denominator: small ones first, then what fits each of them best."""
    if np.abs(multipliers).max(initial=0.0) >= STEEP:
        return
    for q in DENOMINATORS:
        yield np.rint(q * multipliers).astype(np.int64), q
    for most in (64, 1024):
        meant = {float(m): Fraction(float(m)).limit_denominator(most) for m in np.unique(multipliers)}
        q = lcm(*(m.denominator for m in meant.values()))
        if q < STEEP:
            yield np.array([int(meant[float(m)] * q) for m in multipliers], dtype=np.int64), q
