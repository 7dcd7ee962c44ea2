"""What an attacker knows about every cell before seeing the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.cells import Cells
from diskret.model.errors import BadOption, BadPriorKnowledge, NegativeValue, listed
from diskret.model.grid import difference, floor_of

Kind = Literal["usual", "none", "positive", "relative", "intervals"]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What everybody knows beforehand. Use one of `usual`, `none`, `positive`, `relative`, `intervals`.

    >>> Knowledge.relative(0.5).kind
    'relative'
    """

    kind: Kind = "usual"
    error: float = 0.0
    absolute: float = 0.0

    def __post_init__(self) -> None:
        # also what a damaged file says must not pass for knowledge
        if self.kind not in get_args(Kind):
            raise BadOption(f"knowledge of the kind {self.kind!r}", hint=f"one of {listed(get_args(Kind))}.")
        known = 0 < self.error < np.inf if self.kind == "relative" else self.error == 0
        if not known or not 0 <= self.absolute < np.inf:
            raise BadOption(
                f"relative error {self.error:g}, absolute {self.absolute:g}", hint="both positive; 0.5 is usual."
            )

    @classmethod
    def usual(cls) -> Knowledge:
        """That no value is negative, if none is."""
        return cls(kind="usual")

    @classmethod
    def none(cls) -> Knowledge:
        """Nothing, not even the signs (unless the table is declared positive): only exact computation is prevented."""
        return cls(kind="none")

    @classmethod
    def positive(cls) -> Knowledge:
        """That no value is negative."""
        return cls(kind="positive")

    @classmethod
    def relative(cls, error: float, absolute: float = 0.0) -> Knowledge:
        """Every value to within a relative error (0.5 is usual), small ones and zeros to within an absolute one."""
        return cls(kind="relative", error=error, absolute=absolute)

    @classmethod
    def intervals(cls) -> Knowledge:
        """An interval per cell: ``lower`` and ``upper`` of the table."""
        return cls(kind="intervals")

    @property
    def public(self) -> bool:
        """Whether every reader of the table knows it too."""
        return self.kind in ("usual", "none", "positive")

    def covers(self, other: Knowledge) -> bool:
        """Whether an attacker with this knowledge knows at least as much, of any table that allows both.

        >>> Knowledge.relative(0.2).covers(Knowledge.relative(0.5)), Knowledge.usual().covers(Knowledge.intervals())
        (True, False)
        """
        if other.kind == "none":
            return True
        if self.kind == "relative" and other.kind == "relative":
            return self.error <= other.error and self.absolute <= other.absolute
        # where "positive" is allowed no value is negative, and then it is the usual
        signs = ("usual", "positive")
        return self.kind == other.kind or (self.kind in signs and other.kind in signs)

    def signs_known(self, table: Cells) -> bool:
        """Whether everybody knows that no value is negative."""
        return self.kind == "positive" or table.positive or (self.kind == "usual" and not bool((table.value < 0).any()))

    def room(self, table: Cells) -> tuple[Floats, Floats]:
        """How far above and below its value an attacker thinks each cell possible (flat arrays).

        Everybody adds up what contributors publish themselves: a cell with no other contributor has no room at all, and
        one with others, where nobody contributes less than zero, is at least what is published.

        >>> from diskret import Roles, tabulate
        >>> firms = {"s": ["a", "a", "b", "c"], "x": [5, 3, 2, 7], "listed": ["yes", "no", "yes", "no"]}
        >>> table = tabulate(firms, by={"s": None}, value="x", roles=Roles(public="listed"))
        >>> up, down = Knowledge.usual().room(table)
        >>> up.tolist(), down.tolist()
        ([inf, 0.0, inf, inf], [3.0, 0.0, 7.0, 10.0])
        """
        value, nonnegative = table.value.reshape(-1), self.signs_known(table)
        if nonnegative and (value < 0).any():
            raise NegativeValue(
                "the attacker is said to know that no value is negative, but some are",
                where=listed(table.name_cells(table.value < 0)),
                hint="use Knowledge.none(), relative(...) or intervals().",
            )
        up, down = self._errors(table, value)
        if nonnegative:
            down = np.minimum(down, value)
        up, down = _without_public(table, up, down, nonnegative)
        wrong = (up < 0) | (down < 0) | np.isnan(up) | np.isnan(down)
        if wrong.any():
            number = int(wrong.sum())
            raise BadPriorKnowledge(
                f"{number} prior {'interval does' if number == 1 else 'intervals do'} not cover the value of "
                f"{table.response!r}",
                where=listed(table.name_cells(wrong.reshape(table.shape))),
                hint="an attacker whose knowledge is wrong finds out nothing: correct lower and upper.",
            )
        if table.frequency:
            # a count known to lie between 0.5 and 1.5 is a one
            up, down = floor_of(up), floor_of(down)
        return up, down

    def _errors(self, table: Cells, value: Floats) -> tuple[Floats, Floats]:
        """What is known besides the signs."""
        if self.kind == "relative":
            error = np.maximum(self.error * np.abs(value), self.absolute)
            return error, error.copy()
        up, down = np.full(value.size, np.inf), np.full(value.size, np.inf)
        if self.kind == "intervals":
            if table.lower is None and table.upper is None:
                raise BadOption("the table has no prior intervals", hint="give lower=... and upper=... when making it.")
            up = up if table.upper is None else difference(table.upper.reshape(-1), value)
            down = down if table.lower is None else difference(value, table.lower.reshape(-1))
        return up, down


def _without_public(table: Cells, up: Floats, down: Floats, nonnegative: bool) -> tuple[Floats, Floats]:
    """The rooms that are left by what contributors publish themselves."""
    people = table.respondents
    if people is None or people.public_count is None:
        return up, down
    # who may contribute less than nothing can have any share in what is not published
    if nonnegative and people.absolute is None:
        share = people.public_value
        if share is None and table.frequency and not table.weighted:
            share = people.public_count.astype(np.float64)
        if share is not None:
            rest = np.maximum(difference(table.value, share), 0.0)
            down = np.minimum(down, rest.reshape(-1))
    known = people.all_public.reshape(-1)
    return np.where(known, 0.0, up), np.where(known, 0.0, down)
