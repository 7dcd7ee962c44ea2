"""Cases no rule decides: formally safe, still exposed. They are found and named; a person decides.

1. Values published elsewhere: a contributor who publishes its own value protects nobody.
2. Two far classes: the units of a line sit in two distant classes of an ordered classification; whoever can exclude
   one knows the other.
3. Obvious category: of the hidden cells of a line one is so much likelier than the others that one can guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools
from diskret.model.errors import listed
from diskret.model.table import Table
from diskret.rules.lines import segments


@dataclass(frozen=True, eq=False)
class Notice:
    """One kind of special case with the cells it concerns."""

    kind: str
    reason: str
    cells: Bools
    names: tuple[str, ...]

    def __str__(self) -> str:
        number = int(self.cells.sum())
        return f"{self.kind}: {number} cell{'s' if number > 1 else ''} to look at ({self.reason}): {listed(self.names)}"


def notices(table: Table, ordered: Sequence[str] = ()) -> list[Notice]:
    """All special cases of a marked table."""
    found = [published_elsewhere(table), far_classes(table, ordered), obvious_category(table)]
    return [n for n in found if n is not None]


def _notice(table: Table, kind: str, reason: str, cells: Bools) -> Notice | None:
    return Notice(kind, reason, cells, tuple(table.name_cells(cells, most=11))) if cells.any() else None


def published_elsewhere(table: Table) -> Notice | None:
    """Open cells all of whose contributors publish their values: useless as partners."""
    people = table.respondents
    if people is None or people.public_count is None:
        return None
    known = (people.count > 0) & (people.public_count == people.count) & ~table.hidden
    return _notice(table, "values published elsewhere", "anyone can add them up; they protect no other cell", known)


def far_classes(table: Table, ordered: Sequence[str], gap: int = 2) -> Notice | None:
    """Lines of an ordered classification with just two occupied classes at least ``gap`` apart.

    >>> from diskret import Hierarchy
    >>> sizes = {"size": list("12345678"), "n": [0, 40, 0, 0, 0, 0, 0, 6]}
    >>> t = Table.from_cells(sizes, by={"size": Hierarchy.flat("12345678")}, value="n", frequency=True)
    >>> far_classes(t, ["size"]).names
    ('size=2', 'size=8')
    """
    if not ordered:
        return None
    occupied = ~table.empty if table.respondents is not None else table.value != 0
    cells = np.zeros(table.shape, dtype=np.bool_)
    for segment in segments(table, ordered):
        parts = segment.parts(occupied)
        first = np.argmax(parts, axis=0)
        last = parts.shape[0] - 1 - np.argmax(parts[::-1], axis=0)
        segment.mark(cells, parts & ((parts.sum(axis=0) == 2) & (last - first >= gap)))
    return _notice(table, "two far classes", "whoever can exclude one class knows the other", cells)


def obvious_category(table: Table, odds: float = 10.0) -> Notice | None:
    """Hidden cells of a line whose categories are of very different frequency in the table as a whole."""
    if not table.frequency or len(table.by) < 2 or not table.hidden.any():
        return None
    cells = np.zeros(table.shape, dtype=np.bool_)
    for segment in segments(table, None):
        hidden = segment.parts(table.hidden).astype(np.bool_)
        if len(hidden) < 2:
            continue  # a sum of one part has no other category
        overall = table.value
        for axis in range(len(table.shape)):
            if axis != segment.axis:
                overall = np.take(overall, [-1], axis=axis)
        usual = segment.parts(overall)
        likely = np.sort(np.where(hidden, usual, 0.0), axis=0)
        several = hidden.sum(axis=0) >= 2
        segment.mark(cells, hidden & (several & (likely[-1] > 0) & (likely[-1] >= odds * likely[-2])))
    return _notice(table, "obvious category", "one hidden category is far likelier than the others of its line", cells)
