"""The index of a ledger: a DuckDB file that saves opening every entry. It holds nothing that the entries do not say.

Whatever is wrong with it, it is made again from them. It also remembers how many there were, as does the file ``last``,
so that a lost entry is noticed even if it was the last.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from diskret.io.structured import from_json
from diskret.ledger.entry import Entry
from diskret.ledger.storage import place_of, read_head, read_heads, say_last, told_last
from diskret.model.engine import SEALED
from diskret.model.errors import DiskretError

Row = tuple[int, str, int, str]
TABLE = "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY, hash TEXT, bytes BIGINT, head TEXT)"


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The entries of a ledger in order, and what is wrong with them."""

    entries: tuple[Entry, ...]
    flaws: tuple[str, ...]
    """What is lost or changed, in words; none: all is well."""


def chain_of(folder: Path, *, keep: bool) -> Chain:
    """All entries, from the index where it knows them; with ``keep`` the index learns what it did not know.

    The caller is alone in the ledger if the index is to be kept.
    """
    known = _known(folder, mend=keep)
    present = {n for p in (folder / "entries").glob("*.parquet") if (n := _number_of(p))}
    entries: list[Entry] = []
    flaws: list[str] = []
    fresh: list[Row] = []
    # where one of them is damaged, they are read one by one
    heads = read_heads([place_of(folder, number) for number in sorted(present - known.keys())])
    newest, its_hash = told_last(folder)
    before, expected = "", 1
    for number in sorted({*present, *known, *([newest] if newest > 0 else [])}):
        path = place_of(folder, number)
        size, stored = known.get(number, (-1, None))
        lost, expected = number - expected, number + 1
        if lost:
            which = f"entry {number - 1} is" if lost == 1 else f"entries {number - lost} to {number - 1} are"
            flaws.append(f"{which} lost")
            before = "?"
        if number not in present:
            name = "" if stored is None else f" ({stored.name})"
            flaws.append(f"entry {number}{name} is lost")
            before = "?"
            continue
        try:
            its_size = path.stat().st_size
            if stored is not None and size == its_size:
                entry = stored
            else:
                head, found = heads.get(path.name) or read_head(path)
                entry = Entry.from_head(head, found)
                if stored is not None:
                    flaws.append(f"entry {number} ({entry.name}) was changed after it was written")
                else:
                    fresh.append((number, found, its_size, json.dumps(head, ensure_ascii=False)))
        except (DiskretError, OSError, KeyError, TypeError, ValueError) as e:
            flaws.append(f"entry {number} cannot be read: {e.args[0] if e.args else e}")
            before = "?"
            continue
        if before != "?" and entry.previous != before:
            flaws.append(f"entry {number} ({entry.name}) does not follow the one before it: one of the two was changed")
        if number == newest and entry.hash != its_hash:
            flaws.append(f"entry {number} ({entry.name}) is not the one that was entered")
        before = entry.hash
        entries.append(entry)
    if keep and fresh and not flaws:
        _learn(folder, fresh)
    return Chain(entries=tuple(entries), flaws=tuple(flaws))


def _number_of(path: Path) -> int:
    """The number of an entry's file; 0 for other files.

    >>> _number_of(Path("000012.parquet")), _number_of(Path("12.parquet"))
    (12, 0)
    """
    number = int(path.stem) if path.stem.isdecimal() else 0
    return number if place_of(Path(), number).name == path.name else 0


def learn(folder: Path, entry: Entry) -> None:
    """Tell the index of a new entry, and that it is the last; whoever fails here loses nothing but time."""
    size = place_of(folder, entry.number).stat().st_size
    say_last(folder, entry)
    _learn(folder, [(entry.number, entry.hash, size, json.dumps(entry.head(), ensure_ascii=False))])


def _learn(folder: Path, rows: list[Row]) -> None:
    with contextlib.suppress(duckdb.Error, OSError), _opened(folder, read_only=False) as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", rows)


def _known(folder: Path, *, mend: bool) -> dict[int, tuple[int, Entry]]:
    """The size and the entry of every file as the index says; nothing if there is none, or none that makes sense.

    Whoever is alone in the ledger removes one that makes none. For others it may only be in use.
    """
    try:
        with _opened(folder, read_only=True) as connection:
            rows = connection.execute("SELECT number, hash, bytes, head FROM entries").fetchall()
        return {int(number): (int(size), _entry(number, found, head)) for number, found, size, head in rows}
    except (duckdb.Error, OSError, DiskretError, LookupError, TypeError, ValueError, AttributeError):
        if mend:
            with contextlib.suppress(OSError):
                (folder / "index.duckdb").unlink(missing_ok=True)
        return {}


def _entry(number: int, found: str, head: str) -> Entry:
    """An entry as the index tells it."""
    entry = Entry.from_head(from_json(head), found)
    if entry.number != number or number < 1:
        raise ValueError(number)
    return entry


@contextlib.contextmanager
def _opened(folder: Path, *, read_only: bool) -> Iterator[Any]:
    path = folder / "index.duckdb"
    if read_only and not path.exists():
        raise FileNotFoundError(path)
    # what it writes beside its file until it is closed is for its owner alone, too
    before = os.umask(0o077)
    try:
        with duckdb.connect(str(path), read_only=read_only, config={**SEALED, "threads": 1}) as connection:
            yield connection
    finally:
        os.umask(before)
