"""Rules as plain data, for working files: the kind and its parameters. As secret as the parameters themselves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

from diskret.model.errors import ProtectionWarning, listed
from diskret.model.limits import limits
from diskret.model.rule import Rule
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.further import Given, Request, ZeroCells
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent

Stored = MinCount | Dominance | PPercent | PQ | ZeroCells | Given | Request | SmallCells | SmallMargin | OneCategory
MOST, LONGEST = 10**9, 100
"""Parameters of rules are percentages and small counts: larger ones, and longer decimals, are nobody's."""
KINDS: dict[str, Callable[..., Stored]] = {kind.__name__: kind for kind in get_args(Stored)}


def plain_rules(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Rules as plain data; a `ProtectionWarning` names those that only the user's own code knows.

    >>> plain_rules([PPercent(10)])
    [{'kind': 'PPercent', 'p': 10, 'counted_by': 'respondent', 'n': 1}]
    """
    known, foreign = [], []
    for rule in rules:
        if isinstance(rule, Stored):
            known.append({"kind": type(rule).__name__} | {f.name: _plain(getattr(rule, f.name)) for f in fields(rule)})
        else:
            foreign.append(rule.name)
    if foreign:
        warnings.warn(
            f"rules that are not part of diskret are not saved: {listed(foreign)}; mark the table again after loading",
            ProtectionWarning,
            stacklevel=3,
        )
    return known


def rules_from(plain: Sequence[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """The rules that `plain_rules` wrote down.

    >>> rules_from(plain_rules([MinCount(3), SmallMargin(2, ("age",))]))[1]
    SmallMargin(most=2, sensitive=('age',))
    """
    return tuple(
        KINDS[each["kind"]](**{name: _restored(value) for name, value in each.items() if name != "kind"})
        for each in plain
    )


def _plain(value: object) -> object:
    """Exact numbers keep all their digits."""
    if isinstance(value, Decimal | Fraction):
        return {type(value).__name__: str(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _restored(value: Any) -> object:
    """A parameter as it was; raises ValueError for what no rule has."""
    if isinstance(value, list | tuple):
        if any(isinstance(each, list | tuple) for each in value):
            raise ValueError("a parameter of a rule is a list of lists")
        return tuple(_short(each) if isinstance(each, str) else _restored(each) for each in value)
    if isinstance(value, dict):
        ((kind, digits),) = value.items()
        value = {"Decimal": Decimal, "Fraction": Fraction}[kind](_short(digits))
        if kind == "Decimal" and abs(value.as_tuple().exponent) > LONGEST:
            raise ValueError("a parameter of a rule has too many digits")
    # what is no number compares with none
    if value is not None and not isinstance(value, str) and not -MOST <= value <= MOST:
        raise ValueError("a parameter of a rule is not a number, or is too large")
    return value


def _short(text: object) -> str:
    if not isinstance(text, str) or len(text) > limits().text:
        raise ValueError("a parameter of a rule is not a text, or is too long")
    return text
