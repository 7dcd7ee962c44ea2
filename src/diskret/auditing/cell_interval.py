"""What anybody can find out about one hidden cell, exactly: two linear programmes over the cells that hang together."""

from __future__ import annotations

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption
from diskret.model.protection import Knowledge
from diskret.model.table import Table

MOST_UNKNOWNS = 20_000
"""Beyond this many cells that hang together, one cell is not worth the wait."""


def cell_interval(table: Table, *codes: str, knowledge: Knowledge | None = None) -> tuple[float, float] | None:
    """The smallest and the largest value a hidden cell can have, by all that is published; None if that takes too long.

    Left out, ``knowledge`` is that values are positive, if they are. For knowledge of that kind the interval tells
    nothing that a reader of the published table could not work out; bounds around the values themselves are internal.

    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "open"]}
    >>> cell_interval(Table.from_cells(cells, by={"s": None}, value="x", status="st"), "a")
    (0.0, 30.0)
    """
    at = table.index(*codes)
    if not table.hidden[at]:
        raise BadOption(f"{', '.join(codes)} is not hidden", hint="an open cell has its value and no interval.")
    known = knowledge or (Knowledge.none() if (table.value < 0).any() else Knowledge.positive())
    system = equations_of(table)
    (column,) = np.flatnonzero(system.cells == np.ravel_multi_index(at, table.shape))
    label = system.components()
    columns = np.flatnonzero(label == label[column])
    if columns.size > MOST_UNKNOWNS:
        return None
    up, down = (each[system.cells[columns]] for each in known.room(table))
    nothing = np.empty(0)
    attacker = Attacker(system.part(columns), up, down, np.empty(0, dtype=np.int64), nothing, nothing)
    place = int(np.flatnonzero(columns == column)[0])
    rise, fall = attacker.extreme(place, True), attacker.extreme(place, False)
    if rise is None or fall is None:
        return None
    value = float(table.value[at])
    lower, upper = _tidy(value - fall, table), _tidy(value + rise, table)
    return (float(np.ceil(lower)), float(np.floor(upper))) if table.frequency else (lower, upper)


def _tidy(end: float, table: Table) -> float:
    """An end without the solver's dust."""
    if not np.isfinite(end):
        return end
    return round(end, 6 if table.decimals is None else table.decimals) + 0.0
