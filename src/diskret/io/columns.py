"""Columns on their way into a file: Parquet or CSV, the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

from diskret.model.engine import complaint, connect, engine_path, literal, system_error

FORMS = {".csv": "FORMAT csv, HEADER", ".parquet": "FORMAT parquet, COMPRESSION zstd"}


def copy_columns(
    data: object, sql: str, path: Path, *, ending: str = ".parquet", footer: Mapping[str, str] | None = None
) -> None:
    """Write what an SQL statement selects from ``leaving``, which are the data (None: it selects from files).

    ``footer`` are texts for the footer of Parquet files.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     copy_columns({"x": np.array([1, 2])}, "SELECT x + 1 AS y FROM leaving", Path(folder) / "y", ending=".csv")
    ...     (Path(folder) / "y").read_text()
    'y\\n2\\n3\\n'
    """
    texts = ", ".join(f"{name}: {literal(text)}" for name, text in (footer or {}).items())
    more = f", KV_METADATA {{{texts}}}" if texts else ""
    # One thread: the rows and their pages then fall the same way every time.
    connection = connect(threads=1)
    try:
        if data is not None:
            connection.register("leaving", data)
        connection.execute(f"COPY ({sql}) TO {literal(engine_path(path))} ({FORMS[ending]}, USE_TMP_FILE false{more})")
    except duckdb.Error as e:
        # As the system's own error `whole_file` can say what it means for the file: disk full, no permission.
        raise system_error(str(e)) or complaint(str(e), str(path)) from e
    finally:
        connection.close()
