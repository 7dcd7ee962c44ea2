"""The door: any user's data, file or frame, opened for reading.

Files (Parquet, CSV, Excel, fixed width) and frames (pandas, polars, Arrow, anything with an Arrow stream, dicts of
columns) become one thing, a relation in an embedded DuckDB. Text columns of CSV files stay text until somebody asks for
a number, so that a code ``05111`` keeps its zero.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from diskret.model.engine import connect, file_listing, identifier, literal, readable
from diskret.model.errors import BadOption, EmptyData, MissingColumn, NotANumber, NotFinite, UnreadableFile, listed
from diskret.model.places import files_meant, refuse_address
from diskret.model.sheets import Workbook, read_sheet, unique_names
from diskret.model.spelling import plain, plain_sql
from diskret.model.unpivot import Unpivoted, unpivot_sql

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm"}
TEXT = {".csv", ".tsv", ".txt", ".gz", ".zst"}
YES = ("1", "true", "t", "yes", "y", "ja", "j")
WHOLE = {"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "BOOLEAN"}
ENCODINGS = ("utf-8", "latin-1", "utf-16")
DELIMITERS = ",;\t|"
LONGEST_HEAD = 10
"""Lines that the names of columns may take."""
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
    """A delimited text file with what its reader must know; column names only where the file has no header line.

    With ``hive`` folders called ``name=code`` on the way to the file are columns, too.
    """

    path: Path
    delimiter: str | None = None
    decimal: str = "."
    names: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    hive: bool = False


@dataclass(frozen=True, kw_only=True)
class Parquet:
    """A Parquet file; with ``hive`` folders called ``name=code`` on the way to it are columns, too."""

    path: Path
    hive: bool = False


@dataclass(frozen=True, kw_only=True)
class Normalised:
    """Any source with its texts and names of columns as they look: see `diskret.model.spelling.plain`."""

    source: object


def normalised(source: object) -> Normalised:
    """A source with its texts as they look.

    >>> normalised({"a": ["x "]})
    Normalised(source={'a': ['x ']})
    """
    return source if isinstance(source, Normalised) else Normalised(source=source)


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

    def kept_where(self, view: str, condition: str) -> Relation:
        """The rows of which a condition holds, as a view of this name."""
        self.query(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT * FROM {self.view} WHERE {condition}")
        return replace(self, view=view)

    # --- columns as SQL ----------------------------------------------------------------------------------------------

    def column(self, name: str) -> str:
        """A column as SQL, with its view: joined tables and results may have columns of the same name."""
        return f"{self.view}.{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

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
        written = self.written(name)
        return f"TRY_CAST({written} AS DOUBLE)" if self.is_text(name) else written

    def written(self, name: str) -> str:
        """A column as its numbers are written: text with a decimal point and nothing else, or numbers of its type.

        A number of single precision means the decimal it prints as, not the double near it.
        """
        if self.types[name].upper() == "FLOAT":
            return f"CAST(CAST({self.column(name)} AS STRING) AS DOUBLE)"
        if not self.is_text(name):
            return self.column(name)
        text = f"trim(CAST({self.column(name)} AS STRING))"
        if self.decimal == ",":
            # Points only between groups of three digits: 1.234,5 is a number, 1.5 a mistake, not fifteen.
            rest = f"regexp_replace({text}, '^[+-]?[0-9]{{1,3}}([.][0-9]{{3}})+(,[0-9]*)?$', '')"
            grouped = f"{text} NOT LIKE '%.%' OR {rest} = ''"
            text = f"CASE WHEN {grouped} THEN replace(replace({text}, '.', ''), ',', '.') END"
        return text

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


def open_source(
    source: object, *, threads: int | None = None, memory_limit: str | None = None, need_rows: bool = True
) -> Relation:
    """Open a file or frame for reading; refuse what is missing, empty or cut off.

    >>> open_source({"code": np.array(["05"], dtype=object), "x": np.array([1.5])}).columns
    ('code', 'x')
    """
    connection = connect(threads=threads, memory_limit=memory_limit)
    layers, source = layers_of(source)
    given = _opened(connection, source)
    with readable(given.where):
        named = f" ({', '.join(map(identifier, unique_names(given.names)))})" if given.names else ""
        connection.execute(f"CREATE TEMP VIEW data{named} AS {given.sql}")
        described = connection.execute("DESCRIBE data").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    relation = Relation(connection, "data", types, given.where, given.decimal, keep_alive=given.kept)
    for number, layer in enumerate(layers):
        relation = _normalised(relation) if isinstance(layer, Normalised) else _unpivoted(relation, layer, number)
    if need_rows and not relation.query(f"SELECT 1 FROM {relation.view} LIMIT 1"):
        raise EmptyData("there are no rows", where=given.where, hint="a table needs at least one row of data.")
    return relation


def layers_of(source: object) -> tuple[list[Normalised | Unpivoted], object]:
    """What lies around the data, the innermost first, and the data.

    >>> layers_of(normalised({"a": ["x "]}))
    ([Normalised(source={'a': ['x ']})], {'a': ['x ']})
    """
    layers: list[Normalised | Unpivoted] = []
    while isinstance(source, Normalised | Unpivoted):
        if isinstance(source, Normalised):  # what looks as it should looks so once more
            layers = [each for each in layers if not isinstance(each, Normalised)]
        layers.insert(0, source)
        source = source.source
    return layers, source


def _unpivoted(data: Relation, asked: Unpivoted, number: int) -> Relation:
    """The same with a view that has a row for every entry of some columns."""
    statement, types = unpivot_sql(data, asked)
    view = f"unpivoted_data_{number}"
    data.query(f"CREATE TEMP VIEW {view} AS {statement}")
    return replace(data, view=view, types=types)


def _normalised(data: Relation) -> Relation:
    """The same with a view of every text as it looks; the engine makes it, row by row, where a column is asked for."""
    names = dict(zip(data.columns, unique_names([plain(name) for name in data.columns]), strict=True))
    columns = (plain_sql(data.column(n)) if data.is_text(n) else data.column(n) for n in names)
    shown = ", ".join(f"{sql} AS {identifier(new)}" for sql, new in zip(columns, names.values(), strict=True))
    data.query(f"CREATE TEMP VIEW normalised_data AS SELECT {shown} FROM {data.view}")
    types = {new: "VARCHAR" if data.is_text(n) else data.types[n] for n, new in names.items()}
    return replace(data, view="normalised_data", types=types)


@dataclass(frozen=True, kw_only=True)
class _Given:
    """What was given to be opened: a statement that selects it, and how to speak of it.

    ``names`` are those the user knows its columns by, where the engine would number equal ones its own way.
    """

    where: str
    sql: str
    decimal: str = "."
    names: Sequence[str] = ()
    kept: list[object] = field(default_factory=list)


def _opened(connection: Any, source: object) -> _Given:
    if isinstance(source, str):
        refuse_address(source)
    if isinstance(source, str | Path):
        source = _by_ending(Path(source))
    if isinstance(source, FixedWidth):
        return _Given(where=str(source.path), sql=_fixed_width_sql(source), decimal=source.decimal)
    if isinstance(source, Delimited):
        return _Given(where=str(source.path), sql=_delimited_sql(connection, source), decimal=source.decimal)
    if isinstance(source, Parquet):
        return _parquet(connection, source)
    if isinstance(source, Workbook):
        where, columns = read_sheet(source)
        kept = [_register(connection, columns, where)]
        shown = ", ".join(f"nullif({c}, '') AS {c}" for c in map(identifier, columns))
        return _Given(where=where, sql=f"SELECT {shown} FROM given", kept=kept)
    where, names = f"the {type(source).__name__}", _names_of(source)
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        raise UnreadableFile("the name of a column is no text", where=where, hint="rename the column.")
    return _Given(where=where, sql="SELECT * FROM given", names=names, kept=[_register(connection, source)])


def file_source(
    path: Path, *, delimiter: str | None = None, decimal: str = ".", encoding: str = "utf-8", sheet: str | None = None,
    hive: bool = False,
) -> Parquet | Workbook | Delimited:  # fmt: skip
    """A file of the user with what its kind of reader must know.

    >>> file_source(Path("firms.xlsx"), delimiter=";")
    Workbook(path=PosixPath('firms.xlsx'), sheet=None)
    """
    if path.suffix.lower() in EXCEL:
        return Workbook(path=path, sheet=sheet)
    if path.suffix.lower() in PARQUET:
        return Parquet(path=path, hive=hive)
    return Delimited(path=path, delimiter=delimiter, decimal=decimal, encoding=encoding, hive=hive)


def _by_ending(path: Path) -> Parquet | Workbook | Delimited:
    """A file of which only the name is known."""
    suffix = path.suffix.lower()
    if suffix in PARQUET | EXCEL | TEXT:
        return file_source(path)
    files_meant(path)
    raise BadOption(
        f"files ending in {suffix or 'nothing'} are not read",
        where=str(path),
        hint="give .parquet, .csv, .tsv, .txt or .xlsx.",
    )


def _names_of(source: object) -> list[str]:
    """The names of a frame's columns; none if it does not tell them."""
    if isinstance(source, Mapping):
        return [str(name) for name in source]
    # an Arrow table calls its columns themselves so; a pandas frame would give a column of that name
    told = "column_names" if type(source).__module__.startswith("pyarrow") else "columns"
    return [str(name) for name in getattr(source, told, ())]


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


# --- files -----------------------------------------------------------------------------------------------------------


def _parquet(connection: Any, source: Parquet) -> _Given:
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
    folders = _folder_columns(files, source.hive, names, where)
    sql = f"SELECT * FROM read_parquet({file_listing(files, folders=source.hive)}, {folders})"
    return _Given(where=where, sql=sql, names=names)


def _folder_columns(files: Sequence[Path], hive: bool, own: Sequence[str], where: str) -> str:
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


def _delimited_sql(connection: Any, source: Delimited) -> str:
    files = files_meant(source.path)
    for file in files:
        if file.stat().st_size == 0:
            raise EmptyData("the file is empty", where=str(file), hint="was it written to the end?")
    names, delimiter, skipped = source.names, source.delimiter or ";", 0
    if names is None:
        names, delimiter, skipped = _shared_header(connection, source, files)
    columns = ", ".join(f"{literal(n)}: 'VARCHAR'" for n in names)
    folders = _folder_columns(files, source.hive, names, str(source.path))
    # Nothing is left to guessing, which takes a data row for the column names when a line is too short or too long.
    return (
        f"SELECT * FROM read_csv({file_listing(files, folders=source.hive)}, "
        f"columns = {{{columns}}}, delim = {literal(delimiter)}, "
        f"quote = '\"', escape = '\"', header = {str(source.names is None).lower()}, skip = {skipped}, "
        f"auto_detect = false, {_encoding(source.encoding)}, {folders})"
    )


def _shared_header(connection: Any, source: Delimited, files: Sequence[Path]) -> tuple[tuple[str, ...], str, int]:
    """The header of all files; their columns are told apart by their place, so it must be the same."""
    first, *others = (_header(connection, replace(source, path=file)) for file in files)
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            raise UnreadableFile(
                "the first lines of the files differ",
                where=f"{files[0]} and {file}",
                hint="give all files that fit one pattern the same columns, in the same order.",
            )
    return first


def _header(connection: Any, source: Delimited) -> tuple[tuple[str, ...], str, int]:
    """Names of the columns from the first line, the separator, and how many blank lines come before."""
    where = str(source.path)
    if source.delimiter and (len(source.delimiter) > 1 or source.delimiter in '"\r\n\0'):
        raise BadOption("the separator is not one visible character or a tab", hint='for example ";".')
    lines = _first_lines(connection, source)
    skipped = next((i for i, line in enumerate(lines) if line.strip()), None)
    if skipped is None:
        raise EmptyData("the file is empty", where=where, hint="was it written to the end?")
    head = lines[skipped]
    if re.search(r"[\x00-\x08\x0e-\x1f]", head):
        raise _no_text(where)
    delimiter = source.delimiter or max(DELIMITERS, key=head.count)
    try:
        # a name in quotes may hold line breaks; one that goes on and on is a quotation mark nobody closed
        rest = (f"{line}\n" for line in lines[skipped : skipped + LONGEST_HEAD])
        given = next(csv.reader(rest, delimiter=delimiter, strict=True))
    except csv.Error as e:
        hint = "is it a text file, and every quotation mark closed?"
        raise UnreadableFile("the first line holds no column names", where=where, hint=hint) from e
    return tuple(unique_names([name.strip() for name in given])), delimiter, skipped


def _first_lines(connection: Any, source: Delimited) -> list[str]:
    where = str(source.path)
    with readable(where):
        try:
            lines = _lines([source.path], source.encoding)
            found = connection.execute(f"SELECT line FROM {lines} LIMIT 100").fetchall()
        except duckdb.InvalidInputException as e:
            if "Expected Number of Columns" in str(e):  # the control character that separates nothing in a text
                raise _no_text(where) from e
            raise
    return [line or "" for (line,) in found]


def _no_text(where: str) -> UnreadableFile:
    return UnreadableFile("the file is not plain text", where=where, hint="is it of the kind its name says?")


def _lines(files: Sequence[Path], encoding: str) -> str:
    """Text files as one column of whole lines."""
    return (
        f"read_csv({file_listing(files)}, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '', "
        f"header = false, auto_detect = false, hive_partitioning = false, {_encoding(encoding)})"
    )


def _fixed_width_sql(source: FixedWidth) -> str:
    fields = ", ".join(
        f"trim(substring(t.line, {first}, {width})) AS {identifier(name)}"
        for name, (first, width) in source.fields.items()
    )
    return f"SELECT {fields} FROM {_lines(files_meant(source.path), source.encoding)} AS t WHERE trim(t.line) <> ''"


def _encoding(name: str) -> str:
    """The reader's option for a text encoding."""
    if name not in ENCODINGS:
        raise BadOption(f"encoding {name!r} is not known", hint=f"one of {listed(ENCODINGS)}.")
    return f"encoding = {literal(name)}"
