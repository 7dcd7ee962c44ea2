"""What an attack found possible for suppressed cells, beside an intermediate file. Confidential."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.table import Table
from diskret.publication.argus.layout import Layout, Texts, numbers


def audit_columns(layout: Layout, table: Table, found: tuple[Floats, Floats]) -> list[Texts]:
    """Both ends of what is possible and how far they are apart, each also in percent of the value.

    Cells that are published, and values of nothing, have zeros.
    """
    shown = layout.order(~table.hidden)
    value = layout.order(table.value)
    lower, upper = (np.where(shown, 0.0, layout.order(end)) for end in found)
    none = shown | (value == 0)
    whole = np.where(none, 1.0, value)
    parts = (100 * (value - lower) / whole, 100 * (upper - value) / whole, 100 * (upper - lower) / whole)
    return [numbers(each, table.decimals) for each in (lower, upper, upper - lower)] + [
        _percent(each, none) for each in parts
    ]


def _percent(values: Floats, none: Any) -> Texts:
    def column(cells: Any) -> list[str]:
        return [
            "0" if nothing else f"{value:.2f}"
            for value, nothing in zip(values[cells].tolist(), none[cells].tolist(), strict=True)
        ]

    return column
