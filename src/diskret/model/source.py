"""The door: any user's data, file or frame, opened for reading.

Files (Parquet, CSV, fixed width) and frames (pandas, polars, Arrow, anything with an Arrow stream, dicts of columns) become
one thing, a relation in an embedded DuckDB. Text columns of CSV files stay text until somebody asks for a number, so
that a code ``05111`` keeps its zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption, EmptyData, MissingColumn, NotANumber, NotFinite, UnreadableFile, listed

PARQUET = {".parquet", ".pq"}
TEXT = {".csv", ".tsv", ".txt", ".gz", ".zst"}


@dataclass(frozen=True)
class FixedWidth:
    """A fixed-width text file: for each column its first character (from 1) and its width."""

    path: Path
    fields: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Delimited:
    """A delimited text file with what its reader must know; column names only where the file has no header line."""

    path: Path
    delimiter: str | None = None
    decimal: str = "."
    names: tuple[str, ...] | None = None


@dataclass
class Relation:
    """Data opened in a connection: name of the view, columns, and how to speak of it in messages."""

    connection: Any
    view: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    where: str
    decimal: str = "."
    keep_alive: list[object] = field(default_factory=list, repr=False)

    def require(self, names: Sequence[str]) -> None:
        """Refuse with the names that are missing."""
        missing = [n for n in names if n not in self.columns]
        if missing:
            raise MissingColumn.named(missing, self.columns, self.where)

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        kind = self.types[self.columns.index(name)]
        return kind == "VARCHAR" or kind.startswith("ENUM")

    def number(self, name: str) -> str:
        """SQL for a column as a number; text that is none becomes NULL (and is refused by `refuse_bad_numbers`)."""
        column = quoted(name)
        if not self.is_text(name):
            return column
        text = f"trim({column}::VARCHAR)"
        if self.decimal == ",":
            text = f"replace(replace({text}, '.', ''), ',', '.')"
        return f"TRY_CAST({text} AS DOUBLE)"

    def code(self, name: str) -> str:
        """SQL for a column as classification codes: text without outer blanks, 5.0 as 5, blank as missing."""
        kind = self.types[self.columns.index(name)]
        column = quoted(name)
        if kind in ("DOUBLE", "FLOAT"):
            column = f"CASE WHEN {column} = round({column}) THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
        return f"nullif(trim(({column})::VARCHAR), '')"

    def refuse_bad_numbers(self, names: Sequence[str]) -> None:
        """Refuse text, missing, infinite and undefined numbers, with the first rows."""
        for name in names:
            number = self.number(name)
            text = f"{quoted(name)}::VARCHAR"
            bad = f"{number} IS NULL OR isnan(({number})::DOUBLE) OR isinf(({number})::DOUBLE)"
            found = self.query(f"SELECT count(*) FILTER (WHERE {bad}) FROM {self.view}")[0][0]
            if not found:
                continue
            rows = self.query(
                f"SELECT n, t FROM (SELECT row_number() OVER () n, {text} t, {bad} b FROM {self.view}) WHERE b LIMIT 10"
            )
            numbers = [int(n) for n, _ in rows]
            words = [t for _, t in rows if t is not None and t.strip().lower() not in ("", "nan", "inf", "-inf")]
            if self.is_text(name) and words:
                raise NotANumber.in_column(name, words[0], numbers, self.where)
            raise NotFinite(
                f"column {name!r} has {found} missing, undefined or infinite numbers",
                where=f"{self.where}, rows {listed(numbers)}",
                hint="fill them, or leave the rows out.",
            )

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


@contextlib.contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the engine's complaints about a file into ours."""
    try:
        yield
    except duckdb.OutOfMemoryException as e:
        raise UnreadableFile("not enough memory or disk to read the data", where=where, hint=str(e).splitlines()[0]) from e
    except duckdb.Error as e:
        raise UnreadableFile(
            "the data cannot be read: " + str(e).splitlines()[0][:300],
            where=where,
            hint="is the file complete, and of the kind its name says?",
        ) from e
    except UnicodeDecodeError as e:
        raise UnreadableFile("the data are not UTF-8 text", where=where, hint="save the file as UTF-8.") from e


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def open_source(
    source: object, *, threads: int | None = None, memory_limit: str | None = None, need_rows: bool = True
) -> Relation:
    """Open a file or frame for reading; refuse what is missing, empty or cut off.

    >>> open_source({"code": np.array(["05"], dtype=object), "x": np.array([1.5])}).columns
    ('code', 'x')
    """
    config: dict[str, Any] = {"preserve_insertion_order": True}
    if threads is not None:
        config["threads"] = threads
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    connection = duckdb.connect(":memory:", config=config)
    kept: list[object] = []
    decimal = "."
    if isinstance(source, FixedWidth):
        where, sql = str(source.path), _fixed_width_sql(source)
    elif isinstance(source, Delimited):
        where, sql, decimal = str(source.path), _delimited_sql(source), source.decimal
    elif isinstance(source, str | Path):
        where, sql = str(source), _file_sql(Path(source))
    else:
        where, sql = f"the {type(source).__name__}", "SELECT * FROM given"
        kept.append(_register(connection, source))
    with readable(where):
        connection.execute(f"CREATE TEMP VIEW data AS {sql}")
        described = connection.execute("DESCRIBE data").fetchall()
    columns = tuple(str(row[0]) for row in described)
    relation = Relation(connection, "data", columns, tuple(str(row[1]) for row in described), where, decimal, kept)
    if need_rows and not relation.query("SELECT 1 FROM data LIMIT 1"):
        raise EmptyData("there are no rows", where=where, hint="a table needs at least one row of data.")
    return relation


def _register(connection: Any, source: object) -> object:
    module = type(source).__module__.split(".")[0]
    if isinstance(source, Mapping):
        given: object = {str(k): _column(v) for k, v in source.items()}
        if len({len(v) for v in given.values()}) > 1:  # type: ignore[attr-defined]
            raise BadOption("the columns have different lengths", hint="give one value per row in every column.")
        if not given or not len(next(iter(given.values()))):  # type: ignore[attr-defined]
            raise EmptyData("there are no rows", where="the dict of columns", hint="give at least one row.")
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
    array = np.asarray(values)
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
    if not any(c in text for c in "*?[") and not path.exists():
        near = [p.name for p in sorted(path.parent.glob("*"))] if path.parent.is_dir() else []
        found = f"files there: {listed(near)}." if near else "check the path."
        raise UnreadableFile("there is no such file", where=text, hint=found)
    if suffix in PARQUET:
        return f"SELECT * FROM read_parquet({literal(text)})"
    if suffix in TEXT:
        return _delimited_sql(Delimited(path))
    raise BadOption(
        f"files ending in {suffix or 'nothing'} are not read", where=text, hint="give .parquet, .csv, .tsv or .txt."
    )


def _delimited_sql(source: Delimited) -> str:
    if not source.path.exists() and not any(c in str(source.path) for c in "*?["):
        return _file_sql(source.path)
    if source.path.is_file() and source.path.stat().st_size == 0:
        raise EmptyData("the file is empty", where=str(source.path), hint="was it written to the end?")
    options = ["all_varchar = true", f"header = {'false' if source.names else 'true'}"]
    if source.delimiter:
        options.append(f"delim = {literal(source.delimiter)}")
    if source.names:
        options.append("names = [" + ", ".join(literal(n) for n in source.names) + "]")
    return f"SELECT * FROM read_csv({literal(str(source.path))}, {', '.join(options)})"


def _fixed_width_sql(source: FixedWidth) -> str:
    if not source.path.exists():
        return _file_sql(source.path.with_suffix(".txt"))
    fields = ", ".join(
        f"trim(substring(line, {first}, {width})) AS {quoted(name)}" for name, (first, width) in source.fields.items()
    )
    lines = (
        f"read_csv({literal(str(source.path))}, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', "
        "escape = '', header = false, auto_detect = false)"
    )
    return f"SELECT {fields} FROM {lines}"
