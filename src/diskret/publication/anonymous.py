"""Anonymous microdata and the report on their tables as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from diskret.io.files import whole_file
from diskret.model.errors import BadOption
from diskret.model.source import literal
from diskret.publication.parquet import as_oserror
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.rematch import Rematch


def write_anonymous_file(done: Anonymisation, path: str | Path, *, counts: bool = False) -> None:
    """One row per object, or with ``counts`` one row per combination and its frequency; .parquet or .csv.

    Rows stand in the order of their codes, which says nothing about the original order.
    """
    frame = done.distinct
    frequency = list(frame)[-1]
    columns = [f"CAST(c{i} AS VARCHAR) AS {_name(name)}" for i, name in enumerate(frame) if name != frequency]
    data = {f"c{i}": column for i, column in enumerate(frame.values())}
    last = f"c{len(frame) - 1}"
    if counts:
        _copy(data, f"SELECT {', '.join(columns)}, {last} AS {_name(frequency)} FROM leaving", Path(path))
    else:
        _copy(data, f"SELECT {', '.join(columns)} FROM (SELECT *, unnest(range({last})) FROM leaving)", Path(path))


def write_rematched(pairs: Rematch, path: str | Path) -> None:
    """Anonymous attributes beside the other columns of the records, in their order. Confidential."""
    frame = pairs.join()
    attributes = set(pairs.anonymous.attributes)
    columns = [
        f"{f'CAST(c{i} AS VARCHAR)' if name in attributes else f'c{i}'} AS {_name(name)}"
        for i, name in enumerate(frame)
    ]
    data = {f"c{i}": column for i, column in enumerate(frame.values())}
    _copy(data, f"SELECT {', '.join(columns)} FROM leaving", Path(path))


def write_quality(done: Anonymisation, path: str | Path) -> None:
    """The quality report as data (.json) or to be read (.txt)."""
    target = Path(path)
    if target.suffix == ".json":
        facts = {**done.summary(), "quality": done.quality.summary()}
        text = json.dumps(facts, ensure_ascii=False, indent=2) + "\n"
    elif target.suffix == ".txt":
        text = f"{done.objects:,} objects, k = {done.k}, {len(done.control.tables)} control tables\n{done.quality}\n"
    else:
        raise BadOption(
            f"reports are not written as {target.suffix!r}", where=str(target), hint="choose .json or .txt."
        )
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8")


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _copy(data: dict[str, Any], sql: str, target: Path) -> None:
    form = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER"}.get(target.suffix.lower())
    if form is None:
        hint = "choose .parquet or .csv."
        raise BadOption(f"microdata are not written as {target.suffix!r}", where=str(target), hint=hint)
    # One thread: the rows then fall the same way every time.
    connection = duckdb.connect(":memory:", config={"threads": 1})
    try:
        connection.register("leaving", {k: np.asarray(v) for k, v in data.items()})
        with whole_file(target) as part:
            try:
                connection.execute(f"COPY ({sql}) TO {literal(str(part))} ({form}, USE_TMP_FILE false)")
            except duckdb.IOException as e:
                raise as_oserror(e) from e
    finally:
        connection.close()
