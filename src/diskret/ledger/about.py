"""What the cells of a table count: of whom, of what, when, in which unit, and what its codes are made of.

Cells are the same cell because they count the same, never because tables have like names. So whatever is put beside a
ledger says what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from pathlib import Path
from typing import Any

from diskret.io.structured import from_toml
from diskret.io.text import read_text
from diskret.model.damage import reading
from diskret.model.errors import BadOption, listed

PERIOD = "period"
"""The classification of points in time: a table runs over it, or is about one of its codes."""
Groupings = Mapping[str, Mapping[str, Sequence[str]]]

GROUPED, PLAIN = r"[1-9]\d{0,2}(?:([ ,.'\u00a0\u2009\u202f])\d{3})(?:\2\d{3})*", r"[1-9]\d*(?:\.\d+)?|0\.\d*[1-9]\d*"
"""Numbers before a unit: with thousands set apart, and without. Any other number is a part of the unit's name."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """What a published ratio says of two cells: ``times * (over / under) + plus``, rounded as the entry says.

    A growth rate in percent is the value over last year's, times 100, plus -100; an index is the value over that of
    the base period, times 100; a mean is the value over the count. ``under`` says what differs of the cell below the
    line: its value, unit, population, or its code in a classification, such as the period.

    >>> Ratio(under={"period": "2023"}, times=100, plus=-100).to_dict()["plus"]
    -100
    """

    under: Mapping[str, str]
    times: float = 1.0
    plus: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.times) and isfinite(self.plus)):
            raise BadOption("a ratio times or plus no number", hint="such as times 100, plus -100 for growth rates.")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"under": dict(self.under), "times": self.times, "plus": self.plus}


@dataclass(frozen=True, kw_only=True)
class About:
    """What a table counts, beside its classifications.

    >>> About(population="firms", period="2024", unit="1000 EUR").scale
    (1000.0, 'EUR')
    """

    population: str = ""
    """Who is counted, such as "firms with 20 or more persons"."""
    value: str = ""
    """What is added up; empty: the table's response."""
    period: str = ""
    """When, such as 2024, 2024-Q3 or 2024-07; empty if the table runs over ``period``."""
    unit: str = ""
    """The unit of the values, such as EUR or 1000 EUR."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Classifications the table does not run over and does not show the total of, with the code it shows."""
    groupings: Groupings = field(default_factory=dict)
    """Per classification codes with their parts, as far as the table's own hierarchies do not say them."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Classifications of the table that the ledger calls otherwise."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """Per classification the code of everything, where the table's own total is less."""
    apart: str = ""
    """Why this population or value has nothing to do with any that the ledger knows."""
    revises: str = ""
    """The entry whose values this one replaces."""
    provisional: bool = False
    """Whether values will be replaced by final ones."""
    stock: bool = False
    """Whether the value is of a day: quarters do not add up to the year."""
    rounded: float = 0.0
    """Published values are rounded to multiples of this; 0: not at all."""
    ratio: Ratio | None = None
    """Said of tables of rates, indices, means and shares: which two cells each value is made of."""

    def __post_init__(self) -> None:
        if not 0 <= self.rounded < inf:
            raise BadOption(f"rounded to {self.rounded:g}", hint="give the multiple, such as 1000; 0 for not at all.")
        if self.period and PERIOD in self.fixed:
            raise BadOption("the period is given twice", hint="give period or fixed, not both.")

    @property
    def scale(self) -> tuple[float, str]:
        """What a unit is worth in the plain one: 1000 for "1000 EUR", "1,000 EUR" and "1.000 EUR"."""
        found = re.match(rf"^\s*(?:({GROUPED})|({PLAIN}))\s+(\S.*)$", self.unit)
        if found is None:
            return 1.0, self.unit.strip()
        number = re.sub(r"\D", "", found[1]) if found[1] else found[3]
        return float(number), found[4].strip()

    @property
    def codes(self) -> dict[str, str]:
        """Classifications the table does not run over, with the code it shows."""
        return {**self.fixed} | ({PERIOD: self.period} if self.period else {})

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what was left out."""
        told = {f.name: getattr(self, f.name) for f in fields(self)}
        told["groupings"] = {n: {c: list(p) for c, p in g.items()} for n, g in self.groupings.items()}
        told |= {name: dict(told[name]) for name in ("fixed", "names", "totals")}
        told["ratio"] = None if self.ratio is None else self.ratio.to_dict()
        return {name: each for name, each in told.items() if each not in ("", {}, None, False, 0.0)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> About:
        """From plain data; refuses what it does not know.

        >>> About.from_dict({"population": "firms", "period": "2024"}).period
        '2024'
        """
        known = [f.name for f in fields(cls)]
        unknown = [name for name in plain if name not in known]
        if unknown:
            raise BadOption(f"a table says {listed(unknown)} of what it counts", hint=f"it may say {listed(known)}.")
        given = dict(plain)
        if given.get("ratio") is not None:
            given["ratio"] = Ratio(**given["ratio"])
        return cls(**given)


def about_from(file: str | Path | None, said: Mapping[str, Any]) -> About:
    """What a table counts, from a TOML file and what is said besides, which comes first."""
    content: dict[str, Any] = {}
    if file is not None:
        with reading(file, "the file is not TOML", hint="correct it."):
            content = from_toml(read_text(Path(file)))
    return About.from_dict({**content, **said})
