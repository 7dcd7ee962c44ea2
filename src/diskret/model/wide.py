"""The same questions about many columns, in one pass over the data.

What a statement costs grows much faster than the number of columns it speaks of, and every statement about a file looks
at all of its columns again. So the columns of wide data are put below each other, those of one type in one table, and
asked about by their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from diskret.model.numerals import Evidence, evidence, evidence_of, signs_of
from diskret.model.source import Relation

FEW = 50
"""Columns that a statement may speak of one by one."""
Ask = Callable[[Relation, str], list[str]]
"""What is asked about a column, as aggregates in SQL."""
Of = Callable[[Sequence[str]], list[str]]
"""What is asked about columns that a statement makes first, as aggregates in SQL; a long expression is read once."""
Answers = dict[str, tuple[Any, ...]]


class Asking(Protocol):
    """Asks the same about columns: aggregates, or ``of`` the columns that ``ask`` makes first."""

    def __call__(self, names: Sequence[str], ask: Ask, of: Of | None = None) -> Answers:
        """The answers by name."""


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


def _side_by_side(data: Relation, names: Sequence[str], ask: Ask, of: Of | None = None) -> Answers:
    if not names:
        return {}
    asked, view = {name: ask(data, name) for name in names}, data.view
    if of is not None:
        made = {name: [f"c{i}_{j}" for j in range(len(asks))] for i, (name, asks) in enumerate(asked.items())}
        view = _made(data.view, {c: sql for name in names for c, sql in zip(made[name], asked[name], strict=True)})
        asked = {name: of(made[name]) for name in names}
    (row, *_) = data.query(f"SELECT {', '.join(each for asks in asked.values() for each in asks)} FROM {view}")
    answers = iter(row)
    return {name: tuple(next(answers) for _ in asks) for name, asks in asked.items()}


def _made(view: str, columns: Mapping[str, str]) -> str:
    """A view of columns by what they are made of."""
    return f"(SELECT {', '.join(f'{sql} AS {name}' for name, sql in columns.items())} FROM {view}) AS made"


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


def _below_each_other(
    stacks: Sequence[tuple[Relation, dict[str, int]]], names: Sequence[str], ask: Ask, of: Of | None = None
) -> Answers:
    found: Answers = {}
    for stack, numbers in stacks:
        wanted = {numbers[name]: name for name in names if name in numbers}
        if wanted:
            chosen = "" if len(wanted) == len(numbers) else f"WHERE n IN ({', '.join(map(str, wanted))})"
            asked, view = ask(stack, "v"), stack.view
            if of is not None:
                made = {f"c{i}": sql for i, sql in enumerate(asked)}
                asked, view = of([*made]), _made(stack.view, {"n": "n", **made})
            rows = stack.query(f"SELECT n, {', '.join(asked)} FROM {view} {chosen} GROUP BY n")
            found |= {wanted[n]: tuple(answers) for n, *answers in rows}
    return {name: found[name] for name in names}


def evidence_by_column(data: Relation, asking: Asking) -> dict[str, Evidence]:
    """How numbers look in every column of text, where nobody says that they have other signs than a point."""
    if data.decimal == "," or data.thousands:
        return {}

    def ask(part: Relation, name: str) -> list[str]:
        return [signs_of(part.as_text(name)), part.is_native(name)]

    def of(made: Sequence[str]) -> list[str]:
        signs, native = made
        return evidence(signs, native)

    found = asking([name for name in data.columns if data.is_text(name)], ask, of)
    return {name: evidence_of(row) for name, row in found.items()}
