"""The one-way lines of a table: a sum with its parts along one classification, everything else fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table


@dataclass(frozen=True, eq=False)
class Segment:
    """All lines of one sum along one axis: the axis moved to the front of ``margin`` and ``parts``."""

    axis: int
    sum_at: int
    parts_at: Ints

    def margin(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sums, one per line."""
        sums: npt.NDArray[Any] = np.take(array, self.sum_at, axis=self.axis)
        return sums

    def parts(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The parts, first axis the parts, then one entry per line."""
        return np.moveaxis(np.take(array, self.parts_at, axis=self.axis), self.axis, 0)

    def mark(self, array: Bools, parts: Bools) -> None:
        """Set cells of the array where ``parts`` (shaped like `parts`) says so."""
        seen = np.moveaxis(array, self.axis, 0)
        seen[self.parts_at] |= parts


def segments(table: Table, names: Sequence[str] | None) -> Iterator[Segment]:
    """All segments along the named classifications, or along all."""
    table.refuse_sparse("a rule or notice that looks at whole lines")
    unknown = [n for n in names or () if n not in table.by]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    for axis, (name, hierarchy) in enumerate(table.by.items()):
        if names is None or name in names:
            for at, parts in enumerate(hierarchy.part_index):
                if parts.size:
                    yield Segment(axis, at, parts)


def units_of(table: Table) -> Floats:
    """How many units each cell holds: contributors where known, for a sample too; otherwise the values themselves."""
    if table.respondents is not None and table.counted:
        return table.respondents.count.astype(np.float64)
    if not table.frequency:
        raise BadOption(
            "a frequency rule needs counts of units",
            hint="declare the table a frequency table, or give counts with count=....",
        )
    return table.value
