"""Insiders: respondents who know more about some hidden cells than the public does.

Whoever is alone in a cell knows it, and every other cell in which he is alone too: its margins, and where owners are
known all cells of one owner. The largest contributor of a cell knows that its value is at least his own. A coalition
knows the cells its members name. What an insider still thinks possible is a room per cell; where it is zero he knows
the cell exactly. All he knows he knows together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.model.grid import difference
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.moves.persons import holds, leaders_of, persons_of, standing

MOST_NAMED = 3
"""Cells by which an insider is named,"""
MOST_LOOKED_AT = 100
"""and among how many of his they are chosen."""


@dataclass(frozen=True, eq=False)
class Insiders:
    """Entries cell by cell: who knows something about it, and how far above and below the value he thinks possible."""

    start: Ints
    """Where the entries of each cell of the table begin; one more at the end."""
    who: Ints
    up: Floats
    down: Floats
    home: Ints
    """The finest cell of every insider, as codes per classification; -1 for coalitions. Without ``behind`` he stands
    behind it and all sums above it, and nothing else."""
    below: tuple[Ints, ...]
    """For every code of every classification where the codes below it begin."""
    names: tuple[str, ...] = ()
    """Names of coalitions; they are the first insiders."""
    behind: Ints | None = None
    """Where homes do not say it: who stands behind which primary cell, as ascending numbers (insider times cells plus
    cell)."""

    @classmethod
    def of(
        cls, table: Cells, cells: Ints, who: Ints, up: Floats, down: Floats, names: tuple[str, ...] = (),
        stands: tuple[Ints, Ints] | None = None,
    ) -> Insiders:  # fmt: skip
        """From entries in any order; ``stands`` are insiders with cells they have a share in, if not their entries."""
        order = np.lexsort((who, cells))
        number = max(int(who.max(initial=-1)) + 1, len(names))
        start = np.searchsorted(cells[order], np.arange(table.size + 1))
        known = cls(start, who[order], up[order], down[order], np.zeros((number, 1), dtype=np.int64), (), names)
        person, inside = (who, cells) if stands is None else stands
        person, inside = person[person >= len(names)], inside[person >= len(names)]
        if table.product:
            below = tuple(h.first_below for h in table.hierarchies)
            finest = np.full(number, table.size - 1)
            np.minimum.at(finest, person, inside)  # parts stand before their sums
            home = np.stack(np.unravel_index(finest, table.shape), axis=1)
            home[: len(names)] = -1
            known = replace(known, home=home, below=below)
            if _above(home[person], inside, table.shape, below).all():
                return known
        # no single cell says it: every cell that somebody may want to find out is listed with those behind it
        wanted = (table.status == Status.PRIMARY).reshape(-1)
        return replace(known, behind=standing(table, person, inside, wanted))

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
        """Which insiders (along the second axis) stand behind which primary cells (along the first) themselves.

        What one contributor of a cell finds out about the others is the business of the primary rule.
        """
        if self.behind is not None:
            return holds(self.behind, who[None, :] * prod(shape) + cells[:, None])
        return _above(self.home[who], cells[:, None], shape, self.below)

    def contribute_to(self, who: Ints, cells: Ints, shape: tuple[int, ...]) -> Bools:
        """Which insiders stand behind the primary cells beside them themselves."""
        if self.behind is not None:
            return holds(self.behind, who * prod(shape) + cells)
        return _above(self.home[who], cells, shape, self.below)

    def cells_of(self, who: int) -> tuple[Ints, Floats, Floats]:
        """What one insider knows: cells and rooms."""
        cells, order, first = self._by_insider
        mine = slice(int(first[who]), int(first[who + 1]))
        return cells[mine], self.up[order[mine]], self.down[order[mine]]

    @cached_property
    def _by_insider(self) -> tuple[Ints, Ints, Ints]:
        order = np.argsort(self.who, kind="stable")
        cells = np.repeat(np.arange(self.start.size - 1), np.diff(self.start))
        return cells[order], order, np.searchsorted(self.who[order], np.arange(int(self.who.max(initial=-1)) + 2))

    def name(self, who: int, table: Cells) -> str:
        """An insider in words: by the cell he is alone in, or the first few if he is alone in cells apart."""
        if who < len(self.names):
            return self.names[who]
        cells, up, down = self.cells_of(who)
        alone = cells[up + down == 0]
        if not alone.size:
            return f"the largest contributor of {table.name_of(int(cells[0]))}"
        return f"who is alone in {_listed(table, alone)}"


def _listed(table: Cells, cells: Ints) -> str:
    """Cells in words, without those that are sums of others."""
    cells = cells[:MOST_LOOKED_AT]
    every, keys = np.ones(table.size, dtype=np.bool_), np.arange(cells.size)
    above = standing(table, keys, cells, every)
    of_another = [holds(above, keys[keys != i] * table.size + c).any() for i, c in enumerate(cells.tolist())]
    apart = [table.name_of(c) for c, sum_of in zip(cells.tolist(), of_another, strict=True) if not sum_of]
    return "; ".join(apart[:MOST_NAMED]) + ("; ..." if len(apart) > MOST_NAMED else "")


def insiders_of(
    table: Cells, promise: Promise, *, among: Bools | None = None, largest_of: Bools | None = None
) -> Insiders:
    """Everybody the promise guards against besides the public, as far as he knows something about hidden cells.

    ``among`` names other cells (flat) to look at, such as all that may be hidden later; the largest contributors of
    the cells ``largest_of`` are added, and where one owner is alone in several of them a stranger for each.

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
    leaders, stood = np.empty(0, dtype=np.int64), np.arange(table.size if promise.guard != "public" else 0)
    if promise.guard != "public":
        persons = persons_of(table)
        leaders = first + leaders_of(table, persons)
        alone = np.flatnonzero((persons >= 0) & looked_at)
        nothing = np.zeros(alone.size)
        parts.append((alone, leaders[alone], nothing, nothing))
        watched = looked_at if promise.guard == "largest" else largest_of
        if watched is not None:
            parts.append(_largest(table, (persons < 0) & watched, leaders))
        if largest_of is not None:
            parts.append(_strangers(table, persons, largest_of & looked_at, first + 2 * table.size))
            leaders, stood = np.append(leaders, parts[-1][1]), np.append(stood, parts[-1][0])
    cells, who, up, down = (np.concatenate([p[i] for p in parts]) if parts else np.empty(0) for i in range(4))
    kept, number = np.unique(who.astype(np.int64), return_inverse=True)
    names = tuple(names[k] for k in kept[kept < first])
    mine = np.flatnonzero(holds(kept, leaders))
    stands = np.searchsorted(kept, leaders[mine]), stood[mine]
    return Insiders.of(table, cells.astype(np.int64), number.astype(np.int64), up, down, names, stands)


def _above(home: Ints, cells: Ints, shape: tuple[int, ...], below: tuple[Ints, ...]) -> Bools:
    """Whether cells are the homes beside them or sums above these; homes stand along the last axis of the cells."""
    inside = np.ones(np.broadcast_shapes(cells.shape, (len(home),)), dtype=np.bool_)
    for axis, at in enumerate(np.unravel_index(cells, shape)):
        mine = home[:, axis]
        inside &= (mine <= at) & (mine >= below[axis][at])
    return inside


def _published(table: Cells, people: Contributors) -> Floats | None:
    """What everybody knows of the cells besides, if no contribution is negative.

    A holding may publish some of its respondents only. Those of the largest one count twice then, on the safe side.
    """
    if people.absolute is not None:
        return None
    if people is table.holdings and table.respondents is not None and table.respondents.public_value is not None:
        return table.respondents.public_value
    return people.public_value


def _largest(table: Cells, among: Bools, leaders: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """The largest contributor of every cell with several: it is at least what he gave himself and what is public."""
    people = table.respondents
    if table.holdings is not None and table.holdings.largest is not None:
        # whoever owns several respondents knows what they gave together
        people = table.holdings
    if people is None or people.largest is None:
        raise BadOption("guard 'largest' without contributions", hint="give largest=... when making the table.")
    several = np.flatnonzero(among & (people.others.reshape(-1) > 1))
    own = people.largest.reshape(table.size, -1)[several, 0]
    public = _published(table, people)
    if public is not None:
        own = own + public.reshape(-1)[several]
    value = table.value.reshape(-1)[several]
    nearer, farther = np.maximum(difference(np.abs(value), own), 0.0), np.full(several.size, np.inf)
    # a negative value is at most what he gave: he knows how near to zero it can be
    up, down = np.where(value < 0, nearer, farther), np.where(value < 0, farther, nearer)
    return several, leaders[several], up, down


def _strangers(table: Cells, persons: Ints, among: Bools, first: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Somebody else in every cell apart of an owner of several: what hides these from each other hides their sum."""
    by_counts = persons_of(table, owners=False)
    several = np.isin(persons, persons[persons != by_counts])
    cells = np.flatnonzero(among & (persons >= 0) & several)
    nothing = np.zeros(cells.size)
    return cells, first + by_counts[cells], nothing, nothing


def _coalition(table: Cells, number: int, cells: Sequence[Sequence[str]]) -> tuple[Ints, Ints, Floats, Floats]:
    known = [int(np.ravel_multi_index(table.index(*codes), table.shape)) for codes in cells]
    if not known:
        raise BadOption(f"coalition {number + 1} knows no cell", hint="name its cells by their codes.")
    nothing = np.zeros(len(known))
    return np.array(known, dtype=np.int64), np.full(len(known), number), nothing, nothing
