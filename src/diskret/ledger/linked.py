"""A new table and everything published that is connected to it, as one system of cells and equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.system import System


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Linked(System):
    """Cells of several entries as a system; equations are named by the entries they come from.

    Every equation has its own number in ``axis``, so that it can be named by its cells.
    """

    sources: tuple[str, ...] = ()
    """Names of the entries."""
    shown_by: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Of every cell that is published openly the entries that show it."""
    differences: Bools = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    """Cells that stand for differences, such as what rounding leaves."""
    identity: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """A number for every cell by what it counts, the same in every system; 0 for differences."""
    told: tuple[str, ...] = ()
    """For every equation that is no sum what it says, such as a growth rate; empty for sums."""
    row_cells: tuple[Ints, Ints] = field(default_factory=lambda: (np.zeros(1, np.int64), np.empty(0, np.int64)))
    """Cells of every equation, the sum first: where each begins, and the cells."""

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return "system of published tables"

    def line_name(self, axis: int, sum_cell: int, through: Sequence[str] = ()) -> str:
        """An equation in words: the published cells it is made of, each with the table that shows it."""
        if self.told[axis]:
            return f"({self.told[axis]})"
        start, cells = self.row_cells
        own = cells[start[axis] : start[axis + 1]].tolist()
        whole, parts = own[0], own[1:]
        known = [c for c in parts if c in self.shown_by]
        words = [self.source_name(whole)] if whole in self.shown_by else []
        words += [f"minus {each}" if words else each for each in self._grouped(known)]
        if not words:
            return f"({self.name_of(whole)} as the sum of its parts)"
        return f"({', '.join(words)})"

    def source_name(self, cell: int) -> str:
        """A published cell in words, with the table that shows it."""
        return f"{self._source(cell)}, {self.name_of(cell)}"

    def _source(self, cell: int) -> str:
        return self.sources[self.shown_by[cell][0]]

    def _grouped(self, cells: Sequence[int], most: int = 3) -> list[str]:
        """Published cells in words, those of one table together."""
        by_source: dict[str, list[int]] = {}
        for cell in cells:
            by_source.setdefault(self._source(cell), []).append(cell)
        found = []
        for source, own in by_source.items():
            names = [self.name_of(c) for c in own[:most]]
            more = f" and {len(own) - most} more cells" if len(own) > most else ""
            found.append(f"{source}, {' and '.join(names)}{more}")
        return found

    def open_cells_of(self, rows: Sequence[int]) -> Bools:
        """The published cells that stand in some equations."""
        start, cells = self.row_cells
        chosen = np.zeros(self.size, dtype=np.bool_)
        for row in rows:
            chosen[cells[start[row] : start[row + 1]]] = True
        chosen &= ~self.hidden
        return chosen
