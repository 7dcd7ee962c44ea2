"""The columns of a list of cells: which of them hold what, and where its rows stand in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cell_refusals import row_numbers
from diskret.model.errors import BadOption, listed
from diskret.model.gaps import Gaps, Without, WithoutValue
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.source import Relation
from diskret.model.status import Status

GivenSums = Literal["check", "compute", "keep"]


@dataclass(frozen=True)
class CellColumns:
    """Which columns of a list of cells hold what, and how strictly it is read."""

    count: str | None = None
    largest: Sequence[str] = ()
    shadow: str | None = None
    """What the largest contributions are contributions to, where that is not the value: the rules judge it."""
    owner: str | None = None
    """Who contributes most to a cell: names or numbers that are only compared."""
    status: str | None = None
    below: str | None = None
    """How far below the value of a primary cell an attacker's interval must reach; of other cells it says nothing."""
    above: str | None = None
    lower: str | None = None
    upper: str | None = None
    weight: str | None = None
    positive: bool = False
    frequency: bool = False
    tolerance: float = 0.0
    sums: GivenSums = "check"
    """What becomes of given sums that are not true: refused, computed anew, or kept in what is published."""
    total: str = TOTAL
    totals: Mapping[str, str] | None = None
    """Codes of the totals of single classifications, where they have no hierarchy."""
    categories: Mapping[str, Sequence[str]] | None = None
    """Codes of classifications that look like totals and are none."""
    normalise: bool = False
    """Whether codes that differ only in what cannot be seen are one code."""
    status_codes: Mapping[str, Status] | None = None
    """Other words for the statuses, such as the letters of tau-ARGUS; those of SDMX are known in its columns."""
    missing: Mapping[str, str] | None = None
    """Code that a blank stands for, per classification, such as that of the total."""
    without_value: WithoutValue = "refuse"
    without_code: Mapping[str, Without] | None = None
    unknown: Mapping[str, Without] | None = None

    def __post_init__(self) -> None:
        if self.sums not in get_args(GivenSums):
            raise BadOption(f"sums is {listed([self.sums])}", hint=f"one of {listed(get_args(GivenSums))}.")

    @property
    def optional(self) -> list[str]:
        """Columns of numbers that may be blank: what is not known of a cell."""
        return [c for c in (self.lower, self.upper, self.below, self.above) if c is not None]

    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        named = [self.count, *self.largest, self.shadow, *self.optional, self.weight]
        return [c for c in named if c is not None]

    @property
    def gaps(self) -> Gaps:
        """What becomes of rows without a value or a code."""
        return Gaps(without_value=self.without_value, without_code=self.without_code or {}, unknown=self.unknown or {})


@dataclass(frozen=True, eq=False)
class Frame:
    """What every column of one list of cells shares."""

    hierarchies: tuple[Hierarchy, ...]
    names: tuple[str, ...]
    present: Bools
    given: CellColumns
    data: Relation
    position: Ints

    @property
    def where(self) -> str:
        """How to speak of the list."""
        return self.data.where

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each classification."""
        return self.present.shape

    def column(self, name: str) -> Floats:
        """The numbers of a column, one per row; undefined where it is blank."""
        # a blank comes as an undefined number: arrays of the engine hold zeros there
        number = f"coalesce(CAST({self.data.number(name)} AS DOUBLE), CAST('NaN' AS DOUBLE))"
        sql = f"SELECT {number} AS x FROM {self.data.view}"
        return self.data.arrays(sql)["x"].astype(np.float64)

    def spread(self, numbers: Floats, fill: float = 0.0) -> Floats:
        """Numbers of rows in the places of their cells."""
        dense = np.full(self.shape, fill)
        dense.reshape(-1)[self.position] = numbers
        return dense

    def dense(self, name: str, fill: float = 0.0) -> Floats:
        """The numbers of a column in the places of their cells."""
        return self.spread(self.column(name), fill)

    def rows(self, chosen: Bools) -> list[int]:
        """Numbers of the rows that give the chosen cells."""
        return row_numbers(self.data, np.flatnonzero(chosen.reshape(-1)[self.position]))

    def name(self, chosen: Bools, most: int = 10) -> list[str]:
        """Names of the first chosen cells."""
        cells = np.argwhere(chosen)[:most]
        return [
            ", ".join(f"{n}={h.codes[i]}" for n, h, i in zip(self.names, self.hierarchies, cell, strict=True))
            for cell in cells
        ]

    @property
    def inner(self) -> Bools:
        """Cells that are not sums in any classification."""
        return rollup.inner_cells(self.hierarchies)
