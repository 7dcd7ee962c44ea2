"""Safety rules of a batch as the rules of a job: those for respondents, and those for holdings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from diskret.io.arb_commands import Rule, SafetyRule

PLACES = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
"""How many rules of a kind are for respondents; as many again are for holdings."""
ONCE = ("ZERO", "WGT", "MIS", "MAN")
SMALLEST_LEVEL = 1
"""Protection level of cells for which the rules demand less, in units of the value."""
SETTINGS = {"given", "missing", "min_level", "signed", "first_level"}
"""Keys of rules that catch no cell themselves."""
USUAL_MARGIN = 20
"""Percent by which cells are protected that are unsafe because a file or a person says so."""


@dataclass(kw_only=True)
class Judged:
    """What the rules of a table come to."""

    respondents: dict[str, Any] = field(default_factory=dict)
    holdings: dict[str, Any] = field(default_factory=dict)
    weighted: bool = False
    wrong: list[str] = field(default_factory=list)

    @property
    def content(self) -> dict[str, Any]:
        """As the section of a job."""
        return self.respondents | ({"holding": self.holdings} if self.holdings else {})

    @property
    def judges(self) -> bool:
        """Whether a rule looks for sensitive cells, beside what is said about single ones."""
        return bool(self.holdings) or not self.respondents.keys() <= SETTINGS

    @property
    def counts(self) -> bool:
        """Whether contributors are counted."""
        return "min_count" in self.respondents or "min_count" in self.holdings

    @property
    def asks_requests(self) -> bool:
        """Whether those who asked for protection get it."""
        return "request" in self.respondents or "request" in self.holdings


def judged(said: SafetyRule | None) -> Judged:
    """The rules of a table.

    >>> from diskret.io.arb_commands import Rule, SafetyRule
    >>> rules = [Rule(name="P", numbers=(20, 1)), Rule(name="FREQ", numbers=(3, 30))]
    >>> [*judged(SafetyRule(line=1, text="", rules=tuple(rules))).content]
    ['p_percent', 'min_count', 'min_level', 'signed', 'first_level']
    """
    found, seen = Judged(), dict.fromkeys(PLACES, 0)
    for rule in said.rules if said else ():
        if rule.name in ONCE:
            _once(rule, found)
            continue
        place, seen[rule.name] = seen[rule.name], seen[rule.name] + 1
        if place >= 2 * PLACES[rule.name]:
            found.wrong.append(rule.name)
        elif _is_used(rule):
            _add(found.respondents if place < PLACES[rule.name] else found.holdings, *_entry(rule))
    for section in (found.respondents, found.holdings):
        _alone(section, ("p_percent", "pq"))
    counts = [section["min_count"] for section in (found.respondents, found.holdings) if "min_count" in section]
    for count in counts:
        # the program knows one margin for both counts
        count["margin"] = max(each["margin"] for each in counts)
    if found.weighted and "min_count" in found.respondents:
        found.respondents["min_count"]["weighted"] = True
    if found.respondents or found.holdings:
        found.respondents |= {"min_level": SMALLEST_LEVEL, "signed": True, "first_level": True}
    return found


def largest_of(said: SafetyRule | None) -> int:
    """How many of the largest contributions the rules of a table look at.

    >>> from diskret.io.arb_commands import Rule, SafetyRule
    >>> rules = [Rule(name="P", numbers=(20, 2)), Rule(name="NK", numbers=(0, 0)), Rule(name="FREQ", numbers=(9, 30))]
    >>> largest_of(SafetyRule(line=1, text="", rules=tuple(rules)))
    3
    """
    used = [rule for rule in (said.rules if said else ()) if _is_used(rule)]
    ranks = [rule.numbers[0] for rule in used if rule.name == "NK"]
    ranks += [1 + (rule.numbers[-1] if len(rule.numbers) > 1 else 1) for rule in used if rule.name == "P"]
    return int(max(ranks, default=0))


def values_of(said: SafetyRule) -> set[str]:
    """The rules of a table that look at values."""
    used = {rule.name for rule in said.rules if rule.name == "ZERO" or _is_used(rule)}
    return used & {"P", "NK", "REQ", "ZERO"}


def _is_used(rule: Rule) -> bool:
    """Whether a rule is more than a place that stays empty."""
    if rule.name == "REQ":
        return any(rule.numbers[:3])
    return rule.numbers[0] > 0 and (rule.name != "NK" or rule.numbers[1] > 0)


def _once(rule: Rule, found: Judged) -> None:
    number = whole(rule.numbers[0])
    match rule.name:
        case "ZERO":
            found.respondents["zeros"] = number
        case "MIS":
            found.respondents["missing"] = "safe" if number else "judged"
        case "MAN":
            found.respondents["given"] = number
        case _:
            found.weighted = bool(number)


def _entry(rule: Rule) -> tuple[str, Any]:
    """A rule as a key of a job and what stands there."""
    numbers = [whole(each) for each in rule.numbers]
    match rule.name:
        case "NK":
            return "dominance", numbers
        case "FREQ":
            # contributors count whatever they contribute
            return "min_count", {"n": numbers[0], "margin": numbers[1], "zeros": True}
        case "REQ":
            return "request", {"percent": numbers[:2], "n": numbers[2], "margin": numbers[3]}
    p, n = numbers[0], numbers[-1] if len(numbers) > 1 else 1
    if len(numbers) == 3 and numbers[1] != 100:
        return "pq", {"p": p, "q": numbers[1], "n": n}
    return "p_percent", {"p": p, "n": n} if n != 1 else p


def _add(section: dict[str, Any], key: str, entry: Any) -> None:
    """Some keys hold one rule, some several: several are gathered first."""
    if key in ("min_count", "request"):
        section[key] = entry
    else:
        section.setdefault(key, []).append(entry)


def _alone(section: dict[str, Any], keys: Iterable[str]) -> None:
    """A single rule stands without a list around it."""
    for key in keys:
        if len(section.get(key, ())) == 1:
            (section[key],) = section[key]


def whole(number: float) -> int | float:
    """A number without a point where it needs none.

    >>> whole(20.0), whole(2.5)
    (20, 2.5)
    """
    return int(number) if number == int(number) else number
