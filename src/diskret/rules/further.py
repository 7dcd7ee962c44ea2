"""Primary rules that offices know from tau-ARGUS: zeros, cells that are primary by hand, and requests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.errors import BadOption
from diskret.model.exact import Number, exact, exceeds
from diskret.model.given import whole
from diskret.model.rule import Verdict
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.magnitude import Behind, at_holdings, not_negative, share_of
from diskret.rules.rule import CountedBy, Joinable

MOST_KINDS = 2
"""Kinds of requests: two, as in foreign trade statistics."""


@dataclass(frozen=True)
class ZeroCells(Joinable):
    """Zeros are sensitive: every cell with contributors whose value is zero.

    A zero says that each of its contributors reported zero. A cell without contributors says nothing and stays open;
    where a table knows no counts, every zero counts that is not called structural. After suppression an attacker must
    think values up to ``range`` above zero possible.

    >>> from diskret import Table, mark
    >>> cells = {"s": ["a", "b", "c"], "x": [0, 0, 9], "n": [2, 0, 3]}
    >>> mark(Table.from_cells(cells, by={"s": None}, value="x", count="n"), ZeroCells(10)).above.tolist()
    [10.0, 0.0, 0.0, 0.0]
    """

    range: Number = 0
    """How far the interval must reach above zero, in units of the value; 0 prevents exact disclosure only."""

    def __post_init__(self) -> None:
        _refuse_negative("the range of zero cells", self.range, "an amount in units of the value, such as 10.")

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return "zero cells"

    def judge(self, table: Table) -> Verdict:
        """Zeros with contributors."""
        zero = table.value == 0
        known = table.respondents
        caught = zero & (table.status != Status.STRUCTURAL_ZERO if known is None else known.count > 0)
        needed = np.where(caught, float(exact(self.range)), 0.0)
        return Verdict(primary=caught, needed=needed, below=np.zeros(table.shape))


@dataclass(frozen=True)
class Given(Joinable):
    """Margin of cells that a person, a status column or a file made primary.

    What is behind such a cell no rule knows. If it has no protection levels of its own, its interval must reach
    ``margin`` percent of its value below and above it.

    >>> from diskret import Table, mark
    >>> cells = {"s": ["a", "b"], "x": [50, 60], "status": ["primary", ""]}
    >>> mark(Table.from_cells(cells, by={"s": None}, value="x", status="status"), Given(20)).above.tolist()
    [10.0, 0.0, 0.0]
    """

    margin: Number

    def __post_init__(self) -> None:
        _refuse_negative("the margin of given cells", self.margin, "a percentage of the value, such as 20.")

    @property
    def name(self) -> str:
        """What cells are called that no rule has caught."""
        return "given"

    def judge(self, table: Table) -> Verdict:
        """Cells that are primary already, and what those need that have no levels."""
        given = table.status == Status.PRIMARY
        if table.rule is not None:
            given &= table.rule & 1 > 0
        without = given.copy()
        for level in (table.below, table.above):
            without &= True if level is None else level <= 0
        size = np.abs(table.value)
        if table.respondents is not None and table.respondents.absolute is not None:
            size = table.respondents.absolute
        return Verdict(primary=given, needed=np.where(without, share_of(exact(self.margin) / 100, size), 0.0))


@dataclass(frozen=True)
class Request(Joinable):
    """Protection on request, as in foreign trade: only who asked for it is protected, and only if it is large enough.

    Primary if the largest contribution of somebody who asked is more than ``percent`` of the cell, or if somebody asked
    and the cell has fewer than ``n`` contributors. With two kinds of requests there is a percentage for each; that of
    the kind the largest of them belongs to counts. The table must know who asked: tabulate with ``Roles(asked=...)``.

    >>> from diskret import Roles, mark, tabulate
    >>> firms = {"s": ["a", "a", "b", "b"], "x": [90, 10, 90, 10], "req": ["1", "", "", "1"]}
    >>> table = tabulate(firms, by={"s": None}, value="x", roles=Roles(asked=("req", ["1"])))
    >>> mark(table, Request(50)).status.tolist()
    [1, 0, 0]
    """

    percent: Number | tuple[Number, Number]
    n: int = 0
    margin: Number = 0
    """How far the interval must reach below and above the value, as a percentage of it."""
    counted_by: CountedBy = "respondent"

    def __post_init__(self) -> None:
        hint = "a percentage of the cell for each kind of request; 0 for a kind that is not judged by it."
        if not 1 <= len(self.percents) <= MOST_KINDS:
            raise BadOption(f"{len(self.percents)} percentages of the request rule", hint=hint)
        for each in self.percents:
            _refuse_negative("a percentage of the request rule", each, hint)
        whole("the count of the request rule", self.n, 0, "fewest contributors of an open cell; 0 for any number.")
        _refuse_negative("the margin of the request rule", self.margin, "a percentage of the value, such as 10.")

    @property
    def percents(self) -> tuple[Number, ...]:
        """The percentage of each kind of request."""
        return tuple(self.percent) if isinstance(self.percent, tuple | list) else (self.percent,)

    @property
    def name(self) -> str:
        """The rule without its parameters."""
        return "request" + at_holdings(self.counted_by)

    def judge(self, table: Table) -> Verdict:
        """Cells with a large contributor who asked, or with few contributors of whom one asked."""
        behind = Behind.of(table, self.counted_by, 0, self.name)
        asked = behind.people.asked
        if asked is None:
            raise BadOption(
                f"the rule {self.name!r} needs to know who asked for protection",
                hint="tabulate with roles=Roles(asked=(column, codes)); in a job name the column in table.request.",
            )
        largest = asked.max(axis=-1)
        caught = behind.people.count < self.n
        # whoever knows one percentage means it for all kinds
        percents = self.percents if len(self.percents) > 1 else self.percents * asked.shape[-1]
        for own, each in zip(np.moveaxis(asked, -1, 0), percents, strict=False):
            if exact(each) > 0:
                caught |= (own == largest) & exceeds([(1, own), (-exact(each) / 100, behind.size)])
        needed = share_of(exact(self.margin) / 100, np.abs(behind.worth))
        return Verdict(primary=caught & (largest > 0), needed=needed)


def _refuse_negative(name: str, given: Number, hint: str) -> None:
    if not not_negative(given):
        raise BadOption(f"{name} is negative or not a number", hint=hint)
