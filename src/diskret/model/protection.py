"""What protection means: what an attacker knows beforehand, and how wide his interval must stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, BadPriorKnowledge, NegativeValue, listed
from diskret.model.status import Status
from diskret.model.table import Table

NOT_BINARY = 1 + 1e-12
"""A room that is whole up to binary fractions is whole."""


@dataclass(frozen=True)
class Knowledge:
    """What an attacker knows about every cell before he sees the table.

    Use one of `none`, `positive`, `relative`, `intervals`.

    >>> Knowledge.relative(0.5).kind
    'relative'
    """

    kind: Literal["none", "positive", "relative", "intervals"]
    error: float = 0.0
    absolute: float = 0.0

    @classmethod
    def none(cls) -> Knowledge:
        """Nothing, not even the signs (unless the table is declared positive): only exact computation is prevented."""
        return cls("none")

    @classmethod
    def positive(cls) -> Knowledge:
        """That no value is negative."""
        return cls("positive")

    @classmethod
    def relative(cls, error: float, absolute: float = 0.0) -> Knowledge:
        """Every value to within a relative error (0.5 is usual), small ones and zeros to within an absolute one."""
        if not error > 0 or absolute < 0:
            raise BadOption(f"relative error {error:g}, absolute {absolute:g}", hint="both positive; 0.5 is usual.")
        return cls("relative", error, absolute)

    @classmethod
    def intervals(cls) -> Knowledge:
        """An interval per cell: ``lower`` and ``upper`` of the table."""
        return cls("intervals")

    def room(self, table: Table) -> tuple[Floats, Floats]:
        """How far above and below its value an attacker thinks each cell possible (flat arrays)."""
        value = table.value.reshape(-1)
        nonnegative = self.kind == "positive" or table.positive
        if nonnegative and (value < 0).any():
            raise NegativeValue(
                "the attacker is said to know that no value is negative, but some are",
                where=listed(table.name_cells(table.value < 0)),
                hint="use Knowledge.none(), relative(...) or intervals().",
            )
        up, down = np.full(value.size, np.inf), np.full(value.size, np.inf)
        if self.kind == "relative":
            error = np.maximum(self.error * np.abs(value), self.absolute)
            up, down = error, error.copy()
        elif self.kind == "intervals":
            if table.lower is None and table.upper is None:
                raise BadOption("the table has no prior intervals", hint="give lower=... and upper=... when making it.")
            up = up if table.upper is None else table.upper.reshape(-1) - value
            down = down if table.lower is None else value - table.lower.reshape(-1)
        if nonnegative:
            down = np.minimum(down, value)
        wrong = (up < 0) | (down < 0) | np.isnan(up) | np.isnan(down)
        if wrong.any():
            raise BadPriorKnowledge(
                f"{int(wrong.sum())} prior intervals do not cover the value of {table.response!r}",
                where=listed(table.name_cells(wrong.reshape(table.shape))),
                hint="an attacker who is wrong beforehand finds out nothing: correct lower and upper.",
            )
        if table.frequency:
            # a count known to lie between 0.5 and 1.5 is a one
            up, down = np.floor(up * NOT_BINARY), np.floor(down * NOT_BINARY)
        return up, down


@dataclass(frozen=True)
class Protection:
    """How wide the interval of a primary cell must stay. These numbers are secret, like the parameters of the rules.

    ``min_relative_range`` (q): length of the interval over the value must be greater, strictly. ``min_range`` is the
    absolute bound for zero and tiny values. ``levels`` asks for the lower and upper protection the primary rule
    demands (``below`` and ``above`` of the table); with ``sliding`` only their sum counts, the value may lie anywhere.
    """

    min_relative_range: float = 0.0
    min_range: float | None = None
    levels: bool = False
    sliding: bool = False

    def __post_init__(self) -> None:
        if self.min_relative_range < 0 or (self.min_range or 0) < 0:
            raise BadOption("a negative minimum range", hint="0 asks only that no value can be computed exactly.")

    def needs(self, table: Table) -> tuple[Floats, Floats, Floats]:
        """Per cell the range that must be exceeded, and how far down and up the interval must reach (flat arrays)."""
        value = np.abs(table.value).reshape(-1)
        need = self.min_relative_range * value
        if self.min_range is not None:
            need = np.maximum(need, self.min_range)
        elif self.min_relative_range > 0:
            need = np.where(value == 0, self._smallest(table), need)
        nothing = np.zeros(value.size)
        if not self.levels:
            return need, nothing, nothing
        below = nothing if table.below is None else table.below.reshape(-1)
        above = nothing if table.above is None else table.above.reshape(-1)
        if self.sliding:
            # "reach" allows equality where a range wants more: ask for a hair less
            return np.maximum(need, (below + above) * (1 - 1e-8)), nothing, nothing
        return need, below * (1 - 1e-12), above * (1 - 1e-12)

    @staticmethod
    def _smallest(table: Table) -> float:
        """For zero pivots: the smallest value that is neither zero nor primary."""
        chosen = (table.value != 0) & (table.status != Status.PRIMARY)
        return float(np.abs(table.value[chosen]).min()) if chosen.any() else 0.0
