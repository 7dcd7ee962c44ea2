"""The filled cells of one sheet, by rows and columns, whatever program wrote it; places such as B4:H120."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskret.model.errors import BadOption
from diskret.model.packed import Packed

CORNER = re.compile(r"\$?([A-Z]{1,7})\$?([0-9]{1,10})")
MOST_SHOWN = 40
"""Characters of a place that a message shows."""

Row = Mapping[int, str]
"""Filled cells by their columns, from 0."""


class Number(str):
    """The text of a cell that holds a number, and no text that looks like one.

    >>> Number("1.5") == "1.5"
    True
    """

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle of cells, both ends included: rows from 1, columns from 0."""

    top: int
    left: int
    bottom: int
    right: int

    @classmethod
    def of(cls, place: str) -> Box:
        """The rectangle of a place as spreadsheet programs write it.

        >>> Box.of("B4:H120"), Box.of("$A$1")
        (Box(top=4, left=1, bottom=120, right=7), Box(top=1, left=0, bottom=1, right=0))
        """
        first, _, last = place.strip().upper().partition(":")
        corners = [CORNER.fullmatch(corner) for corner in (first, last or first)]
        if not all(corners):
            shown = place[:MOST_SHOWN]
            raise BadOption(f"{shown!r} is not a range of cells", hint='write its corners, such as "B4:H120".')
        columns = sorted(column_number(found[1]) for found in corners if found)
        rows = sorted(int(found[2]) for found in corners if found)
        if rows[0] < 1:
            raise BadOption(f"{place[:MOST_SHOWN]!r} begins above the first row", hint="rows count from 1.")
        return cls(top=rows[0], left=columns[0], bottom=rows[1], right=columns[1])

    def __contains__(self, place: tuple[int, int]) -> bool:
        row, column = place
        return self.top <= row <= self.bottom and self.left <= column <= self.right

    def __str__(self) -> str:
        return f"{letters(self.left)}{self.top}:{letters(self.right)}{self.bottom}"


@dataclass(kw_only=True)
class Sheet:
    """What is in a sheet: its filled cells, which of them are merged, and where something is wrong."""

    where: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    """By their numbers, from 1, in their order; blank ones are left out."""
    merged: list[Box] = field(default_factory=list)
    flaws: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Rows and columns of what cannot be read, by its kind."""
    widths: dict[int, int] = field(default_factory=dict)
    """Fields of rows, where blank ones count: in a text they are names, such as that of a column that numbers rows."""
    packed: Packed | None = field(default=None, repr=False)
    """The file it came out of, which counts what is made of it."""

    def cropped(self, box: Box) -> Sheet:
        """The part inside a rectangle."""
        rows = {
            number: {c: text for c, text in row.items() if box.left <= c <= box.right}
            for number, row in self.rows.items() if box.top <= number <= box.bottom
        }  # fmt: skip
        return Sheet(
            where=self.where,
            rows={number: row for number, row in rows.items() if row},
            merged=[m for m in self.merged if (m.top, m.left) in box],
            flaws={kind: [p for p in places if p in box] for kind, places in self.flaws.items()},
            packed=self.packed,
        )


def column_number(name: str) -> int:
    """The number of a column by its letters, from 0.

    >>> column_number("A"), column_number("AB")
    (0, 27)
    """
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - 64
    return number - 1


def letters(column: int) -> str:
    """The letters of a column.

    >>> letters(0), letters(27)
    ('A', 'AB')
    """
    words, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        words = chr(65 + letter) + words
    return words
