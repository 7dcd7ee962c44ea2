"""Working files: tables with everything known about them, to go on working. Confidential; never for publication.

One Parquet file: a column per array, in cell order, so that no codes are stored; classifications, options and what
column belongs where stand as JSON in its footer. Arrays that several tables share are stored once.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import prod
from pathlib import Path
from typing import Any

import nanoarrow as na
import numpy as np
import numpy.typing as npt

from diskret.io.columns import copy_columns
from diskret.io.files import whole_file
from diskret.io.structured import from_json
from diskret.model.contributors import Contributors
from diskret.model.damage import reading
from diskret.model.engine import connect, file_listing, identifier, readable
from diskret.model.errors import BadOption, UnreadableFile
from diskret.model.hierarchy import Hierarchy
from diskret.model.memory import refuse_short, refuse_too_large
from diskret.model.occupied import Occupied, countable
from diskret.model.places import plain_file
from diskret.model.sparse import SparseTable
from diskret.model.table import Table
from diskret.publication.release import responses
from diskret.publication.working_checks import flaw_of, refuse_bad_place, refuse_bad_tables, restored_by
from diskret.rules.stored import plain_rules, rules_from

KEY = "diskret_working"
SEAL = "diskret_seal"
VERSION = 1
LEVELS = ("respondents", "holdings")
ARRAYS = ("value", "status", "rule", "below", "above", "lower", "upper", "weight", "creator", "key", "given")
TYPES = {"<f8": "DOUBLE", "<i8": "BIGINT", "|u1": "UTINYINT", "<u4": "UINTEGER"}
LATER: dict[str, Any] = {"altered": "", "seal": "", "counted": True}
"""What older files do not say, and what they mean by that."""
SCALARS = ("response", "rules", "decimals", "frequency", "positive", "weighted", "additive_counts", *LATER)

OCCUPIED = "occupied"
"""The column that says which cells a sparse table holds."""

Array = npt.NDArray[Any]


def save_working(tables: Table | Mapping[str, Table], path: str | Path) -> None:
    """Write one or several tables over the same classifications with all their arrays, to be loaded again exactly.

    >>> import tempfile
    >>> table = Table.from_cells({"s": ["m"], "x": [0.1]}, by={"s": None}, value="x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_working(table, Path(folder) / "work.parquet")
    ...     load_working(Path(folder) / "work.parquet")
    {'x': Table('x' by s 2: 2 cells, 0 primary, 0 secondary)}
    """
    several = responses(tables)
    for table in several.values():
        if flaw := flaw_of(table):
            raise BadOption(
                f"the table {table.response!r} cannot be kept: {flaw}",
                hint="make it with tabulate or Table.from_cells.",
            )
    stored = _Columns()
    described = [_describe(number, name, table, stored) for number, (name, table) in enumerate(several.items())]
    first = next(iter(several.values()))
    head = {
        "version": VERSION,
        "by": [_plain(n, h) for n, h in first.by.items()],
        "tables": described,
    }
    if isinstance(first, SparseTable):
        head["occupied"] = stored.add(OCCUPIED, first.occupied.places, 1)["columns"]
    text = json.dumps(head, ensure_ascii=False)
    with whole_file(path, private=True) as part:
        footer = {KEY: text, SEAL: _seal(text, stored.arrays.values())}
        copy_columns(stored, "SELECT * FROM leaving", part, footer=footer)


def load_working(path: str | Path) -> dict[str, Table]:
    """The tables of a working file, by the names they were saved under."""
    where = str(path)
    file = plain_file(path)
    with reading(where, "the working file is damaged"), connect() as connection:
        with readable(where):
            texts = _footer(connection, file)
        head = _head(texts, where)
        by = restored_by(head["by"])
        kinds = _kinds(head["tables"])
        cells = _cells(connection, file, head, by, kinds)
        with readable(where):
            arrays = _read(connection, file, kinds, cells)
        if texts.get(SEAL) != _seal(texts[KEY], (arrays[column] for column in kinds)):
            raise _damaged("is damaged", where)
        return _tables(head["tables"], by, arrays, where)


def _cells(
    connection: Any, file: Path, head: Mapping[str, Any], by: Mapping[str, Hierarchy], kinds: dict[str, str]
) -> int:
    """How many cells the tables of a file hold: those of the product, or as many as it has rows."""
    if "occupied" not in head:
        refuse_too_large(by, len(kinds))
        return prod(len(h) for h in by.values())
    if head["occupied"] != [OCCUPIED] or not countable(tuple(by.values())):
        raise ValueError("the occupied cells are not listed")
    kinds[OCCUPIED] = "<i8"
    found = connection.execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({file_listing([file])})").fetchone()
    refuse_short(int(found[0]), "reading a table", 8 * len(kinds))
    return int(found[0])


def _tables(
    saved: list[dict[str, Any]], by: Mapping[str, Hierarchy], arrays: Mapping[str, Array], where: str
) -> dict[str, Table]:
    places = arrays.get(OCCUPIED)
    occupied = None if places is None else Occupied(tuple(by.values()), places.astype(np.int64, copy=False))
    known: dict[tuple[str, ...], Array] = {}
    found = {t["name"]: _table(t, by, occupied, arrays, known) for t in saved}
    for table in found.values():
        if flaw := flaw_of(table):
            raise _damaged(f"is damaged: {flaw}", where)
    return found


def _kinds(saved: Any) -> dict[str, str]:
    """The columns of all arrays with their types, in their order; each is what it can be before anything is read."""
    kinds: dict[str, str] = {}
    refuse_bad_tables(saved)
    for table in saved:
        for field, place in table["arrays"].items():
            refuse_bad_place(field, place)
            kinds |= dict.fromkeys(place["columns"], place["dtype"])
    return kinds


def _plain(name: str, hierarchy: Hierarchy) -> dict[str, Any]:
    known = {"name": name, "codes": hierarchy.codes, "parents": hierarchy.parents, "labels": hierarchy.labels}
    return known | ({"further": hierarchy.further} if hierarchy.further else {})


def _damaged(what: str, where: str) -> UnreadableFile:
    return UnreadableFile(f"the working file {what}", where=where, hint="make it again.")


def _seal(head: str, arrays: Iterable[Array]) -> str:
    """A checksum: one flipped bit on a disk must not become a wrong table."""
    found = zlib.crc32(head.encode())
    for array in arrays:
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return f"{found:08x}"


class _Columns:
    """Columns on their way to the engine; taken as an Arrow stream, which keeps undefined numbers undefined."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.places: dict[int, dict[str, Any]] = {}

    def add(self, name: str, array: Array, axes: int) -> dict[str, Any]:
        """Keep an array, split along any axis beyond the cells, and say where it is."""
        if id(array) not in self.places:
            flat = array.reshape(prod(array.shape[:axes]), -1)
            further = array.shape[axes:]
            names = [f"{name}.{j + 1}" if further else name for j in range(flat.shape[1])]
            self.arrays |= {n: np.ascontiguousarray(flat[:, j]) for j, n in enumerate(names)}
            self.places[id(array)] = {"columns": names, "further": list(further), "dtype": array.dtype.str}
        return self.places[id(array)]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        children = {name: na.c_array(array) for name, array in self.arrays.items()}
        schema = na.struct({name: na.Schema(child.schema) for name, child in children.items()})
        length = len(next(iter(self.arrays.values())))
        rows = na.c_array_from_buffers(schema, length, [None], children=list(children.values()))
        return na.c_array_stream(rows).__arrow_c_stream__(requested_schema)


def _describe(number: int, name: str, table: Table, stored: _Columns) -> dict[str, Any]:
    found = {field: getattr(table, field) for field in ARRAYS}
    for level in LEVELS:
        people = getattr(table, level)
        if people is not None:
            found |= {f"{level}.{f.name}": getattr(people, f.name) for f in fields(Contributors)}
    axes = table.value.ndim
    arrays = {field: stored.add(f"{number}.{field}", a, axes) for field, a in found.items() if a is not None}
    judges = {"judges": plain_rules(table.judges)} if table.judges else {}
    return {"name": name, "arrays": arrays} | {field: getattr(table, field) for field in SCALARS} | judges


def _table(
    saved: dict[str, Any],
    by: Mapping[str, Hierarchy],
    occupied: Occupied | None,
    arrays: Mapping[str, Array],
    known: dict[tuple[str, ...], Array],
) -> Table:
    shape = tuple(len(h) for h in by.values()) if occupied is None else (occupied.size,)

    def array(place: dict[str, Any]) -> Array:
        names = tuple(place["columns"])
        if not names:
            return np.empty((*shape, *place["further"]), dtype=place["dtype"])
        if names not in known:
            whole = np.stack([arrays[n] for n in names], axis=-1) if place["further"] else arrays[names[0]]
            known[names] = whole.reshape(*shape, *place["further"])
        return known[names]

    restored = {field: array(place) for field, place in saved["arrays"].items()}
    people: dict[str, Contributors | None] = {}
    for level in LEVELS:
        own = {f.removeprefix(f"{level}."): a for f, a in restored.items() if f.startswith(f"{level}.")}
        people[level] = Contributors(**own) if own else None
    plain = {field: a for field, a in restored.items() if field in ARRAYS}
    scalars = {**LATER, **saved}
    scalars = {field: scalars[field] for field in SCALARS} | {"rules": tuple(saved["rules"])}
    given: dict[str, Any] = {**plain, **people, **scalars, "judges": rules_from(saved.get("judges", ()))}
    return Table(by=by, **given) if occupied is None else SparseTable(by=by, occupied=occupied, **given)


def _footer(connection: Any, file: Path) -> dict[str, str]:
    found = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({file_listing([file])})").fetchall()
    return {bytes(key).decode(): bytes(value).decode() for key, value in found}


def _head(texts: Mapping[str, str], where: str) -> dict[str, Any]:
    if KEY not in texts:
        raise UnreadableFile(
            "the file is not a working file of diskret",
            where=where,
            hint="working files are written by save_working; a list of cells is read with Table.from_cells.",
        )
    head: dict[str, Any] = from_json(texts[KEY])
    if head.get("version") != VERSION:
        raise UnreadableFile(
            f"the working file has version {head.get('version')}, this diskret reads version {VERSION}",
            where=where,
            hint="load it with the diskret that wrote it.",
        )
    return head


def _read(connection: Any, path: Path, kinds: Mapping[str, str], cells: int) -> dict[str, Array]:
    """The columns that are needed, if they are all there: numbers, one per cell, none missing."""
    where, listing = str(path), file_listing([path])
    file = f"read_parquet({listing}, hive_partitioning = false)"
    types = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {file}").fetchall()}
    rows = connection.execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({listing})").fetchone()[0]
    if not kinds.keys() <= types.keys() or rows != cells:
        raise _damaged("has lost columns or rows", where)
    if any(types[name] != TYPES[kind] for name, kind in kinds.items()):
        raise _damaged("is damaged: a column has another type", where)
    columns = connection.execute(f"SELECT {', '.join(map(identifier, kinds))} FROM {file}").fetchnumpy()
    if any(np.ma.getmaskarray(column).any() or column.size != cells for column in columns.values()):
        raise _damaged("has lost numbers", where)
    return {name: np.ma.getdata(column) for name, column in columns.items()}
