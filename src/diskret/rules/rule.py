"""Joining rules, and what all of them check about their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Literal

from diskret.model.errors import BadOption
from diskret.model.exact import Number, exact
from diskret.model.rule import Rule as Rule

CountedBy = Literal["respondent", "holding"]


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


def percent(name: str, value: Number, *, low: float, high: float, below: bool = False, share: bool = False) -> None:
    """Refuse a percentage outside its range, and what looks like a ``share`` of one."""
    try:
        number = value if isinstance(value, float) else exact(value)
    except (TypeError, ValueError):
        number = nan
    if not (low < number < high if below else low < number <= high):
        allowed = f"a percentage over {low:g} and {'under' if below else 'up to'} {high:g}"
        raise BadOption(f"{name} is out of range", hint=f"give {allowed}.")
    if share and number < 1:
        # what was meant is the parameter, and parameters are secret
        hint = "it is given in percent, such as 10: did you mean a hundred times as much?"
        raise BadOption(f"{name} is less than 1 percent", hint=hint)
