"""Comparing rules on the user's own table: what each catches, and what only one of them catches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.notebook import Told
from diskret.model.rule import Rule
from diskret.model.table import Table
from diskret.rules.further import Given
from diskret.rules.rule import AnyOf, rules_in


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(Told):
    """Rules side by side. Internal: shares of contributors and borders of rules are not for publication."""

    names: tuple[str, ...]
    cells: int
    caught: tuple[Bools, ...]
    shares: Floats | None
    """Shares of the two largest contributors, one row per occupied cell (in cell order); None if not known."""
    occupied: Bools
    borders: tuple[tuple[float, float, float] | None, ...]

    @property
    def marked(self) -> tuple[int, ...]:
        """How many cells each rule marks."""
        return tuple(int(c.sum()) for c in self.caught)

    @property
    def only(self) -> tuple[int, ...]:
        """How many cells each rule marks that no other does."""
        together = np.sum(self.caught, axis=0)
        return tuple(int((c & (together == 1)).sum()) for c in self.caught)

    @property
    def both(self) -> Ints:
        """How many cells each pair of rules marks together."""
        flat = np.array([c.reshape(-1) for c in self.caught], dtype=np.int64)
        return flat @ flat.T

    def only_cells(self, rule: int) -> Bools:
        """The cells one rule marks and no other."""
        alone: Bools = self.caught[rule] & (np.sum(self.caught, axis=0) == 1)
        return alone

    def __str__(self) -> str:
        width = max(len(n) for n in self.names)
        lines = [f"{'rule':<{width}}  {'marked':>8}  {'only it':>8}"]
        rows = zip(self.names, self.marked, self.only, strict=True)
        lines += [f"{name:<{width}}  {marked:>8}  {only:>8}" for name, marked, only in rows]
        any_of = int(np.any(self.caught, axis=0).sum())
        lines.append(f"{'any of them':<{width}}  {any_of:>8}  of {int(self.occupied.sum())} occupied cells")
        return "\n".join(lines)


def compare_rules(table: Table, rules: Rule | AnyOf | Sequence[Rule]) -> RuleComparison:
    """Judge one table by several rules.

    >>> from diskret import Table, Dominance, PPercent
    >>> cells = {"s": ["a", "b"], "x": [100, 100], "n": [5, 5], "x1": [89, 51], "x2": [4, 40]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    >>> comparison = compare_rules(table, [Dominance(1, 85), Dominance(2, 90)])
    >>> comparison.marked, comparison.only
    ((1, 2), (0, 1))
    """
    asked = rules if isinstance(rules, Sequence) else rules_in(rules)
    judged = tuple(rule for rule in asked if not isinstance(rule, Given))  # it catches nothing
    if not judged:
        raise BadOption("no rules to compare", hint="give at least one.")
    caught = tuple(rule.judge(table).primary for rule in judged)
    occupied = ~table.empty
    names = tuple(f"{i}. {rule.name}" for i, rule in enumerate(judged, start=1))
    borders = tuple(rule.border() if hasattr(rule, "border") else None for rule in judged)
    return RuleComparison(names, table.size, caught, _shares(table, occupied), occupied, borders)


def _shares(table: Table, occupied: Bools) -> Floats | None:
    people = table.respondents
    if people is None or people.largest is None or people.ranked < 2:
        return None
    size = np.abs(table.value) if people.absolute is None else people.absolute
    whole = np.where(size > 0, size, 1.0)[..., None]
    return (people.largest[..., :2] / whole)[occupied]
