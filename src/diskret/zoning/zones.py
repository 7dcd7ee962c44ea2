"""Two zonings of the same units: districts and grid cells, municipalities and labour markets.

What both zonings make together are overlaps: the units that lie in one zone of the first and in one of the second. No
overlap is published; whoever has the totals of all zones has linear equations about them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption, DuplicateCell, NegativeValue, UnknownCode, listed
from diskret.model.exact import EXACT_LIMIT
from diskret.model.source import open_source

FIRST, SECOND = 0, 1


class Network(NamedTuple):
    """Everything unknown as arcs between zones: overlaps, and totals that are not published."""

    tail: Ints
    head: Ints
    amount: Ints
    start: Ints
    at: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Zoning:
    """Units in the zones of two zonings, overlap by overlap.

    >>> records = {"district": ["A", "A", "A", "B", "B"], "grid": ["1", "1", "2", "2", "2"]}
    >>> Zoning.of(records, "district", "grid")
    Zoning('district' (2 zones), 'grid' (2 zones): 3 overlaps, 5 units)
    """

    names: tuple[str, str]
    codes: tuple[tuple[str, ...], tuple[str, ...]]
    first: Ints
    """For each overlap the number of its zone in the first zoning."""
    second: Ints
    units: Ints
    """How many units lie in each overlap; nobody but the office knows."""
    withheld: tuple[Bools, Bools] = field(default=(np.zeros(0, np.bool_), np.zeros(0, np.bool_)))
    """For each zoning the zones whose totals are not published."""
    estimated: bool = False
    """Whether the units of overlaps come from shares, and are rounded."""

    def __post_init__(self) -> None:
        withheld = tuple(
            np.zeros(len(codes), np.bool_) if mask.size == 0 else mask
            for codes, mask in zip(self.codes, self.withheld, strict=True)
        )
        object.__setattr__(self, "withheld", withheld)

    @classmethod
    def of(
        cls, data: Any, first: str, second: str, *, units: str | None = None, share: str | None = None,
        totals: Any = None,
    ) -> Zoning:  # fmt: skip
        """Zonings from records with both codes, or from a table of overlaps.

        With ``units`` every row is an overlap and the column says how many units it has; without, every row is a unit.
        With ``share`` the column says which share of the first zone lies in the second, and ``totals`` maps zones of
        the first zoning to their units: the units of overlaps are then estimates.
        """
        relation = open_source(data)
        if units and share:
            raise BadOption("units and shares at once", hint="give the column of one of them.")
        numbers = [name for name in (units, share) if name]
        relation.require([first, second, *numbers])
        relation.refuse_bad_numbers(numbers)
        one, other = relation.code(first), relation.code(second)
        what = f"sum({relation.number(numbers[0])})" if numbers else "count(*)"
        rows = f"SELECT {one} AS a, {other} AS b, {what} AS n, count(*) AS k FROM {relation.view}"
        found = relation.query(f"{rows} GROUP BY 1, 2 ORDER BY 1, 2")
        if any(a is None or b is None for a, b, _, _ in found):
            raise BadOption(
                f"rows without a code of {first!r} or {second!r}",
                where=relation.where,
                hint="units outside all zones need a code of their own, such as 'outside': they are in the total.",
            )
        double = [f"{a} and {b}" for a, b, _, k in found if k > 1]
        if (units or share) and double:
            raise DuplicateCell(f"overlaps are given more than once: {listed(double)}", hint="give each of them once.")
        amount = np.array([n for _, _, n, _ in found], dtype=np.float64)
        if share:
            amount = _from_shares(amount, [str(a) for a, _, _, _ in found], totals, first)
        return cls.from_overlaps(
            (first, second), [str(a) for a, *_ in found], [str(b) for _, b, *_ in found], amount, estimated=bool(share)
        )

    @classmethod
    def from_overlaps(
        cls, names: tuple[str, str], first: list[str], second: list[str], units: npt.NDArray[Any],
        *, estimated: bool = False,
    ) -> Zoning:  # fmt: skip
        """The same from lists, one entry per overlap."""
        amount = np.asarray(units, dtype=np.float64)
        if (amount < 0).any():
            raise NegativeValue("overlaps with fewer than no units", hint="correct the counts.")
        if not np.isfinite(amount).all() or (amount != np.rint(amount)).any():
            raise BadOption("numbers of units that are not whole", hint="give whole numbers, or shares with share=....")
        if amount.sum() >= EXACT_LIMIT:
            raise BadOption("too many units to be counted exactly", hint="is it the column of counts?")
        codes, at = [], []
        for column in (first, second):
            known, place = np.unique(np.array(column, dtype=object).astype(str), return_inverse=True)
            codes.append(tuple(known.tolist()))
            at.append(place.astype(np.int64).reshape(-1))
        return cls(
            names=names, codes=(codes[0], codes[1]), first=at[0], second=at[1],
            units=np.rint(amount).astype(np.int64), estimated=estimated,
        )  # fmt: skip

    def withholding(self, first: list[str] | tuple[str, ...] = (), second: list[str] | tuple[str, ...] = ()) -> Zoning:
        """The same with the totals of further zones withheld."""
        masks = []
        for codes, before, said, name in zip(self.codes, self.withheld, (first, second), self.names, strict=True):
            unknown = [code for code in said if code not in codes]
            if unknown:
                raise UnknownCode.in_column(name, unknown, codes)
            masks.append(before | np.isin(np.array(codes, dtype=object), list(said)))
        return replace(self, withheld=(masks[0], masks[1]))

    @cached_property
    def totals(self) -> tuple[Ints, Ints]:
        """Units of every zone of both zonings."""
        return tuple(
            np.bincount(at, weights=self.units, minlength=len(codes)).astype(np.int64)
            for at, codes in zip((self.first, self.second), self.codes, strict=True)
        )  # type: ignore[return-value]

    @cached_property
    def network(self) -> Network:
        """Overlaps, then withheld totals, as arcs: from the whole over the first zoning and the second to the whole."""
        one, other = len(self.codes[FIRST]), len(self.codes[SECOND])
        hidden = [np.flatnonzero(mask) for mask in self.withheld]
        tail = np.concatenate([self.first, np.full(hidden[FIRST].size, one + other), one + hidden[SECOND]])
        head = np.concatenate([one + self.second, hidden[FIRST], np.full(hidden[SECOND].size, one + other + 1)])
        amount = np.concatenate(
            [self.units, self.totals[FIRST][hidden[FIRST]], self.totals[SECOND][hidden[SECOND]]]
        ).astype(np.int64)
        ends, arcs = np.concatenate([tail, head]), np.tile(np.arange(tail.size), 2)
        order = np.argsort(ends, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(ends, minlength=one + other + 2))).astype(np.int64)
        return Network(tail.astype(np.int64), head.astype(np.int64), amount, start, arcs[order].astype(np.int64))

    @cached_property
    def component(self) -> Ints:
        """For each node of the network a number of the part it hangs together with."""
        net = self.network
        number = np.arange(net.start.size - 1)
        while True:
            before = number.copy()
            least = np.minimum(number[net.tail], number[net.head])
            np.minimum.at(number, net.tail, least)
            np.minimum.at(number, net.head, least)
            number = number[number]
            if (number == before).all():
                return number

    def overlap_name(self, overlap: int) -> str:
        """An overlap in words."""
        one, other = self.codes[FIRST][self.first[overlap]], self.codes[SECOND][self.second[overlap]]
        return f"{self.names[FIRST]} {one} with {self.names[SECOND]} {other}"

    def __repr__(self) -> str:
        said = ", ".join(f"{name!r} ({len(codes):,} zones)" for name, codes in zip(self.names, self.codes, strict=True))
        return f"Zoning({said}: {self.units.size:,} overlaps, {int(self.units.sum()):,} units)"


def _from_shares(share: npt.NDArray[Any], zones: list[str], totals: Any, name: str) -> npt.NDArray[Any]:
    if totals is None:
        raise BadOption("shares without the units of the zones", hint="give totals=... by zone of the first zoning.")
    if (share < 0).any() or (share > 1).any():
        raise BadOption("shares below 0 or over 1", hint="0.25 is a quarter.")
    unknown = sorted({zone for zone in zones if zone not in totals})
    if unknown:
        raise UnknownCode.in_column(name, unknown, [str(zone) for zone in totals])
    units: npt.NDArray[Any] = np.rint(share * np.array([float(totals[zone]) for zone in zones]))
    return units
