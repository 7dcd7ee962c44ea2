"""Sums that stand among their own parts, found by arithmetic.

How strange an equality is, is counted in bits. That a number of a thousand units hits the sum of some others by chance
has a probability of one in a thousand, ten bits; many such hits add up. That two numbers are equal is no wonder: what
is counted is the sum without its largest part. So zeros, and sums with a single part that is not zero, tell nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.exact import decimals_of

Numbers = npt.NDArray[Any]
Rows = Callable[[], Iterator[Floats]]
"""Numbers of codes, a row each, over combinations of the other classifications; in blocks, as often as asked."""

ENOUGH = 14.0
"""Bits from which on an equality is no chance: one in sixteen thousand, and few numbers are large enough to be one."""
ENOUGH_FOR_PREFIXES = 10.0
"""The same where codes are beginnings of the codes they seem to be the sum of."""
FEWEST = 5
"""A total may differ from the sum in combinations where parts are missing, but in one of so many it must equal it."""
SAMPLE = 20_000
"""Numbers from which the step of a table is read off."""
DIGITS = 1e12
"""Beyond twelve digits a double is no proof of a decimal."""
MISCOUNTED = 1e-4
"""By how much a total may be wrong, relative to its size, and still be looked at as one; it counts fewer bits."""
NEAR = 1e-13
"""What sums of doubles may be off by, relative to their size."""


@dataclass(frozen=True, kw_only=True)
class Sum:
    """A code that equals the sum of others: its position among them, theirs, and how surely."""

    at: int
    others: int
    """How many it is the sum of."""
    equal: int
    looked: int
    bits: float
    exact: bool = True
    """Whether it equals them to the last unit wherever it equals them."""
    parts: tuple[int, ...] = ()
    """Which ones; none if it is all others."""
    prefix: bool = False
    """Whether it is the beginning of them."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Sums that numbers are compared with: how many parts they have that are not zero, and all but the largest."""

    total: Floats
    parts: Numbers
    rest: Floats

    @classmethod
    def of(cls, parts: Floats) -> Compared:
        """The sums of rows."""
        size = np.abs(parts)
        rest = size.sum(axis=0) - size.max(axis=0)
        return cls(total=parts.sum(axis=0), parts=(parts != 0).sum(axis=0), rest=rest)


@dataclass(kw_only=True)
class Tally:
    """How often numbers equal the sums they are compared with, and how strange that is; one entry per code."""

    looked: Ints
    equal: Ints
    exact: Ints
    bits: Floats

    @classmethod
    def of(cls, size: int) -> Tally:
        """Nothing looked at yet."""
        looked, equal, exact = np.zeros((3, size), np.int64)
        return cls(looked=looked, equal=equal, exact=exact, bits=np.zeros(size))

    def add(self, at: int, value: Floats, compared: Compared, step: float) -> None:
        """Compare the numbers of a code with sums."""
        size, off = np.abs(value) / step, np.abs(value - compared.total) / step
        off = np.where(off <= NEAR * size, 0.0, np.ceil(off))
        # every published part may be rounded by half a step, and the total, too; or somebody has miscounted
        rounded = np.minimum((compared.parts + 1) // 2, size / 20)
        equal = np.flatnonzero((off <= np.maximum(rounded, MISCOUNTED * size)) & (value != 0))
        self.looked[at] += np.count_nonzero(value)
        self.equal[at] += equal.size
        self.exact[at] += np.count_nonzero(off[equal] == 0)
        # where parts have the same shares as elsewhere, the equality is the same
        _, first = np.unique(np.round(compared.rest[equal] / np.abs(value[equal]), 9), return_index=True)
        told = equal[first]
        # two equal numbers are no wonder: what counts is that the rest of the parts fits in between
        strange = np.log2(np.clip(compared.rest[told] / step, 1.0, DIGITS)) - np.log2(2 * off[told] + 1)
        self.bits[at] += float(np.maximum(strange, 0.0).sum())

    def add_rest(self, rows: Floats, step: float) -> None:
        """Compare every code with the sum of the others; without negative numbers only the largest can be that."""
        if len(rows) < 2:
            return
        size, total = np.abs(rows), rows.sum(axis=0)
        if rows.min(initial=0.0) < 0:
            near = np.arange(rows.shape[1])
            hits = (np.abs(2 * rows - total) <= size / 5) & (rows != 0)
        else:
            largest = rows.max(axis=0)
            near = np.flatnonzero((np.abs(2 * largest - total) <= total / 10) & (total > 0))
            hits = rows[:, near] == largest[near]
        self.looked += np.count_nonzero(rows, axis=1) - hits.sum(axis=1)
        for at in np.flatnonzero(hits.any(axis=1)).tolist():
            own = rows[:, near[hits[at]]]
            self.add(at, own[at], Compared.of(np.delete(own, at, axis=0)), step)

    def strange(self, at: int) -> float:
        """Bits of a code, less what the choice of the combinations that are equal may explain; none if few are."""
        equal, looked, bits = int(self.equal[at]), int(self.looked[at]), float(self.bits[at])
        if FEWEST * equal < looked:
            return 0.0
        if equal == looked:
            return bits
        share = min(max(equal / looked, 1e-9), 1 - 1e-9)
        return bits + looked * (share * log2(share) + (1 - share) * log2(1 - share))


def step_of(numbers: Numbers) -> float:
    """The smallest difference that numbers of a table have: a unit of their last decimal, thousands, fives.

    >>> step_of(np.array([0.25, 1.5])), step_of(np.array([3000.0, 12000.0])), step_of(np.array([10, 15]))
    (0.25, 3000.0, 5.0)
    """
    flat = numbers.reshape(-1)
    some = flat[:: flat.size // SAMPLE | 1]
    decimals = 0 if np.issubdtype(some.dtype, np.integer) else decimals_of(some)
    if decimals is None:
        return float(max(np.abs(some).max(initial=0.0) / DIGITS, np.finfo(np.float64).tiny))
    units = np.rint(some * 10.0**decimals).astype(np.int64)
    return float(max(1, int(np.gcd.reduce(units, initial=0)))) / 10.0**decimals


@dataclass(frozen=True, kw_only=True)
class Siblings:
    """The parts of one sum: their codes, their numbers, and in which order of the file, where that is known."""

    codes: Sequence[str]
    rows: Rows
    margin: Floats
    """What each of them is over all combinations."""
    step: float
    order: Sequence[int] | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """What arithmetic tells of siblings: subtotals among them, and which equal the sum of the rest."""

    sums: list[Sum] = field(default_factory=list)
    totals: list[Sum] = field(default_factory=list)
    """Codes that equal the sum of all others that are no subtotals, strangely or more often than not."""


def hidden_sums(siblings: Siblings) -> Found:
    """Subtotals among siblings, and how each of them compares with the rest.

    >>> x = np.array([[1234567.0], [2345678.0], [3456789.0], [7037034.0]])
    >>> codes = ["N", "S", "W", "00"]
    >>> found = hidden_sums(Siblings(codes=codes, rows=lambda: iter([x]), margin=x.sum(axis=1), step=1.0))
    >>> [(s.at, s.equal, s.looked) for s in found.totals if s.bits >= ENOUGH]
    [(3, 1, 1)]
    """
    every = np.arange(len(siblings.codes))
    tally = _against_the_rest(siblings, every)
    sums = _by_prefix(siblings) or _by_order(siblings)
    if sums:
        every = np.setdiff1d(every, [s.at for s in sums])
        tally = _against_the_rest(siblings, every)
    return Found(sums=sums, totals=_totals(every, siblings.margin[every], tally, siblings.step))


def _against_the_rest(siblings: Siblings, base: Ints) -> Tally:
    """Codes against the sums of the others, in every combination."""
    tally = Tally.of(base.size)
    for rows in siblings.rows():
        tally.add_rest(rows if base.size == len(rows) else rows[base], siblings.step)
    return tally


def _totals(base: Ints, margin: Floats, tally: Tally, step: float) -> list[Sum]:
    """Codes that equal the sum of the others, in every combination or in the sum of all of them."""
    together = Tally.of(base.size)
    together.add_rest(margin.reshape(-1, 1), step)
    found = []
    for i in np.flatnonzero((tally.equal > 0) | (together.equal > 0)).tolist():
        each = (_sum(t, i, at=int(base[i]), others=base.size - 1) for t in (tally, together))
        best = max(each, key=lambda s: s.bits)
        if best.bits > 0 or 2 * best.equal >= best.looked > 0:
            found.append(best)
    return found


def _sum(tally: Tally, i: int, **more: Any) -> Sum:
    exact = bool(tally.exact[i] == tally.equal[i])
    return Sum(equal=int(tally.equal[i]), looked=int(tally.looked[i]), bits=tally.strange(i), exact=exact, **more)


def _by_prefix(siblings: Siblings) -> list[Sum]:
    """Codes that are the sum of the codes they are the beginning of; one alone may be if most of them are."""
    below = beginnings(siblings.codes)
    if not below:
        return []
    found = _compared(siblings, below, prefix=True)
    equal = [s for s in found if s.looked and 2 * s.equal >= s.looked]
    bits = sum(s.bits for s in equal)
    if 2 * len(equal) < len(found) or bits - (len(found) if len(equal) < len(found) else 0) < ENOUGH_FOR_PREFIXES:
        return []
    return equal


def beginnings(codes: Sequence[str]) -> dict[int, list[int]]:
    """For every code that is the beginning of others the next longer ones, all by their positions.

    >>> beginnings(["05", "05111", "05112", "06", "051"])
    {0: [4], 4: [1, 2]}
    """
    below: dict[int, list[int]] = {}
    open_: list[int] = []
    for at in sorted(range(len(codes)), key=codes.__getitem__):
        while open_ and not codes[at].startswith(codes[open_[-1]]):
            open_.pop()
        if open_:
            below.setdefault(open_[-1], []).append(at)
        open_.append(at)
    return below


def _compared(siblings: Siblings, tests: dict[int, list[int]], prefix: bool = False) -> list[Sum]:
    """Codes against the sums of some others, in every combination."""
    tally = Tally.of(len(tests))
    for rows in siblings.rows():
        for i, (at, parts) in enumerate(tests.items()):
            tally.add(i, rows[at], Compared.of(rows[parts]), siblings.step)
    each = enumerate(tests.items())
    return [_sum(tally, i, at=at, others=len(p), parts=tuple(p), prefix=prefix) for i, (at, p) in each]


def _by_order(siblings: Siblings) -> list[Sum]:
    """Codes that are the sum of those directly before them in the file, or directly after them."""
    margin = siblings.margin
    if siblings.order is None or (margin < 0).any():
        return []
    found: list[Sum] = []
    # every code is tried, with as many runs before it as there are codes
    tried = 2 * float(np.log2(len(siblings.order)))
    for order in (list(siblings.order), list(siblings.order)[::-1]):
        known = {s.at for s in found}
        compared = _compared(siblings, _runs(margin, order, siblings.step))
        fresh = [s for s in compared if s.bits > tried and s.at not in known]
        if sum(s.bits - tried for s in fresh) >= ENOUGH:
            found += fresh
    # a run over all others is the total
    return [s for s in found if s.others < np.count_nonzero(margin) - len(found)]


def _runs(margin: Floats, order: Sequence[int], step: float) -> dict[int, list[int]]:
    """For every code a run of codes before it that adds up to it; a code that has one is part of no later run."""
    kept: list[int] = []
    before = [0.0]
    tests = {}
    for at in order:
        value = float(margin[at])
        if not value:  # nothing is part of no sum, and thousands of it would make every run long
            continue
        slack = min(value / 100, max(1e-9 * value, (len(kept) + 1) / 2 * step))
        first = bisect_left(before, before[-1] - value - slack)
        run = kept[first:]
        if len(run) > 1 and abs(before[-1] - before[first] - value) <= slack:
            tests[at] = run
        else:
            kept.append(at)
            before.append(before[-1] + value)
    return tests
