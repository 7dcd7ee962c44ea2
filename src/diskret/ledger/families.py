"""How codes on one line add up: every set as a sum of others, with sets nobody published but all can compute.

A family are the sets that are shown on a line of cells. Where one is made of others, that is an equation. Where a part
of a set is shown and the rest is not, the rest can be computed: it becomes a set of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

MOST_OVERLAPS = 400
"""Sets that pairs of overlapping ones have in common, on one line; where there are more, all that overlap are taken
apart into the finest that no set divides, of which there are fewer then."""
MOST_FINEST = 20_000
"""Such finest sets on one line; where there are more, nothing is taken apart."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """The sums among the sets of a line."""

    sets: tuple[int, ...]
    """Those that are shown, then those that can be computed from them."""
    shown: int
    """How many are shown."""
    sums: tuple[tuple[int, tuple[int, ...]], ...]
    """For each sum its place among the sets and those of its parts."""
    closed: bool
    """Whether sets that overlap were taken apart; where there are too many of them they are not."""


def family_of(shown: Sequence[int], groupings: Mapping[int, Sequence[tuple[int, ...]]]) -> Family:
    """The sums among some sets; ``groupings`` are the ways they were said to add up, which are preferred.

    >>> family_of([0b111, 0b011], {})
    Family(sets=(7, 3, 4), shown=2, sums=((0, (1, 2)),), closed=True)
    >>> family_of([0b111, 0b011, 0b100], {0b111: [(0b011, 0b100)]}).sums
    ((0, (1, 2)),)
    """
    line = _Line()
    for own in shown:
        line.place_of(own)
    sums: list[tuple[int, tuple[int, ...]]] = []
    done: set[int] = set()
    closed = True
    while closed:
        _sums_of(line, sums, done, groupings)
        clashing = _clashing(line, sums)
        if not clashing:
            break
        common = _overlaps(clashing) or finest_of(clashing)
        closed = len(common) <= MOST_FINEST
        for own in common if closed else ():
            line.place_of(own)
        # what had no parts may have some now
        done = {whole for whole, _ in sums}
    return Family(sets=tuple(line.place), shown=len(shown), sums=tuple(sums), closed=closed)


@dataclass(eq=False)
class _Line:
    """The sets of a line, each found by the first finest code in it."""

    place: dict[int, int] = field(default_factory=dict)
    first: dict[int, list[int]] = field(default_factory=dict)

    def place_of(self, own: int) -> int:
        """The place of a set, which gets one if it has none."""
        if own not in self.place:
            self.place[own] = len(self.place)
            self.first.setdefault(own & -own, []).append(own)
        return self.place[own]

    def order(self, own: int) -> tuple[int, int]:
        """The largest first, then those that were there first."""
        return -own.bit_count(), self.place[own]

    def inside(self, own: int) -> list[int]:
        """The sets that are smaller and part of one, in their order."""
        few = own.bit_count() < len(self.first)
        begins = (1 << bit for bit in _bits(own)) if few else (begin for begin in self.first if begin & own)
        found = (each for begin in begins for each in self.first.get(begin, ()) if each & own == each and each != own)
        return sorted(found, key=self.order)


def _bits(own: int) -> list[int]:
    """The places of the finest codes in a set.

    >>> _bits(0b1011)
    [0, 1, 3]
    """
    octets = np.frombuffer(own.to_bytes((own.bit_length() + 7) // 8, "little"), dtype=np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
    return found


def _sums_of(
    line: _Line,
    sums: list[tuple[int, tuple[int, ...]]],
    done: set[int],
    groupings: Mapping[int, Sequence[tuple[int, ...]]],
) -> None:
    """Every set as a sum of smaller ones, the largest first; what is left over becomes a set."""
    place = line.place
    waiting = [(*line.order(own), own) for own in place]
    heapify(waiting)
    while waiting:
        *_, own = heappop(waiting)
        if place[own] in done:
            continue
        done.add(place[own])
        said = [parts for parts in groupings.get(own, ()) if _covers(own, parts) and all(p in place for p in parts)]
        sums += [(place[own], tuple(place[p] for p in parts)) for parts in said]
        if said:
            continue
        left, parts_found = own, []
        for part in line.inside(own):
            if part & left == part:
                parts_found.append(part)
                left &= ~part
        if not parts_found:
            continue
        if left:
            if left not in place:
                line.place_of(left)
                heappush(waiting, (*line.order(left), left))
            parts_found.append(left)
        sums.append((place[own], tuple(place[p] for p in parts_found)))


def _clashing(line: _Line, sums: Sequence[tuple[int, tuple[int, ...]]]) -> list[int]:
    """Sets without parts that have something in common; they say something about each other that no sum says."""
    summed = {whole for whole, _ in sums}
    single = [own for own, at in line.place.items() if at not in summed]
    together = clash = 0
    for own in single:
        clash |= together & own
        together |= own
    return [own for own in single if own & clash]


def _overlaps(sets: Sequence[int]) -> list[int]:
    """What pairs of sets have in common; nothing where that is too much."""
    found: dict[int, None] = {}
    for i, one in enumerate(sets):
        for other in sets[i + 1 :]:
            if one & other:
                found.setdefault(one & other)
        if len(found) > MOST_OVERLAPS:
            return []
    return [*found]


def finest_of(sets: Sequence[int]) -> list[int]:
    """The largest sets that none of some sets divides.

    >>> finest_of([0b1110, 0b0111])
    [8, 6, 1]
    """
    return [*sharers_of(sets).values()]


def sharers_of(sets: Sequence[int]) -> dict[tuple[int, ...], int]:
    """The largest sets that none of some sets divides, by the numbers of those that share them.

    >>> sharers_of([0b1110, 0b0111])
    {(0,): 8, (0, 1): 6, (1,): 1}
    """
    of_bit: dict[int, list[int]] = {}
    for number, own in enumerate(sets):
        for bit in _bits(own):
            of_bit.setdefault(bit, []).append(number)
    together: dict[tuple[int, ...], int] = {}
    for bit in sorted(of_bit):
        numbers = tuple(of_bit[bit])
        together[numbers] = together.get(numbers, 0) | 1 << bit
    return {numbers: together[numbers] for numbers in sorted(together)}


def _covers(whole: int, parts: Sequence[int]) -> bool:
    together = 0
    for part in parts:
        if together & part:
            return False
        together |= part
    return together == whole
