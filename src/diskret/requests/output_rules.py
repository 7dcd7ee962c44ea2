"""The house's rules of output checking: what is said of an output that is described by numbers of units.

All border cases stay open, as with [primary rules](rules.md): an output with exactly the number asked for is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

import numpy as np

from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.model.given import whole
from diskret.model.system import System
from diskret.requests.beside import House
from diskret.requests.outputs import Extreme, Finding, Model, Percentile, Picture, Statistic, Verdict
from diskret.rules.frequency import SmallCells
from diskret.rules.magnitude import MinCount
from diskret.rules.rule import AnyOf, largest_needed


@dataclass(frozen=True, kw_only=True)
class OutputRules:
    """What a house asks of outputs, beside its rules for the cells of tables.

    >>> OutputRules().judge(Percentile(name="median", at=50, units=40), House(rules=AnyOf((MinCount(3),)))).verdict
    'accept'
    """

    units: int = 3
    """Fewest units behind any number; at least the minimum count of the house's rules for cells."""
    difference: int = 3
    """Fewest units in the difference of two groups of which one contains the other."""
    degrees: int = 10
    """Fewest degrees of freedom that a model leaves: units less coefficients."""
    beyond: int = 5
    """Fewest units on either side of a percentile."""
    same: int = 3
    """Fewest units that share an extreme value, or a percentile too near the end."""
    r_squared: float = 0.99
    """Largest share of variance that a model may explain: beyond, fitted values are the values."""

    def __post_init__(self) -> None:
        for name in ("units", "difference", "degrees", "beyond", "same"):
            whole(name, getattr(self, name), 1, "a number of units, at least 1.")
        if not 0 < self.r_squared <= 1:
            raise BadOption("r_squared is out of range", hint="a share over 0 and up to 1.")

    def judge(self, output: Statistic | Percentile | Extreme | Model | Picture, house: House) -> Finding:
        """What is said of an output that is no table."""
        kinds = {
            Statistic: _statistic, Percentile: _percentile, Extreme: _extreme, Model: _model, Picture: _picture,
        }  # fmt: skip
        wrong, changes = kinds[type(output)](self, output, house)  # type: ignore[operator]
        verdict: Verdict = "accept" if not wrong else "change" if changes else "refuse"
        return Finding(name=output.name, verdict=verdict, reasons=tuple(wrong), changes=tuple(changes))


Said = tuple[list[str], list[str]]


def _statistic(rules: OutputRules, output: Statistic, house: House) -> Said:
    least = max(rules.units, minimum_count(house))
    if output.units < least:
        return ["too few units stand behind the number"], []
    contributions = AnyOf(tuple(rule for rule in house.rules if not isinstance(rule, SmallCells)))
    if not output.weighs or not contributions.rules:
        return [], []
    needed = largest_needed(contributions)
    if output.total is None or len(output.largest) < min(needed, output.units):
        return (
            [f"the sum and the {needed} largest contributions are not given: nobody can say whether one dominates"],
            ["give the sum and the largest contributions"],
        )
    return (["few units dominate the number"], []) if _dominated(output, contributions, needed) else ([], [])


def _dominated(output: Statistic, rules: AnyOf, needed: int) -> bool:
    """Whether a cell with these contributions would be primary."""
    largest = np.zeros((1, max(needed, 1)))
    given = sorted(map(abs, output.largest), reverse=True)[: largest.shape[1]]
    largest[0, : len(given)] = given
    cell = System.of([output.name], [float(output.total or 0.0)], [], count=[output.units])
    people = Contributors(np.array([output.units]), largest)
    return any(bool(rule.judge(replace(cell, respondents=people)).primary.any()) for rule in rules)


def _percentile(rules: OutputRules, output: Percentile, house: House) -> Said:
    if output.units < max(rules.units, minimum_count(house)):
        return ["too few units stand behind the number"], []
    least = minimum_count(house)
    if output.same >= max(rules.same, least):
        return [], []
    enough = max(rules.beyond, least)
    below = floor(output.units * output.at / 100)
    beyond = min(below, floor(output.units * (100 - output.at) / 100))
    if beyond >= enough:
        return [], []
    nearest = next((p for p in (1, 5, 10, 20, 25, 50) if floor(output.units * p / 100) >= enough), None)
    other = 0 if nearest is None else nearest if output.at <= 50 else 100 - nearest
    change = [f"give percentile {other:g}, or one nearer to 50"] if nearest else []
    return ["too few units lie beyond the percentile: it is the value of a single one"], change


def _extreme(rules: OutputRules, output: Extreme, house: House) -> Said:
    if output.same >= max(rules.same, minimum_count(house)):
        return [], []
    return (
        ["it is the value of too few units"],
        ["give a percentile with enough units beyond it, or classes in the place of values"],
    )


def _model(rules: OutputRules, output: Model, house: House) -> Said:
    wrong, changes = [], []
    if output.units < max(rules.units, minimum_count(house)):
        wrong.append("too few units stand behind the number")
    if output.units - output.parameters < rules.degrees:
        wrong.append("the model leaves too few degrees of freedom")
    if output.smallest is not None and output.smallest < max(rules.units, minimum_count(house)):
        wrong.append("too few units stand behind a coefficient of a category")
        changes.append("merge categories")
    if output.only_categories:
        wrong.append("the model is a table of means")
        changes.append("hand it in as a table, with units and the largest contributions of every cell")
    if output.r_squared is not None and output.r_squared > rules.r_squared:
        wrong.append("the model fits so well that its values are those of units")
    if output.single_values:
        wrong.append("residuals or fitted values are values of single units")
        changes.append("leave them out")
    # what no change cures makes all of it unacceptable
    return wrong, changes if len(changes) == len(wrong) else []


def _picture(rules: OutputRules, output: Picture, house: House) -> Said:
    if output.smallest >= max(rules.units, minimum_count(house)):
        return [], []
    return ["too few units stand behind a point, bar or area"], ["draw classes with enough units"]


def minimum_count(house: House) -> int:
    """The fewest units that the house's rules for cells allow."""
    return max((rule.n for rule in house.rules if isinstance(rule, SmallCells | MinCount)), default=1)
