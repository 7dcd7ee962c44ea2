"""Files and frames as statements that the engine selects them by; which kind a file is says its ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from diskret.model.databases import FILES as DATABASES
from diskret.model.databases import Database, is_server, put_table
from diskret.model.delimited import Delimited, FixedWidth, delimited_sql, fixed_width_sql, folder_columns
from diskret.model.engine import file_listing, identifier, readable
from diskret.model.errors import BadOption, UnreadableFile
from diskret.model.frames import names_of_frame, register
from diskret.model.numerals import IS_NUMBER
from diskret.model.places import files_meant, refuse_address
from diskret.model.sdmx_messages import MESSAGES, Message, read_message
from diskret.model.sheets import Workbook, header_rows, read_sheet, refuse_notes
from diskret.model.statistical import STATISTICAL, Statistical, read_statistical

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm", ".ods"}
"""Workbooks."""
TEXT = {".csv", ".tsv", ".txt", ".gz", ".zst"}
IS_ABSENT = "\ue001"
"""Begins the name of a column that tells which entries of another are missing; no keyboard writes it."""


@dataclass(frozen=True, kw_only=True)
class Parquet:
    """A Parquet file; with ``hive`` folders called ``name=code`` on the way to it are columns, too.

    ``decimal`` and ``thousands`` are the signs in numbers of its columns of text.
    """

    path: Path
    hive: bool = False
    decimal: str | None = None
    thousands: str | None = None


@dataclass(frozen=True, kw_only=True)
class Given:
    """What was given to be opened: a statement that selects it, and how to speak of it.

    ``names`` are those the user knows its columns by, where the engine would number equal ones its own way.
    """

    where: str
    sql: str
    decimal: str | None = "."
    thousands: str | None = None
    native: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    names: Sequence[str] = ()
    kept: list[object] = field(default_factory=list)
    found: Mapping[str, Any] = field(default_factory=dict)


def opened(connection: Any, source: object) -> Given:
    """What a source is to the engine: a file by its kind, or a frame."""
    if isinstance(source, str) and not is_server(source):
        refuse_address(source)
    if isinstance(source, str | Path):
        source = _by_ending(source if is_server(source) else Path(source))
    if isinstance(source, Database):
        return _table(connection, source)
    if isinstance(source, FixedWidth):
        sql = fixed_width_sql(connection, source)
        return Given(where=str(source.path), sql=sql, decimal=source.decimal, thousands=source.thousands)
    if isinstance(source, Delimited):
        sql, found = delimited_sql(connection, source)
        return Given(where=str(source.path), sql=sql, decimal=source.decimal, thousands=source.thousands, found=found)
    if isinstance(source, Parquet):
        return _parquet(connection, source)
    if isinstance(source, Statistical):
        return _statistical(connection, source)
    if isinstance(source, Message):
        kept = [register(connection, read_message(source), str(source.path))]
        return Given(where=str(source.path), sql="SELECT * FROM given", kept=kept)
    if isinstance(source, Workbook):
        return _sheet(connection, source)
    where, names = f"the {type(source).__name__}", names_of_frame(source)
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        raise UnreadableFile("the name of a column is not a text", where=where, hint="rename the column.")
    return Given(where=where, sql="SELECT * FROM given", names=names, kept=[register(connection, source)])


def _sheet(connection: Any, source: Workbook) -> Given:
    found = read_sheet(source)
    refuse_notes(found, str(source.path))
    flags = {f"{IS_NUMBER}{name}": each for name, each in found.native.items()}
    kept = [register(connection, {**found.columns, **flags}, found.where)]
    shown = [f"nullif({c}, '') AS {c}" for c in map(identifier, found.columns)] + [identifier(c) for c in flags]
    return Given(
        where=found.where, sql=f"SELECT {', '.join(shown)} FROM given", kept=kept, found=found.told,
        decimal=source.decimal, thousands=source.thousands,
        native=dict(zip(found.native, flags, strict=True)),
    )  # fmt: skip


def _statistical(connection: Any, source: Statistical) -> Given:
    found = read_statistical(source)
    where = str(source.path)
    flags = {f"{IS_ABSENT}{name}": each for name, each in found.absent.items()}
    given = {name: _object_array(column) for name, column in found.columns.items()}
    shown = [
        f"CAST({identifier(c)} AS {found.dates[c]}) AS {identifier(c)}" if c in found.dates else identifier(c)
        for c in found.columns
    ]
    return Given(
        where=where, sql=f"SELECT {', '.join([*shown, *map(identifier, flags)])} FROM given",
        kept=[register(connection, {**given, **flags}, where)], labels=found.labels,
        absent=dict(zip(found.absent, flags, strict=True)),
    )  # fmt: skip


def _table(connection: Any, source: Database) -> Given:
    where = put_table(connection, source)
    names = [str(name) for name, *_ in connection.execute("DESCRIBE given").fetchall()]
    native = {name.removeprefix(IS_NUMBER): name for name in names if name.startswith(IS_NUMBER)}
    # servers send numbers as text, always with a decimal point
    decimal = source.decimal or ("." if is_server(source.place) else None)
    return Given(where=where, sql="SELECT * FROM given", decimal=decimal, thousands=source.thousands, native=native)


def _object_array(column: list[Any]) -> Any:
    return column if column and isinstance(column[0], float) else np.array(column, dtype=object)


Kind = Parquet | Workbook | Delimited | Statistical | Database | Message


def file_source(path: Path | str, *, hive: bool = False, **said: Any) -> Kind:
    """A file of the user with what its kind of reader must know; what is said about other kinds is left out.

    >>> file_source(Path("firms.xlsx"), delimiter=";", sheet="Firms").sheet
    'Firms'
    """
    signs = {key: said.get(key) for key in ("decimal", "thousands")}
    if is_server(path) or Path(path).suffix.lower() in DATABASES:
        return Database(place=path if is_server(path) else Path(path), table=said.get("sheet"), **signs)
    path = Path(path)
    if path.suffix.lower() in PARQUET:
        return Parquet(path=path, hive=hive, **signs)
    if path.suffix.lower() in STATISTICAL:
        return Statistical(path=path, encoding=said.get("encoding"))
    if path.suffix.lower() in MESSAGES:
        return Message(path=path)
    kind = Workbook if path.suffix.lower() in EXCEL else Delimited
    known = {f.name for f in fields(kind)}
    given = {key: value for key, value in said.items() if key in known and value is not None}
    if "header" in given:
        given["header"] = header_rows(given["header"])
    return Workbook(path=path, **given) if kind is Workbook else Delimited(path=path, hive=hive, **given)


def _by_ending(path: Path | str) -> Kind:
    """A file, or a server, of which only the name is known."""
    suffix = Path(path).suffix.lower()
    if is_server(path) or suffix in {*PARQUET, *EXCEL, *TEXT, *STATISTICAL, *DATABASES, *MESSAGES}:
        return file_source(path)
    files_meant(path)
    raise BadOption(
        f"files ending in {suffix or 'nothing'} are not read",
        where=str(path),
        hint="give .parquet, .csv, .tsv, .txt, .xlsx, .ods, .dta, .sav, .sas7bdat or another that docs/files.md lists.",
    )


# --- files -----------------------------------------------------------------------------------------------------------


def _parquet(connection: Any, source: Parquet) -> Given:
    files, where = files_meant(source.path), str(source.path)
    with readable(where):
        # every column with its number of parts, after the whole they are parts of
        tree = f"SELECT name, num_children FROM parquet_schema({file_listing(files[:1])})"
        _, *columns = connection.execute(tree).fetchall()
    names, inner = [], 0
    for name, parts in columns:
        if not inner:
            names.append(str(name))
        inner = max(inner - 1, 0) + (parts or 0)
    folders = folder_columns(files, source.hive, names, where)
    sql = f"SELECT * FROM read_parquet({file_listing(files, folders=source.hive)}, {folders})"
    return Given(where=where, sql=sql, names=names, decimal=source.decimal, thousands=source.thousands)
