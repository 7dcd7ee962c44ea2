"""Lines of a table from its plain form, in exact numbers: unions that break a rule, and hidden zeros.

For checking certificates; the audit has its own (`unions`). ``docs/certificate.md`` has the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from diskret.auditing.plain import Plain

Line = Mapping[int, int]
"""Hidden cells of an equation with their coefficients."""


def unions_in(plain: Plain, equations: Mapping[int, Line]) -> list[int]:
    """Equations whose hidden cells, taken as one cell, break a rule of the table."""
    if not plain["rules"]:
        return []
    rules = [rule for rule in plain["rules"] if _knows_enough(plain, rule)]
    alike = {n: tuple(line) for n, line in equations.items() if len(line) > 1 and len(set(line.values())) == 1}
    return [number for number, cells in alike.items() if any(_breaks(plain, rule, cells) for rule in rules)]


def zeros_in(plain: Plain, equations: Mapping[int, Line], sums: Mapping[int, int]) -> dict[int, list[int]]:
    """Equations of a frequency table with two or more hidden zeros and nothing else hidden but their sum; and these."""
    if not plain["frequency"]:
        return {}
    parts = {number: [c for c in line if c != sums[number]] for number, line in equations.items()}
    value = plain["value"]
    return {n: cells for n, cells in parts.items() if len(cells) > 1 and all(value[c] == "0" for c in cells)}


def _people(plain: Plain, rule: Mapping[str, Any]) -> Any:
    return plain["holdings" if rule["counted_by"] == "holding" else "respondents"]


def _ranks(rule: Mapping[str, Any]) -> int:
    if rule["kind"] in ("MinCount", "Dominance", "Request"):
        return int(rule["n"]) if rule["kind"] == "Dominance" else 0
    return int(rule.get("n", 1)) + 1


def _knows_enough(plain: Plain, rule: Mapping[str, Any]) -> bool:
    people = _people(plain, rule)
    if rule["kind"] == "Request":
        return people is not None and people.get("asked") is not None
    return people is not None and _ranks(rule) <= len((people["largest"] or [[]])[0])


def _breaks(plain: Plain, rule: Mapping[str, Any], cells: Sequence[int]) -> bool:
    people = _people(plain, rule)
    gave = _by_owner(people, cells)
    # whoever is behind several cells is one contributor
    count = sum(people["count"][c] for c in cells) - (len(cells) - len(gave))
    guarded = _added(people["protected_count"], cells)
    if not (count if guarded is None else guarded):
        return False
    absolute = _added(people["absolute"], cells)
    if absolute is None:
        absolute = sum((abs(Fraction(plain["value"][c])) for c in cells), Fraction(0))
    if rule["kind"] == "MinCount":
        few = 0 < count - (_added(people["public_count"], cells) or 0) < rule["n"]
        return few and (rule["zeros"] or absolute > 0)
    size = absolute - (_added(people["public_value"], cells) or 0)
    if rule["kind"] == "Request":
        return _asked_for(rule, [people["asked"][c] for c in cells], count, size)
    others = [Fraction(x) for c in cells for x in people["largest"][c][1:]]
    largest = sorted([*gave, *others], reverse=True)[: _ranks(rule)]
    own = people["protected_largest"]
    target = largest[0] if own is None else max(Fraction(own[c]) for c in cells)
    seen = sum(largest[:-1]) + min(largest[-1], target)
    if rule["kind"] == "Dominance":
        return seen > Fraction(rule["k"]) / 100 * size
    share = Fraction(rule["p"]) / (100 if rule["kind"] == "PPercent" else Fraction(rule["q"]))
    return share * target > size - seen


def _asked_for(rule: Mapping[str, Any], asked: Sequence[Sequence[str]], count: int, size: Fraction) -> bool:
    """Whether somebody who asked for protection is too large in a union, or among too few."""
    own = [max(map(Fraction, kind)) for kind in zip(*asked, strict=True)]
    shares = [Fraction(each) / 100 for each in rule["percents"]] * (len(own) if len(rule["percents"]) == 1 else 1)
    most = max(own)
    large = any(each == most and share > 0 and each > share * size for each, share in zip(own, shares, strict=False))
    return most > 0 and (large or count < rule["fewest"])


def _by_owner(people: Any, cells: Sequence[int]) -> list[Fraction]:
    """What the largest contributors of some cells gave; what one owner gave to several of them is added."""
    owner, largest = people["owner"], people["largest"]
    found: dict[tuple[int, int], Fraction] = {}
    for c in cells:
        who = (owner[c], -1) if owner is not None and owner[c] >= 0 else (-1, c)
        found[who] = found.get(who, Fraction(0)) + Fraction(largest[c][0] if largest and largest[c] else 0)
    return list(found.values())


def _added(column: Sequence[Any] | None, cells: Sequence[int]) -> Fraction | None:
    return None if column is None else sum((Fraction(column[c]) for c in cells), Fraction(0))
