"""Insiders: respondents who know more about some hidden cells than the public does.

Whoever is alone in a cell knows it, and every margin in which he is alone too. The largest contributor of a cell
knows that its value is at least his own. A coalition knows the cells its members name. What an insider still thinks
possible is a room per cell; where it is zero he knows the cell exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.errors import BadOption
from diskret.model.promise import Promise


@dataclass(frozen=True, eq=False)
class Insiders:
    """Entries cell by cell: who knows something about it, and how far above and below the value he thinks possible."""

    start: Ints
    """Where the entries of each cell of the table begin; one more at the end."""
    who: Ints
    up: Floats
    down: Floats
    home: Ints
    """The finest cell of every insider, as codes per classification; -1 for coalitions."""
    below: tuple[Ints, ...]
    """For every code of every classification where the codes below it begin."""
    names: tuple[str, ...] = ()
    """Names of coalitions; they are the first insiders."""
    behind: Ints | None = None
    """Without a product: who stands behind which cell, as ascending numbers (insider times cells plus cell)."""

    @classmethod
    def of(
        cls, table: Cells, cells: Ints, who: Ints, up: Floats, down: Floats, names: tuple[str, ...] = (),
        finest: Ints | None = None,
    ) -> Insiders:  # fmt: skip
        """From entries in any order; ``finest`` is the cell an insider stands in, if it is none of his entries."""
        order = np.lexsort((who, cells))
        number = max(int(who.max(initial=-1)) + 1, len(names))
        start = np.searchsorted(cells[order], np.arange(table.size + 1))
        if not table.product:
            person = who >= len(names)
            behind = _reached(table, who[person], cells[person])
            home = np.zeros((number, 1), dtype=np.int64)
            return cls(start, who[order], up[order], down[order], home, (), names, behind)
        if finest is None:
            finest = np.full(number, table.size - 1)
            np.minimum.at(finest, who, cells)  # parts stand before their sums
        home = np.stack(np.unravel_index(finest, table.shape), axis=1)
        home[: len(names)] = -1
        below = tuple(h.first_below for h in table.hierarchies)
        return cls(start, who[order], up[order], down[order], home, below, names)

    @property
    def count(self) -> int:
        """Number of entries."""
        return int(self.who.size)

    @property
    def number(self) -> int:
        """Number of insiders."""
        return len(self.home)

    def entries(self, cells: Ints) -> tuple[Ints, Ints]:
        """Entries of some cells: for each its position among the cells, and its own position."""
        lengths = self.start[cells + 1] - self.start[cells]
        at = np.repeat(np.arange(cells.size), lengths)
        offset = np.arange(at.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return at, self.start[cells][at] + offset

    def contribute(self, who: Ints, cells: Ints, shape: tuple[int, ...]) -> Bools:
        """Which insiders (along the second axis) stand behind which cells (along the first) themselves.

        What one contributor of a cell finds out about the others is the business of the primary rule.
        """
        if self.behind is not None:
            return np.isin(who[None, :] * prod(shape) + cells[:, None], self.behind)
        return _inside(self.home[who], cells, shape, self.below)

    def cells_of(self, who: int) -> tuple[Ints, Floats, Floats]:
        """What one insider knows: cells and rooms."""
        order, first = self._by_insider
        mine = order[first[who] : first[who + 1]]
        cells = np.searchsorted(self.start, mine, side="right") - 1
        return cells, self.up[mine], self.down[mine]

    @cached_property
    def _by_insider(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.who, kind="stable")
        return order, np.searchsorted(self.who[order], np.arange(int(self.who.max(initial=-1)) + 2))

    def name(self, who: int, table: Cells) -> str:
        """An insider in words."""
        if who < len(self.names):
            return self.names[who]
        cells, up, down = self.cells_of(who)
        known = "who is alone in" if (up + down == 0).all() else "the largest contributor of"
        return f"{known} {table.name_of(int(cells[0]))}"


def insiders_of(
    table: Cells, promise: Promise, *, among: Bools | None = None, largest_of: Bools | None = None
) -> Insiders:
    """Everybody the promise guards against besides the public, as far as he knows something about hidden cells.

    ``among`` names other cells (flat) to look at, such as all that may be hidden later; the largest contributors of
    the cells ``largest_of`` are added.

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "n": [1, 4, 5], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", status="st")
    >>> insiders_of(table, Promise()).who.tolist()
    [0]
    """
    looked_at = table.hidden.reshape(-1) if among is None else among
    parts = [_coalition(table, number, members) for number, members in enumerate(promise.coalitions)]
    names = tuple(f"coalition {number + 1}" for number in range(len(parts)))
    first = len(parts)
    if promise.guard != "public":
        persons = persons_of(table)
        alone = np.flatnonzero((persons >= 0) & looked_at)
        nothing = np.zeros(alone.size)
        parts.append((alone, first + persons[alone], nothing, nothing))
        watched = looked_at if promise.guard == "largest" else largest_of
        if watched is not None:
            parts.append(_largest(table, (persons < 0) & watched, first + table.size))
    cells, who, up, down = (np.concatenate([p[i] for p in parts]) if parts else np.empty(0) for i in range(4))
    kept, number = np.unique(who.astype(np.int64), return_inverse=True)
    names = tuple(names[k] for k in kept[kept < first])
    # parts stand before their sums: a person has the number of the finest cell
    finest = np.maximum(kept - first, 0) % table.size
    return Insiders.of(table, cells.astype(np.int64), number.astype(np.int64), up, down, names, finest)


def persons_of(table: Cells) -> Ints:
    """For every cell the number of the one respondent (or holding) behind it, -1 where there are none or several.

    Someone alone in a cell and in its margins has one number: the counts say that nobody else is there.
    """
    alone = np.zeros(table.shape, dtype=np.bool_)
    if table.holdings is not None:
        alone |= table.holdings.count == 1
    if table.respondents is not None:
        alone |= table.respondents.count == 1
    elif table.frequency:
        alone |= table.value == 1
    return table.one_person(alone)


def _reached(table: Cells, who: Ints, cells: Ints) -> Ints:
    """Everybody's own cells and all sums above them, as numbers (insider times cells plus cell)."""
    part, whole = table.sums_of
    order = np.argsort(part, kind="stable")
    start = np.searchsorted(part[order], np.arange(table.size + 1))
    found = fresh = np.unique(who * table.size + cells)
    while fresh.size:
        at = fresh % table.size
        length = start[at + 1] - start[at]
        entry = np.repeat(start[at] - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
        above = np.repeat(fresh - at, length) + whole[order[entry]]
        fresh = np.setdiff1d(above, found)
        found = np.union1d(found, fresh)
    return found


def stand_behind(table: Cells, persons: Ints, cells: Ints) -> Bools:
    """Which cells (along the first axis) contain which persons (along the second, by ascending number).

    ``persons`` are those of `persons_of`; all flat.
    """
    numbers, first = np.unique(persons, return_index=True)
    numbers, first = numbers[numbers >= 0], first[numbers >= 0]
    if not table.product:
        own = np.flatnonzero(persons >= 0)
        behind = _reached(table, np.searchsorted(numbers, persons[own]), own)
        return np.isin(np.arange(numbers.size)[None, :] * table.size + cells[:, None], behind)
    # parts stand before their sums
    home = np.stack(np.unravel_index(first, table.shape), axis=1)
    return _inside(home, cells, table.shape, tuple(h.first_below for h in table.hierarchies))


def _inside(home: Ints, cells: Ints, shape: tuple[int, ...], below: tuple[Ints, ...]) -> Bools:
    inside = np.ones((cells.size, len(home)), dtype=np.bool_)
    for axis, at in enumerate(np.unravel_index(cells, shape)):
        mine = home[:, axis][None, :]
        inside &= (mine <= at[:, None]) & (mine >= below[axis][at][:, None])
    return inside


def _largest(table: Cells, among: Bools, first: int) -> tuple[Ints, Ints, Floats, Floats]:
    """The largest contributor of every cell with several: it is at least what he gave himself."""
    people = table.respondents
    if people is None or people.largest is None:
        raise BadOption("guard 'largest' without contributions", hint="give largest=... when making the table.")
    several = np.flatnonzero(among & (people.count.reshape(-1) > 1))
    own = people.largest.reshape(table.size, -1)[several, 0]
    value = table.value.reshape(-1)[several]
    nearer, farther = np.maximum(np.abs(value) - own, 0.0), np.full(several.size, np.inf)
    # a negative value is at most what he gave: he knows how near to zero it can be
    return several, first + several, np.where(value < 0, nearer, farther), np.where(value < 0, farther, nearer)


def _coalition(table: Cells, number: int, cells: Sequence[Sequence[str]]) -> tuple[Ints, Ints, Floats, Floats]:
    known = [int(np.ravel_multi_index(table.index(*codes), table.shape)) for codes in cells]
    if not known:
        raise BadOption(f"coalition {number + 1} knows no cell", hint="name its cells by their codes.")
    nothing = np.zeros(len(known))
    return np.array(known, dtype=np.int64), np.full(len(known), number), nothing, nothing
