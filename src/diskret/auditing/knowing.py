"""Who knows more than everybody, from the plain form of a table; for checking certificates only.

Like `grounds` this shares nothing with what protects and attacks (`moves.insiders`). ``docs/certificate.md`` has the
definitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.auditing.exact_proof import EVERYBODY
from diskret.auditing.grounds import Grounds, Impossible, Room, whole
from diskret.auditing.plain import Plain
from diskret.model.arrays import Bools, Ints
from diskret.model.cells import Cells
from diskret.model.errors import DiskretError
from diskret.model.promise import Promise

Rooms = tuple[Room, Room]
LEVELS = ("holdings", "respondents")


@dataclass(frozen=True, eq=False)
class Knowing:
    """Insiders by name, what they know, and what is not asked of them."""

    known: dict[str, dict[int, Rooms]]
    """For every insider the rooms of the cells he knows something about."""
    lead: Ints
    """For every cell the number of the person alone in it, or of whoever contributes most."""
    sums: tuple[list[int], list[int]]
    """The sums above all cells, and where those of each cell begin."""
    _behind: dict[str, frozenset[int]] = field(default_factory=dict)

    def asked(self, who: str, cell: int) -> bool:
        """Whether a primary cell must be kept from somebody."""
        if who == EVERYBODY:
            return True
        return who in self.known and cell not in self._stands(who)

    def rooms(self, who: str, cell: int) -> Rooms:
        """The rooms of a cell by what an insider knows besides everybody."""
        return self.known.get(who, {}).get(cell, (None, None))

    def _stands(self, who: str) -> frozenset[int]:
        """The cells of which nothing is asked of an insider: those a coalition knows, those a person has a share in."""
        if who not in self._behind:
            if who.startswith("coalition "):
                self._behind[who] = frozenset(self.known[who])
            else:
                own = np.flatnonzero(self.lead == int(who.removeprefix("person "))).tolist()
                self._behind[who] = frozenset(self._with_sums(own))
        return self._behind[who]

    def _with_sums(self, cells: list[int]) -> set[int]:
        """Cells and all sums above them."""
        found, waiting = set(cells), list(cells)
        sums, start = self.sums
        while waiting:
            cell = waiting.pop()
            fresh = set(sums[start[cell] : start[cell + 1]]) - found
            found |= fresh
            waiting += fresh
        return found


def knowing(table: Cells, plain: Plain, promise: Promise, grounds: Grounds) -> Knowing:
    """Everybody a promise guards against besides the public."""
    known = {f"coalition {i + 1}": _coalition(table, cells) for i, cells in enumerate(promise.coalitions)}
    nobody = np.empty(0, dtype=np.int64)
    if promise.guard == "public":
        return Knowing(known, nobody, ([], []))
    above = table.sums_of
    alone = {level: _others(plain[level]) == 1 for level in LEVELS if plain[level] is not None}
    cells = np.zeros(len(plain["value"]), dtype=np.bool_)
    for each in alone.values():
        cells |= each
    if plain["respondents"] is None and plain["frequency"]:
        cells |= np.array(grounds.value, dtype=object) == grounds.unit
    lead = _leaders(plain, cells, _persons(plain, cells, alone, above))
    entries: dict[int, Rooms] = dict.fromkeys(np.flatnonzero(cells).tolist(), (0, 0))
    if promise.guard == "largest":
        entries |= _largest(plain, grounds, cells)
    for cell, rooms in sorted(entries.items()):
        known.setdefault(f"person {lead[cell]}", {})[cell] = rooms
    order = np.argsort(above[0], kind="stable")
    start = np.searchsorted(above[0][order], np.arange(cells.size + 1))
    return Knowing(known, lead, (above[1][order].tolist(), start.tolist()))


def _coalition(table: Cells, members: Sequence[Sequence[str]]) -> dict[int, Rooms]:
    try:
        places = [table.index(*codes) for codes in members]
    except DiskretError:
        raise Impossible("a coalition knows a cell that does not exist") from None
    return {int(np.ravel_multi_index(place, table.shape)): (0, 0) for place in places}


def _others(people: dict[str, Any]) -> Ints:
    """How many contributors do not publish their value."""
    count = np.array(people["count"], dtype=np.int64)
    public = people["public_count"]
    return count if public is None else np.maximum(count - np.array(public, dtype=np.int64), 0)


def _persons(plain: Plain, cells: Bools, alone: dict[str, Bools], above: tuple[Ints, Ints]) -> Ints:
    """For every alone cell the smallest cell of the same person."""
    number = np.arange(cells.size)
    part, total = above
    both = cells[part] & cells[total]
    links = [(part[both], total[both])]
    for level, each in alone.items():
        owner = plain[level]["owner"]
        if owner is not None:
            mine = np.flatnonzero(each & (np.array(owner) >= 0))
            _, first, group = np.unique(np.array(owner)[mine], return_index=True, return_inverse=True)
            links.append((mine, mine[first][group]))
    one, other = (np.concatenate([link[side] for link in links]) for side in (0, 1))
    while True:
        before = number.copy()
        np.minimum.at(number, one, number[other])
        np.minimum.at(number, other, number[one])
        if np.array_equal(number, before):
            return number


def _leaders(plain: Plain, cells: Bools, persons: Ints) -> Ints:
    """For every cell the person alone in it, or whoever contributes most to it."""
    owners = (plain[level]["owner"] for level in LEVELS if plain[level] is not None)
    owner = next((np.array(each) for each in owners if each is not None), None)
    if owner is None:
        return persons
    # whoever is alone somewhere comes before those who are alone nowhere
    size = cells.size
    number, known = np.where(cells, persons, size + np.arange(size)), np.flatnonzero(owner >= 0)
    _, group = np.unique(owner[known], return_inverse=True)
    first = np.full(known.size, 2 * size)
    np.minimum.at(first, group, number[known])
    number[known] = first[group]
    return np.where(cells, persons, number % size)


def _largest(plain: Plain, grounds: Grounds, alone: Bools) -> dict[int, Rooms]:
    """What the largest contributor of every hidden cell with several knows about it."""
    levels = (plain[level] for level in LEVELS if plain[level] is not None)
    people = next((each for each in levels if each["largest"] is not None and each["largest"][0]), None)
    if people is None:
        raise Impossible("largest contributors of a table without contributions")
    several = _others(people) > 1
    found: dict[int, Rooms] = {}
    digits = len(str(grounds.unit)) - 1
    told = (plain["respondents"] or people)["public_value"] or people["public_value"]
    public = told if people["absolute"] is None else None
    for cell in grounds.hidden:
        if alone[cell] or not several[cell]:
            continue
        texts = [people["largest"][cell][0]] + ([] if public is None else [public[cell]])
        rest = max(abs(grounds.value[cell]) - sum(whole(texts, digits)), 0)
        found[cell] = (rest, None) if grounds.value[cell] < 0 else (None, rest)
    return found
