"""Entries that say of one cell what earlier ones deny."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from diskret.ledger.codes import Scheme
from diskret.ledger.linking import Given, all_rows, subjects_of
from diskret.ledger.nodes import Sets, nodes_of
from diskret.model.errors import Contradiction, listed


def refuse_contradictions(entries: Sequence[Given], new: Given, schemes: Mapping[str, Scheme]) -> None:
    """Refuse a new entry whose cells have other values than entries before it, unless it revises one."""
    if new[0].about.revises:
        return
    given = [*entries, new]
    sets = Sets(schemes)
    rows, ratio = all_rows(given, sets, subjects_of(given))
    nodes = nodes_of(rows, ~ratio)
    mine = (rows.entry == len(given) - 1) & (nodes.of_row >= 0)
    newest = np.zeros(nodes.size, dtype=np.bool_)
    newest[nodes.of_row[mine]] = True
    base = np.cumsum(nodes.version == 0) - 1
    # a cell of the new entry that nobody gave this value before
    older = np.zeros(nodes.size, dtype=np.bool_)
    older[nodes.of_row[(rows.entry < len(given) - 1) & (nodes.of_row >= 0)]] = True
    torn = np.flatnonzero(newest & ~older & (np.bincount(base)[base] > 1))
    if not torn.size:
        return
    at = np.flatnonzero(mine)[::-1]
    first = dict(zip(nodes.of_row[at].tolist(), at.tolist(), strict=True))
    names, places = [], []
    for row, node in sorted((first[node], node) for node in torn.tolist())[:5]:
        others = np.flatnonzero((nodes.of_row >= 0) & (base[np.maximum(nodes.of_row, 0)] == base[node]) & ~mine)
        names.append(_cell(new, int(rows.row[row])))
        places += [entries[int(rows.entry[other])][0].name for other in others]
    raise Contradiction(
        f"{torn.size} cell of {new[0].name!r} has a different value than in {listed(dict.fromkeys(places))}"
        if torn.size == 1
        else f"{torn.size} cells of {new[0].name!r} have a different value than in {listed(dict.fromkeys(places))}",
        where=listed(names),
        hint="correct the table; if the values were revised, name the entry whose values it replaces: revises='...'.",
    )


def _cell(given: Given, row: int) -> str:
    """A cell of an entry, by its codes."""
    entry, cells = given
    codes = [f"{n}={h.codes[int(at[row])]}" for (n, h), at in zip(entry.by.items(), cells.at, strict=True)]
    return ", ".join(codes)
