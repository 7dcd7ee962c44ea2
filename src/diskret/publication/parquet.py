"""Parquet: one row per cell, values as numbers, NULL where suppressed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from diskret.model.source import literal
from diskret.publication.options import Publication
from diskret.publication.release import Release, labelled


def write_parquet(release: Release, options: Publication, path: Path) -> None:
    """Write codes, labels, values and for each response a column that says published or suppressed."""
    names = iter(release.long_names(labels=options.labels, statuses=True))
    data: dict[str, Any] = {}
    chosen: list[str] = []

    def choose(sql: str) -> None:
        name = next(names).replace('"', '""')
        chosen.append(f'{sql} AS "{name}"')

    positions = release.positions(slice(0, release.size))
    for i, (hierarchy, at) in enumerate(zip(release.by.values(), positions, strict=True)):
        data[f"code{i}"] = np.array(hierarchy.codes, dtype=object)[at]
        choose(f"code{i}::VARCHAR")
        if options.labels and labelled(hierarchy):
            data[f"label{i}"] = np.array(hierarchy.labels, dtype=object)[at]
            choose(f"label{i}::VARCHAR")
    for i, measure in enumerate(release.measures):
        data[f"value{i}"] = measure.value
        if measure.is_count:
            choose(f"value{i}::BIGINT")
            continue
        data[f"hidden{i}"] = measure.hidden
        choose(f"CASE WHEN hidden{i} THEN NULL ELSE value{i}::DOUBLE END")
        choose(f"CASE WHEN hidden{i} THEN 'suppressed' ELSE {literal(measure.altered or 'published')} END")
    copy_to_parquet(data, ", ".join(chosen), path)


def copy_to_parquet(data: object, chosen: str, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write columns chosen by SQL from ``data``, with texts for the file's footer."""
    # One thread: the rows and their pages then fall the same way every time.
    connection = duckdb.connect(":memory:", config={"threads": 1})
    footer = ", ".join(f"{name}: {literal(text)}" for name, text in (metadata or {}).items())
    more = f", KV_METADATA {{{footer}}}" if footer else ""
    try:
        connection.register("leaving", data)
        connection.execute(
            f"COPY (SELECT {chosen} FROM leaving) TO {literal(str(path))} "
            f"(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false{more})"
        )
    except duckdb.IOException as e:
        raise as_oserror(e) from e
    finally:
        connection.close()


def as_oserror(error: duckdb.IOException) -> OSError:
    """The engine's complaint as the system's, so that `whole_file` can say what happened (disk full, no permission)."""
    found = re.search(r'"?errno"?\D{1,5}(\d+)', str(error))
    number = int(found[1]) if found else 0
    return OSError(number, os.strerror(number)) if number else OSError(str(error).splitlines()[0])
