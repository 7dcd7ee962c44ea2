"""Primary rules for magnitude tables: minimum count, (n,k) dominance, p% and (p,q).

Notation: a cell's value X is the sum of contributions X1 >= X2 >= ... (by absolute size). All inequalities are strict;
a cell exactly on the border stays open. The parameters must not become known: whoever knows k estimates X1 by k X.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.model.exact import Number, exact, exceeds
from diskret.model.given import whole
from diskret.model.grid import difference
from diskret.model.rule import Verdict
from diskret.model.table import Table
from diskret.rules.rule import CountedBy, Joinable, percent

USUAL_MARGIN = 8
"""Percent of the value that a minimum count asks for where no other rule speaks of approximate disclosure: the upper
end of what is usual for p, and what p% with it would demand of a cell with one contributor."""

BEYOND = 10**100
"""No parameter is larger."""
WORKING_TOGETHER = "how many contributors work together: 1 or more."


@dataclass(frozen=True, eq=False)
class Behind:
    """Who stands behind the cells as a rule sees them: public contributors left out, the one to protect singled out."""

    people: Contributors
    size: Floats
    """Sum of the absolute contributions that are not public anyway."""
    someone: Bools
    """Cells with anybody who needs protection."""
    worth: Floats
    """The same sum of the value, where the rules look at a shadow variable."""

    @classmethod
    def of(cls, table: Table, counted_by: CountedBy, ranked: int, rule: str) -> Behind:
        """Look at respondents or at holdings; refuse if the table does not know enough."""
        own = table.holdings if counted_by == "holding" else table.respondents
        if own is None:
            hint = "tabulate with holding=..." if counted_by == "holding" else "give the counts with count=..."
            raise BadOption(f"the rule {rule!r} needs the number of {counted_by}s per cell", hint=f"{hint}.")
        people = own.judged
        known = min([people.ranked, *(_ranked(each, counted_by) for each, _ in table.linked.values())])
        if known < ranked:
            raise BadOption(
                f"the rule {rule!r} looks at the {ranked} largest contributions, the table knows {known}",
                hint=f"tabulate with largest={ranked}, or name {ranked} columns of largest contributions.",
            )
        size = _private(people, table)
        someone = people.count > 0 if people.protected_count is None else people.protected_count > 0
        return cls(people, size, someone, size if people is own else _private(own, table))

    def of_value(self, needed: Floats) -> Floats:
        """A level for the value: the same share of it that the rule demands of the shadow variable."""
        if self.worth is self.size:
            return needed
        return np.abs(np.divide(needed * self.worth, self.size, out=np.zeros_like(needed), where=self.size != 0))

    def contribution(self, k: int) -> Floats:
        """The k-th largest contribution, from 0."""
        assert self.people.largest is not None
        column: Floats = self.people.largest[..., k]
        return column

    def target(self) -> Floats:
        """The largest contribution that needs protection."""
        own = self.people.protected_largest
        return self.contribution(0) if own is None else own

    def last_of(self, n: int) -> Floats:
        """What the target adds to the n-1 largest others: the n-th largest, or the target itself if it is smaller."""
        return np.minimum(self.contribution(n - 1), self.target())


def _ranked(table: Table, counted_by: CountedBy) -> int:
    """How many largest contributions a table of a pool knows."""
    people = table.holdings if counted_by == "holding" else table.respondents
    return 0 if people is None else people.judged.ranked


def _private(people: Contributors, table: Table) -> Floats:
    """Sum of the absolute contributions without those that are public."""
    size = np.abs(table.value) if people.absolute is None else people.absolute
    return size if people.public_value is None else difference(size, people.public_value)


@dataclass(frozen=True)
class MinCount(Joinable):
    """Minimum count: fewer than ``n`` contributors, never weighted, against exact disclosure.

    With fewer than three contributors one can subtract its own value. Cells whose contributions are all zero are open
    unless ``zeros``. Contributors who publish their value themselves do not count as company.

    Counting alone would let an attacker come as close to a value as he likes, short of the value itself. So a minimum
    count asks for a ``margin`` besides, unless another rule of the same `mark` says what is too close, or the table
    holds counts.

    >>> from diskret import Table, mark
    >>> cells = Table.from_cells({"s": ["a", "b"], "x": [5, 9], "n": [2, 3]}, by={"s": None}, value="x", count="n")
    >>> mark(cells, MinCount(3)).status.tolist()
    [1, 0, 0]
    """

    n: int = 3
    zeros: bool = False
    counted_by: CountedBy = "respondent"
    margin: Number | None = None
    """How far the interval must reach below and above the value, as a percentage of it (of what is contributed, where
    contributions of both signs cancel), without what contributors publish themselves. None: `USUAL_MARGIN`, or 0
    beside a rule against approximate disclosure. 0 prevents exact disclosure only."""
    weighted: bool = False
    """Whether a respondent counts as often as its weight says, as in tau-ARGUS: a sample of one hides nobody who knows
    that he is in it. Tabulate with ``weighted_counts``."""

    def __post_init__(self) -> None:
        whole("minimum count", self.n, 1, "at least 1; 3 is usual.")
        if self.margin is not None and not not_negative(self.margin):
            raise BadOption(
                "the margin of the minimum count is negative or not a number",
                hint="a percentage of the value; 0 prevents exact disclosure only.",
            )

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return "minimum count" + at_holdings(self.counted_by)

    def judge(self, table: Table) -> Verdict:
        """Cells with too few contributors."""
        behind = Behind.of(table, self.counted_by, 0, self.name)
        if not table.counted:
            raise BadOption(
                f"the rule {self.name!r} needs the number of contributors per cell; the table has only the largest",
                hint="give the counts with count=..., or use rules that look at contributions: p%, dominance.",
            )
        # what all contributors publish themselves nothing can hide
        company = behind.people.others
        few = (company > 0) & ((self._weights(behind) if self.weighted else company) < self.n)
        if not self.zeros:
            public = behind.people.public_value
            few &= (behind.worth if public is None else behind.worth + public) > 0
        needed = share_of(self._margin(table), np.maximum(behind.worth, 0.0))
        return Verdict(primary=few & behind.someone, needed=needed)

    def _weights(self, behind: Behind) -> Floats:
        if behind.people.weight is None:
            raise BadOption(
                f"the rule {self.name!r} needs the sums of the weights",
                hint="tabulate with roles=Roles(weight=...) and options=TabulationOptions(weighted_counts=True).",
            )
        return behind.people.weight

    def _margin(self, table: Table) -> Fraction:
        """The margin as a fraction; what is too close to a count nobody has to say."""
        usual = 0 if table.frequency else USUAL_MARGIN
        return exact(usual if self.margin is None else self.margin) / 100

    def beside(self, others: Iterable[Verdict]) -> MinCount:
        """The same rule beside what other rules say: where one of them says what is too close, no margin is added."""
        if self.margin is not None or all(verdict.needed is None for verdict in others):
            return self
        return replace(self, margin=0)


@dataclass(frozen=True)
class Dominance(Joinable):
    """(n,k) dominance: the n largest contributions make up more than ``k`` percent of the cell.

    Primary if X1 + ... + Xn > k X. An open cell guarantees that the largest contribution is overestimated by at least
    (1-k)/k when the value is taken for it.

    >>> Dominance(1, 85).border()   # x > 0.85, x and y the shares of the two largest
    (1.0, 0.0, 0.85)
    """

    n: int
    k: Number
    counted_by: CountedBy = "respondent"

    def __post_init__(self) -> None:
        whole("n of the dominance rule", self.n, 1, "n is 1 or more; 1 and 2 are usual.")
        percent("k of the dominance rule", self.k, low=0, high=100, below=True, share=True)

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return f"({self.n},k) dominance" + at_holdings(self.counted_by)

    @property
    def largest(self) -> int:
        """The n largest contributions."""
        return self.n

    def judge(self, table: Table) -> Verdict:
        """Cells that a few contributors dominate."""
        behind = Behind.of(table, self.counted_by, self.n, self.name)
        k = exact(self.k) / 100
        largest = [behind.contribution(i) for i in range(self.n - 1)] + [behind.last_of(self.n)]
        # more than nothing, or than less, is no share
        caught = exceeds([*((1, x) for x in largest), (-k, behind.size)]) & behind.someone & (behind.size > 0)
        needed = np.maximum(share_of(1 / k, np.sum(largest, axis=0)) - behind.size, 0.0)
        return Verdict(primary=caught, needed=behind.of_value(needed))

    def border(self) -> tuple[float, float, float] | None:
        """(a, b, c): primary where a x + b y > c, for the shares x, y of the two largest; None for n over 2."""
        k = float(exact(self.k) / 100)
        return {1: (1.0, 0.0, k), 2: (1.0, 1.0, k)}.get(self.n)


@dataclass(frozen=True)
class PPercent(Joinable):
    """p%: the ``n`` next largest contributors together can estimate the largest to within ``p`` percent.

    Primary if X - X1 - (X2 + ... + Xn+1) < p X1; with n = 1 nobody shares what he knows. The guaranteed overestimate of
    X1 is p in every open cell. Cells with up to n+1 contributors are always primary (unless all contributions are
    zero).

    >>> round(PPercent(10).border()[0], 9)   # 1.1 x + y > 1
    1.1
    >>> PPercent(10, n=2).largest
    3
    """

    p: Number
    counted_by: CountedBy = "respondent"
    n: int = 1
    """How many contributors work together to estimate another one."""

    def __post_init__(self) -> None:
        percent("p of the p% rule", self.p, low=0, high=100000, share=True)
        whole("n of the p% rule", self.n, 1, WORKING_TOGETHER)

    @property
    def name(self) -> str:
        """The rule without its parameter."""
        return "p%" + at_holdings(self.counted_by)

    @property
    def largest(self) -> int:
        """The largest contribution, and those of whoever works together."""
        return self.n + 1

    @property
    def fraction(self) -> Fraction:
        """p as a fraction."""
        return exact(self.p) / 100

    def judge(self, table: Table) -> Verdict:
        """Cells whose largest contribution the next ones can estimate too closely."""
        return _close_estimate(table, self.fraction, self.n, self.counted_by, self.name)

    def border(self) -> tuple[float, float, float] | None:
        """(a, b, c): primary where a x + b y > c, for the shares x, y of the two largest; None for n over 1."""
        return (float(1 + self.fraction), 1.0, 1.0) if self.n == 1 else None


@dataclass(frozen=True)
class PQ(Joinable):
    """(p,q): like p%, when everybody knows each contribution beforehand to within ``q`` percent.

    Primary if q (X - X1 - (X2 + ... + Xn+1)) < p X1; the same as the p% rule with p/q.

    >>> PQ(5, 50).border() == PPercent(10).border()
    True
    """

    p: Number
    q: Number
    counted_by: CountedBy = "respondent"
    n: int = 1
    """How many contributors work together to estimate another one."""

    def __post_init__(self) -> None:
        percent("p of the (p,q) rule", self.p, low=0, high=100000)
        percent("q of the (p,q) rule", self.q, low=0, high=100)
        whole("n of the (p,q) rule", self.n, 1, WORKING_TOGETHER)

    @property
    def name(self) -> str:
        """The rule without its parameters."""
        return "(p,q)" + at_holdings(self.counted_by)

    @property
    def largest(self) -> int:
        """The largest contribution, and those of whoever works together."""
        return self.n + 1

    @property
    def fraction(self) -> Fraction:
        """p/q as a fraction."""
        return exact(self.p) / exact(self.q)

    def judge(self, table: Table) -> Verdict:
        """Cells whose largest contribution the next ones can estimate too closely."""
        return _close_estimate(table, self.fraction, self.n, self.counted_by, self.name)

    def border(self) -> tuple[float, float, float] | None:
        """(a, b, c): primary where a x + b y > c, for the shares x, y of the two largest; None for n over 1."""
        return (float(1 + self.fraction), 1.0, 1.0) if self.n == 1 else None


def _close_estimate(table: Table, p: Fraction, n: int, counted_by: CountedBy, name: str) -> Verdict:
    behind = Behind.of(table, counted_by, n + 1, name)
    target, known = behind.target(), [*(behind.contribution(i) for i in range(n)), behind.last_of(n + 1)]
    caught = exceeds([(p, target), (-1, behind.size), *((1, x) for x in known)]) & behind.someone
    error = behind.size
    for contribution in known:
        error = error - contribution
    needed = np.maximum(share_of(p, target) - error, 0.0)
    return Verdict(primary=caught, needed=behind.of_value(needed))


def not_negative(number: Number) -> bool:
    """Whether something is a number from zero on; words, infinity, what is undefined or beyond measure are not."""
    try:
        return not isinstance(number, bool) and 0 <= exact(number) <= BEYOND
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return False


def share_of(part: Fraction, of: Floats) -> Floats:
    """A fraction of numbers, multiplied before it is divided: 8 % of 35 is 2.8 and not a hair more."""
    if max(part.numerator, part.denominator) > BEYOND:  # a parameter of hundreds of digits
        return of * float(part)
    return of * float(part.numerator) / float(part.denominator)


def at_holdings(counted_by: CountedBy) -> str:
    """How the level of counting appears in a rule's name."""
    return " of holdings" if counted_by == "holding" else ""
