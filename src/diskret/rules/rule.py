"""What a primary rule is: it says which cells of a table are sensitive by themselves, and what protection they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption
from diskret.model.table import Table

CountedBy = Literal["respondent", "holding"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one rule says about every cell."""

    primary: Bools
    needed: Floats | None = None
    """How far an attacker's interval must reach beyond the value, on either side; None: exact disclosure only."""
    partners: Bools | None = None
    """Zeros that may have to be hidden with them."""


@runtime_checkable
class Rule(Protocol):
    """One primary rule. Its name carries no parameter: parameters stay secret."""

    @property
    def name(self) -> str:
        """The rule as users know it, without its parameters."""
        ...

    @property
    def largest(self) -> int:
        """How many largest contributions it looks at."""
        ...

    def judge(self, table: Table) -> Verdict:
        """Which cells are sensitive."""
        ...


class Joinable:
    """Rules can be joined with ``|``: a cell is primary if any of them says so."""

    @property
    def largest(self) -> int:
        """How many largest contributions a rule looks at: none, unless it says otherwise."""
        return 0

    def __or__(self, other: Rule | AnyOf) -> AnyOf:
        return AnyOf((*rules_in(self), *rules_in(other)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class AnyOf(Joinable):
    """Several rules; a cell is primary if at least one catches it."""

    rules: tuple[Rule, ...]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)


def rules_in(given: Rule | AnyOf) -> tuple[Rule, ...]:
    """The single rules of a rule or a combination."""
    return given.rules if isinstance(given, AnyOf) else (given,)


def largest_needed(given: Rule | AnyOf) -> int:
    """How many largest contributions tabulation must keep for these rules.

    >>> from diskret.rules.magnitude import Dominance, MinCount
    >>> largest_needed(MinCount(3) | Dominance(3, 90))
    3
    """
    return max((rule.largest for rule in rules_in(given)), default=0)


def percent(name: str, value: object, *, low: float, high: float, below: bool = False) -> None:
    """Refuse a percentage outside its range."""
    number = float(value)  # type: ignore[arg-type]
    if not (low < number < high if below else low < number <= high):
        allowed = f"a percentage over {low:g} and {'under' if below else 'up to'} {high:g}"
        raise BadOption(f"{name} is out of range", hint=f"give {allowed}.")
