"""Protected records as a file: CSV or Parquet, one row per record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from diskret.io.files import whole_file
from diskret.microdata.columns import Column, Records
from diskret.model.errors import BadOption, listed
from diskret.model.source import literal
from diskret.publication.parquet import copy_to_parquet

ENDINGS = (".csv", ".parquet")


def write_records(records: Records, path: str | Path) -> None:
    """Write records as ``.csv`` (UTF-8, comma, decimal point, blank where missing) or ``.parquet``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "firms.csv"
    ...     firms = Records(columns={"region": np.array(["05", None], dtype=object), "x": np.array([1.5, np.nan])})
    ...     write_records(firms, target)
    ...     print(target.read_text(encoding="utf-8"), end="")
    region,x
    05,1.5
    ,
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in ENDINGS:
        hint = f"choose an ending of {listed(ENDINGS)}."
        raise BadOption(f"records are not written as {suffix or 'a file without ending'}", where=str(target), hint=hint)
    data, chosen = _chosen(records)
    with whole_file(target) as part:
        if suffix == ".parquet":
            copy_to_parquet(data, chosen, part)
        else:
            _copy_to_csv(data, chosen, part)


def _chosen(records: Mapping[str, Column]) -> tuple[dict[str, Any], str]:
    """Columns under plain names for the engine, and the selection that gives them their own again."""
    data: dict[str, Any] = {}
    parts = []
    for number, (name, column) in enumerate(records.items()):
        held = f"c{number}"
        data[held] = np.ascontiguousarray(column)
        shown = f"CASE WHEN isnan({held}) THEN NULL ELSE {held} END" if column.dtype.kind == "f" else held
        quoted = name.replace('"', '""')
        parts.append(f'{shown} AS "{quoted}"')
    return data, ", ".join(parts)


def _copy_to_csv(data: object, chosen: str, path: Path) -> None:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    try:
        connection.register("leaving", data)
        connection.execute(
            f"COPY (SELECT {chosen} FROM leaving) TO {literal(str(path))} "
            "(FORMAT csv, HEADER true, DELIMITER ',', USE_TMP_FILE false)"
        )
    except duckdb.IOException as e:
        raise OSError(str(e).splitlines()[0]) from e
    finally:
        connection.close()
