"""The door: any user's data, file or frame, opened for reading.

Files (Parquet, CSV, Excel, fixed width) and frames (pandas, polars, Arrow, anything with an Arrow stream, dicts of
columns) become one thing, a relation in an embedded DuckDB. Text columns of CSV files stay text until somebody asks for
a number, so that a code ``05111`` keeps its zero.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from diskret.model.errors import (
    BadOption,
    EmptyData,
    MissingColumn,
    NotANumber,
    NotFinite,
    UnreadableFile,
    listed,
    masked,
)
from diskret.model.private import private_folder, remove_with
from diskret.model.sheets import Workbook, read_sheet, unique_names

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm"}
TEXT = {".csv", ".tsv", ".txt", ".gz", ".zst"}
YES = ("1", "true", "t", "yes", "y", "ja", "j")
WHOLE = {"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "BOOLEAN"}
ENCODINGS = ("utf-8", "latin-1", "utf-16")
DELIMITERS = ",;\t|"
UNDEFINED = ("", "nan", "inf", "-inf", "+inf", "infinity", "-infinity")


@dataclass(frozen=True, kw_only=True)
class FixedWidth:
    """A fixed-width text file: for each column its first character (from 1) and its width."""

    path: Path
    fields: Mapping[str, tuple[int, int]]
    decimal: str = "."
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class Delimited:
    """A delimited text file with what its reader must know; column names only where the file has no header line."""

    path: Path
    delimiter: str | None = None
    decimal: str = "."
    names: tuple[str, ...] | None = None
    encoding: str = "utf-8"


@dataclass
class Relation:
    """Data opened in an engine: its view, its columns with their types, and how to speak of it in messages.

    The SQL made here is understood by DuckDB and by Spark; what differs between them is a field or a method.
    """

    connection: Any
    view: str
    types: Mapping[str, str]
    where: str
    decimal: str = "."
    quote: str = '"'
    row_number: str = "row_number() OVER ()"
    keep_alive: list[object] = field(default_factory=list, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.types)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a small result."""
        with readable(self.where):
            rows: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
            return rows

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """Columns of a result as arrays."""
        with readable(self.where):
            columns: dict[str, npt.NDArray[Any]] = self.connection.execute(sql).fetchnumpy()
        return {k: np.ma.getdata(v) for k, v in columns.items()}

    def require(self, names: Sequence[str]) -> None:
        """Refuse with the names that are missing."""
        missing = [n for n in dict.fromkeys(names) if n not in self.types]
        if missing:
            raise MissingColumn.named(missing, self.columns, self.where)

    # --- columns as SQL ----------------------------------------------------------------------------------------------

    def column(self, name: str) -> str:
        """A column as an SQL identifier."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        return self.types[name].upper().startswith(("VARCHAR", "ENUM", "STRING", "CHAR"))

    def is_whole(self, name: str) -> bool:
        """Whether a column's type holds whole numbers only."""
        return self.types[name].upper() in WHOLE

    def scale(self, name: str) -> int | None:
        """Decimals of a DECIMAL column, None for any other type."""
        found = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", self.types[name].upper())
        return int(found[1]) if found else None

    def number(self, name: str) -> str:
        """A column as a number; text that is not a number becomes NULL (and is refused by `refuse_bad_numbers`)."""
        if not self.is_text(name):
            return self.column(name)
        text = f"trim(CAST({self.column(name)} AS STRING))"
        if self.decimal == ",":
            # Points only between groups of three digits: 1.234,5 is a number, 1.5 a mistake, not fifteen.
            rest = f"regexp_replace({text}, '^[+-]?[0-9]{{1,3}}([.][0-9]{{3}})+(,[0-9]*)?$', '')"
            grouped = f"{text} NOT LIKE '%.%' OR {rest} = ''"
            text = f"CASE WHEN {grouped} THEN replace(replace({text}, '.', ''), ',', '.') END"
        return f"TRY_CAST({text} AS DOUBLE)"

    def code(self, name: str) -> str:
        """A column as classification codes: text without outer blanks, 5.0 as 5, blank and NaN as missing."""
        column = self.column(name)
        if self.types[name].upper() in ("DOUBLE", "FLOAT"):
            whole, text = f"CAST(CAST({column} AS BIGINT) AS STRING)", f"CAST({column} AS STRING)"
            short = f"{column} = floor({column}) AND abs({column}) < 1e18"
            column = f"CASE WHEN isnan({column}) THEN NULL WHEN {short} THEN {whole} ELSE {text} END"
        return f"nullif(trim(CAST({column} AS STRING)), '')"

    def flag(self, name: str, codes: Sequence[str] = YES) -> str:
        """A column as true or false: true where it holds one of the codes."""
        if self.types[name].upper() == "BOOLEAN":
            return f"coalesce({self.column(name)}, false)"
        listing = ", ".join(literal(c.lower()) for c in codes)
        return f"coalesce(lower({self.code(name)}) IN ({listing}), false)"

    # --- refusals ----------------------------------------------------------------------------------------------------

    def refuse_bad_numbers(self, names: Sequence[str], blanks: bool = False) -> None:
        """Refuse text, missing, infinite and undefined numbers, with the first rows; ``blanks`` may be allowed."""
        for name in names:
            bad = self.bad_number(name)
            if blanks:
                bad = f"({bad} AND {self.code(name)} IS NOT NULL)"
            found = self.query(f"SELECT count(*) FROM {self.view} WHERE {bad}")[0][0]
            if found:
                self._refuse(name, bad, int(found))

    def bad_number(self, name: str) -> str:
        """The condition that a column holds no finite number."""
        number = f"CAST({self.number(name)} AS DOUBLE)"
        return f"({number} IS NULL OR isnan({number}) OR abs({number}) = CAST('Infinity' AS DOUBLE))"

    def _refuse(self, name: str, bad: str, found: int) -> None:
        text = f"CAST({self.column(name)} AS STRING)"
        numbered = f"SELECT {self.row_number} AS n, {text} AS t, {bad} AS b FROM {self.view}"
        rows = self.query(f"SELECT n, t FROM ({numbered}) AS r WHERE b ORDER BY n LIMIT 10")
        numbers = [int(n) for n, _ in rows]
        words = [t for _, t in rows if t is not None and t.strip().lower() not in UNDEFINED]
        if self.is_text(name) and words:
            raise NotANumber.in_column(name, words[0], numbers, self.where, self.decimal)
        raise NotFinite(
            f"column {name!r} has {found} missing, undefined or infinite numbers",
            where=f"{self.where}, rows {listed(numbers)}",
            hint="fill them, or leave the rows out.",
        )


@contextlib.contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the engine's complaints about a file into ours."""
    try:
        yield
    except duckdb.OutOfMemoryException as e:
        raise UnreadableFile(
            "not enough memory or disk to read the data", where=where, hint=str(e).splitlines()[0]
        ) from e
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as e:
        # The engine's own words would quote the number.
        raise UnreadableFile(
            "a number is too large to be worked with", where=where, hint="correct it, or use a larger unit."
        ) from e
    except duckdb.InterruptException as e:
        raise KeyboardInterrupt from e
    except duckdb.Error as e:
        raise _unreadable(str(e), where) from e
    except RuntimeError as e:
        if str(e) == "Query interrupted":  # how the engine passes on that the user pressed Ctrl-C
            raise KeyboardInterrupt from e
        raise
    except UnicodeDecodeError as e:
        raise _unreadable("not utf-8 encoded", where) from e


def _unreadable(said: str, where: str) -> UnreadableFile:
    """The engine's complaint in our words, which never quote a line of the data."""
    line = re.search(r"CSV Error on Line: (\d+)", said)
    place = f"{where}, line {line[1]}" if line else where
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if "not utf-8 encoded" in said:
        what, hint = "the data are not UTF-8 text", 'say encoding = "latin-1", or save the file as UTF-8.'
    elif fields:
        what = f"a line has {'fewer' if int(fields[2]) < int(fields[1]) else 'more'} fields than there are columns"
        hint = "give every line one field per column; a field that holds the separator needs quotes."
    elif "unterminated quote" in said:
        what, hint = "a quotation mark is opened and not closed", "close it, or double it where it is meant."
    elif line:
        what, hint = "a line is not a record", "is the file complete, and of the kind its name says?"
    else:
        what = "the data cannot be read: " + masked(said.splitlines()[0], most=300)
        hint = "is the file complete, and of the kind its name says?"
    return UnreadableFile(what, where=place, hint=hint)


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column by its name, in SQL."""
    return '"' + name.replace('"', '""') + '"'


def connect(*, threads: int | None = None, memory_limit: str | None = None) -> Any:
    """The engine in memory. What it spills to disk is for its owner alone, and gone with the connection."""
    # in the system's temporary folder, never in the folder the user happens to stand in
    folder = private_folder()
    given = {"temp_directory": str(folder.path), "threads": threads, "memory_limit": memory_limit}
    config: dict[str, Any] = {option: chosen for option, chosen in given.items() if chosen is not None}
    connection = duckdb.connect(":memory:", config=config)
    remove_with(connection, folder)
    return connection


def open_source(
    source: object, *, threads: int | None = None, memory_limit: str | None = None, need_rows: bool = True
) -> Relation:
    """Open a file or frame for reading; refuse what is missing, empty or cut off.

    >>> open_source({"code": np.array(["05"], dtype=object), "x": np.array([1.5])}).columns
    ('code', 'x')
    """
    connection = connect(threads=threads, memory_limit=memory_limit)
    kept: list[object] = []
    decimal = "."
    if isinstance(source, FixedWidth):
        where, sql, decimal = str(source.path), _fixed_width_sql(source), source.decimal
    elif isinstance(source, Delimited):
        where, sql, decimal = str(source.path), _delimited_sql(source), source.decimal
    elif (book := _workbook(source)) is not None:
        where, columns = read_sheet(book)
        kept.append(_register(connection, columns, where))
        shown = ", ".join(f"nullif({c}, '') AS {c}" for c in map(identifier, columns))
        sql = f"SELECT {shown} FROM given"
    elif isinstance(source, str | Path):
        where, sql = str(source), _file_sql(Path(source))
    else:
        where, sql = f"the {type(source).__name__}", "SELECT * FROM given"
        kept.append(_register(connection, source))
    with readable(where):
        connection.execute(f"CREATE TEMP VIEW data AS {sql}")
        described = connection.execute("DESCRIBE data").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    relation = Relation(connection, "data", types, where, decimal, keep_alive=kept)
    if need_rows and not relation.query("SELECT 1 FROM data LIMIT 1"):
        raise EmptyData("there are no rows", where=where, hint="a table needs at least one row of data.")
    return relation


def file_source(
    path: Path, *, delimiter: str | None = None, decimal: str = ".", encoding: str = "utf-8", sheet: str | None = None
) -> Path | Workbook | Delimited:
    """A file of the user with what its kind of reader must know.

    >>> file_source(Path("firms.xlsx"), delimiter=";")
    Workbook(path=PosixPath('firms.xlsx'), sheet=None)
    """
    if path.suffix.lower() in EXCEL:
        return Workbook(path=path, sheet=sheet)
    if path.suffix.lower() in PARQUET:
        return path
    return Delimited(path=path, delimiter=delimiter, decimal=decimal, encoding=encoding)


def _workbook(source: object) -> Workbook | None:
    """The Excel file a source is, if it is one."""
    if isinstance(source, str | Path) and Path(source).suffix.lower() in EXCEL:
        source = Workbook(path=Path(source))
    if not isinstance(source, Workbook):
        return None
    _refuse_missing(source.path)
    return source


def _register(connection: Any, source: object, where: str = "the dict of columns") -> object:
    module = type(source).__module__.split(".")[0]
    if isinstance(source, Mapping):
        given: object = {str(k): _column(v) for k, v in source.items()}
        if len({len(v) for v in given.values()}) > 1:  # type: ignore[attr-defined]
            raise BadOption("the columns have different lengths", hint="give one value per row in every column.")
        if not given or not len(next(iter(given.values()))):  # type: ignore[attr-defined]
            raise EmptyData("there are no rows", where=where, hint="give at least one row.")
    elif module == "pandas":
        given = source
    elif hasattr(source, "__arrow_c_stream__"):
        given = _Stream(source)
    else:
        raise BadOption(
            f"cannot read a {type(source).__name__} as data",
            hint="give a path, a pandas or polars frame, an Arrow table, or a dict of columns.",
        )
    with readable(f"the {type(source).__name__}"):
        connection.register("given", given)
    return given


def _column(values: Any) -> npt.NDArray[Any]:
    array = np.ascontiguousarray(values)  # the engine cannot read a reversed view
    return array.astype(object) if array.dtype.kind == "U" else array


class _Stream:
    """Anything with an Arrow stream, wrapped so that DuckDB takes it by the stream and needs no pyarrow."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.source.__arrow_c_stream__(requested_schema)


def _file_sql(path: Path) -> str:
    text = str(path)
    suffix = path.suffix.lower()
    _refuse_missing(path)
    if suffix in PARQUET:
        return f"SELECT * FROM read_parquet({literal(text)})"
    if suffix in TEXT:
        return _delimited_sql(Delimited(path=path))
    raise BadOption(
        f"files ending in {suffix or 'nothing'} are not read",
        where=text,
        hint="give .parquet, .csv, .tsv, .txt or .xlsx.",
    )


def _refuse_missing(path: Path) -> None:
    if not any(c in str(path) for c in "*?[") and not os.path.exists(path):
        near = [p.name for p in sorted(path.parent.glob("*"))] if path.parent.is_dir() else []
        found = f"files there: {listed(near)}." if near else "check the path."
        raise UnreadableFile("there is no such file", where=str(path), hint=found)


def _delimited_sql(source: Delimited) -> str:
    if not os.path.exists(source.path) and not any(c in str(source.path) for c in "*?["):
        return _file_sql(source.path)
    if source.path.is_dir():
        hint = "name a file in it, or several by a pattern such as folder/*.csv."
        raise UnreadableFile("this is a folder, not a file", where=str(source.path), hint=hint)
    if source.path.is_file() and source.path.stat().st_size == 0:
        raise EmptyData("the file is empty", where=str(source.path), hint="was it written to the end?")
    names, delimiter, skipped = source.names, source.delimiter or ";", 0
    if names is None:
        names, delimiter, skipped = _header(source)
    columns = ", ".join(f"{literal(n)}: 'VARCHAR'" for n in names)
    # Nothing is left to guessing, which takes a data row for the column names when a line is too short or too long.
    return (
        f"SELECT * FROM read_csv({literal(str(source.path))}, columns = {{{columns}}}, delim = {literal(delimiter)}, "
        f"quote = '\"', escape = '\"', header = {str(source.names is None).lower()}, skip = {skipped}, "
        f"auto_detect = false, {_encoding(source.encoding)})"
    )


def _header(source: Delimited) -> tuple[tuple[str, ...], str, int]:
    """Names of the columns from the first line, the separator, and how many blank lines come before."""
    where = str(source.path)
    if source.delimiter and (len(source.delimiter) > 1 or source.delimiter in '"\r\n\0'):
        raise BadOption("the separator is not one visible character or a tab", hint='for example ";".')
    lines = _first_lines(source)
    skipped = next((i for i, line in enumerate(lines) if line.strip()), None)
    if skipped is None:
        raise EmptyData("the file is empty", where=where, hint="was it written to the end?")
    head = lines[skipped]
    if re.search(r"[\x00-\x08\x0e-\x1f]", head):
        raise _no_text(where)
    delimiter = source.delimiter or max(DELIMITERS, key=head.count)
    try:
        (given,) = csv.reader([head], delimiter=delimiter)
    except csv.Error as e:
        raise UnreadableFile("the first line holds no column names", where=where, hint="is it a text file?") from e
    return tuple(unique_names(given)), delimiter, skipped


def _first_lines(source: Delimited) -> list[str]:
    where = str(source.path)
    with readable(where), connect() as connection:
        try:
            found = connection.execute(f"SELECT line FROM {_lines(source.path, source.encoding)} LIMIT 100").fetchall()
        except duckdb.InvalidInputException as e:
            if "Expected Number of Columns" in str(e):  # the control character that separates nothing in a text
                raise _no_text(where) from e
            raise
    return [line or "" for (line,) in found]


def _no_text(where: str) -> UnreadableFile:
    return UnreadableFile("the file is not plain text", where=where, hint="is it of the kind its name says?")


def _lines(path: Path, encoding: str) -> str:
    """A text file as one column of whole lines."""
    return (
        f"read_csv({literal(str(path))}, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '', "
        f"header = false, auto_detect = false, {_encoding(encoding)})"
    )


def _fixed_width_sql(source: FixedWidth) -> str:
    if not os.path.exists(source.path):
        raise UnreadableFile("there is no such file", where=str(source.path), hint="check the path.")
    fields = ", ".join(
        f'trim(substring(line, {first}, {width})) AS "{name}"' for name, (first, width) in source.fields.items()
    )
    return f"SELECT {fields} FROM {_lines(source.path, source.encoding)} WHERE trim(line) <> ''"


def _encoding(name: str) -> str:
    """The reader's option for a text encoding."""
    if name not in ENCODINGS:
        raise BadOption(f"encoding {name!r} is not known", hint=f"one of {listed(ENCODINGS)}.")
    return f"encoding = {literal(name)}"
