"""Where the table lies in a sheet or a text: below which titles, which rows hold the names, above which notes.

What offices write has titles above, names over two or three rows with merged cells, notes below. What is certain is
found; where there is doubt, `Layout.doubt` says why, and whoever reads asks rather than takes a title for a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskret.model.errors import UnreadableFile
from diskret.model.sheet import Box, Number, Row, Sheet, letters

MOST_ROWS = 10
"""Rows that the names of columns may take."""
NUMBER = re.compile(r"[+-]?[0-9][0-9 .,'\u00a0\u202f’]*([eE][+-]?[0-9]+)?%?")
YEAR = re.compile(r"(19|20)[0-9]{2}")
WORD = re.compile(r"[^\W\d_]{2}")
RULE = re.compile(r"[_\-–—=*]{5,}")
NOTE = re.compile(
    r"\(?[0-9a-z*]{1,2}[).:]\s|[*©†]|(quelle|source|anmerkung|note|hinweis|stand|erläuterung|legende)", re.I
)
MOST_NOTES = 100
"""Rows of notes below a table."""
WORDS = 3
"""A text of so many words below a table is a note."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where the names of a table stand, and which row is its last."""

    header: tuple[int, ...]
    """Numbers of the rows that hold names, from 1."""
    last: int
    """The last row of the table; notes come after it."""
    doubt: str = ""
    """Why this is a guess; empty if it is certain."""
    guesses: tuple[tuple[int, ...], ...] = ()
    """Rows that may hold the names, the likeliest first, where it is not certain."""


def find_layout(sheet: Sheet, *, header: Sequence[int] | None = None) -> Layout:
    """Where the table of a sheet lies, as somebody says by the rows of names, or as it looks.

    >>> sheet = Sheet(where="", rows={1: {0: "Turnover of firms"}, 3: {0: "region", 1: "x"}, 4: {0: "N", 1: Number(5)},
    ...                               6: {0: "Source: survey"}})
    >>> find_layout(sheet)
    Layout(header=(3,), last=4, doubt='', guesses=())
    """
    numbers = list(sheet.rows)
    last = _last(sheet)
    if header is not None:
        return Layout(header=tuple(header), last=last)
    first = next((n for n in numbers if len(sheet.rows[n]) > 1), None)
    if first is None:  # one column, or nothing but titles
        gap = len(numbers) > 1 and numbers[1] > numbers[0] + 1
        top = tuple(numbers[:1])
        return Layout(header=top, last=last, doubt="it may be a title" if gap else "", guesses=(top,) if gap else ())
    rows = _joined_rows(sheet, first)
    doubt = _doubt(sheet, rows, last)
    return Layout(header=rows, last=last, doubt=doubt, guesses=_guesses(sheet, rows, last) if doubt else ())


def _joined_rows(sheet: Sheet, first: int) -> tuple[int, ...]:
    """The rows that merged cells join to the first one with names."""
    last, before = first, 0
    while last != before and last < first + MOST_ROWS:
        before = last
        for box in sheet.merged:
            if first <= box.top <= last and (box.bottom, box.right) != (box.top, box.left):
                last = max(last, box.bottom + (box.right > box.left and box.top == box.bottom))
    return tuple(range(first, min(last, first + MOST_ROWS - 1) + 1))


def _doubt(sheet: Sheet, rows: Sequence[int], last: int) -> str:
    """Why these rows may not be the names; empty if they are."""
    body = {n: row for n, row in sheet.rows.items() if rows[-1] < n <= last}
    used = sorted({c for row in body.values() for c in row})
    names = names_of(sheet, rows)
    fields = sheet.widths.get(rows[-1], 0)
    nameless = [c for c in used if not names.get(c) and c >= fields]
    if nameless:
        return f"column {letters(nameless[0])} has values below it but no name in it"
    if blank_among(sheet, rows):
        return "a row among the names is blank"
    cells = [text for n in rows for text in sheet.rows.get(n, {}).values()]
    if any(looks_like_number(text) and not YEAR.fullmatch(text) for text in cells):
        return "it holds numbers, as records do"
    left = min(names, default=0)
    if any(box.left <= left < box.right and box.top in rows for box in sheet.merged):
        return "its first cell is merged with its neighbours, as titles are"
    return _second_line(body)


def blank_among(sheet: Sheet, rows: Sequence[int]) -> list[int]:
    """Rows that hold nothing, not even a part of a merged cell."""
    return [
        n for n in rows
        if n not in sheet.rows and not any(b.top <= n <= b.bottom and b.top in sheet.rows for b in sheet.merged)
    ]  # fmt: skip


def _second_line(body: Mapping[int, Row]) -> str:
    """Whether the first row below has words where all others have numbers: units, or the real names."""
    first, *others = body.values() if len(body) > 2 else [{}]
    for column, text in first.items():
        below = [row[column] for row in others[:1000] if column in row]
        if WORD.search(text) and len(below) > 1 and all(map(looks_like_number, below)):
            return f"the row after it has words above the numbers of column {letters(column)}"
    return ""


def _guesses(sheet: Sheet, rows: tuple[int, ...], last: int) -> tuple[tuple[int, ...], ...]:
    """Rows that name every column: a single one further down, or these with the next one; else these."""
    used = {c for n, row in sheet.rows.items() if n > rows[-1] + 1 and n <= last for c in row}
    numbers = [n for n in sheet.rows if rows[0] < n <= last][: 2 * MOST_ROWS]
    for number in numbers:
        row = sheet.rows[number]
        if used <= set(row) and not any(looks_like_number(t) and not YEAR.fullmatch(t) for t in row.values()):
            return ((number,), (*rows, number)) if number == rows[-1] + 1 else ((number,), rows)
    return (rows,)


def _last(sheet: Sheet) -> int:
    """The last row above the notes: rows of one text, set off by a blank row or a line of dashes, are notes."""
    numbers = list(sheet.rows)
    if not numbers or max(len(row) for row in sheet.rows.values()) < 2:
        return numbers[-1] if numbers else 0
    end = at = _ruled_off(sheet, numbers)
    while at and _may_be_note(sheet.rows[numbers[at - 1]]):
        at -= 1
        text = next(iter(sheet.rows[numbers[at]].values()))
        if at > 0 and numbers[at] > numbers[at - 1] + 1 and _is_note(text):
            end = at
    return numbers[end - 1] if end else numbers[-1]


def _ruled_off(sheet: Sheet, numbers: Sequence[int]) -> int:
    """How many rows stand above a line of dashes below which there are no numbers; all if there is none."""
    for at in range(len(numbers) - 1, max(len(numbers) - MOST_NOTES, 0), -1):
        texts = list(sheet.rows[numbers[at]].values())
        if len(texts) == 1 and RULE.fullmatch(texts[0]):
            return at
        if any(looks_like_number(text) for text in texts[1:]):
            break
    return len(numbers)


def _may_be_note(row: Row) -> bool:
    return len(row) == 1 and not looks_like_number(next(iter(row.values())))


def _is_note(text: str) -> bool:
    return NOTE.match(text) is not None or len(text.split()) >= WORDS


def looks_like_number(text: str) -> bool:
    """Whether a text is a number, however it is written.

    >>> [looks_like_number(text) for text in ("1.234,5", "-7", "05111", "2024 p", "x")]
    [True, True, True, False, False]
    """
    return isinstance(text, Number) or NUMBER.fullmatch(text) is not None


def names_of(sheet: Sheet, rows: Sequence[int]) -> dict[int, str]:
    """The names of columns, joined over the rows: ``Umsatz`` above ``2024`` is ``Umsatz 2024``.

    A merged cell counts for all of its columns, and once for all of its rows. Where nothing is merged, a name of an
    upper row goes on to the right until the next one.

    >>> names_of(Sheet(where="", rows={4: {0: "Region", 1: "Umsatz"}, 5: {1: "2024", 2: "2025"}}), [4, 5])
    {0: 'Region', 1: 'Umsatz 2024', 2: 'Umsatz 2025'}
    """
    widest = max((c for n in rows for c in sheet.rows.get(n, {})), default=-1)
    merged = _spread(sheet, rows, widest)
    columns = sorted({c for n in rows for c in sheet.rows.get(n, {})} | {c for _, c in merged})
    found: dict[int, list[str]] = {column: [] for column in columns}
    for number in rows:
        before = ""
        for column, parts in found.items():
            text = merged.get((number, column), sheet.rows.get(number, {}).get(column, ""))
            text = before = text or (before if not merged and number != rows[-1] else "")
            text = re.sub(r"\s*[\r\n]+\s*", " ", text).strip()
            if text and parts[-1:] != [text]:
                parts.append(text)
    return {column: " ".join(parts) for column, parts in found.items()}


def _spread(sheet: Sheet, rows: Sequence[int], widest: int) -> dict[tuple[int, int], str]:
    """The text of every merged cell of some rows."""
    found: dict[tuple[int, int], str] = {}
    for box in sheet.merged:
        text = sheet.rows.get(box.top, {}).get(box.left, "")
        if not text or box.bottom < rows[0] or box.top > rows[-1]:
            continue
        for number in (n for n in rows if box.top <= n <= box.bottom):
            for column in range(box.left, min(box.right, max(widest, box.left)) + 1):
                if (number, column) in found:
                    what = "merged cells overlap"
                    raise UnreadableFile(what, where=f"{sheet.where}, {box}"[:500], hint="save the file again.")
                found[number, column] = text
    return found


def merged_inside(sheet: Sheet, top: int, bottom: int) -> list[Box]:
    """Merged cells that reach into some rows."""
    return [box for box in sheet.merged if box.bottom >= top and box.top <= bottom]
