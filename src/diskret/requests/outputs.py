"""Outputs made elsewhere, as a research data centre gets them: described by numbers of units, not by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from diskret.ledger.about import About
from diskret.model.errors import BadOption
from diskret.model.table import Table


@dataclass(frozen=True, kw_only=True)
class Group:
    """Who is counted: a population, a period, and filters by codes or numbers.

    >>> Group(where={"sector": ("C",)}).inside(Group(where={"sector": ("C", "D")}))
    True
    >>> Group().inside(Group(at_least={"employees": 50}))
    False
    """

    population: str = ""
    period: str = ""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)

    def inside(self, other: Group) -> bool:
        """Whether its filters say that everybody in it is in another one as well."""
        if (self.population, self.period) != (other.population, other.period):
            return False
        codes = all(name in self.where and {*self.where[name]} <= {*said} for name, said in other.where.items())
        low = all(name in self.at_least and self.at_least[name] >= least for name, least in other.at_least.items())
        return (
            codes
            and low
            and all(name in self.at_most and self.at_most[name] <= most for name, most in other.at_most.items())
        )

    def within(self, codes: Mapping[str, str]) -> Group:
        """The part of it that has some codes."""
        where = {**self.where, **{name: (code,) for name, code in codes.items()}}
        return Group(
            population=self.population, period=self.period, where=where, at_least=self.at_least, at_most=self.at_most
        )

    def words(self) -> str:
        """In words."""
        parts = [f"{name} {', '.join(codes)}" for name, codes in self.where.items()]
        parts += [f"{name} {low:g} or more" for name, low in self.at_least.items()]
        parts += [f"{name} {high:g} or less" for name, high in self.at_most.items()]
        return " and ".join(parts) or "everybody"


@dataclass(frozen=True, kw_only=True)
class Described:
    """What every output says of itself."""

    name: str
    group: Group = Group()


@dataclass(frozen=True, kw_only=True, eq=False)
class TableOutput(Described):
    """A table, with the number of units in every cell and, of values, the two largest contributions."""

    table: Table
    about: About | None = None
    """What it counts, for the ledger; None: it is judged without."""


@dataclass(frozen=True, kw_only=True)
class Statistic(Described):
    """A number made of the values of some units: a sum, a mean, a share, a variance, a correlation, an index."""

    units: int
    largest: tuple[float, ...] = ()
    """The largest contributions, descending; of a ratio those to what is divided."""
    total: float | None = None
    """The sum of all contributions; left out for numbers to which nobody contributes a part, such as correlations."""
    weighs: bool = True
    """Whether single contributions can dominate it: sums, means and ratios, not correlations or variances."""


@dataclass(frozen=True, kw_only=True)
class Percentile(Described):
    """A percentile: the value of one unit, or between two."""

    at: float
    """Which one, from 0 to 100; 50 is the median."""
    units: int
    same: int = 1
    """Units that have exactly this value."""

    def __post_init__(self) -> None:
        if not 0 <= self.at <= 100:
            raise BadOption(f"percentile {self.at:g}", hint="from 0 to 100; 50 is the median.")


@dataclass(frozen=True, kw_only=True)
class Extreme(Described):
    """A smallest or largest value, or the range of values."""

    same: int = 1
    """Units that have exactly this value; of a range the fewer at either end."""


@dataclass(frozen=True, kw_only=True)
class Model(Described):
    """Coefficients of a regression or another model."""

    units: int
    parameters: int
    """Coefficients estimated, the constant included."""
    smallest: int | None = None
    """Units behind the smallest category of any categorical variable; None if there are none."""
    only_categories: bool = False
    """Whether all variables are categorical with all their combinations: then it is a table of means."""
    r_squared: float | None = None
    single_values: bool = False
    """Whether residuals or fitted values of single units are among the output."""


@dataclass(frozen=True, kw_only=True)
class Picture(Described):
    """A picture: what stands behind its smallest point, bar or area."""

    smallest: int
    """Units behind the smallest thing drawn; 1 where points are units."""


Output = TableOutput | Statistic | Percentile | Extreme | Model | Picture
Verdict = Literal["accept", "change", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is said of one output."""

    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    """What is wrong: one sentence each."""
    changes: tuple[str, ...] = ()
    """What would make it acceptable."""
