"""Records that share their keys: equivalence classes, numbered on whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Floats, Ints
from diskret.model.coded import MISSING, coded_columns
from diskret.model.engine import readable
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.kept import refuse_lost
from diskret.model.source import Relation, open_source
from diskret.model.spelling import again
from diskret.model.total_names import warn_of_totals
from diskret.risk._class_kernels import number_classes
from diskret.tabulation.combinations import count_combinations

NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "DOUBLE", "FLOAT"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Column:
    """A column as codes from 0; -1 where it is missing. Labels ascend: as numbers if they are numbers."""

    codes: npt.NDArray[np.int32]
    labels: npt.NDArray[Any]

    @property
    def size(self) -> int:
        """How many different codes there are."""
        return len(self.labels)


@dataclass(frozen=True, eq=False, kw_only=True)
class Classes:
    """Every record's class, and how many records each class has."""

    ids: Ints
    sizes: Ints

    @property
    def count(self) -> int:
        """How many classes there are."""
        return int(self.sizes.size)


def open_records(source: object, names: Sequence[str]) -> Relation:
    """Open data that must have some columns."""
    relation = source if isinstance(source, Relation) else open_source(source)
    relation.require(list(names))
    return relation


def keys_given(keys: Sequence[str], what: str = "keys") -> list[str]:
    """Names of columns, each once; a single text is meant as one column."""
    names = [keys] if isinstance(keys, str) else list(keys)
    if not names:
        raise BadOption(f"there are no {what}", hint=f'name columns, such as {what}=["region", "sex"].')
    twice = sorted({names[at] for at in again(names)})
    if twice:
        raise BadOption(f"{what} name {listed(twice)} twice", hint="name each column once.")
    return names


def coded(relation: Relation, names: Sequence[str]) -> list[Column]:
    """Columns as codes. The engine makes them, so that text never reaches Python row by row."""
    numbers, texts = ([n for n in names if (relation.types[n].upper() in NUMBERS) == yes] for yes in (True, False))
    made = _coded_numbers(relation, numbers) | _coded_texts(relation, texts)
    return [made[n] for n in names]


def _coded_numbers(relation: Relation, names: Sequence[str]) -> dict[str, Column]:
    if not names:
        return {}
    listing = ", ".join(relation.column(n) for n in names)
    with readable(relation.where):
        given = relation.connection.execute(f"SELECT {listing} FROM {relation.view}").fetchnumpy()
    return {n: _from_numbers(np.ma.asarray(given[n])) for n in names}


def _coded_texts(relation: Relation, names: Sequence[str]) -> dict[str, Column]:
    made = {}
    for name, found in coded_columns(relation, names).items():
        labels = np.array(found.codes, dtype=object)
        warn_of_spellings(name, labels)
        warn_of_totals(name, found.codes)
        made[name] = _in_order(found.index.astype(np.int32), labels)
    return made


def _from_numbers(given: Any) -> Column:
    """A column of numbers: labels as the engine would write them, 5.0 as 5."""
    values = np.ma.getdata(given)
    missing = np.ma.getmaskarray(given) | (np.isnan(values) if values.dtype.kind == "f" else False)
    different, codes = np.unique(values[~missing], return_inverse=True)
    made = np.full(values.size, -1, np.int32)
    made[~missing] = codes
    return Column(codes=made, labels=np.array([label_of(x) for x in different.tolist()], dtype=object))


def label_of(entry: Any) -> str | None:
    """A number as the engine would write it, 5.0 as 5, text as it is; None where nothing is said.

    >>> label_of(5.0), label_of("05"), label_of(float("nan"))
    ('5', '05', None)
    """
    if entry is None or isinstance(entry, str):
        return entry
    if entry != entry:
        return None
    return str(int(entry)) if float(entry).is_integer() and abs(entry) < 1e18 else repr(entry)


def _in_order(codes: npt.NDArray[np.int32], labels: npt.NDArray[Any]) -> Column:
    """Labels that are all numbers ascend as numbers, so that ordered distances mean something."""
    try:
        numbers = np.array([float(text) for text in labels])
    except ValueError:
        return Column(codes=codes, labels=labels)
    order = np.argsort(numbers, kind="stable")
    place = np.empty(order.size + 1, np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    place[-1] = -1
    return Column(codes=place[codes], labels=labels[order])


def share_codes(*files: Column) -> tuple[Column, ...]:
    """The same column of several files with the same codes.

    >>> def column(*codes, labels):
    ...     return Column(codes=np.array(codes, dtype=np.int32), labels=np.array(labels, dtype=object))
    >>> a, b = share_codes(column(0, 1, labels=["n", "s"]), column(0, -1, labels=["s"]))
    >>> a.codes, b.codes
    (array([0, 1], dtype=int32), array([ 1, -1], dtype=int32))
    """
    place = {label: i for i, label in enumerate(dict.fromkeys(label for f in files for label in f.labels))}
    labels = np.array(list(place), dtype=object)

    def recoded(column: Column) -> Column:
        new = np.array([*(place[label] for label in column.labels), -1], dtype=np.int32)
        return Column(codes=new[column.codes], labels=labels)

    return tuple(recoded(f) for f in files)


def numbers_of(relation: Relation, names: Sequence[str]) -> Floats:
    """Columns as numbers, one row per record; missing ones are NaN, text is refused."""
    relation.refuse_bad_numbers(names, blanks=True)
    refuse_lost(relation, names)
    selected = ", ".join(f"CAST({relation.number(n)} AS DOUBLE) AS v{i}" for i, n in enumerate(names))
    with readable(relation.where):
        with_gaps = relation.connection.execute(f"SELECT {selected} FROM {relation.view}").fetchnumpy()
    columns = [np.ma.filled(np.ma.asarray(with_gaps[f"v{i}"], dtype=np.float64), np.nan) for i in range(len(names))]
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def counted(source: object, names: Sequence[str], engine: object) -> tuple[list[Column], Ints]:
    """Columns of all combinations that occur, as `coded` has them, and how often each does: counted by an engine."""
    by: dict[str, Hierarchy | None] = dict.fromkeys(names)
    found = count_combinations(source, by=by, engine=engine)
    columns = []
    for i, hierarchy in enumerate(found.by.values()):
        labels = sorted({hierarchy.codes[p] for p in np.unique(found.codes[:, i]).tolist()} - {MISSING})
        number = {label: at for at, label in enumerate(labels)}
        to = np.array([number.get(code, -1) for code in hierarchy.codes], dtype=np.int32)
        columns.append(_in_order(to[found.codes[:, i]], np.array(labels, dtype=object)))
    return columns, found.frequency


def classes_of(columns: Sequence[Column], frequency: Ints | None = None) -> Classes:
    """Classes of records with equal codes in every column; missing is a code of its own.

    >>> sexes = Column(codes=np.array([0, 1, 0, -1], dtype=np.int32), labels=np.array(["f", "m"], dtype=object))
    >>> classes_of([sexes]).sizes
    array([2, 1, 1])
    """
    ids, count = numbered([column.codes for column in columns])
    sizes = np.bincount(ids, weights=frequency, minlength=count).astype(np.int64)
    return Classes(ids=ids, sizes=sizes)


def numbered(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> tuple[Ints, int]:
    """Records with equal codes (from -1 on) in every column get equal numbers, from 0; and how many there are."""
    bits = max(4, int(np.ceil(np.log2(max(1, columns[0].size)))) + 1)
    ids, count = np.zeros(columns[0].size, dtype=np.int64), 1
    for codes in columns:
        ids, count = number_classes(ids * (int(codes.max(initial=-1)) + 2) + codes + 1, bits)
    return ids, int(count)
