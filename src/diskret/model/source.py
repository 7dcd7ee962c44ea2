"""The door: any user's data, file or frame, opened for reading.

Files (Parquet, CSV, Excel, fixed width) and frames (pandas, polars, Arrow, anything with an Arrow stream, dicts of
columns) become one thing, a relation in an embedded DuckDB. Text columns of CSV files stay text until somebody asks for
a number, so that a code ``05111`` keeps its zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from diskret.model.delimited import Delimited as Delimited
from diskret.model.delimited import FixedWidth as FixedWidth
from diskret.model.engine import connect, identifier, literal, readable
from diskret.model.errors import EmptyData, MissingColumn, NotANumber, NotFinite, listed
from diskret.model.numerals import (
    Evidence,
    Numerals,
    clear_at_first,
    decided,
    evidence,
    evidence_of,
    first_look,
    signs_of,
)
from diskret.model.opened import EXCEL as EXCEL
from diskret.model.opened import PARQUET as PARQUET
from diskret.model.opened import TEXT as TEXT
from diskret.model.opened import Parquet as Parquet
from diskret.model.opened import file_source as file_source
from diskret.model.opened import opened
from diskret.model.periods import InPeriods
from diskret.model.sheets import unique_names
from diskret.model.spelling import plain, plain_sql
from diskret.model.unpivot import Unpivoted, unpivot_plan

T = TypeVar("T")
YES = ("1", "true", "t", "yes", "y", "ja", "j")
WHOLE = {"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "BOOLEAN"}
MOST_ROWS = 50
"""Rows that an error points to."""
UNDEFINED = ("", "nan", "inf", "-inf", "+inf", "infinity", "-infinity")


@dataclass(frozen=True, kw_only=True)
class Normalised:
    """Any source with its texts and names of columns as they look: see `diskret.model.spelling.plain`."""

    source: object


Layer = Normalised | InPeriods | Unpivoted
"""What lies around the data and changes how they look."""


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
    decimal: str | None = "."
    """The decimal sign of numbers in text; None: to be found."""
    quote: str = '"'
    row_number: str = "row_number() OVER ()"
    found: Mapping[str, Any] = field(default_factory=dict)
    """What was found of how the file is to be read, by the keys a job has for it."""
    thousands: str | None = None
    """The sign between thousands in text."""
    native: Mapping[str, str] = field(default_factory=dict)
    """Columns of text that tell which entries of another are numbers of a sheet, not text that looks like one."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Columns that tell which entries of another stand for a missing value: codes, but no numbers."""
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By column labels of codes that the file itself tells."""
    numerals: dict[str, Numerals] = field(default_factory=dict, repr=False)
    """How numbers are written in columns where that was found."""
    keep_alive: list[object] = field(default_factory=list, repr=False)
    numbered: Relation | None = field(default=None, repr=False)
    """The same rows with the numbers they have in the data, where some were left out."""

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

    def kept_where(self, condition: Callable[[Relation], str], view: str, numbered: str) -> Relation:
        """The rows of which a condition holds, as a view; by another they keep the numbers they have in the data."""
        number = "diskret_row"
        while self.numbered is None and number in {name.lower() for name in self.columns}:
            number += "_"
        counted = self.numbered or replace(self, row_number=number)
        rows = f"(SELECT {self.row_number} AS {number}, {self.view}.* FROM {self.view}) AS {self.view}"
        source = self.numbered.view if self.numbered else rows
        self.query(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT * FROM {self.view} WHERE {condition(self)}")
        self.query(f"CREATE OR REPLACE TEMP VIEW {numbered} AS SELECT * FROM {source} WHERE {condition(counted)}")
        return replace(self, view=view, numbered=replace(counted, view=numbered, numbered=None))

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
        if name in self.absent:
            return f"CASE WHEN NOT {self.is_absent(name)} THEN {self._signs_read(name)} END"
        return self._signs_read(name)

    def _signs_read(self, name: str) -> str:
        if self.types[name].upper() == "FLOAT":
            return f"CAST(CAST({self.column(name)} AS STRING) AS DOUBLE)"
        if not self.is_text(name):
            return self.column(name)
        text = self._bare(name)
        plain = self.numerals_of(name).plain(text)
        return f"CASE WHEN {self.is_native(name)} THEN {text} ELSE {plain} END" if name in self.native else plain

    def _bare(self, name: str) -> str:
        return f"trim(CAST({self.column(name)} AS STRING))"

    def numerals_of(self, name: str) -> Numerals:
        """How numbers are written in a column of text: as is said, or as the whole column tells; else asked."""
        said = Numerals.said(self.decimal, self.thousands)
        if said is not None:
            return said
        if name not in self.numerals:
            (look, *_) = self.query(f"SELECT {', '.join(first_look(self.as_text(name)))} FROM {self.view}")
            if clear_at_first(look):
                self.numerals[name] = Numerals()
                return self.numerals[name]
            own = self._evidence([name])[name]
            others = [] if own.numerals or own.mixed else [n for n in self.types if self.is_text(n) and n != name]
            self.numerals[name] = decided(name, own, self._evidence(others), self.where)
        return self.numerals[name]

    def _evidence(self, names: Sequence[str]) -> dict[str, Evidence]:
        """How numbers look in columns of text, by one pass over all rows."""
        if not names:
            return {}
        signs = ", ".join(f"{signs_of(self.as_text(name))} AS c{i}" for i, name in enumerate(names))
        asked = [each for i in range(len(names)) for each in evidence(f"c{i}")]
        (row, *_) = self.query(f"SELECT {', '.join(asked)} FROM (SELECT {signs} FROM {self.view}) AS told")
        each = len(row) // len(names)
        return {name: evidence_of(row[i * each : (i + 1) * each]) for i, name in enumerate(names)}

    @property
    def told(self) -> tuple[str, ...]:
        """Columns that nobody asks for by their names: they tell what entries of others are."""
        return (*self.native.values(), *self.absent.values())

    def is_absent(self, name: str) -> str:
        """The condition that an entry of a column stands for a missing value."""
        return f"coalesce({self.column(self.absent[name])}, false)" if name in self.absent else "false"

    def is_native(self, name: str) -> str:
        """The condition that an entry of a column is a number of a sheet, and no text."""
        return f"coalesce({self.column(self.native[name])}, false)" if name in self.native else "false"

    def as_text(self, name: str) -> str:
        """Entries of a column that are text; numbers of a sheet say nothing about how text writes them."""
        text = self._bare(name)
        return f"(CASE WHEN NOT {self.is_native(name)} THEN {text} END)" if name in self.native else text

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

    def rows_where(self, condition: Callable[[Relation], str], most: int = MOST_ROWS) -> list[int]:
        """Numbers of the first rows of which a condition holds, counted from 1 as they stand in the data."""
        data = self.numbered or self
        numbered = f"SELECT {data.row_number} AS n, {condition(data)} AS b FROM {data.view}"
        return [int(n) for (n,) in data.query(f"SELECT n FROM ({numbered}) AS r WHERE b ORDER BY n LIMIT {most}")]

    def refuse_bad_numbers(self, names: Sequence[str], blanks: bool = False) -> None:
        """Refuse text, missing, infinite and undefined numbers, with the first rows; ``blanks`` may be allowed."""
        for name in names:

            def bad(data: Relation, name: str = name) -> str:
                filled = f" AND {data.code(name)} IS NOT NULL" if blanks else ""
                return f"({data.bad_number(name)}{filled})"

            found = self.query(f"SELECT count(*) FROM {self.view} WHERE {bad(self)}")[0][0]
            if found:
                self._refuse(name, bad, int(found))

    def bad_number(self, name: str) -> str:
        """The condition that a column holds no finite number."""
        number = f"CAST({self.number(name)} AS DOUBLE)"
        return f"({number} IS NULL OR isnan({number}) OR abs({number}) = CAST('Infinity' AS DOUBLE))"

    def _refuse(self, name: str, bad: Callable[[Relation], str], found: int) -> None:
        data = self.numbered or self
        text = f"CASE WHEN NOT {data.is_absent(name)} THEN CAST({data.column(name)} AS STRING) END"
        numbered = f"SELECT {data.row_number} AS n, {text} AS t, {bad(data)} AS b FROM {data.view}"
        rows = self.query(f"SELECT n, t FROM ({numbered}) AS r WHERE b ORDER BY n LIMIT {MOST_ROWS}")
        numbers = [int(n) for n, _ in rows]
        words = [t for _, t in rows[:10] if t is not None and t.strip().lower() not in UNDEFINED]
        if self.is_text(name) and words:
            decimal = self.numerals_of(name).decimal
            raise NotANumber.in_column(name, words[0], numbers, self.where, decimal)
        raise NotFinite(
            f"column {name!r} has {found} missing, undefined or infinite {'number' if found == 1 else 'numbers'}",
            where=f"{self.where}, {'row' if len(numbers) == 1 else 'rows'} {listed(numbers[:10])}",
            hint="fill them, or leave the rows out.",
            rows=numbers,
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
    given = opened(connection, source)
    with readable(given.where):
        named = f" ({', '.join(map(identifier, unique_names(given.names)))})" if given.names else ""
        connection.execute(f"CREATE TEMP VIEW data{named} AS {given.sql}")
        described = connection.execute("DESCRIBE data").fetchall()
    hidden = {*given.native.values(), *given.absent.values()}
    types = {str(row[0]): str(row[1]) for row in described if str(row[0]) not in hidden}
    relation = Relation(
        connection, "data", types, given.where, given.decimal, keep_alive=given.kept, found=given.found,
        thousands=given.thousands, native=given.native, absent=given.absent, labels=given.labels,
    )  # fmt: skip
    for number, layer in enumerate(layers):
        relation = _layered(relation, layer, number)
    if need_rows and not relation.query(f"SELECT 1 FROM {relation.view} LIMIT 1"):
        raise EmptyData("there are no rows", where=given.where, hint="a table needs at least one row of data.")
    return relation


def layers_of(source: object) -> tuple[list[Layer], object]:
    """What lies around the data, the innermost first, and the data.

    >>> layers_of(normalised({"a": ["x "]}))
    ([Normalised(source={'a': ['x ']})], {'a': ['x ']})
    """
    layers: list[Layer] = []
    while isinstance(source, Layer):
        if isinstance(source, Normalised):  # what looks as it should looks so once more
            layers = [each for each in layers if not isinstance(each, Normalised)]
        layers.insert(0, source)
        source = source.source
    return layers, source


def _layered(data: Relation, layer: Layer, number: int) -> Relation:
    """The data as one more layer around them says."""
    if isinstance(layer, Normalised):
        return _normalised(data)
    return _in_periods(data, layer, number) if isinstance(layer, InPeriods) else _unpivoted(data, layer, number)


def _in_periods(data: Relation, asked: InPeriods, number: int) -> Relation:
    """The same with a view in which dates are codes of periods."""
    shown = [f"{sql} AS {identifier(name)}" for name, sql in asked.columns(data).items()]
    shown += [identifier(flag) for flag in data.told]
    view = f"data_in_periods_{number}"
    data.query(f"CREATE TEMP VIEW {view} AS SELECT {', '.join(shown)} FROM {data.view}")
    types = {name: "VARCHAR" if name in asked.periods else kind for name, kind in data.types.items()}
    native = {name: flag for name, flag in data.native.items() if name not in asked.periods}
    return replace(data, view=view, types=types, native=native)


def _unpivoted(data: Relation, asked: Unpivoted, number: int) -> Relation:
    """The same with a view that has a row for every entry of some columns."""
    kept, kind = unpivot_plan(data, asked)
    view, flag = f"unpivoted_data_{number}", f"{asked.value} native"
    text = [f"CAST({data.column(n)} AS STRING)" if kind == "VARCHAR" else data.column(n) for n in asked.columns]
    text = [f"CASE WHEN NOT {data.is_absent(n)} THEN {sql} END" for n, sql in zip(asked.columns, text, strict=True)]
    native, absent = ({n: own for n, own in each.items() if n in kept} for each in (data.native, data.absent))
    columns = [*map(data.column, (*kept, *native.values(), *absent.values()))]
    columns.append(f"unnest([{', '.join(map(literal, asked.columns))}]) AS {identifier(asked.into)}")
    columns.append(f"unnest([{', '.join(text)}]) AS {identifier(asked.value)}")
    if any(name in data.native for name in asked.columns):
        native[asked.value] = flag
        columns.append(f"unnest([{', '.join(map(data.is_native, asked.columns))}]) AS {identifier(flag)}")
    data.query(f"CREATE TEMP VIEW {view} AS SELECT {', '.join(columns)} FROM {data.view}")
    types = {name: data.types[name] for name in kept} | {asked.into: "VARCHAR", asked.value: kind}
    row = f"((row_number() OVER () - 1) // {len(asked.columns)} + 1)"
    return replace(data, view=view, types=types, native=native, absent=absent, numerals={}, row_number=row)


def _normalised(data: Relation) -> Relation:
    """The same with a view of every text as it looks; the engine makes it, row by row, where a column is asked for."""
    names = dict(zip(data.columns, unique_names([plain(name) for name in data.columns]), strict=True))
    columns = (plain_sql(data.column(n)) if data.is_text(n) else data.column(n) for n in names)
    shown = [f"{sql} AS {identifier(new)}" for sql, new in zip(columns, names.values(), strict=True)]
    shown += [identifier(flag) for flag in data.told]
    data.query(f"CREATE TEMP VIEW normalised_data AS SELECT {', '.join(shown)} FROM {data.view}")
    types = {new: "VARCHAR" if data.is_text(n) else data.types[n] for n, new in names.items()}

    def moved(given: Mapping[str, T]) -> dict[str, T]:
        return {names[n]: each for n, each in given.items()}

    return replace(
        data, view="normalised_data", types=types, numerals={}, native=moved(data.native), absent=moved(data.absent),
        labels=moved(data.labels),
    )  # fmt: skip
