"""Which published ratios and rounded values give something away: they are withheld until none does.

They say between which bounds cells lie, and nothing else; so the search for moves, which hides values that are shown,
has nothing to look for. What stands nearest to exposed cells is withheld first, and shown again where it turns out that
others were enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import verdicts_on
from diskret.auditing.report import AuditReport
from diskret.ledger.asking import asked_of
from diskret.ledger.linked import Linked
from diskret.ledger.linking import Link
from diskret.model.arrays import Bools, Ints
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.widening import needed, places_of

Linking = Callable[[Table], Link]
MOST_AUDITS = 8
"""Attempts to show some again, each with the system made anew."""
AT_ONCE = 12
"""Cells that are asked for at once: one that is exposed is enough."""


def withheld_beside(table: Table, promise: Promise, link: Linking) -> Bools:
    """The cells of a table of ratios or rounded values that must be withheld beside the ledger.

    Whatever is exposed with all of them withheld is not their fault.
    """
    names: set[str] = set()

    def attacked(withheld: Bools, only: Ints | None = None) -> tuple[Link, AuditReport]:
        found = link(with_hidden(table, withheld))
        return found, verdicts_on(asking(found.cells, only, names), asked_of(promise))

    given = table.hidden.reshape(-1)
    found, report = attacked(given)
    for cell, _ in found.shown_hidden:
        given[cell] = True
    if found.shown_hidden:
        found, report = attacked(given)
    if not report.open_to:
        return given
    # to show less exposes nothing: only what is exposed now is asked for again
    places = places_of(found.cells, report)
    only = found.cells.identity[places]
    names |= {found.cells.name_of(cell) for cell in places.tolist()}
    in_any_case = attacked(np.ones_like(given), only)[1].open_to
    withheld, fresh = given.copy(), np.empty(0, np.int64)
    while not report.open_to <= in_any_case:
        near = _near(found, [e.index[0] for e in report.exposed if e.index], np.flatnonzero(~withheld))
        # where nothing says which it was, all go
        more = near if near.size and not report.undecided else np.flatnonzero(~withheld)
        withheld[more] = True
        fresh = np.append(fresh, more)
        found, report = attacked(withheld, only)

    def enough(some: Ints) -> bool:
        tried = given.copy()
        tried[some] = True
        found = link(with_hidden(table, tried))
        parts = np.array_split(only, 1 + only.size // AT_ONCE)
        return all(
            verdicts_on(asking(found.cells, part, names), asked_of(promise)).open_to <= in_any_case for part in parts
        )

    withheld = given.copy()
    withheld[needed(fresh, enough, MOST_AUDITS)] = True
    return withheld


def asking(cells: Linked, only: Ints | None, names: Collection[str] = ()) -> Linked:
    """The same cells of which only some are asked for, by their identities; what has none by its name."""
    if only is None:
        return cells
    primary = cells.status == Status.PRIMARY
    other = primary & ~np.isin(cells.identity, only[only != 0])
    nameless = np.flatnonzero(other & (cells.identity == 0))
    other[nameless] = [cells.name_of(cell) not in names for cell in nameless.tolist()]
    return replace(cells, status=np.where(other, np.uint8(Status.SECONDARY), cells.status))


def _near(link: Link, exposed: list[int], shown: Ints) -> Ints:
    """Of the cells that the new table shows those that stand nearest to exposed ones."""
    cells = link.cells
    start, row_cells = cells.row_cells
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    ratio = np.array([link.ratio_rows.get(i, -1) for i in range(start.size - 1)], dtype=np.int64)
    own = np.flatnonzero(np.isin(np.arange(link.own.size), shown) & (link.own >= 0))
    reached = np.zeros(cells.size, dtype=np.bool_)
    reached[exposed] = True
    hidden = cells.hidden.reshape(-1)
    while True:
        near = np.bincount(row, weights=(reached & hidden)[row_cells], minlength=start.size - 1) > 0
        told = np.union1d(ratio[near & (ratio >= 0)], own[reached[link.own[own]]])
        if told.size:
            return told
        before = int(reached.sum())
        reached[row_cells[near[row]]] = True
        if int(reached.sum()) == before:
            return told


def with_hidden(table: Table, hidden: Bools) -> Table:
    """The same table with these cells withheld."""
    status = table.status.reshape(-1).copy()
    status[hidden & ~table.hidden.reshape(-1)] = Status.SECONDARY
    return replace(table, status=status.reshape(table.shape))
