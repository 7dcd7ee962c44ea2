"""How codes on one line add up: every set as a sum of others, with sets nobody published but all can compute.

A family are the sets that are shown on a line of cells. Where one is made of others, that is an equation. Where a part
of a set is shown and the rest is not, the rest can be computed: it becomes a set of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_OVERLAPS = 400
"""Sets that overlapping ones have in common, on one line; where there are more, nothing is taken apart."""


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
    place = {own: i for i, own in enumerate(shown)}
    sums: list[tuple[int, tuple[int, ...]]] = []
    done: set[int] = set()
    closed = True
    while closed:
        _sums_of(place, sums, done, groupings)
        common = _overlaps(place, sums)
        if not common:
            break
        closed = len(common) <= MOST_OVERLAPS
        for own in common if closed else ():
            place.setdefault(own, len(place))
        # what had no parts may have some now
        done = {whole for whole, _ in sums}
    return Family(sets=tuple(place), shown=len(shown), sums=tuple(sums), closed=closed)


def _sums_of(
    place: dict[int, int],
    sums: list[tuple[int, tuple[int, ...]]],
    done: set[int],
    groupings: Mapping[int, Sequence[tuple[int, ...]]],
) -> None:
    """Every set as a sum of smaller ones, the largest first; what is left over becomes a set."""
    waiting = sorted(place, key=_size, reverse=True)
    while waiting:
        own = waiting.pop(0)
        if place[own] in done:
            continue
        done.add(place[own])
        said = [parts for parts in groupings.get(own, ()) if _covers(own, parts) and all(p in place for p in parts)]
        sums += [(place[own], tuple(place[p] for p in parts)) for parts in said]
        if said:
            continue
        inside = sorted((s for s in place if s != own and s & own == s), key=_size, reverse=True)
        if not inside:
            continue
        left, parts_found = own, []
        for part in inside:
            if part & left == part:
                parts_found.append(part)
                left &= ~part
        if left:
            if left not in place:
                place[left] = len(place)
                waiting.append(left)
                waiting.sort(key=_size, reverse=True)
            parts_found.append(left)
        sums.append((place[own], tuple(place[p] for p in parts_found)))


def _overlaps(place: dict[int, int], sums: Sequence[tuple[int, tuple[int, ...]]]) -> dict[int, None]:
    """What sets without parts have in common; they would say something about each other that no sum says."""
    summed = {whole for whole, _ in sums}
    single = [own for own, at in place.items() if at not in summed]
    together = clash = 0
    for own in single:
        clash |= together & own
        together |= own
    touched = [own for own in single if own & clash]
    found: dict[int, None] = {}
    for i, one in enumerate(touched):
        for other in touched[i + 1 :]:
            if one & other:
                found.setdefault(one & other)
        if len(found) > MOST_OVERLAPS:
            break
    return found


def _covers(whole: int, parts: Sequence[int]) -> bool:
    together = 0
    for part in parts:
        if together & part:
            return False
        together |= part
    return together == whole


def _size(own: int) -> int:
    return own.bit_count()
