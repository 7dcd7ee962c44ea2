"""Linear programmes in rational numbers, by hand: the simplex method with bounds and Bland's rule, and whole numbers.

Shares nothing with diskret and uses the standard library only: the last word in campaigns on small tables. Unknowns are
deviations from the true values: A x = 0 with low <= x <= high.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

Number = int | Fraction
Row = dict[int, Number]
Bound = Number | None
"""None: no bound."""
NODES = 4_000
"""Programmes of one search in whole numbers before it gives up."""


class GaveUp(Exception):
    """A search in whole numbers that became too large."""


@dataclass
class Region:
    """Everything that is possible, and one point of it: the next programme goes on from there."""

    low: list[Bound]
    high: list[Bound]
    rows: dict[int, Row]
    """For every basic unknown how it depends on the others."""
    at: list[Number]

    @classmethod
    def of(
        cls, equations: Sequence[Mapping[int, Number]], low: Sequence[Bound], high: Sequence[Bound]
    ) -> Region | None:
        """What fulfils the equations within the bounds, which need not hold zero; None if nothing does."""
        region = cls(
            [None if b is None else min(b, 0) for b in low], [None if b is None else max(b, 0) for b in high],
            {}, [0] * len(low),
        )  # fmt: skip
        for equation in equations:
            region._take(dict(equation))
        for unknown, (least, most) in enumerate(zip(low, high, strict=True)):
            if least is not None and most is not None and least > most:
                return None
            # driven to a bound that does not hold zero, and no farther
            if least is not None and region.at[unknown] < least:
                region.high[unknown] = least
                if region.most(unknown, 1) != least:
                    return None
            if most is not None and region.at[unknown] > most:
                region.low[unknown] = most
                if region.most(unknown, -1) != -most:
                    return None
            region.low[unknown], region.high[unknown] = least, most
        return region

    def _take(self, row: Row) -> None:
        """One more equation, solved for one of its unknowns."""
        for unknown in [u for u in row if u in self.rows]:
            _add(row, self.rows[unknown], row.pop(unknown))
        if not row:
            return
        # whole coefficients stay whole where a coefficient of one can be solved for
        basic = min(row, key=lambda u: (abs(row[u]) != 1, u))
        times = row.pop(basic)
        self._solve(basic, {u: _over(-c, times) for u, c in row.items()})

    def _solve(self, basic: int, row: Row) -> None:
        for other in self.rows.values():
            if basic in other:
                _add(other, row, other.pop(basic))
        self.rows[basic] = row

    def most(self, unknown: int, side: int) -> Bound:
        """How far an unknown can go up (1) or down (-1); None: without end."""
        while True:
            slope = self.rows.get(unknown, {unknown: 1})
            entering = min((u for u, c in slope.items() if self._left(u, side * _sign(c)) != 0), default=None)
            if entering is None:
                return side * self.at[unknown]
            if not self._step(entering, side * _sign(slope[entering])):
                return None

    def _left(self, unknown: int, way: int) -> Bound:
        """How far an unknown is from its bound."""
        bound = self.high[unknown] if way > 0 else self.low[unknown]
        return None if bound is None else way * (bound - self.at[unknown])

    def _step(self, entering: int, way: int) -> bool:
        """Move one unknown as far as it goes; false if nothing stops it."""
        own = self._left(entering, way)
        stops: list[tuple[Number, int]] = [] if own is None else [(own, entering)]
        moved = [(basic, row[entering] * way) for basic, row in self.rows.items() if entering in row]
        for basic, rate in moved:
            left = self._left(basic, _sign(rate))
            if left is not None:
                stops.append((_over(left, rate * _sign(rate)), basic))
        if not stops:
            return False
        length, leaving = min(stops)
        for basic, rate in moved:
            self.at[basic] = _plain(self.at[basic] + rate * length)
        self.at[entering] = _plain(self.at[entering] + way * length)
        if leaving != entering:
            row = self.rows.pop(leaving)
            times = row.pop(entering)
            self._solve(entering, {u: _over(-c, times) for u, c in row.items()} | {leaving: _over(1, times)})
        return True


def most_whole(
    equations: Sequence[Mapping[int, Number]],
    low: Sequence[Bound],
    high: Sequence[Bound],
    unknown: int,
    side: int,
    enough: Number,
) -> Number:
    """How far an unknown can go in whole numbers, or some way of at least ``enough``; bounds must hold zero.

    Branch and bound: split where a solution is not whole. What has no end has none in whole numbers either.
    """
    best: Number = 0
    waiting = [(list(low), list(high))]
    for _ in range(NODES):
        if not waiting or best >= enough:
            return best
        least, most = waiting.pop()
        region = Region.of(equations, least, most)
        if region is None:
            continue
        reach = region.most(unknown, side)
        if reach is None:
            return enough
        if floor(reach) <= best:
            continue
        broken = next((u for u, x in enumerate(region.at) if x != floor(x)), None)
        if broken is None:
            best = reach
            continue
        x = floor(region.at[broken])
        waiting.append((least, [*most[:broken], x, *most[broken + 1 :]]))
        waiting.append(([*least[:broken], x + 1, *least[broken + 1 :]], most))
    raise GaveUp


def _add(row: Row, other: Row, times: Number) -> None:
    for unknown, c in other.items():
        total = row.get(unknown, 0) + times * c
        if total:
            row[unknown] = _plain(total)
        else:
            row.pop(unknown, None)


def _over(number: Number, by: Number) -> Number:
    return number * by if by in (1, -1) else _plain(Fraction(number) / by)


def _plain(number: Number) -> Number:
    return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number


def _sign(number: Number) -> int:
    return 1 if number > 0 else -1
