"""Which cells are cheap to give up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, listed
from diskret.model.status import Status
from diskret.model.table import Table

CLASSES = 100_000.0
GIVEN: dict[str, Any] = {"by": "given", "power": 1.0, "per_cell": 0.0}
"""What is said of prices that stand in the table already."""
CostBy = Literal["value", "log", "count", "unity", "given"]


@dataclass(frozen=True)
class Cost:
    """What it costs to suppress a cell. Moves and the optimum minimise the sum of it over the secondaries.

    For cuboids it is the last criterion, after the number of new cells and of margins among them.

    ``by``: the value, its logarithm (as `log_classes`), the number of contributors, the same for all, or the table's
    ``weight`` as it is given. Else the ``weight`` of the table multiplies it. ``power`` is the lambda of tau-ARGUS: a
    price to this power is paid, with 0 the logarithm of one more. ``distance`` gives powers per classification: cells
    far from the pivot cost more. ``per_cell`` mixes: every cell costs this many times what a primary one costs in the
    mean, besides its own price, so that fewer and larger cells may be hidden.

    >>> cells = {"s": ["a", "b"], "x": [16, 9], "w": [4, 25]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", weight="w")
    >>> Cost(by="given", power=0.5).of(table).tolist()
    [2.0, 5.0, 1.0]
    >>> cells = {"s": ["a", "b"], "x": [16, 9], "st": ["primary", "open"]}
    >>> Cost(per_cell=0.5).of(Table.from_cells(cells, by={"s": None}, value="x", status="st")).tolist()
    [24.0, 17.0, 33.0]
    """

    by: CostBy = "value"
    weighted: bool = True
    distance: Mapping[str, float] = field(default_factory=dict)
    power: float = 1.0
    per_cell: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.power) and self.power >= 0):
            raise BadOption(f"power {self.power} of a cost", hint="0 (the logarithm) or more, such as 0.5.")
        if not (isfinite(self.per_cell) and self.per_cell >= 0):
            raise BadOption(f"{self.per_cell} per cell", hint="0 or more, in mean prices of primary cells.")

    def of(self, table: Table) -> Floats:
        """Price of every cell (flat)."""
        price = self._plain(table)
        if (price < 0).any():  # negative weights are refused by who asks for prices
            return price
        if self.power != 1.0:
            price = np.log1p(price) if self.power == 0 else price**self.power
        return price + self.per_cell * _of_primaries(table, price) if self.per_cell else price

    def check(self, table: Table) -> None:
        """Refuse prices that a table should have and has not."""
        if self.by == "given" and table.weight is None:
            raise BadOption(
                "the table has no prices of its own",
                hint="name them when making it (weight=..., in a job table.cost), or choose another cost.",
            )

    def _plain(self, table: Table) -> Floats:
        self.check(table)
        size = np.abs(table.value).reshape(-1)
        if self.by == "given" and table.weight is not None:
            return table.weight.reshape(-1).copy()
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


def _of_primaries(table: Table, price: Floats) -> float:
    """What primary cells cost in the mean; without any, what all cells do."""
    primary = table.status.reshape(-1) == Status.PRIMARY
    return float(price[primary].mean() if primary.any() else price.mean())


def log_classes(size: Floats) -> Floats:
    """Values on a logarithmic scale from 1 to 100,000; zeros cost nothing (Quaderverfahren, 5.2.1).

    A straight line in the logarithm of the value, so whatever the unit: 1 for the smallest value that is not zero.

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
