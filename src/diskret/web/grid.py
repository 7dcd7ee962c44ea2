"""Windows of a table for a page that shows only what is on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table

MOST_CELLS = 20_000
"""Cells of one window."""


def described(tables: Mapping[str, Table], *, protected: bool = True) -> dict[str, Any]:
    """Axes with all codes, and what a page must know about each response."""
    first = next(iter(tables.values()))
    axes = [
        {
            "name": name,
            "codes": h.codes,
            "labels": h.labels,
            "parents": h.parents,
            "depth": h.depth,
            "unnamed": is_unnamed(h),
        }
        for name, h in first.by.items()
    ]
    responses = [
        {
            "name": name,
            "decimals": table.decimals,
            "frequency": table.frequency,
            "largest": _largest_open(table) if protected else None,
            "hidden": {s.text: int((table.status == s).sum()) for s in (Status.PRIMARY, Status.SECONDARY)},
        }
        for name, table in tables.items()
    ]
    return {"axes": axes, "responses": responses, "cells": first.size}


def is_unnamed(hierarchy: Hierarchy) -> bool:
    """Whether nobody named the total: whoever shows it says what it is called in the reader's language."""
    return hierarchy.total == hierarchy.labels[-1] == TOTAL


def _largest_open(table: Table) -> float:
    return float(np.abs(table.value, where=~table.hidden, out=np.zeros(table.shape)).max())


def window(
    table: Table, rows: Sequence[int], columns: Sequence[int], *, row_axis: str, column_axis: str | None,
    at: Mapping[str, int], protected: bool = True, internal: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Values and statuses of some rows and columns; ``at`` fixes the other classifications.

    A hidden value is null unless ``internal``. So is every value of a table that is not ``protected`` yet: nobody knows
    which of them will have to be hidden.

    >>> cells = {"s": ["m", "w", "d"], "x": [3, 4, 5], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> window(table, [1, 3], [0], row_axis="s", column_axis=None, at={})
    {'value': [[None], [12.0]], 'status': [[1], [0]], 'internal': False}
    """
    if len(rows) * max(1, len(columns)) > MOST_CELLS:
        raise BadOption(f"a window of more than {MOST_CELLS:,} cells", hint="ask for less at a time.")
    chosen = cells_of(table, rows, columns, row_axis=row_axis, column_axis=column_axis, at=at)
    status = table.status.reshape(-1)[chosen]
    values = table.value.reshape(-1)[chosen]
    hidden = (status == Status.PRIMARY) | (status == Status.SECONDARY)
    shown = values.astype(object)
    if not internal:
        shown[hidden if protected else ...] = None
    return {"value": shown.tolist(), "status": status.tolist(), "internal": internal}


def cells_of(
    table: Table, rows: Sequence[int], columns: Sequence[int], *, row_axis: str, column_axis: str | None,
    at: Mapping[str, int],
) -> Ints:  # fmt: skip
    """Flat positions of a window's cells, rows by columns."""
    unknown = [n for n in (row_axis, column_axis, *at) if n is not None and n not in table.by]
    if unknown or row_axis == column_axis:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    chosen = {
        name: np.full((1, 1), at.get(name, size - 1)) for name, size in zip(table.names, table.shape, strict=True)
    }
    chosen[row_axis] = np.asarray(rows, dtype=np.int64).reshape(-1, 1)
    if column_axis is not None:
        chosen[column_axis] = np.asarray(columns, dtype=np.int64).reshape(1, -1)
    wrong = [n for n, codes in chosen.items() if ((codes < 0) | (codes >= len(table.by[n]))).any()]
    if wrong:
        raise BadOption(f"no such code of {listed(wrong)}", hint="reload the page.")
    flat = np.ravel_multi_index(tuple(np.broadcast_arrays(*chosen.values())), table.shape)
    return np.broadcast_to(flat, (len(rows), 1 if column_axis is None else len(columns))).astype(np.int64)
