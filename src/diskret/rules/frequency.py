"""Primary rules for frequency tables: small cells, lines with a margin of one or two, lines in one category.

A line is read along one classification: its units are known by everything else and distributed over the categories of
this one. So a rule looks only along the classifications that count as ``sensitive`` (all, unless named).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.given import whole
from diskret.model.rule import Verdict
from diskret.model.table import Table
from diskret.rules.lines import segments, units_of
from diskret.rules.rule import Joinable


@dataclass(frozen=True)
class SmallCells(Joinable):
    """Every cell with fewer than ``n`` units but not none: the blanket policy of some offices.

    Totals of a classification stay open unless ``margins``: a small margin does not tell where its units are.

    >>> from diskret import Table, mark
    >>> t = Table.from_cells({"s": ["a", "b"], "n": [1, 50]}, by={"s": None}, value="n", frequency=True)
    >>> mark(t, SmallCells()).status.tolist()
    [1, 0, 0]
    """

    n: int = 3
    margins: bool = False

    def __post_init__(self) -> None:
        whole("smallest count", self.n, 1, "at least 1; 3 is usual.")

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return "small cells"

    def judge(self, table: Table) -> Verdict:
        """Cells with few units."""
        units = units_of(table)
        few = (units > 0) & (units < self.n)
        if not self.margins:
            for axis in range(few.ndim):
                np.moveaxis(few, axis, 0)[-1] = False
        return Verdict(primary=few)


@dataclass(frozen=True)
class SmallMargin(Joinable):
    """Margin of 1 or 2: the occupied cells of a line whose sum is at most ``most``.

    Whoever knows the one or two units of the line reads off their category. The margin itself stays open.
    """

    most: int = 2
    sensitive: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        whole("largest small margin", self.most, 1, "at least 1; 2 is usual.")

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return "small margin"

    def judge(self, table: Table) -> Verdict:
        """Occupied cells of lines with a small margin; the line's zeros may serve as partners."""
        units = units_of(table)
        primary = np.zeros(table.shape, dtype=np.bool_)
        partners = np.zeros(table.shape, dtype=np.bool_)
        for segment in segments(table, self.sensitive):
            margin, parts = segment.margin(units), segment.parts(units)
            small = (margin > 0) & (margin <= self.most)
            segment.mark(primary, (parts > 0) & small)
            segment.mark(partners, (parts == 0) & small)
        return Verdict(primary=primary, partners=partners)


@dataclass(frozen=True)
class OneCategory(Joinable):
    """All units of a line in one category, however many: knowing one attribute reveals the other.

    Hiding the occupied cell alone achieves nothing while zeros and sum are visible, so the zeros of the line become
    admissible partners.
    """

    sensitive: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The rule."""
        return "one category"

    def judge(self, table: Table) -> Verdict:
        """The one occupied cell of a line."""
        units = units_of(table)
        primary = np.zeros(table.shape, dtype=np.bool_)
        partners = np.zeros(table.shape, dtype=np.bool_)
        for segment in segments(table, self.sensitive):
            if segment.parts_at.size < 2:
                continue  # with one part there is no choice of categories
            parts = segment.parts(units)
            alone = (parts > 0).sum(axis=0) == 1
            segment.mark(primary, (parts > 0) & alone)
            segment.mark(partners, (parts == 0) & alone)
        return Verdict(primary=primary, partners=partners)
