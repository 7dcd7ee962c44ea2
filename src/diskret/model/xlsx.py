"""The cells of Excel files (.xlsx), which are zip files of XML parts.

Numbers come out as the shortest text that means the same number, dates as 2024-12-31; text stays as it is, so that a
code 05111 kept as text keeps its zero.
"""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from xml.parsers import expat

from diskret.model.cures import Cure
from diskret.model.damage import reading
from diskret.model.errors import BadOption, EmptyData, UnreadableFile, listed
from diskret.model.limits import Limits, limits, refuse_more
from diskret.model.packed import Packed, unpacking
from diskret.model.sheet import Box, Number, Sheet, column_number

OLD = b"\xd0\xcf\x11\xe0"
NO_BOOK = "the file is not an Excel file, or not complete"
PLACE = re.compile(r"([A-Z]{1,7})[0-9]{1,10}")
MOST_CHOICES = 10
"""Sheets that a question offers."""
DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of Excel's own formats that show dates and times."""
ALL = 10**9
"""No sheet has so many rows."""
LAST_DAY = 2_958_466
"""The day after the last one of the year 9999."""
LAST_DAY_SINCE_1904 = LAST_DAY - 1462


def read_xlsx(path: Path, sheet: str | None, last: int = ALL) -> tuple[list[str], Sheet]:
    """The names of the sheets, shown ones first, and one of them, the first if none is named; rows up to ``last``."""
    where = str(path)
    with opened_book(path) as book:
        parts = _sheets(book, where)
        chosen = chosen_sheet(list(parts), sheet, where)
        found = Sheet(where=f"{where}, sheet {chosen!r}", packed=book)
        cells = _Cells(book, _strings(book, where), *_formats(book, where), found, last, _is_pending(book, where))
        parse(book, parts[chosen], where, cells.start, cells.end, cells.text)
        found.rows = dict(sorted(found.rows.items()))
        return list(parts), found


def chosen_sheet(names: Sequence[str], asked: str | None, where: str) -> str:
    """The sheet that is asked for, or the first.

    >>> chosen_sheet(["Notes", "Firms"], None, "firms.xlsx")
    'Notes'
    """
    if not names:
        raise EmptyData("the file has no sheet with cells", where=where, hint="are there only charts in it?")
    chosen = asked or names[0]
    if chosen not in names:
        hint = f"the file has {listed(names)}."
        raise BadOption(f"there is no sheet {chosen!r}", where=where, hint=hint, cures=sheet_cures(names))
    return chosen


def sheet_cures(names: Sequence[str]) -> list[Cure]:
    """The sheets of a workbook, each as the one that is meant.

    >>> [cure.value for cure in sheet_cures(["Notes", "Firms"])]
    ['Notes', 'Firms']
    """
    return [Cure(key="data.sheet", value=name, label="take this sheet") for name in names[:MOST_CHOICES]]


def xlsx_sheets(path: Path) -> list[str]:
    """The sheets of an Excel file that have cells: those that are shown in their order, then hidden ones."""
    with opened_book(path) as book:
        return list(_sheets(book, str(path)))


@contextlib.contextmanager
def opened_book(path: Path) -> Iterator[Packed]:
    """The parts of a workbook, to be unpacked within the limits."""
    with reading(path, NO_BOOK, "open it in Excel and save it as .xlsx."):
        if path.exists() and not path.is_file():
            raise UnreadableFile("this is a folder, a device or a pipe, not a file", hint="name an Excel file.")
        with path.open("rb") as file:
            if file.read(4) == OLD:
                raise UnreadableFile("the file is an old .xls or has a password", hint="save it as .xlsx without one.")
        with zipfile.ZipFile(path) as book:
            yield unpacking(book, path)


Start = Callable[[str, dict[str, str]], None]


def parse(
    book: Packed, part: str, where: str, start: Start,
    end: Callable[[str], None] | None = None, text: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Walk through one XML part, names without their namespaces."""
    parser = expat.ParserCreate()

    def refuse_doctype(*_: object) -> None:
        raise UnreadableFile("the file is not as spreadsheet programs write it", where=where, hint="save it again.")

    parser.StartDoctypeDeclHandler = refuse_doctype  # no spreadsheet program writes one, and entities can explode
    parser.StartElementHandler = lambda name, given: start(name.rpartition(":")[2], given)
    if end is not None:
        parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    if text is not None:
        parser.CharacterDataHandler = text
    parser.buffer_text = True
    try:
        fed = 0
        for chunk in book.chunks(part):
            parser.Parse(chunk, False)
            fed += len(chunk)
            # a tag that does not end is read from its beginning again and again
            refuse_more("text", fed - max(parser.CurrentByteIndex, 0) - len(chunk), "a tag has {} characters", where)
        parser.Parse(b"", True)
    except expat.ExpatError as e:
        raise UnreadableFile(NO_BOOK, where=where, hint="save it again.") from e


def _sheets(book: Packed, where: str) -> dict[str, str]:
    """Parts of the sheets with cells, by the names users know."""
    targets: dict[str, str] = {}
    sheets: dict[str, str] = {}
    hidden: dict[str, str] = {}

    def relation(name: str, given: dict[str, str]) -> None:
        if name == "Relationship" and given.get("Type", "").endswith("/worksheet"):
            target = given["Target"]
            targets[given["Id"]] = target[1:] if target.startswith("/") else f"xl/{target}"

    def sheet(name: str, given: dict[str, str]) -> None:
        number = next((v for k, v in given.items() if k.rpartition(":")[2] == "id"), "")
        if name == "sheet" and number in targets:
            listing = hidden if given.get("state", "visible") != "visible" else sheets
            listing[given["name"]] = targets[number]

    parse(book, "xl/_rels/workbook.xml.rels", where, relation)
    parse(book, "xl/workbook.xml", where, sheet)
    return sheets | hidden


def _is_pending(book: Packed, where: str) -> bool:
    """Whether formulas are to be computed when the file is opened: programs write zeros until then."""
    found: list[bool] = []

    def start(name: str, given: dict[str, str]) -> None:
        if name == "calcPr":
            found.append(given.get("fullCalcOnLoad", "0") in ("1", "true"))

    parse(book, "xl/workbook.xml", where, start)
    return any(found)


def _strings(book: Packed, where: str) -> list[str]:
    """Texts that cells refer to by number; the reading aids of Japanese texts are left out."""
    found: list[str] = []
    inside = [False, False]  # in a text, in a reading aid
    most = limits().text
    if "xl/sharedStrings.xml" not in book:
        return found

    def start(name: str, given: dict[str, str]) -> None:
        if name == "si":
            found.append("")
        inside[0] = name == "t" and not inside[1]
        inside[1] = inside[1] or name == "rPh"

    def end(name: str) -> None:
        inside[0] = False
        inside[1] = inside[1] and name != "rPh"

    def text(words: str) -> None:
        if inside[0]:
            found[-1] += words
            if len(found[-1]) > most:
                refuse_more("text", len(found[-1]), "a text has {} characters", where)

    parse(book, "xl/sharedStrings.xml", where, start, end, text)
    return found


def _formats(book: Packed, where: str) -> tuple[list[bool], bool]:
    """For every style whether it shows a date, and whether days count from 1904."""
    own: set[int] = set()
    styles: list[bool] = []
    state = {"in": False, "1904": False}

    def style(name: str, given: dict[str, str]) -> None:
        if name == "numFmt" and _shows_date(given.get("formatCode", "")):
            own.add(int(given["numFmtId"]))
        if name == "cellXfs":
            state["in"] = True
        elif name == "cellStyles":
            state["in"] = False
        elif name == "xf" and state["in"]:
            number = int(given.get("numFmtId", 0))
            styles.append(number in DATES or number in own)

    def book_property(name: str, given: dict[str, str]) -> None:
        if name == "workbookPr":
            state["1904"] = given.get("date1904") in ("1", "true")

    if "xl/styles.xml" in book:
        parse(book, "xl/styles.xml", where, style)
    parse(book, "xl/workbook.xml", where, book_property)
    return styles, state["1904"]


def _shows_date(code: str) -> bool:
    """Whether a format of the user shows a date: its letters, without texts, colours and currencies.

    >>> _shows_date("dd.mm.yyyy"), _shows_date('#,##0.00 "days"'), _shows_date("[Red]0.0")
    (True, False, False)
    """
    plain = re.sub(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', "", code.lower()).replace("general", "")
    return bool(re.search(r"[ymdhs]", plain))


@dataclass
class _Cells:
    """The cells of a sheet as they come by."""

    book: Packed
    strings: list[str]
    dates: list[bool]
    from_1904: bool
    sheet: Sheet
    last: int
    """The last row that is wanted."""
    pending: bool = False
    """Whether the formulas wait to be computed."""
    row: int = 0
    column: int = -1
    cells: int = 0
    most: Limits = field(default_factory=limits)
    given: dict[str, str] = field(default_factory=dict)
    words: str = ""
    formula: bool = False
    reading: bool = False
    aside: bool = False

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "c":
            place = given.get("r", "")
            self.column = _column(place) if place else self.column + 1
            if self.column >= self.most.columns:
                refuse_more("columns", self.column + 1, "a sheet has {} columns", self.sheet.where)
            self.given, self.words, self.formula = given, "", False
        elif name in ("v", "t"):
            self.reading = not self.aside and self.row <= self.last
        elif name == "row":
            self.row = int(given["r"]) if "r" in given else self.row + 1
            if self.row > self.most.rows:
                refuse_more("rows", self.row, "a sheet has {} rows", self.sheet.where)
            self.column = -1
        elif name == "f":
            self.formula = True
        elif name == "rPh":
            self.aside = True
        elif name == "mergeCell":
            self.sheet.merged.append(_box(given.get("ref", "")))
            refuse_more("cells", len(self.sheet.merged), "a sheet has {} merged cells", self.sheet.where)

    def text(self, words: str) -> None:
        if self.reading:
            self.words += words
            if len(self.words) > self.most.text:
                refuse_more("text", len(self.words), "a cell has {} characters", self.sheet.where)

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self.reading = False
        elif name == "rPh":
            self.aside = False
        elif name == "c" and self.row <= self.last:
            found = self._value()
            if found:
                self._keep(found)

    def _keep(self, found: str) -> None:
        self.sheet.rows.setdefault(self.row, {})[self.column] = found
        self.cells += 1
        if self.cells > self.most.cells:
            refuse_more("cells", self.cells, "a sheet has {} cells", self.sheet.where)

    def _value(self) -> str:
        kind, words = self.given.get("t", "n"), self.words
        if kind == "e":
            self._flaw("error")
        elif self.formula and (words == "0" and self.pending if words else kind != "str"):
            self._flaw("formula")
        elif not words:
            return ""
        elif kind == "s":
            return self._shared(int(words))
        elif kind == "b":
            return "true" if words == "1" else "false"
        elif kind == "n":
            style = int(self.given.get("s", 0))
            return self._number(words, 0 <= style < len(self.dates) and self.dates[style])
        return words.strip()

    def _shared(self, number: int) -> str:
        if not 0 <= number < len(self.strings):
            self._flaw("textless")
            return ""
        found = self.strings[number].strip()
        self.book.take(len(found))  # a long text shown by many cells is as long as all of them
        return found

    def _number(self, words: str, is_date: bool) -> str:
        try:
            number = float(words.replace("_", " "))
        except ValueError:
            return words.strip()  # refused as a number by whoever asks for one
        if is_date and 0 <= number < (LAST_DAY_SINCE_1904 if self.from_1904 else LAST_DAY):
            return _date(number, self.from_1904)
        return Number(int(number) if number.is_integer() and abs(number) < 1e15 else repr(number))

    def _flaw(self, kind: str) -> None:
        self.sheet.flaws.setdefault(kind, []).append((self.row, self.column))


def _column(place: str) -> int:
    found = PLACE.fullmatch(place.upper())
    if not found:
        raise ValueError("no place of a cell")
    return column_number(found[1])


def _box(place: str) -> Box:
    try:
        return Box.of(place)
    except BadOption as e:  # of the file, not of the user
        raise ValueError("no place of cells") from e


def _date(number: float, from_1904: bool) -> str:
    """A day of Excel as text; a share of a day as a time.

    >>> _date(45657, False), _date(45657.5, False), _date(0.25, False)
    ('2024-12-31', '2024-12-31T12:00:00', '06:00:00')
    """
    seconds = round(number * 86_400)
    # Excel believes in a 29 February 1900; before it, days count from one day later
    first = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 if number >= 61 else 31)
    moment = first + timedelta(seconds=seconds)
    if number < 1 and not from_1904:
        return moment.time().isoformat()
    return moment.isoformat() if seconds % 86_400 else moment.date().isoformat()
