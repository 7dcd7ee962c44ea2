"""Publishing a protected table as a file, in the format its ending names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.publication.delimited import write_csv
from diskret.publication.jsonstat import write_jsonstat
from diskret.publication.options import Publication, publication
from diskret.publication.parquet import write_parquet
from diskret.publication.px import write_px
from diskret.publication.release import Release, release
from diskret.publication.workbook import write_workbook

WRITERS: Mapping[str, Callable[[Release, Publication, Path], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".xlsx": write_workbook,
    ".json": write_jsonstat,
    ".px": write_px,
}


def publish(tables: Table | Mapping[str, Table], path: str | Path, **options: Any) -> None:
    """Write one table, or several responses over the same classifications, for the public.

    The ending chooses the format: ``.csv`` and ``.parquet`` (one row per cell), ``.xlsx`` (cross tables), ``.json``
    (JSON-stat 2.0), ``.px`` (PC-Axis). Only codes, labels and open values leave; every suppressed cell shows the same
    mark, whatever the reason. Equal tables give equal bytes. Options are the fields of `Publication`: ``mark``,
    ``zero``, ``counts``, ``intervals``, ``labels``, ``title``, ``source``, ``unit``, ``subject``, ``language``,
    ``updated``.

    >>> import tempfile
    >>> table = Table.from_cells({"sex": ["m", "w"], "x": [3.5, 4], "status": ["primary", "secondary"]},
    ...                          by={"sex": None}, value="x", status="status")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     publish(table, Path(folder) / "x.csv", mark=".")
    ...     print((Path(folder) / "x.csv").read_text(encoding="utf-8"), end="")
    sex,x
    m,.
    w,.
    Total,7.5
    """
    target = Path(path)
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise BadOption(
            f"tables are not published as {target.suffix or 'a file without ending'}",
            where=str(target),
            hint=f"choose an ending of {listed(WRITERS)}.",
        )
    chosen = publication(**options)
    leaving = release(tables, chosen)
    with whole_file(target) as part:
        write(leaving, chosen, part)
