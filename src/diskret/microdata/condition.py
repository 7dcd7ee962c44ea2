"""Conditions on records, as short text: ``employees >= 1000``, ``region in East, West``, several joined by ``and``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.microdata.columns import Records, coded, read_records
from diskret.model.arrays import Bools
from diskret.model.errors import BadOption

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, "!=": operator.ne, "=": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
HINT = "write a column, one of >= <= != = < > in, and a number or codes, such as 'employees >= 1000'."


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One column compared with a number or with codes."""

    column: str
    sign: str
    value: float | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Clauses that must all hold.

    >>> Condition.parse("employees >= 250 and region = West").parts[0]
    Clause(column='employees', sign='>=', value=250.0)
    """

    parts: tuple[Clause, ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; refuse other text."""
        return cls(parts=tuple(_clause(part) for part in re.split(r"\s+and\s+", text.strip())))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return tuple(dict.fromkeys(p.column for p in self.parts))

    def holds(self, records: Records) -> tuple[Bools, Bools]:
        """For every record, whether the condition holds, and whether that is known: a missing value decides nothing."""
        true, known = np.ones(records.rows, dtype=np.bool_), np.ones(records.rows, dtype=np.bool_)
        records.require(self.columns)
        for part in self.parts:
            if isinstance(part.value, tuple):
                column = coded(records[part.column])
                chosen = np.array([code in part.value for code in column.codes] + [False])
                this = chosen[column.index] == (part.sign != "!=")
                there = column.index >= 0
            else:
                numbers = read_records(records, [part.column])[part.column]
                this, there = COMPARE[part.sign](numbers, part.value), ~np.isnan(numbers)
            true &= this & there
            known &= there
        return true, known


def _clause(text: str) -> Clause:
    found = re.fullmatch(r"\s*([^\s<>=!].*?)\s*(>=|<=|!=|==|=|<|>|\sin\s)\s*(.+?)\s*", text)
    if not found:
        raise BadOption(f"{text.strip()!r} is not a condition", hint=HINT)
    column, sign, value = found[1].strip(), found[2].strip().replace("==", "="), found[3]
    if sign in ("=", "!=", "in") and not (sign != "in" and _is_number(value)):
        codes = tuple(v.strip().strip("'\"") for v in value.strip("[]()").split(","))
        return Clause(column=column, sign=sign, value=codes)
    if not _is_number(value):
        raise BadOption(f"{text.strip()!r} does not compare with a number", hint=HINT)
    return Clause(column=column, sign=sign, value=float(value))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text))
