"""What a primary rule is to everybody else: it judges a table. The rules themselves are in the room `rules`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from diskret.model.arrays import Bools, Floats

if TYPE_CHECKING:
    from diskret.model.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """What one rule says about every cell."""

    primary: Bools
    needed: Floats | None = None
    """How far an attacker's interval must reach beyond the value, on either side; None: exact disclosure only."""
    below: Floats | None = None
    """How far below the value, where that is not as far as above it: nothing lies below zero."""
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


def distinct_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules without repetitions, in order; compared, not hashed, since anybody may write a rule."""
    found: list[Rule] = []
    found.extend(rule for rule in rules if rule not in found)
    return tuple(found)
