"""A request: which table somebody asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diskret.model.errors import BadOption, listed


@dataclass(frozen=True, kw_only=True)
class Query:
    """Classifications, filter and value of a table that somebody asks for.

    >>> Query(by=("region",), value="turnover", where={"sector": ("C",)}).words()
    'turnover by region, of sector C'
    >>> Query(by=("region",), at_least={"employees": 50}).words()
    'units by region, of employees 50 or more'
    """

    by: tuple[str, ...] = ()
    """Classifications; none: a single number."""
    value: str | None = None
    """Column to add up; None: a count of units."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By column the codes of those who are counted; a code may be a sum of its hierarchy."""
    without: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By column the codes of those who are left out."""
    at_least: Mapping[str, float] = field(default_factory=dict)
    """By column the smallest number of those who are counted."""
    at_most: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    """By classification how many levels below the total are shown; left out: all."""

    def __post_init__(self) -> None:
        twice = [name for i, name in enumerate(self.by) if name in self.by[:i]]
        if twice:
            raise BadOption(f"classifications are asked for twice: {listed(twice)}", hint="name each once.")
        strange = [name for name in self.levels if name not in self.by]
        if strange:
            raise BadOption(
                f"levels of {listed(strange)}, which are not asked for", hint=f"by lists {listed(self.by)}."
            )
        few = [name for name, level in self.levels.items() if level < 1]
        if few:
            raise BadOption(f"no level of {listed(few)}", hint="1 shows what stands directly below the total.")
        for name, codes in (*self.where.items(), *self.without.items()):
            if isinstance(codes, str) or not codes:
                raise BadOption(f"a filter of {name!r} without codes", hint="give a list of codes.")

    @property
    def filtered(self) -> tuple[str, ...]:
        """The columns that say who is counted."""
        return tuple(dict.fromkeys([*self.where, *self.without, *self.at_least, *self.at_most]))

    def words(self) -> str:
        """In words, for messages and records."""
        said = f"{self.value or 'units'} by {', '.join(self.by)}" if self.by else f"{self.value or 'units'} in total"
        parts = [f"{name} {', '.join(codes)}" for name, codes in self.where.items()]
        parts += [f"{name} not {', '.join(codes)}" for name, codes in self.without.items()]
        parts += [f"{name} {low:g} or more" for name, low in self.at_least.items()]
        parts += [f"{name} {high:g} or less" for name, high in self.at_most.items()]
        return said + (f", of {' and '.join(parts)}" if parts else "")

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what was left out."""
        told: dict[str, Any] = {"by": list(self.by), "value": self.value}
        told |= {name: {k: list(v) for k, v in getattr(self, name).items()} for name in ("where", "without")}
        told |= {name: dict(getattr(self, name)) for name in ("at_least", "at_most", "levels")}
        return {name: each for name, each in told.items() if each not in (None, [], {})}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Query:
        """From plain data."""
        given = {name: each for name, each in plain.items() if each is not None}
        for name in ("where", "without"):
            given[name] = {column: tuple(codes) for column, codes in given.get(name, {}).items()}
        return cls(**given | {"by": tuple(given.get("by", ()))})

    def key(self) -> str:
        """The same for the same question, however its parts are ordered."""
        plain = self.to_dict()
        plain["by"] = sorted(plain.get("by", []))
        for name in ("where", "without"):
            plain[name] = {k: sorted(set(v)) for k, v in plain.get(name, {}).items()}
        for name in ("at_least", "at_most"):
            plain[name] = {k: float(v) for k, v in plain.get(name, {}).items()}
        return json.dumps(plain, sort_keys=True, ensure_ascii=False)
