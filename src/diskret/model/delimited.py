"""Delimited text files as offices have them: titles above the names, notes below the table, any encoding.

The engine reads a file where it lies if it can. What it cannot (other encodings than UTF-8 and Latin-1, line breaks of
several kinds, notes below the table) is read from a clean copy, which only its owner can read and which goes with the
connection.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from diskret.model.encoding import ENCODINGS, ZSTD, TextFacts, codec_of, decoded, text_facts
from diskret.model.engine import file_listing, identifier, literal, readable
from diskret.model.errors import BadOption, EmptyData, UnreadableFile, listed
from diskret.model.header import Layout, find_layout, names_of
from diskret.model.places import files_meant
from diskret.model.private import private_folder, remove_with
from diskret.model.sheet import Sheet
from diskret.model.sheets import asked_for, header_value, unique_names

DELIMITERS = ",;\t|"
BEGINNING = 200
"""Lines in which titles and names stand."""
MOST_BEGINNING = 1 << 20
"""Characters of a beginning."""
LONGEST_HEAD = 10
"""Lines that a name in quotes may take."""
NATIVE = ("utf-8", "latin-1")
"""Encodings that the engine reads."""


@dataclass(frozen=True, kw_only=True)
class FixedWidth:
    """A fixed-width text file: for each column its first character (from 1) and its width."""

    path: Path
    fields: dict[str, tuple[int, int]]
    decimal: str | None = None
    encoding: str | None = None
    thousands: str | None = None


@dataclass(frozen=True, kw_only=True)
class Delimited:
    """A delimited text file with what its reader must know; column names only where the file has no header line.

    What is left out is found: the encoding, the delimiter, the lines that hold the names (``header``, from 1), the
    decimal sign and the sign between thousands. With ``hive`` folders called ``name=code`` on the way to the file are
    columns, too.
    """

    path: Path
    delimiter: str | None = None
    decimal: str | None = None
    names: tuple[str, ...] | None = None
    encoding: str | None = None
    hive: bool = False
    thousands: str | None = None
    header: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Text:
    """What was found of one file."""

    path: Path
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    skipped: int
    """Lines before the record that holds the names, or their last part."""
    notes: int
    """Lines at the end that do not belong to the table."""
    is_plain: bool
    """Whether the engine can read it where it lies."""
    hollow: bool = False
    """Whether it may hold rows of nothing but delimiters."""
    header: tuple[int, ...] = ()


def delimited_sql(connection: Any, source: Delimited) -> tuple[str, dict[str, Any]]:
    """A statement that selects all of the files, and what was found of how they are to be read."""
    files = files_meant(source.path)
    found = [look(connection, replace(source, path=file)) for file in files]
    first = found[0]
    for other in found[1:]:
        if (other.names, other.delimiter) != (first.names, first.delimiter):
            raise UnreadableFile(
                "the first lines of the files differ",
                where=f"{files[0]}, {other.path}",
                hint="give all files that fit one pattern the same columns, in the same order.",
            )
    columns = ", ".join(f"{literal(n)}: 'VARCHAR'" for n in first.names)
    folders = folder_columns(files, source.hive, first.names, str(source.path))
    alike = all(each.is_plain and (each.encoding, each.skipped) == (first.encoding, first.skipped) for each in found)
    parts = [found] if alike else [[each] for each in found]
    if source.hive and not alike:
        hint = "save all files as UTF-8 without titles and notes."
        raise UnreadableFile("files in folders that are columns are not alike", where=str(source.path), hint=hint)
    # Nothing is left to guessing, which takes a data row for the column names when a line is too short or too long.
    sql = " UNION ALL ".join(
        f"SELECT * FROM read_csv({_listing(connection, part, source.hive)}, columns = {{{columns}}}, "
        f"delim = {literal(first.delimiter)}, quote = '\"', escape = '\"', "
        f"header = {str(source.names is None).lower()}, skip = {part[0].skipped}, auto_detect = false, "
        f"{encoding_option(part[0].encoding if part[0].is_plain else 'utf-8')}, {folders}){_filled(part)}"
        for part in parts
    )
    return sql, found_in(found, source)


def _filled(part: Sequence[Text]) -> str:
    """The condition that a row holds anything: spreadsheets write blank rows as delimiters."""
    if not any(each.hollow for each in part):
        return ""
    return f" WHERE trim(concat({', '.join(map(identifier, part[0].names))})) <> ''"


def found_in(texts: Sequence[Text], source: Delimited) -> dict[str, Any]:
    """What was found of files and is not said of them, by the keys of a job, where it is not what is usual."""
    found: dict[str, Any] = {}
    encodings = {each.encoding for each in texts}
    if source.encoding is None and len(encodings) == 1 and encodings != {"utf-8"}:
        found["encoding"] = texts[0].encoding
    if source.header is None and source.names is None and texts[0].header[-1] > 1:
        found["header"] = header_value(texts[0].header)
    return found


def _listing(connection: Any, part: Sequence[Text], hive: bool) -> str:
    if part[0].is_plain:
        return file_listing([each.path for each in part], folders=hive)
    return file_listing([clean_copy(connection, part[0].path, part[0].encoding, part[0].notes)])


def folder_columns(files: Sequence[Path], hive: bool, own: Sequence[str], where: str) -> str:
    """Folders called ``name=code`` as columns, if they are asked for: nobody else expects them to change the data."""
    if not hive:
        return "hive_partitioning = false"
    each = {tuple(part.partition("=")[0] for part in file.parent.parts if "=" in part) for file in files}
    names = list(min(each))
    if len(each) > 1 or not names:
        raise UnreadableFile(
            "the files do not lie in folders of the same columns",
            where=where,
            hint="let every file lie in folders such as region=05/year=2024, or leave hive out.",
        )
    both = sorted({n.lower() for n in names} & {n.lower() for n in own})
    if both or len({n.lower() for n in names}) < len(names):
        raise UnreadableFile(
            f"a folder and the files, or two folders, have a column {listed(both or names)}",
            where=where,
            hint="leave hive out, or rename the folder.",
        )
    return "hive_partitioning = true, hive_types_autocast = false"


# --- what is in a file -----------------------------------------------------------------------------------------------


def look(connection: Any, source: Delimited) -> Text:
    """What a file is like: its encoding, its delimiter, its names, where its table begins and ends."""
    path, where = source.path, str(source.path)
    if path.stat().st_size == 0:
        raise EmptyData("the file is empty", where=where, hint="was it written completely?")
    if source.delimiter and (len(source.delimiter) > 1 or source.delimiter in '"\r\n\0'):
        raise BadOption("the separator is not one visible character or a tab", hint='for example ";".')
    encoding_option(source.encoding or "utf-8")
    facts = text_facts(path, source.encoding)
    lines = first_lines(connection, path, facts.encoding)
    plain = facts.encoding in NATIVE and len(facts.breaks) < 2
    if source.names is not None:
        delimiter = source.delimiter or ";"
        return Text(
            path=path, encoding=facts.encoding, delimiter=delimiter, names=source.names, skipped=0, notes=0,
            is_plain=plain, hollow=facts.hollow,
        )  # fmt: skip
    delimiter = source.delimiter or found_delimiter(lines)
    sheet = records_of(lines, delimiter, where)
    if not sheet.rows:
        raise EmptyData("the file is empty", where=where, hint="was it written completely?")
    layout = _layout(sheet, source.header)
    notes = _notes(facts, path, delimiter)
    names = names_of(sheet, layout.header)
    width = max(sheet.widths[layout.header[-1]], max(names, default=0) + 1)
    return Text(
        path=path, encoding=facts.encoding, delimiter=delimiter,
        names=tuple(unique_names([names.get(c, "") for c in range(width)])), skipped=layout.header[-1] - 1,
        notes=notes, is_plain=plain and not notes, header=layout.header, hollow=facts.hollow,
    )  # fmt: skip


def _layout(sheet: Sheet, header: Sequence[int] | None) -> Layout:
    if header is not None and any(n not in sheet.rows for n in header):
        blank = next(n for n in header if n not in sheet.rows)
        hint = "count lines from 1, titles and blank lines included."
        raise BadOption(f"header: no names begin in line {blank}", where=sheet.where, hint=hint)
    found = find_layout(sheet, header=header)
    if found.doubt:
        raise asked_for(sheet, found)
    return found


def first_lines(connection: Any, path: Path, encoding: str) -> list[str]:
    """The first lines of a text file, decoded."""
    if path.suffix.lower() == ZSTD:
        with readable(str(path)):
            sql = f"SELECT line FROM {lines_sql(connection, [path], encoding)} LIMIT {BEGINNING}"
            return [line or "" for (line,) in connection.execute(sql).fetchall()]
    text = ""
    for piece in decoded(path, encoding):
        text += piece
        if text.count("\n") > BEGINNING or len(text) > MOST_BEGINNING:
            break
    if re.search(r"[\x00-\x08\x0e-\x1f]", text):
        raise no_text(str(path))
    lines = text.removeprefix("\ufeff").split("\n")
    return lines[:BEGINNING]


def found_delimiter(lines: Sequence[str]) -> str:
    """The sign that divides most lines in a row into the same number of fields.

    >>> found_delimiter(["Turnover, by region", "", "region;x", "N;1,5", "S;2,5"])
    ';'
    """

    def votes(sign: str) -> tuple[int, int]:
        widths = (len(record) for record in _split(lines, sign) if record)
        runs = ((len(list(run)), width) for width, run in groupby(widths) if width > 1)
        return max(runs, default=(0, 0))

    return max(DELIMITERS, key=votes)


def _split(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error:  # a field beyond all limits
        return


def records_of(lines: Sequence[str], delimiter: str, where: str) -> Sheet:
    """The filled fields of lines, each record by the line it begins in; a name over many lines is refused."""
    sheet = Sheet(where=where)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    begin = 1
    try:
        for record in reader:
            if reader.line_num - begin >= LONGEST_HEAD and not sheet.rows:
                raise csv.Error
            filled = {i: field.strip() for i, field in enumerate(record) if field.strip()}
            if filled:
                sheet.rows[begin], sheet.widths[begin] = filled, len(record)
            begin = reader.line_num + 1
    except csv.Error as e:
        if not sheet.rows:
            hint = "is it a text file, and every quotation mark closed?"
            raise UnreadableFile("the first line holds no column names", where=where, hint=hint) from e
    return sheet


def _notes(facts: TextFacts, path: Path, delimiter: str) -> int:
    """How many lines at the end are notes."""
    try:
        text = facts.end.decode(codec_of(facts.encoding, path).replace("-sig", ""), errors="replace")
    except UnicodeError:
        return 0
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")[1:]
    rows = {}
    for number, line in enumerate(lines, start=1):
        record = next(csv.reader([line], delimiter=delimiter), [])
        filled = {i: field.strip() for i, field in enumerate(record) if field.strip()}
        if filled:
            rows[number] = filled
    if not rows:
        return 0
    return len(lines) - find_layout(Sheet(where="", rows=rows), header=(0,)).last


def no_text(where: str) -> UnreadableFile:
    """The error for what is no text at all."""
    return UnreadableFile("the file is not plain text", where=where, hint="is it of the kind its name says?")


# --- as the engine reads it ------------------------------------------------------------------------------------------


def clean_copy(connection: Any, path: Path, encoding: str, notes: int = 0) -> Path:
    """The text in UTF-8 with one kind of line break and without the notes at its end; gone with the connection."""
    folder = private_folder()
    remove_with(connection, folder)
    copy = folder.path / "text.csv"
    held = ""
    with copy.open("w", encoding="utf-8", newline="") as file:
        for piece in decoded(path, encoding):
            held += piece
            if not notes:
                file.write(held)
                held = ""
            elif len(held) > 1 << 20:
                file.write(held[: -(1 << 17)])
                held = held[-(1 << 17) :]
        if notes:
            held = "\n".join(held.rstrip("\n").split("\n")[:-notes]) + "\n"
        file.write(held)
    return copy


def lines_sql(connection: Any, files: Sequence[Path], encoding: str | None) -> str:
    """Text files as one column of whole lines."""
    encoding_option(encoding or "utf-8")
    facts = [text_facts(file, encoding) for file in files]
    is_plain = all(each.encoding == facts[0].encoding and each.encoding in NATIVE for each in facts)
    is_plain = is_plain and all(len(each.breaks) < 2 for each in facts)
    if not is_plain:
        files = [clean_copy(connection, file, each.encoding) for file, each in zip(files, facts, strict=True)]
    found = facts[0].encoding if is_plain else "utf-8"
    return (
        f"read_csv({file_listing(files)}, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '', "
        f"header = false, auto_detect = false, hive_partitioning = false, {encoding_option(found)})"
    )


def fixed_width_sql(connection: Any, source: FixedWidth) -> str:
    """A statement that selects the fields of every line."""
    fields = ", ".join(
        f"trim(substring(t.line, {first}, {width})) AS {identifier(name)}"
        for name, (first, width) in source.fields.items()
    )
    files = files_meant(source.path)
    return f"SELECT {fields} FROM {lines_sql(connection, files, source.encoding)} AS t WHERE trim(t.line) <> ''"


def encoding_option(name: str) -> str:
    """The reader's option for a text encoding."""
    if name not in ENCODINGS:
        raise BadOption(f"encoding {name!r} is not known", hint=f"one of {listed(ENCODINGS)}.")
    return f"encoding = {literal(name)}"
