"""Microdata in memory: named columns of equal length, in the order they came.

Numbers are float64 with NaN for missing; codes are text with None. Nothing is ever written into a column: each
protecting step gives back new records that share the columns it left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Ints
from diskret.model.coded import Coded, coded_columns
from diskret.model.engine import readable
from diskret.model.errors import BadOption, DiskretError, MissingColumn, listed
from diskret.model.framed import Frame, Framed
from diskret.model.kept import refuse_lost
from diskret.model.other_totals import warn_of_total_rows
from diskret.model.source import Relation, open_source

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Records(Mapping[str, Column]):
    """Columns by name; a mapping, so that ``pandas.DataFrame(dict(records))`` and any diskret function take it.

    >>> firms = read_records({"region": ["N", "S"], "turnover": [10.0, None]}, ["turnover"])
    >>> firms
    Records(2 rows: region, turnover)
    >>> firms["turnover"].tolist()
    [10.0, nan]
    """

    columns: Mapping[str, Column]
    where: str = "the records"

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(next(iter(self.columns.values()), ()))

    def with_columns(self, changed: Mapping[str, Column]) -> Records:
        """The same records with some columns changed or added."""
        return replace(self, columns={**self.columns, **changed})

    def with_only(self, names: Sequence[str]) -> Records:
        """The same records with these columns only."""
        self.require(names)
        return replace(self, columns={n: self.columns[n] for n in names})

    def without(self, names: Sequence[str]) -> Records:
        """The same records without some columns."""
        gone = {*names}
        return replace(self, columns={n: c for n, c in self.columns.items() if n not in gone})

    def take(self, kept: Bools | Ints | slice) -> Records:
        """Some of the records, or all in another order."""
        return replace(self, columns={n: c[kept] for n, c in self.columns.items()})

    def require(self, names: Sequence[str]) -> None:
        """Refuse with the names that are missing."""
        missing = [n for n in dict.fromkeys(names) if n not in self.columns]
        if missing:
            raise MissingColumn.named(missing, list(self.columns), self.where)

    def refuse(self, bad: Bools, what: str, hint: str, error: type[DiskretError] = BadOption) -> None:
        """Refuse records with the rows they stand in; nothing happens if none is bad."""
        if bad.any():
            rows = (np.flatnonzero(bad) + 1).tolist()
            raise error(what, where=f"{self.where}, rows {listed(rows)}", hint=hint)

    def classes(self, name: str, hint: str) -> Coded:
        """The classes of a column in which no record may be blank."""
        self.require([name])
        found = coded(self[name])
        warn_of_spellings(name, found.codes)
        self.refuse(found.index < 0, f"column {name!r} is blank", hint)
        return found

    def __repr__(self) -> str:
        return f"Records({self.rows} rows: {', '.join(self.columns)})"


def read_records(source: object, numbers: Sequence[str] = (), only: Sequence[str] | None = None) -> Records:
    """A file or frame in memory, or ``only`` some of its columns.

    ``numbers`` are read as numbers, text in them is refused, blanks are missing.
    """
    names = list(dict.fromkeys(numbers))
    if len(names) < len(numbers):
        raise BadOption("a column is named twice", where=listed(numbers), hint="name each column once.")
    if isinstance(source, Records):
        source.require(names)
        unread = {n: source[n] for n in names if source[n].dtype != np.float64}
        source = source if only is None else source.with_only(only)
        return source.with_columns(read_records(unread, list(unread)).columns) if unread else source
    relation = open_source(source)
    relation.require(names)
    if not isinstance(source, dict):
        warn_of_total_rows(relation, relation.columns if only is None else list(only))
    relation.refuse_bad_numbers(names, blanks=True)
    refuse_lost(relation, names)
    as_numbers, wanted = {*names}, list(relation.columns) if only is None else list(dict.fromkeys(only))
    relation.require(wanted)
    selected = ", ".join(f"{_read(relation, c, c in as_numbers)} AS c{i}" for i, c in enumerate(wanted))
    # one pass over the file for all columns; the engine keeps the order of the rows in a plain selection
    with readable(relation.where):
        found = relation.connection.execute(f"SELECT {selected} FROM {relation.view}").fetchnumpy()
    columns = {c: _filled(found[f"c{i}"]) for i, c in enumerate(wanted)}
    return Records(columns=columns, where=relation.where)


def _read(relation: Relation, name: str, number: bool) -> str:
    """A column as it is read, in SQL."""
    kind = relation.types[name].upper()
    if number or kind.startswith(("DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "UHUGEINT")):
        return f"CAST({relation.number(name)} AS DOUBLE)"
    if relation.is_whole(name) or kind in ("VARCHAR", "UBIGINT"):
        return relation.column(name)
    return f"CAST({relation.column(name)} AS VARCHAR)"  # dates and the like are codes


def _filled(found: Any) -> Column:
    """A column with what is missing as NaN or None."""
    values, missing = np.ma.getdata(found), np.ma.getmaskarray(found)
    if not missing.any():
        return np.ascontiguousarray(values)
    if values.dtype.kind == "f":
        return np.where(missing, np.nan, values)
    values = values.astype(object)
    values[missing] = None
    return values


def coded(values: Column) -> Coded:
    """The classes of a column, in the order of their text; 5.0 is the code 5, blanks are missing.

    >>> coded(np.array(["b", " a", None, "b"], dtype=object)).index.tolist()
    [1, 0, -1, 1]
    """
    return coded_columns(open_source({"c": values}), ["c"])["c"]


def crossed(records: Records, names: Sequence[str]) -> Ints:
    """One number per record that is equal where all the named columns are equal; missing is a class of its own."""
    cell = np.zeros(records.rows, dtype=np.int64)
    for name in names:
        part = coded(records[name])
        warn_of_spellings(name, part.codes)
        _, cell = np.unique(cell * (len(part.codes) + 1) + part.index + 1, return_inverse=True)
    return cell.astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Protected(Framed):
    """What every protecting method gives back: protected records, and facts about the protecting that may be shown.

    Facts are counts, never values or parameters.
    """

    frame: Records
    method: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, *, internal: bool = False) -> Frame:
        """The protected records."""
        return self.frame

    def summary(self) -> dict[str, Any]:
        """Counts and names only: fit to be printed or logged."""
        return {"method": self.method, "records": self.frame.rows, **self.facts}

    def __repr__(self) -> str:
        lines = [f"Protected by {self.method}: {self.frame!r}"]
        return "\n".join(lines + [f"  {name}: {fact}" for name, fact in self.facts.items()])

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, paragraphs

        first, *rest = repr(self).splitlines()
        return as_html(first, paragraphs(rest))


def generator(seed: int) -> np.random.Generator:
    """Random numbers that are the same for the same seed.

    >>> bool(generator(5).random() == generator(5).random())
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadOption("the seed is a whole number, not negative", hint="choose a long one, and keep it secret.")
    return np.random.default_rng(int(seed))
