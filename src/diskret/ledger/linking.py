"""Putting a table beside everything published: same cells found, sums written down, what is connected kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diskret.ledger.boxes import MOST_PARTS, Following
from diskret.ledger.codes import Scheme
from diskret.ledger.connecting import Connected
from diskret.ledger.entry import Entry, EntryCells
from diskret.ledger.lines import sums_among
from diskret.ledger.linked import Linked
from diskret.ledger.nodes import Keys, Rows, Sets, nodes_of, numbered, rows_of
from diskret.ledger.ratios import keys_of_ratio, under_subject
from diskret.ledger.systems import system_of
from diskret.model.arrays import Bools, Ints
from diskret.model.rule import Rule

Given = tuple[Entry, EntryCells]
Subject = tuple[str, str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Link:
    """A new table beside the ledger."""

    cells: Linked
    own: Ints
    """For every cell of the new table the cell of the system behind it; -1 for ratios."""
    shown_hidden: tuple[tuple[int, str], ...]
    """Cells of the new table that show what an entry hides because it is sensitive, with its name."""
    hidden_shown: tuple[tuple[int, str], ...]
    """Sensitive cells of the new table that an entry shows openly."""
    connected: tuple[str, ...]
    """Names of the entries that are connected with it."""
    untold: int
    """Hidden cells whose true values nobody told."""
    fits: bool
    """Whether there are values that fit everything that is published."""
    closed: bool
    """Whether everything that follows from what is published was followed up."""
    derived: int
    """Cells that nobody published but everybody can compute."""
    left: int
    """Cells that overlap others in so many ways that not all of it was followed up."""
    ratio_rows: Mapping[int, int]
    """Equations that say a ratio of the new table, each with its cell."""
    flaws: tuple[str, ...] = ()
    """What the ledger has lost: nobody can say what it told."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be looked at; with any of them nothing is called safe."""
        told = {
            f"the true values of {self.untold} hidden cells are not known to the ledger": self.untold > 0,
            "no values fit everything that is published: some of it is rounded or wrong, and nobody said so":
                not self.fits,
            "so much follows from these tables that not all of it was followed up": not self.closed,
            f"{self.left} cells overlap in so many classifications that not all of it was followed up": self.left > 0,
        }  # fmt: skip
        lost = (f"the ledger is damaged, and what is lost was not looked at: {flaw}" for flaw in self.flaws)
        return (*lost, *(note for note, said in told.items() if said))


def linked(
    entries: Sequence[Given], new: Given, schemes: Mapping[str, Scheme], stocks: Sequence[Subject] = (),
    judges: Sequence[Rule] = (), parts: int = MOST_PARTS,
) -> Link:  # fmt: skip
    """A new table and all entries it is connected with, as one system.

    Groups of cells that overlap are taken apart into so many ``parts`` at most.
    """
    given = [*entries, new]
    sets, subjects = Sets(schemes), subjects_of(given)
    rows, ratio = all_rows(given, sets, subjects)
    nodes = nodes_of(rows, ~ratio)
    first = np.flatnonzero(nodes.version == 0)
    over, under = _ratio_keys(given, rows, sets, subjects)
    key, where = _distinct(np.concatenate([nodes.key[first], over, under]), first.size)
    still = [subjects[each] for each in stocks if each in subjects]
    sums = sums_among(key, rows.axes, sets, still)
    known = rows, nodes, sums, (ratio, where[first.size :]), sets, still
    found = Connected.of(given, *known, Following(parts=parts))
    made = system_of(found, subjects, tuple(judges))
    if found.doubts and not made.fits:
        # something did change that nobody revised
        found = Connected.of(given, *known, Following(parts=parts, doubting=True))
        made = system_of(found, subjects, tuple(judges))
    names = [entries[i][0].name for i in made.connected]
    return Link(
        cells=made.cells, own=made.own, shown_hidden=made.shown_hidden, hidden_shown=made.hidden_shown,
        connected=tuple(names), untold=made.untold, fits=made.fits, closed=sums.closed, derived=made.derived,
        left=made.left, ratio_rows=made.ratio_rows,
    )  # fmt: skip


def subjects_of(given: Sequence[Given]) -> dict[Subject, int]:
    """A number for everything that is counted."""
    subjects: dict[Subject, int] = {}
    for entry, _ in given:
        subjects.setdefault(entry.subject, len(subjects))
        if entry.about.ratio is not None:
            subjects.setdefault(under_subject(entry), len(subjects))
    return subjects


def all_rows(given: Sequence[Given], sets: Sets, subjects: Mapping[Subject, int]) -> tuple[Rows, Bools]:
    """The rows of all entries, and which of them say ratios."""
    rows = rows_of(given, sets, subjects)
    ratio = np.array([entry.about.ratio is not None for entry, _ in given])
    return rows, ratio[rows.entry]


def _ratio_keys(given: Sequence[Given], rows: Rows, sets: Sets, subjects: Mapping[Subject, int]) -> tuple[Keys, Keys]:
    """Keys of what stands above and below the line of every ratio, row by row."""
    both = [
        keys_of_ratio(entry, cells, rows.axes, sets, subjects)
        for entry, cells in given
        if entry.about.ratio is not None
    ]
    none = rows.key[:0]
    return np.concatenate([none, *(over for over, _ in both)]), np.concatenate([none, *(under for _, under in both)])


def _distinct(key: Keys, first: int) -> tuple[Keys, Ints]:
    """Keys without repetitions, the first ones in their order, and the place of every key among them."""
    _, begin, inverse = np.unique(numbered(key), return_index=True, return_inverse=True)
    order = np.sort(begin)
    place = np.searchsorted(order, begin)[inverse]
    return key[order], place
