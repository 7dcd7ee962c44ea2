"""Which cells are cheap to give up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table

CLASSES = 100_000.0


@dataclass(frozen=True)
class Cost:
    """What it costs to suppress a cell: the last criterion, after the number of new cells and of margins among them.

    ``by``: the value, its logarithmic class, the number of contributors, or the same for all. The ``weight`` of the
    table multiplies it. ``distance`` gives powers per classification: cells far from the pivot cost more.
    """

    by: Literal["value", "log", "count", "unity"] = "value"
    weighted: bool = True
    distance: Mapping[str, float] = field(default_factory=dict)

    def of(self, table: Table) -> Floats:
        """Price of every cell (flat)."""
        size = np.abs(table.value).reshape(-1)
        if self.by == "log":
            price = log_classes(size)
        elif self.by == "count":
            price = table.count.reshape(-1).astype(np.float64)
        elif self.by == "unity":
            price = np.ones(size.size)
        else:
            price = size.copy()
        return price * table.weight.reshape(-1) if self.weighted and table.weight is not None else price

    def powers(self, table: Table) -> Floats:
        """Powers of the distance per axis; empty if there are none."""
        unknown = [n for n in self.distance if n not in table.by]
        if unknown:
            raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
        if not any(self.distance.values()):
            return np.empty(0)
        return np.array([float(self.distance.get(n, 0.0)) for n in table.names])


def log_classes(size: Floats) -> Floats:
    """Values on a logarithmic scale from 1 to 100,000; zeros cost nothing (Quaderverfahren, 5.2.1).

    >>> log_classes(np.array([0.0, 1.0, 10.0, 100.0])).tolist()
    [0.0, 1.0, 50000.5, 100000.0]
    """
    positive = size > 0
    if not positive.any():
        return np.zeros(size.size)
    smallest, largest = size[positive].min(), size[positive].max()
    if smallest == largest:
        return positive.astype(np.float64)
    classes = np.zeros(size.size)
    classes[positive] = np.log(size[positive] / smallest) / np.log(largest / smallest) * (CLASSES - 1) + 1
    return classes
