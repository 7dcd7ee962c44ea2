"""What the inspector says about a cell; values of hidden cells only in the internal view."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.auditing.cell_interval import cell_interval
from diskret.model.protection import Knowledge
from diskret.model.table import Index, Table
from diskret.suppression.result import Suppression

MOST_MOVES = 6
MOST_CELLS = 200
MOST_NEEDED = 20
ABOUT_VALUES = ("relative", "intervals")
"""Kinds of prior knowledge that are bounds around the values: what follows from them is internal."""


def explained(done: Suppression, at: Index, *, internal: bool, knowledge: Knowledge | None) -> dict[str, Any]:
    """Status, rules, moves, whom it helps, what remains possible."""
    table = done.table
    cell = int(np.ravel_multi_index(at, table.shape))
    hidden = bool(table.hidden[at])
    mine = set(done.moves.protecting(cell).tolist())
    using = set(done.moves.using(cell, table.shape).tolist()) if hidden else set()
    helped = sorted({p for k in using for p in done.moves.protected(k)} - {cell})
    return {
        "index": list(at),
        "codes": list(table.codes(at)),
        "status": int(table.status[at]),
        "value": float(table.value[at]) if internal or not hidden else None,
        "count": None if table.respondents is None or (hidden and not internal) else int(table.count[at]),
        "rules": list(table.rules_of(at)),
        "moves": [_move(done, k, k in mine) for k in [*sorted(mine), *sorted(using - mine)][:MOST_MOVES]],
        "needed": [_index(table, p) for p in helped[:MOST_NEEDED]],
        "unprotected": any(u.index == at for u in done.unprotected),
        "interval": remaining(table, at, internal=internal, knowledge=knowledge) if hidden else None,
    }


def remaining(
    table: Table, at: Index, *, internal: bool, knowledge: Knowledge | None
) -> dict[str, float | None] | None:
    """The interval of a hidden cell that anybody can work out; none where it would tell a value, or takes too long."""
    if not table.hidden[at] or (knowledge is not None and knowledge.kind in ABOUT_VALUES and not internal):
        return None
    found = cell_interval(table, *table.codes(at), knowledge=knowledge)
    if found is None or (found[0] == found[1] and not internal):
        return None  # a cell that can be computed exactly is exposed: its value is shown nowhere
    lower, upper = (end if np.isfinite(end) else None for end in found)
    return {"lower": lower, "upper": upper}


def _move(done: Suppression, k: int, protects: bool) -> dict[str, Any]:
    move = done.moves.move(k, done.table)
    cells = zip(move.cells.tolist()[:MOST_CELLS], move.coefficients.tolist()[:MOST_CELLS], strict=True)
    # the sign only: the coefficients of routed moves are amounts
    signs = [{"index": _index(done.table, c), "coefficient": 1 if x > 0 else -1} for c, x in cells]
    return {"protects": protects, "cells": signs}


def _index(table: Table, cell: int) -> list[int]:
    return [int(i) for i in np.unravel_index(cell, table.shape)]
