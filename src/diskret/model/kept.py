"""Numbers that would not survive becoming doubles: a cent at the end of ninety trillion is lost without a word.

What is written as a decimal (text, DECIMAL, whole numbers of 64 bits) is compared with the decimal that its double
prints as. What is a double already means the decimal it prints as.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from diskret.model.errors import NotExact
from diskret.model.source import Relation

LONG = 15
"""Every decimal of so many digits survives."""
WIDE = "DECIMAL(38, 9)"
WRITTEN = 4
"""Decimals of an amount somebody wrote down; longer texts with more of them are printed measurements."""


def lost(data: Relation, name: str) -> str:
    """The condition, in SQL, that a number of a column is not the one its double prints as."""
    given, long = data.written(name), "false"
    if data.is_text(name):
        amount = f"regexp_replace({given}, '^[+-]?[0-9]+([.][0-9]{{0,{WRITTEN}}}0*)?$', '') = ''"
        long = f"length({given}) > {LONG} AND {amount}"
    elif data.scale(name) is not None or data.types[name].upper() in ("BIGINT", "UBIGINT", "HUGEINT"):
        long = f"abs({given}) >= 1e{LONG - (data.scale(name) or 0)}"
    printed = f"TRY_CAST(CAST(CAST({data.number(name)} AS DOUBLE) AS STRING) AS {WIDE})"
    return f"({long} AND coalesce({printed} <> TRY_CAST({given} AS {WIDE}), false))"


def refuse_lost(data: Relation, names: Sequence[str]) -> None:
    """Refuse numbers that would not survive, with the first rows."""
    for name in names:
        rows = data.query(f"SELECT count(*) FROM {data.view} WHERE {lost(data, name)}")[0][0]
        if rows:
            first = data.rows_where(partial(lost, name=name))
            raise NotExact.rows_of(name, int(rows), first, data.where)
