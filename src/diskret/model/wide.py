"""The same questions about many columns, in one pass over the data.

What a statement costs grows much faster than the number of columns it speaks of, and every statement about a file looks
at all of its columns again. So the columns of wide data are put below each other, those of one type in one table, and
asked about by their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from diskret.model.numerals import Evidence, evidence, evidence_of
from diskret.model.source import Relation

FEW = 50
"""Columns that a statement may speak of one by one."""
Ask = Callable[[Relation, str], list[str]]
"""What is asked about a column, as aggregates in SQL."""
Answers = dict[str, tuple[Any, ...]]
Asking = Callable[[Sequence[str], Ask], Answers]


@contextmanager
def by_column(data: Relation, few: int = FEW) -> Iterator[Asking]:
    """A function that asks the same about columns and gives the answers by their names.

    >>> from diskret.model.source import open_source
    >>> data = open_source({"a": [1, 2], "b": [3, 3], "c": ["x", None]})
    >>> for few in (3, 2):
    ...     with by_column(data, few) as asking:
    ...         asking(["a", "c"], lambda part, name: [f"count({part.column(name)})"])
    {'a': (2,), 'c': (1,)}
    {'a': (2,), 'c': (1,)}
    """
    if len(data.columns) <= few:
        yield partial(_side_by_side, data)
        return
    stacks = _stacked(data)
    try:
        yield partial(_below_each_other, stacks)
    finally:
        for stack, _ in stacks:
            data.query(f"DROP TABLE {stack.view}")


def _side_by_side(data: Relation, names: Sequence[str], ask: Ask) -> Answers:
    if not names:
        return {}
    asked = {name: ask(data, name) for name in names}
    (row, *_) = data.query(f"SELECT {', '.join(each for asks in asked.values() for each in asks)} FROM {data.view}")
    answers = iter(row)
    return {name: tuple(next(answers) for _ in asks) for name, asks in asked.items()}


def _stacked(data: Relation) -> list[tuple[Relation, dict[str, int]]]:
    """Tables of columns of one type: the entry ``v`` and the number ``n`` of its column; and the numbers by name."""
    data.query(f"CREATE OR REPLACE TEMP TABLE diskret_wide AS SELECT * FROM {data.view}")
    wide = replace(data, view="diskret_wide")
    stacks: list[tuple[Relation, dict[str, int]]] = []
    for kind in dict.fromkeys(data.types.values()):
        names = [name for name, each in data.types.items() if each == kind]
        view = f"diskret_stack_{len(stacks)}"
        listing = ", ".join(wide.column(name) for name in names)
        numbered = f"SELECT unnest(range({len(names)})) AS n, unnest([{listing}]) AS v FROM diskret_wide"
        data.query(f"CREATE OR REPLACE TEMP TABLE {view} AS {numbered}")
        stack = replace(data, view=view, types={"v": kind}, native={}, absent={}, numerals={})
        stacks.append((stack, {name: i for i, name in enumerate(names)}))
    data.query("DROP TABLE diskret_wide")
    return stacks


def _below_each_other(stacks: Sequence[tuple[Relation, dict[str, int]]], names: Sequence[str], ask: Ask) -> Answers:
    found: Answers = {}
    for stack, numbers in stacks:
        wanted = {numbers[name]: name for name in names if name in numbers}
        if wanted:
            chosen = "" if len(wanted) == len(numbers) else f"WHERE n IN ({', '.join(map(str, wanted))})"
            rows = stack.query(f"SELECT n, {', '.join(ask(stack, 'v'))} FROM {stack.view} {chosen} GROUP BY n")
            found |= {wanted[n]: tuple(answers) for n, *answers in rows}
    return {name: found[name] for name in names}


def evidence_by_column(data: Relation, asking: Asking) -> dict[str, Evidence]:
    """How numbers look in every column of text, where nobody says that they have other signs than a point."""
    if data.decimal == "," or data.thousands:
        return {}

    def ask(part: Relation, name: str) -> list[str]:
        return evidence(part.as_text(name), part.is_native(name))

    found = asking([name for name in data.columns if data.is_text(name)], ask)
    return {name: evidence_of(row) for name, row in found.items()}
