"""Entries as files: one Parquet file each, written whole or not at all, each holding the hash of the one before.

The files are the ledger. A file never changes after it has taken its place, so a process that is killed leaves either
an entry or none; what it was writing is swept by the next. Every file says by which version it was written.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nanoarrow as na
import numpy as np
import numpy.typing as npt

from diskret.io.columns import copy_columns
from diskret.io.structured import from_json
from diskret.ledger.entry import Entry, EntryCells, hash_of
from diskret.ledger.migrations import VERSION, migrated
from diskret.model.damage import reading
from diskret.model.engine import connect, file_listing, identifier, readable
from diskret.model.errors import CannotWrite, DiskretError, UnreadableFile

LAST = "last"
KEY, HASH, VERSION_KEY = "diskret_ledger", "diskret_hash", "diskret_ledger_version"
AT_ONCE = 500
"""Files whose heads are read by one question to the engine."""
TYPES = {"DOUBLE": "<f8", "BIGINT": "<i8", "INTEGER": "<i4", "UTINYINT": "|u1"}
Array = npt.NDArray[Any]


def place_of(folder: Path, number: int) -> Path:
    """Where an entry stands."""
    return folder / "entries" / f"{number:06d}.parquet"


def write_entry(folder: Path, head: Mapping[str, Any], cells: EntryCells) -> Entry:
    """Write an entry to its place; gives it back with its hash. The caller is alone in the ledger."""
    arrays = cells.arrays()
    found = hash_of(head, arrays)
    text = json.dumps(head, ensure_ascii=False)
    place = place_of(folder, head["number"])
    part = place.with_suffix(".part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    try:
        # made for its owner alone before the first number is in it
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        footer = {KEY: text, HASH: found, VERSION_KEY: str(VERSION)}
        copy_columns(_Columns(arrays), "SELECT * FROM leaving", part, footer=footer)
        part.chmod(0o600)
        _to_disk(part)
        os.link(part, place) if hasattr(os, "link") and os.name == "posix" else part.rename(place)
        _to_disk(place.parent)
    except FileExistsError as e:
        raise CannotWrite("an entry of this number is there already", where=str(place), hint="open it anew.") from e
    except OSError as e:
        raise CannotWrite(
            f"the entry cannot be written: {e.strerror or e}", where=str(folder), hint="nothing was changed."
        ) from e
    finally:
        part.unlink(missing_ok=True)
    return Entry.from_head(head, found)


def sweep(folder: Path) -> None:
    """Remove what killed processes were writing; the caller is alone in the ledger."""
    for part in [folder / f"{LAST}.part", *(folder / "entries").glob("*.part")]:
        part.unlink(missing_ok=True)


def say_last(folder: Path, entry: Entry) -> None:
    """Say that an entry is the last one: without its file nobody would miss it. The caller is alone in the ledger."""
    part = folder / f"{LAST}.part"
    with contextlib.suppress(OSError):
        part.unlink(missing_ok=True)
        with os.fdopen(
            os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline=""
        ) as file:
            file.write(json.dumps({"number": entry.number, "hash": entry.hash}) + "\n")
        part.replace(folder / LAST)


def told_last(folder: Path) -> tuple[int, str]:
    """The number and hash of the last entry when it was written; 0 where nothing says it."""
    try:
        said = from_json((folder / LAST).read_text(encoding="utf-8"))
        return int(said["number"]), str(said["hash"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0, ""


def read_head(path: Path) -> tuple[dict[str, Any], str]:
    """What an entry says of itself, in the words of today, and its hash."""
    with reading(path, "the entry is damaged", hint=LOST), connect(threads=1) as connection, readable(str(path)):
        return _head(connection, path)


def read_heads(paths: Sequence[Path]) -> dict[str, tuple[dict[str, Any], str]]:
    """What many entries say of themselves, by the names of their files; nothing where one of them is damaged."""
    texts: dict[str, dict[str, str]] = {}
    with contextlib.suppress(DiskretError, ValueError), connect(threads=1) as connection, readable("entries"):
        for begin in range(0, len(paths), AT_ONCE):
            listing = file_listing([*paths[begin : begin + AT_ONCE]])
            for file, key, value in connection.execute(
                f"SELECT file_name, key, value FROM parquet_kv_metadata({listing})"
            ).fetchall():
                texts.setdefault(Path(file).name, {})[bytes(key).decode()] = bytes(value).decode()
        return {
            name: (migrated(int(each[VERSION_KEY]), from_json(each[KEY]), None)[0], each[HASH])
            for name, each in texts.items()
            if {KEY, HASH, VERSION_KEY} <= each.keys()
        }
    return {}


def read_entry(path: Path) -> tuple[Entry, EntryCells]:
    """An entry with its cells, held against its hash; damaged or changed ones are refused."""
    with reading(path, "the entry is damaged", hint=LOST), connect(threads=1) as connection, readable(str(path)):
        texts = _footer(connection, path)
        head, arrays = from_json(texts[KEY]), _arrays(connection, path)
        if hash_of(head, arrays) != texts[HASH]:
            raise UnreadableFile("the entry was changed after it was written", where=str(path), hint=LOST)
        head, arrays = migrated(int(texts[VERSION_KEY]), head, arrays)
        entry = Entry.from_head(head, texts[HASH])
        return entry, EntryCells.from_arrays(arrays, len(entry.by))


LOST = "put the file back from a copy; without it the ledger can be read and not be added to."


def _head(connection: Any, path: Path) -> tuple[dict[str, Any], str]:
    texts = _footer(connection, path)
    head, _ = migrated(int(texts[VERSION_KEY]), from_json(texts[KEY]), None)
    return head, texts[HASH]


def _footer(connection: Any, path: Path) -> dict[str, str]:
    found = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({file_listing([path])})").fetchall()
    texts = {bytes(key).decode(): bytes(value).decode() for key, value in found}
    if not {KEY, HASH, VERSION_KEY} <= texts.keys():
        raise UnreadableFile("the file is not an entry of a ledger", where=str(path), hint=LOST)
    return texts


def _arrays(connection: Any, path: Path) -> dict[str, Array]:
    file = f"read_parquet({file_listing([path])}, hive_partitioning = false)"
    kinds = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {file}").fetchall()}
    found = connection.execute(f"SELECT {', '.join(map(identifier, kinds))} FROM {file}").fetchnumpy()
    if any(np.ma.getmaskarray(column).any() for column in found.values()):
        raise UnreadableFile("the entry has lost numbers", where=str(path), hint=LOST)
    return {name: np.ma.getdata(column).astype(TYPES[kinds[name]]) for name, column in found.items()}


def _to_disk(path: Path) -> None:
    """What was written survives a power cut, where the system can promise that."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Columns:
    """Columns on their way to the engine; taken as an Arrow stream, which keeps undefined numbers undefined."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        children = {name: na.c_array(np.ascontiguousarray(array)) for name, array in self.arrays.items()}
        schema = na.struct({name: na.Schema(child.schema) for name, child in children.items()})
        length = len(next(iter(self.arrays.values())))
        rows = na.c_array_from_buffers(schema, length, [None], children=list(children.values()))
        return na.c_array_stream(rows).__arrow_c_stream__(requested_schema)
