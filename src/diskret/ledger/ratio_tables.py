"""Which published ratios give something away: they are withheld one after the other until none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import audit
from diskret.ledger.asking import asked_of
from diskret.ledger.linking import Link
from diskret.model.arrays import Bools
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table


def telling_ratios(table: Table, promise: Promise, link: Callable[[Table], Link]) -> Bools:
    """The cells of a table of ratios that must be withheld beside the ledger.

    Those that stand near an exposed cell go first; whatever is exposed without any of them is not their fault.
    """
    given = table.hidden.reshape(-1)
    withheld = given.copy()
    while not withheld.all():
        found = link(with_hidden(table, withheld))
        report = audit(found.cells, asked_of(promise))
        if report.safe:
            return withheld
        told = _behind(found, [e.index[0] for e in report.exposed if e.index]) if not report.undecided else None
        fresh = np.zeros(withheld.size, dtype=np.bool_)
        if told is not None:
            fresh[told] = True
        fresh &= ~withheld
        # where nothing says which it was, all go
        withheld = withheld | fresh if fresh.any() else np.ones(withheld.size, dtype=np.bool_)
    return withheld


def _behind(link: Link, exposed: list[int]) -> list[int]:
    """The ratios of the new table that stand nearest to exposed cells."""
    cells = link.cells
    start, row_cells = cells.row_cells
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    reached = np.zeros(cells.size, dtype=np.bool_)
    reached[exposed] = True
    ratios = np.array([link.ratio_rows.get(i, -1) for i in range(start.size - 1)], dtype=np.int64)
    hidden = cells.hidden.reshape(-1)
    while True:
        near = np.bincount(row, weights=(reached & hidden)[row_cells], minlength=start.size - 1) > 0
        if (near & (ratios >= 0)).any():
            found: list[int] = np.unique(ratios[near & (ratios >= 0)]).tolist()
            return found
        before = int(reached.sum())
        reached[row_cells[near[row]]] = True
        if int(reached.sum()) == before:
            return []


def with_hidden(table: Table, hidden: Bools) -> Table:
    """The same table with these cells withheld."""
    status = table.status.reshape(-1).copy()
    status[hidden & ~table.hidden.reshape(-1)] = Status.SECONDARY
    return replace(table, status=status.reshape(table.shape))
