"""A sheet of a workbook as columns of text, whatever stands above, below and beside its table.

What a table cannot be made from (merged cells among the records, formulas nobody has computed, errors, columns without
a name) is refused with its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.model.cures import Cure
from diskret.model.errors import BadOption, EmptyData, UnclearFile, UnreadableFile, listed
from diskret.model.header import MOST_ROWS, Layout, blank_among, find_layout, merged_inside, names_of
from diskret.model.limits import refuse_more
from diskret.model.ods import ods_sheets, read_ods
from diskret.model.places import plain_file
from diskret.model.sheet import Box, Number, Sheet, letters
from diskret.model.xlsx import ALL, read_xlsx, sheet_cures, xlsx_sheets

MOST_SHOWN = 50
"""Rows and columns of a preview."""
FLAWS = {
    "error": ("a formula gives an error", "correct the formula, or put the value in its place."),
    "formula": ("a formula has no computed value", "open the file in a spreadsheet program, and save it."),
    "textless": ("a cell shows a text that the file does not hold", "open it in a spreadsheet program, and save it."),
}


@dataclass(frozen=True, kw_only=True)
class Workbook:
    """A workbook, which of its sheets is meant (the first that is shown if none is named), and where its table lies.

    ``header`` are the rows of names, from 1, found by itself if left out; ``range`` such as ``B4:H120`` says in which
    cells the table lies, names included. ``decimal`` and ``thousands`` are about numbers that are kept as text.
    """

    path: Path
    sheet: str | None = None
    header: tuple[int, ...] | None = None
    range: str | None = None
    decimal: str | None = None
    thousands: str | None = None


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The first rows and columns of a file as texts, and where the names seem to stand."""

    sheets: list[str]
    sheet: str
    rows: list[list[str]]
    header: list[int] | None
    sure: bool
    range: str | None = None

    def answer(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in ("sheets", "sheet", "rows", "header", "sure", "range")}


@dataclass(frozen=True, kw_only=True)
class ReadSheet:
    """A sheet that was read: how to speak of it, its columns, and what was found of where its table lies."""

    where: str
    columns: dict[str, list[str]]
    """Blanks are empty texts."""
    native: dict[str, list[bool]]
    """Of columns that hold both numbers and text that looks like numbers, which entries are numbers."""
    told: dict[str, Any]
    sheets: list[str]
    """The names of all sheets."""


def header_rows(given: object) -> tuple[int, ...]:
    """Rows of names as a job file or a user says them: 4, or [4, 5].

    >>> header_rows(4), header_rows([4, 5])
    ((4,), (4, 5))
    """
    rows = tuple(given) if isinstance(given, list | tuple) else (given,)
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in rows)
    if not rows or not whole or list(rows) != list(range(rows[0], rows[0] + len(rows))) or len(rows) > MOST_ROWS:
        raise BadOption(
            f"header {str(given)[:80]!r} is not a row, nor rows below each other",
            hint=f"count rows from 1: header = 4, or header = [4, 5]; {MOST_ROWS} rows at most.",
        )
    return rows


def read_sheet(source: Workbook) -> ReadSheet:
    """Read a sheet as columns of text."""
    names, sheet = _cells(source.path, source.sheet)
    if source.range:
        sheet = sheet.cropped(Box.of(source.range))
    if not sheet.rows:
        raise EmptyData("the sheet is empty", where=sheet.where, hint="name another sheet or range.")
    layout = layout_of(sheet, source.header, bool(source.range))
    columns = _columns(sheet, layout)
    return ReadSheet(
        where=sheet.where,
        columns=columns,
        native={name: flags for name, column in columns.items() if (flags := _native(column))},
        told=(found_header(sheet, layout) if source.header is None else {})
        | ({"sheet": names[0]} if source.sheet is None and len(names) > 1 else {}),
        sheets=names,
    )


def refuse_notes(found: ReadSheet, where: str) -> None:
    """Ask which sheet is meant where none is named and the first holds no numbers: it may explain the others."""
    if "sheet" not in found.told or any(_figures(column) for column in found.columns.values()):
        return
    names = found.sheets
    raise UnclearFile(
        f"the first sheet, {names[0]!r}, holds no numbers, and there are other sheets",
        where=where,
        hint=f"name the sheet that is meant in sheet: {listed(names)}.",
        cures=sheet_cures(names),
    )


def _figures(column: Sequence[str]) -> bool:
    """Whether at least half of the entries hold a digit."""
    filled = [text for text in column if text]
    return bool(filled) and 2 * sum(any(letter.isdecimal() for letter in text) for text in filled) >= len(filled)


def _native(column: Sequence[str]) -> list[bool]:
    """Which entries are numbers, if there is also text that looks like numbers with signs in them."""
    flags = [isinstance(text, Number) for text in column]
    if not any(flags) or all(flag or not text for flag, text in zip(flags, column, strict=True)):
        return []
    return flags


def layout_of(sheet: Sheet, header: Sequence[int] | None, framed: bool) -> Layout:
    """Where the table lies: as the user says, or as is certain; refused with the guess otherwise."""
    if header is not None and (blank := blank_among(sheet, header)):
        raise BadOption(
            f"header: row {blank[0]} is blank", where=sheet.where, hint="count rows from 1, titles included."
        )
    found = find_layout(sheet, header=header)
    if found.doubt and not framed:
        raise asked_for(sheet, found)
    return found


def asked_for(sheet: Sheet, found: Layout) -> UnclearFile:
    """The question which rows hold the names, with the guess as its cure."""
    rows = list(found.header)
    return UnclearFile(
        f"it is not certain which row holds the names of the columns: {found.doubt}",
        where=f"{sheet.where}, {'rows' if len(rows) > 1 else 'row'} {', '.join(map(str, rows))}",
        hint="name the rows of names, counted from 1, in header, or the cells of the table in range.",
        cures=[Cure(key="data.header", value=header_value(guess), label=_label(guess)) for guess in found.guesses],
    )


def _label(rows: Sequence[int]) -> str:
    return "take this row as names" if len(rows) == 1 else "take these rows as names"


def found_header(sheet: Sheet, layout: Layout) -> dict[str, Any]:
    """The rows of names, if they are not the first row."""
    return {} if list(layout.header) == [1] else {"header": header_value(layout.header)}


def header_value(rows: Sequence[int]) -> int | list[int]:
    """Rows of names as a job file writes them.

    >>> header_value([4]), header_value([4, 5])
    (4, [4, 5])
    """
    return rows[0] if len(rows) == 1 else list(rows)


def _columns(sheet: Sheet, layout: Layout) -> dict[str, list[str]]:
    """The rows below the names, without blank ones."""
    top, last = layout.header[0], layout.last
    body = {n: row for n, row in sheet.rows.items() if layout.header[-1] < n <= last}
    names = names_of(sheet, layout.header)
    columns = sorted(set(names) | {c for row in body.values() for c in row})
    _refuse_flaws(sheet, top, last, columns)
    merged = merged_inside(sheet, layout.header[-1] + 1, last)
    if merged:
        raise UnreadableFile(
            "cells are merged", where=f"{sheet.where}, {listed([str(box) for box in merged])}",
            hint="split them, so that every row has its own values.",
        )  # fmt: skip
    repeated = [n for n, row in body.items() if len(row) > 1 and row == sheet.rows.get(layout.header[-1])]
    if repeated:
        raise UnreadableFile(
            "the names of the columns are repeated among the records",
            where=f"{sheet.where}, rows {listed(repeated)}",
            hint="remove the rows that repeat them, or name the cells of one table in range.",
        )
    refuse_more("cells", len(columns) * len(body), "a sheet has {} cells, blank ones included", sheet.where)
    if sheet.packed:
        sheet.packed.take(len(columns) * len(body))
    given = unique_names([names.get(c, "") for c in columns])
    return {name: [row.get(c, "") for row in body.values()] for c, name in zip(columns, given, strict=True)}


def _refuse_flaws(sheet: Sheet, top: int, last: int, columns: Sequence[int]) -> None:
    end = last if last < max(sheet.rows) else ALL  # a cell that cannot be read may be the only one of its row
    inside = Box(top=top, left=columns[0], bottom=end, right=columns[-1])
    for kind, places in sheet.flaws.items():
        found = [f"{letters(column)}{row}" for row, column in places if (row, column) in inside]
        if found:
            what, hint = FLAWS[kind]
            raise UnreadableFile(what, where=f"{sheet.where}, {listed(found)}", hint=hint)


def sheet_names(path: Path) -> list[str]:
    """The sheets of a workbook that have cells: those that are shown in their order, then hidden ones."""
    return ods_sheets(plain_file(path)) if _is_ods(path) else xlsx_sheets(plain_file(path))


def preview_sheet(path: Path, sheet: str | None = None) -> Preview:
    """The beginning of a sheet."""
    names, found = _cells(path, sheet, last=MOST_SHOWN)
    layout = find_layout(found) if found.rows else None
    return Preview(
        sheets=names,
        sheet=sheet or names[0],
        rows=shown_rows(found),
        header=list(proposed(layout)) if layout else None,
        sure=bool(layout and not layout.doubt),
    )


def proposed(layout: Layout) -> tuple[int, ...]:
    """The rows of names: those that are certain, or else the likeliest."""
    return layout.guesses[0] if layout.guesses else layout.header


def shown_rows(sheet: Sheet) -> list[list[str]]:
    """The first rows and columns, blank ones included.

    >>> shown_rows(Sheet(where="", rows={1: {0: "a"}, 3: {1: "b"}}))
    [['a', ''], ['', ''], ['', 'b']]
    """
    most = min(max(sheet.rows, default=0), MOST_SHOWN)
    width = min(max((max(row) + 1 for row in sheet.rows.values()), default=0), MOST_SHOWN)
    return [[str(sheet.rows.get(n, {}).get(c, ""))[:200] for c in range(width)] for n in range(1, most + 1)]


def _cells(path: Path, sheet: str | None, last: int = ALL) -> tuple[list[str], Sheet]:
    """The names of the sheets, and the cells of one."""
    if plain_file(path).stat().st_size == 0:
        raise EmptyData("the file is empty", where=str(path), hint="was it written completely?")
    return (read_ods if _is_ods(path) else read_xlsx)(path, sheet, last)


def _is_ods(path: Path) -> bool:
    return path.suffix.lower() == ".ods"


def unique_names(given: Sequence[str]) -> list[str]:
    """Names of columns, every one once, whatever its capitals, and none blank; no number makes one name another's.

    >>> unique_names(["x", "", "X", "x_1"])
    ['x', 'column1', 'X_2', 'x_1']
    """
    names: list[str] = []
    taken = {name.lower() for name in given}
    met: set[str] = set()
    numbers: Counter[str] = Counter()
    for place, name in enumerate(given):
        base = new = name or f"column{place}"
        while new.lower() in (met if new == name else taken):
            numbers[base.lower()] += 1
            new = f"{base}_{numbers[base.lower()]}"
        names.append(new)
        met.add(new.lower())
        taken.add(new.lower())
    return names
