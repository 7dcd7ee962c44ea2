"""A table in its own unit: the same one whether it is written in cents, in euros or in millions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.contributors import Contributors
from diskret.model.grid import SAME, times_ten, unit_of
from diskret.model.promise import Promise
from diskret.model.table import Table

AnyTable = TypeVar("AnyTable", bound=Table)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """One unit of a table in its own numbers: ten to some power."""

    power: int

    def down(self, numbers: Floats) -> Floats:
        """Numbers in units; those that are whole multiples exactly."""
        with np.errstate(invalid="ignore", over="ignore"):
            found = times_ten(numbers, -self.power)
            near = np.rint(found)
            result: Floats = np.where(np.abs(found - near) <= SAME * np.abs(found), near, found)
        return result

    def up(self, numbers: Floats) -> Floats:
        """Numbers of units in the table's own numbers: the doubles nearest to them."""
        return times_ten(numbers, self.power)


def in_units(table: AnyTable, promise: Promise) -> tuple[AnyTable, Promise, Scale]:
    """A table and what is promised about it, in units of the table.

    >>> cells = {"s": ["a", "b"], "x": [1500.0, 300.0], "status": ["primary", "secondary"]}
    >>> table, _, scale = in_units(Table.from_cells(cells, by={"s": None}, value="x", status="status"), Promise())
    >>> table.value.tolist(), scale.power
    ([15.0, 3.0, 18.0], 2)
    """
    promise.asks(table)  # refuses what would be no number in units
    # counts are whole numbers as they are: ten times as many units is another table
    scale = Scale(power=0 if table.frequency else unit_of(table.value))
    if scale.power == 0:
        return table, promise, scale
    return scaled(table, scale), scaled_promise(promise, scale), scale


def scaled(table: AnyTable, scale: Scale) -> AnyTable:
    """A table (or pool, with its tables) in units."""

    def down(numbers: Floats | None) -> Floats | None:
        return None if numbers is None else scale.down(numbers)

    def people(some: Contributors | None) -> Contributors | None:
        if some is None:
            return None
        return replace(
            some, largest=down(some.largest), absolute=down(some.absolute),
            protected_largest=down(some.protected_largest), public_value=down(some.public_value),
            asked=down(some.asked),
        )  # fmt: skip

    value = scale.down(table.value)
    smaller = replace(
        table, value=value, below=down(table.below), above=down(table.above), lower=down(table.lower),
        upper=down(table.upper), respondents=people(table.respondents), holdings=people(table.holdings),
        decimals=0 if bool((value == np.rint(value)).all()) else None,
    )  # fmt: skip
    return smaller.with_tables({name: scaled(each, scale) for name, (each, _) in table.linked.items()})


def scaled_promise(promise: Promise, scale: Scale) -> Promise:
    """The same promise where numbers are in units."""

    def down(number: float) -> float:
        return float(scale.down(np.array([number]))[0])

    known = promise.knowledge
    return replace(
        promise,
        min_range=None if promise.min_range is None else down(promise.min_range),
        knowledge=replace(known, absolute=down(known.absolute)) if known.absolute else known,
    )
