"""Wide files, with one column per code of a classification, as the long ones that everything else reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diskret.model.errors import BadOption, listed

if TYPE_CHECKING:
    from diskret.model.source import Relation


@dataclass(frozen=True, kw_only=True)
class Unpivoted:
    """Any source with some columns as rows: their names are codes of the column ``into``, their entries ``value``."""

    source: object
    columns: tuple[str, ...]
    into: str
    value: str


def unpivoted(source: object, columns: Sequence[str], *, into: str, value: str) -> Unpivoted:
    """A source with one row per entry of some columns, as Excel's pivot tables have them.

    Blanks stay: whoever adds up is told of them.

    >>> from diskret.tabulation.tabulate import tabulate
    >>> wide = {"region": ["N", "S"], "small": [1, 2], "large": [30, 40]}
    >>> long = unpivoted(wide, ["small", "large"], into="size", value="turnover")
    >>> tabulate(long, by={"region": None, "size": None}, value="turnover").value.tolist()
    [[30.0, 1.0, 31.0], [40.0, 2.0, 42.0], [70.0, 3.0, 73.0]]
    """
    if len({*columns}) < max(2, len(columns)):
        raise BadOption("unpivot needs two columns or more, each once", hint="name the columns that are codes.")
    return Unpivoted(source=source, columns=tuple(columns), into=into, value=value)


def unpivot_plan(data: Relation, asked: Unpivoted) -> tuple[list[str], str]:
    """The columns that stay, and the type of the entries that become rows."""
    data.require(asked.columns)
    kept = [name for name in data.columns if name not in asked.columns]
    taken = [n for n in kept if n.lower() in (asked.into.lower(), asked.value.lower())]
    if taken or asked.into.lower() == asked.value.lower():
        raise BadOption(
            f"unpivot would make a second column {listed(taken or [asked.into])}",
            where=data.where,
            hint="give into and value names that no other column has.",
        )
    types = {data.types[name] for name in asked.columns}
    # numbers of different types keep all their digits as texts
    return kept, types.pop() if len(types) == 1 else "VARCHAR"
