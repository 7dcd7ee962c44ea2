"""Tables of databases: files of DuckDB and SQLite, and PostgreSQL servers, read only.

DuckDB attaches its own files. The others come as Arrow streams through the drivers of the extra `databases`: the engine
would have to fetch an extension for them, and it fetches nothing. What comes is put into the engine as it is, in one
reading, so that all passes over the data see the same rows.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from diskret.model.cures import Cure
from diskret.model.damage import reading
from diskret.model.engine import connect, engine_path, identifier, literal, readable
from diskret.model.errors import BadOption, EmptyData, MissingExtra, UnreadableFile, listed
from diskret.model.numerals import IS_NUMBER
from diskret.model.places import plain_file

FILES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
SERVER = re.compile(r"postgres(ql)?://", re.IGNORECASE)
OWN = ("pg_catalog", "information_schema", "pg_toast")
"""Schemas in which a server keeps its own tables."""
LITE = b"SQLite format 3\0"
DUCK = b"DUCK"
EXTRA = "databases"
IS_ROW = "\ue002"
"""The name of a column that tells rows of a table from the one that only shows types."""


@dataclass(frozen=True, kw_only=True)
class Database:
    """A database and which of its tables is meant; it may be left out where there is only one.

    ``place`` is a file, or the address of a PostgreSQL server without a password (libpq finds it in ~/.pgpass, a
    service file or PGPASSWORD). ``decimal`` and ``thousands`` are the signs in numbers of its columns of text.
    """

    place: Path | str
    table: str | None = None
    decimal: str | None = None
    thousands: str | None = None


def is_server(name: object) -> bool:
    """Whether a name is the address of a database server.

    >>> is_server("postgresql://statistics/firms"), is_server("firms.csv")
    (True, False)
    """
    return isinstance(name, str) and SERVER.match(name) is not None


def put_table(connection: Any, source: Database) -> str:
    """Put a table of a database where the engine finds it, as ``given``; how to speak of it."""
    if isinstance(source.place, str) and is_server(source.place):
        return _from_server(connection, source.place, source.table)
    path = plain_file(source.place)
    kind = _kind(path)
    return (_from_duckdb if kind == "duckdb" else _from_sqlite)(connection, path, source.table)


def table_names(place: Path | str) -> list[str]:
    """The tables of a database, in order; those of DuckDB without its views, which may read other files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, contextlib.closing(sqlite3.connect(f"{folder}/a.db")) as made:
    ...     _ = made.execute("CREATE TABLE firms (region TEXT)")
    ...     table_names(Path(f"{folder}/a.db"))
    ['firms']
    """
    if isinstance(place, str) and is_server(place):
        with _server(place) as cursor:
            return _server_tables(cursor)
    path = plain_file(place)
    if _kind(path) == "duckdb":
        with contextlib.closing(connect(threads=1)) as connection, _attached(connection, path) as names:
            return list(names)
    with _lite(path) as lite:
        return _lite_tables(lite)


def _kind(path: Path) -> str:
    """What a file is, by its first bytes."""
    if path.stat().st_size == 0:
        raise EmptyData("the file is empty", where=str(path), hint="was it written completely?")
    with reading(path, "the file cannot be read", "check its permissions."), path.open("rb") as file:
        first = file.read(16)
    if first == LITE:
        return "sqlite"
    if first[8:12] == DUCK:
        return "duckdb"
    raise UnreadableFile(
        "the file is neither a database of DuckDB nor of SQLite", where=str(path), hint="check what it is."
    )


def _chosen(asked: str | None, names: Sequence[str], where: str) -> str:
    """The table that is meant; a question where there are several."""
    if not names:
        raise EmptyData("the database has no table", where=where, hint="views of DuckDB are not read: make a table.")
    if asked is None and len(names) > 1:
        raise BadOption(
            f"the database has {len(names)} tables",
            where=where,
            hint=f"choose one with sheet: {listed(names)}.",
            cures=[Cure(key="data.sheet", value=name, label="choose the table") for name in names[:10]],
        )
    if asked is not None and asked not in names:
        raise BadOption(f"there is no table {asked!r}", where=where, hint=f"the database has {listed(names)}.")
    return asked or names[0]


# --- DuckDB ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _attached(connection: Any, path: Path) -> Iterator[dict[str, str]]:
    """A file attached for reading: its tables by their names, in SQL."""
    hint = "was it written by a newer version of DuckDB, or is it open elsewhere?"
    with reading(path, "the database of DuckDB cannot be read", hint), readable(str(path)):
        connection.execute(f"ATTACH {literal(engine_path(path))} AS attached (READ_ONLY)")
        found = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'attached' AND NOT internal "
            "ORDER BY ALL"
        ).fetchall()
        names = {(s, t): t if s == "main" else f"{s}.{t}" for s, t in found}
        if len({*names.values()}) < len(names):  # a table "a.b" beside the table b of the schema a
            names = {(s, t): f"{s}.{t}" for s, t in found}
        yield {name: f"attached.{identifier(s)}.{identifier(t)}" for (s, t), name in names.items()}


def _from_duckdb(connection: Any, path: Path, table: str | None) -> str:
    with _attached(connection, path) as names:
        chosen = _chosen(table, list(names), str(path))
        connection.execute(f"CREATE TEMP VIEW given AS SELECT * FROM {names[chosen]}")
    return f"{path}, table {chosen!r}"


# --- SQLite ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _lite(path: Path) -> Iterator[sqlite3.Connection]:
    with reading(path, "the database of SQLite cannot be read", "was it written completely?"):
        try:
            with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as lite:
                yield lite
        except sqlite3.Error as e:
            raise UnreadableFile(
                "the database of SQLite cannot be read", where=str(path), hint="was it written completely?"
            ) from e


def _lite_tables(lite: sqlite3.Connection) -> list[str]:
    asked = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name"
    return [str(name) for (name,) in lite.execute(asked)]


def _from_sqlite(connection: Any, path: Path, table: str | None) -> str:
    with _lite(path) as lite:
        chosen = _chosen(table, _lite_tables(lite), str(path))
        where = f"{path}, table {chosen!r}"
        sql = _lite_columns(lite, chosen, where)
    with _stream("sqlite", f"{path.resolve().as_uri()}?mode=ro", sql, where) as stream:
        _put(connection, stream, where)
    return where


def _lite_columns(lite: sqlite3.Connection, table: str, where: str) -> str:
    """A statement that gives every column one type: SQLite lets each entry have its own."""
    names = [str(row[1]) for row in lite.execute(f"PRAGMA table_info({identifier(table)})")]
    kinds = ", ".join(f"group_concat(DISTINCT typeof({identifier(name)}))" for name in names)
    found = lite.execute(f"SELECT {kinds} FROM {identifier(table)}").fetchone()
    # the driver takes types from the first rows, which may be empty: one more goes before them
    columns, before = {IS_ROW: "1"}, {IS_ROW: "0"}
    for name, kind in zip(names, found, strict=True):
        held = {*(kind or "text").split(",")} - {"null"}
        if "blob" in held:
            raise UnreadableFile(f"column {name!r} holds binary data", where=where, hint="leave it out in a view.")
        cast = "INTEGER" if held == {"integer"} else "REAL" if held <= {"integer", "real"} else "TEXT"
        columns[name], before[name] = f"CAST({_whole(name)} AS {cast})", f"CAST(0 AS {cast})"
        if "text" in held and len(held) > 1:
            columns[IS_NUMBER + name], before[IS_NUMBER + name] = f"typeof({identifier(name)}) <> 'text'", "0"
    first = ", ".join(f"{sql} AS {identifier(name)}" for name, sql in before.items())
    return f"SELECT {first} UNION ALL SELECT {', '.join(columns.values())} FROM {identifier(table)}"


def _whole(name: str) -> str:
    """A column in SQL in which 5.0 is 5, as a text, too."""
    own = identifier(name)
    whole = f"typeof({own}) = 'real' AND abs({own}) < 1e15 AND {own} = CAST({own} AS INTEGER)"
    return f"CASE WHEN {whole} THEN CAST({own} AS INTEGER) ELSE {own} END"


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


def _shown(address: str) -> str:
    """An address as it may be shown: what cannot be told apart from a password is left out."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        if "@" not in f"{parts.path}{parts.query}{parts.fragment}":
            return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    return address.split(":")[0] + "://..."


def _holds_password(address: str) -> bool:
    """Whether an address holds a password, or signs that only a password has."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    rest = f"{parts.path}{parts.query}{parts.fragment}"
    return parts.password is not None or "@" in rest or "password=" in unquote(address).lower()


@contextlib.contextmanager
def _server(address: str) -> Iterator[Any]:
    """A session that reads and changes nothing."""
    if _holds_password(address):
        raise BadOption(
            "the address of a database holds a password, or is not an address",
            where=_shown(address),
            hint="keep it in ~/.pgpass or PGPASSWORD, for your eyes only.",
        )
    with _said(_shown(address)), _driver("postgresql").connect(address) as session, session.cursor() as cursor:
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        yield cursor


def _server_tables(cursor: Any) -> list[str]:
    own = ", ".join(literal(name) for name in OWN)
    cursor.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        f"WHERE table_schema NOT IN ({own}) ORDER BY 1, 2"
    )
    return [f"{schema}.{table}" for schema, table in cursor.fetchall()]


def _from_server(connection: Any, address: str, table: str | None) -> str:
    with _server(address) as cursor:
        names = _server_tables(cursor)
        short = {name.removeprefix("public."): name for name in names if name.startswith("public.")}
        chosen = _chosen(short.get(table or "", table), names, _shown(address))
        where = f"{_shown(address)}, table {chosen!r}"
        schema, _, own = chosen.partition(".")
        cursor.execute(f"SELECT * FROM {identifier(schema)}.{identifier(own)}")
        _put(connection, cursor.fetch_record_batch(), where)
    return where


# --- streams ---------------------------------------------------------------------------------------------------------


def _driver(kind: str) -> Any:
    try:
        return import_module(f"adbc_driver_{kind}.dbapi")
    except ImportError:
        raise MissingExtra.needed(EXTRA, f"reading a database of {kind}") from None


@contextlib.contextmanager
def _said(where: str) -> Iterator[None]:
    """Turn a driver's complaints into ours; its own words may quote an address or an entry."""
    try:
        yield
    except Exception as e:
        if not type(e).__module__.startswith("adbc_driver"):
            raise
        raise UnreadableFile(
            "the database does not answer, or not as it should",
            where=where,
            hint="check address, name, password and permissions; PGPASSWORD and ~/.pgpass are looked at.",
        ) from None


@contextlib.contextmanager
def _stream(kind: str, address: str, sql: str, where: str) -> Iterator[Any]:
    with _said(where), _driver(kind).connect(address) as session, session.cursor() as cursor:
        cursor.execute(sql)
        yield cursor.fetch_record_batch()


def _put(connection: Any, stream: Any, where: str) -> None:
    """Read a stream to its end, into the engine."""
    with readable(where):
        connection.register("arriving", stream)
        names = [str(name) for name, *_ in connection.execute("DESCRIBE arriving").fetchall()]
        flags = [identifier(name) for name in names if name.startswith(IS_NUMBER)]
        changed = f" REPLACE ({', '.join(f'CAST({flag} AS BOOLEAN) AS {flag}' for flag in flags)})" if flags else ""
        rows = (
            f"* EXCLUDE ({IS_ROW}){changed} FROM arriving WHERE {IS_ROW} = 1" if IS_ROW in names else "* FROM arriving"
        )
        connection.execute(f"CREATE TEMP TABLE given AS SELECT {rows}")
        connection.unregister("arriving")
