"""What needs a second look before tables leave the office: nothing marked, or nothing that guards what is marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diskret.model.errors import listed
from diskret.model.status import Status
from diskret.model.table import Table


def unmarked(tables: Mapping[str, Table]) -> Iterator[str]:
    """Tables nobody marked: every protection lets them pass as they are.

    >>> table = Table.from_cells({"s": ["a", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    >>> [words[:34] for words in unmarked({"x": table})]
    ["'x': no rule was applied and no ce"]
    """
    found = [n for n, t in tables.items() if not t.rules and not t.hidden.any() and not t.altered]
    if found:
        yield (
            f"{listed(found)}: no rule was applied and no cell is primary, so every value leaves as it is; mark the "
            "table first, unless nothing in it is confidential"
        )


def unguarded(tables: Mapping[str, Table]) -> Iterator[str]:
    """Tables with primary cells and no secondary ones."""
    found = [
        n for n, t in tables.items() if (t.status == Status.PRIMARY).any() and not (t.status == Status.SECONDARY).any()
    ]
    if found:
        yield (
            f"{listed(found)}: primary cells are hidden, but nothing keeps them from being computed back from sums; "
            "do not release this table before secondary suppression"
        )
