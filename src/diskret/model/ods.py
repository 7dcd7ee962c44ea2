"""The cells of OpenDocument spreadsheets (.ods), which are zip files with one XML part.

Values come from what the cells hold, not from how they are shown: a number with its point, a date as 2024-12-31. Cells
and rows that are repeated by a number are written out as far as they hold something, within the limits.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from diskret.model.damage import reading
from diskret.model.limits import Limits, limits, refuse_more
from diskret.model.packed import Packed, unpacking
from diskret.model.sheet import Box, Number, Sheet
from diskret.model.xlsx import ALL, chosen_sheet, parse

NO_SHEETS = "the file is not an OpenDocument spreadsheet, or not complete"
NUMBERS = ("float", "percentage", "currency")
BESIDE = ("annotation", "frame", "custom-shape")
"""Remarks and pictures, whose texts are not those of the cell."""
MISTAKES = ("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "Err:")


def read_ods(path: Path, sheet: str | None, last: int = ALL) -> tuple[list[str], Sheet]:
    """The names of the sheets, shown ones first, and one of them, the first if none is named; rows up to ``last``."""
    where = str(path)
    names = ods_sheets(path)
    chosen = chosen_sheet(names, sheet, where)
    with _opened(path) as book:
        found = Sheet(where=f"{where}, sheet {chosen!r}", packed=book)
        cells = _Cells(book, found, chosen, last)
        parse(book, "content.xml", where, cells.start, cells.end, cells.text)
        return names, found


def ods_sheets(path: Path) -> list[str]:
    """The sheets of a spreadsheet: those that are shown in their order, then hidden ones."""
    shown: list[str] = []
    hidden: list[str] = []
    styles: dict[str, bool] = {}
    style = [""]

    def start(name: str, given: dict[str, str]) -> None:
        given = _short(given)
        if name == "style":
            style[0] = given.get("name", "")
        elif name == "table-properties":
            styles[style[0]] = given.get("display", "true") != "false"
        elif name == "table" and "name" in given:
            (shown if styles.get(given.get("style-name", ""), True) else hidden).append(given["name"])

    with _opened(path) as book:
        parse(book, "content.xml", str(path), start)
    return shown + hidden


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Packed]:
    hint = "open it in a spreadsheet program, and save it as .ods or .xlsx."
    with reading(path, NO_SHEETS, hint), zipfile.ZipFile(path) as book:
        yield unpacking(book, path)


def _short(given: dict[str, str]) -> dict[str, str]:
    """Attributes by their names without namespaces."""
    return {key.rpartition(":")[2]: value for key, value in given.items()}


@dataclass
class _Cells:
    """The cells of one sheet as they come by."""

    book: Packed
    sheet: Sheet
    wanted: str
    last: int
    most: Limits = field(default_factory=limits)
    depth: int = 0
    """Tables inside each other, the wanted one and those inside it."""
    row: int = 0
    column: int = 0
    rows: int = 1
    """How often the present row is repeated."""
    current: dict[int, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    words: str = ""
    paragraphs: int = 0
    inside: bool = False
    """Whether this is the text of a cell, and not a remark beside it."""
    aside: int = 0
    cells: int = 0

    def start(self, name: str, given: dict[str, str]) -> None:
        given = _short(given)
        if name == "table" and (self.depth or given.get("name") == self.wanted):
            self.depth += 1
        elif self.depth != 1:
            return
        elif name == "table-row":
            self.rows, self.column, self.current = _times(given, "number-rows-repeated"), 0, {}
        elif name in ("table-cell", "covered-table-cell"):
            self.given, self.words, self.paragraphs = given, "", 0
        elif name in BESIDE:
            self.aside += 1
        elif name == "p" and not self.aside:
            self.inside, self.paragraphs = True, self.paragraphs + 1
            self.words += "\n" if self.paragraphs > 1 else ""
        elif self.inside and name in ("s", "tab", "line-break"):
            self.words += "\n" if name == "line-break" else " " * min(_times(given, "c"), 1000)

    def text(self, words: str) -> None:
        if self.inside:
            self.words += words
            if len(self.words) > self.most.text:
                refuse_more("text", len(self.words), "a cell has {} characters", self.sheet.where)

    def end(self, name: str) -> None:
        if name == "table" and self.depth:
            self.depth -= 1
        elif self.depth != 1:
            return
        elif name == "p":
            self.inside = False
        elif name in BESIDE:
            self.aside -= 1
        elif name in ("table-cell", "covered-table-cell"):
            self._cell(is_covered=name.startswith("covered"))
        elif name == "table-row":
            self._row()

    def _cell(self, is_covered: bool) -> None:
        times, value = _times(self.given, "number-columns-repeated"), "" if is_covered else self._value()
        if value:
            refuse_more("columns", self.column + times, "a sheet has {} columns", self.sheet.where)
            self._count(times)
            self.current |= dict.fromkeys(range(self.column, self.column + times), value)
        self._merge()
        self.column += times

    def _merge(self) -> None:
        down, right = (_times(self.given, f"number-{kind}-spanned") for kind in ("rows", "columns"))
        if down > 1 or right > 1:
            top, left = self.row + 1, self.column
            self.sheet.merged.append(Box(top=top, left=left, bottom=top + down - 1, right=left + right - 1))
            refuse_more("cells", len(self.sheet.merged), "a sheet has {} merged cells", self.sheet.where)

    def _value(self) -> str:
        kind = self.given.get("value-type", "")
        if kind == "error" or (self.words.startswith(MISTAKES) and "formula" in self.given):
            self.sheet.flaws.setdefault("error", []).append((self.row + 1, self.column))
            return ""
        if kind in NUMBERS:
            number = float(self.given["value"])
            return Number(int(number) if number.is_integer() and abs(number) < 1e15 else repr(number))
        if kind == "date":
            return self.given["date-value"].removesuffix("T00:00:00")
        if kind == "boolean":
            return self.given["boolean-value"]
        return (self.given.get("string-value") or self.words).strip()

    def _row(self) -> None:
        if self.current:
            refuse_more("rows", self.row + self.rows, "a sheet has {} rows", self.sheet.where)
            self._count(len(self.current) * (self.rows - 1))
            for number in range(self.row + 1, min(self.row + self.rows, self.last) + 1):
                self.sheet.rows[number] = dict(self.current)
        self.row += self.rows

    def _count(self, cells: int) -> None:
        self.cells += cells
        refuse_more("cells", self.cells, "a sheet has {} cells", self.sheet.where)
        self.book.take(cells * 8)


def _times(given: dict[str, str], key: str) -> int:
    number = int(given.get(key, "1"))
    if not 0 < number <= ALL:
        raise ValueError("repeated a number of times that cannot be")
    return number
