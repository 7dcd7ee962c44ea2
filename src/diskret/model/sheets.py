"""A sheet of an Excel file (.xlsx) as columns of text, the first row as names.

An .xlsx is a zip file of XML parts. Numbers come out as the shortest text that means the same number, dates as
2024-12-31; text stays as it is, so that a code 05111 kept as text keeps its zero. What a table cannot be made from
(merged cells, formulas nobody has computed, errors, columns without a name) is refused with its place.
"""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from xml.parsers import expat

from diskret.model.damage import reading
from diskret.model.errors import BadOption, EmptyData, UnreadableFile, listed
from diskret.model.limits import Limits, limits, refuse_more
from diskret.model.packed import Packed, unpacking
from diskret.model.places import plain_file

OLD = b"\xd0\xcf\x11\xe0"
NO_BOOK = "the file is not an Excel file, or not complete"
PLACE = re.compile(r"([A-Z]{1,7})[0-9]{1,10}")
DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of Excel's own formats that show dates and times."""
LAST_DAY = 2_958_466
"""The day after the last one of the year 9999."""
LAST_DAY_SINCE_1904 = LAST_DAY - 1462
MOST_SHOWN = 40
"""Characters of a place that a message shows."""
FLAWS = {
    "error": ("a formula gives an error", "correct the formula, or put the value in its place."),
    "formula": ("a formula has no computed value", "open the file in a spreadsheet program, and save it."),
    "merged": ("cells are merged", "split them, so that every row has its own values."),
    "textless": ("a cell shows a text that the file does not hold", "open it in a spreadsheet program, and save it."),
    "nameless": ("a column has values but no name in the first row", "give it a name; remove lines above the names."),
}


@dataclass(frozen=True, kw_only=True)
class Workbook:
    """An Excel file and which of its sheets is meant; the first if none is named."""

    path: Path
    sheet: str | None = None


def read_sheet(source: Workbook) -> tuple[str, dict[str, list[str]]]:
    """How to speak of a sheet, and its columns; blanks are empty texts."""
    where = str(source.path)
    if plain_file(source.path).stat().st_size == 0:
        raise EmptyData("the file is empty", where=where, hint="was it written to the end?")
    with _book(source.path) as book:
        names = _sheets(book, where)
        if not names:
            raise EmptyData("the file has no sheet with cells", where=where, hint="are there only charts in it?")
        chosen = source.sheet or next(iter(names))
        if chosen not in names:
            raise BadOption(f"there is no sheet {chosen!r}", where=where, hint=f"the file has {listed(names)}.")
        place = f"{where}, sheet {chosen!r}"
        reader = _Sheet(book, _strings(book, where), *_formats(book, where), place)
        _parse(book, names[chosen], where, reader.start, reader.end, reader.text)
        return place, reader.columns()


def sheet_names(path: Path) -> list[str]:
    """The sheets of an Excel file that have cells, in their order."""
    with _book(plain_file(path)) as book:
        return list(_sheets(book, str(path)))


@contextlib.contextmanager
def _book(path: Path) -> Iterator[Packed]:
    with reading(path, NO_BOOK, "open it in Excel and save it as .xlsx."):
        if path.exists() and not path.is_file():
            raise UnreadableFile("this is a folder, a device or a pipe, not a file", hint="name an Excel file.")
        with path.open("rb") as file:
            if file.read(4) == OLD:
                raise UnreadableFile("the file is an old .xls or has a password", hint="save it as .xlsx without one.")
        with zipfile.ZipFile(path) as book:
            yield unpacking(book, path)


Start = Callable[[str, dict[str, str]], None]


def _parse(
    book: Packed, part: str, where: str, start: Start,
    end: Callable[[str], None] | None = None, text: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Walk through one XML part, names without their namespaces."""
    parser = expat.ParserCreate()

    def refuse_doctype(*_: object) -> None:
        raise UnreadableFile("the file is not as Excel writes it", where=where, hint="save it again as .xlsx.")

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

    def relation(name: str, given: dict[str, str]) -> None:
        if name == "Relationship" and given.get("Type", "").endswith("/worksheet"):
            target = given["Target"]
            targets[given["Id"]] = target[1:] if target.startswith("/") else f"xl/{target}"

    def sheet(name: str, given: dict[str, str]) -> None:
        number = next((v for k, v in given.items() if k.rpartition(":")[2] == "id"), "")
        if name == "sheet" and number in targets:
            sheets[given["name"]] = targets[number]

    _parse(book, "xl/_rels/workbook.xml.rels", where, relation)
    _parse(book, "xl/workbook.xml", where, sheet)
    return sheets


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

    _parse(book, "xl/sharedStrings.xml", where, start, end, text)
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
        _parse(book, "xl/styles.xml", where, style)
    _parse(book, "xl/workbook.xml", where, book_property)
    return styles, state["1904"]


def _shows_date(code: str) -> bool:
    """Whether a format of the user shows a date: its letters, without texts, colours and currencies.

    >>> _shows_date("dd.mm.yyyy"), _shows_date('#,##0.00 "days"'), _shows_date("[Red]0.0")
    (True, False, False)
    """
    plain = re.sub(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', "", code.lower()).replace("general", "")
    return bool(re.search(r"[ymdhs]", plain))


@dataclass
class _Sheet:
    """The cells of a sheet as they come by."""

    book: Packed
    strings: list[str]
    dates: list[bool]
    from_1904: bool
    where: str
    rows: list[dict[int, str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    flaws: dict[str, list[str]] = field(default_factory=dict)
    current: dict[int, str] = field(default_factory=dict)
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
                refuse_more("columns", self.column + 1, "a sheet has {} columns", self.where)
            self.given, self.words, self.formula = given, "", False
        elif name in ("v", "t"):
            self.reading = not self.aside
        elif name == "row":
            self.row = int(given["r"]) if "r" in given else self.row + 1
            if self.row > self.most.rows:
                refuse_more("rows", self.row, "a sheet has {} rows", self.where)
            self.column, self.current = -1, {}
        elif name == "f":
            self.formula = True
        elif name == "rPh":
            self.aside = True
        elif name == "mergeCell":
            self._flaw("merged", given.get("ref", ""))

    def text(self, words: str) -> None:
        if self.reading:
            self.words += words
            if len(self.words) > self.most.text:
                refuse_more("text", len(self.words), "a cell has {} characters", self.where)

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self.reading = False
        elif name == "rPh":
            self.aside = False
        elif name == "c":
            found = self._value()
            if found:
                self._keep(found)

    def _keep(self, found: str) -> None:
        if not self.current:
            self.rows.append(self.current)
            self.numbers.append(self.row)
        self.current[self.column] = found
        self.cells += 1
        if self.cells > self.most.cells:
            refuse_more("cells", self.cells, "a sheet has {} cells", self.where)

    def _value(self) -> str:
        kind, words = self.given.get("t", "n"), self.words
        place = f"{_letters(self.column)}{self.row}"
        if kind == "e":
            self._flaw("error", place)
        elif self.formula and not words and kind != "str":
            self._flaw("formula", place)
        elif not words:
            return ""
        elif kind == "s":
            return self._shared(int(words), place)
        elif kind == "b":
            return "true" if words == "1" else "false"
        elif kind == "n":
            style = int(self.given.get("s", 0))
            return self._number(words, 0 <= style < len(self.dates) and self.dates[style])
        return words.strip()

    def _shared(self, number: int, place: str) -> str:
        if not 0 <= number < len(self.strings):
            self._flaw("textless", place)
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
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

    def _flaw(self, kind: str, place: str) -> None:
        self.flaws.setdefault(kind, []).append(place[:MOST_SHOWN])

    def columns(self) -> dict[str, list[str]]:
        """The rows below the names, without blank ones."""
        filled = list(zip(self.numbers, self.rows, strict=True))
        if not filled:
            raise EmptyData("the sheet is empty", where=self.where, hint="name another sheet.")
        (top, head), *body = filled
        nameless = sorted({c for _, row in body for c in row} - set(head))
        if nameless:
            self.flaws["nameless"] = [f"{_letters(c)}{top}" for c in nameless]
        for kind, places in self.flaws.items():
            what, hint = FLAWS[kind]
            raise UnreadableFile(what, where=f"{self.where}, {listed(places)}", hint=hint)
        given = sorted(head)
        names = unique_names([head[c].strip() for c in given])
        refuse_more("cells", len(given) * len(body), "a sheet has {} cells, blank ones included", self.where)
        self.book.take(len(given) * len(body))
        return {name: [row.get(c, "") for _, row in body] for c, name in zip(given, names, strict=True)}


def _column(place: str) -> int:
    found = PLACE.fullmatch(place.upper())
    if not found:
        raise ValueError("no place of a cell")
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _letters(column: int) -> str:
    words, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        words = chr(65 + letter) + words
    return words


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
