"""Protected records, anonymous microdata and the report on their tables as files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.columns import FORMS, copy_columns
from diskret.io.files import whole_file
from diskret.microdata.columns import Records
from diskret.model.engine import identifier
from diskret.model.errors import BadOption
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.rematch import Rematch

ENDINGS = tuple(FORMS)


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

    def known(name: str, column: str) -> str:
        number = records[name].dtype.kind == "f"
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if number else column

    _copy(records, path, known)


def write_anonymous_file(done: Anonymisation, path: str | Path, *, counts: bool = False) -> None:
    """One row per object, or with ``counts`` one row per combination and its frequency; .parquet or .csv.

    Rows stand in the order of their codes, which says nothing about the original order.
    """
    *attributes, frequency = done.distinct
    if counts:
        _copy(done.distinct, path, lambda name, column: column if name == frequency else _as_text(column))
    else:
        times = f"(SELECT *, unnest(range(c{len(attributes)})) FROM leaving)"
        _copy(done.distinct, path, lambda _, column: _as_text(column), chosen=attributes, source=times)


def write_rematched(pairs: Rematch, path: str | Path) -> None:
    """Anonymous attributes beside the other columns of the records, in their order. Confidential."""
    attributes = set(pairs.anonymous.attributes)
    _copy(pairs.join(), path, lambda name, column: _as_text(column) if name in attributes else column)


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


def _as_text(column: str) -> str:
    return f"CAST({column} AS VARCHAR)"


def _copy(
    frame: Mapping[str, Any],
    path: str | Path,
    shown: Callable[[str, str], str],
    *,
    chosen: list[str] | None = None,
    source: str = "leaving",
) -> None:
    """Write columns, all or the chosen ones, each as ``shown`` says by its name and by what the engine calls it."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        hint = "choose .parquet or .csv."
        raise BadOption(f"microdata are not written as {target.suffix!r}", where=str(target), hint=hint)
    # plain names for the engine; the selection gives the columns their own again
    held = {name: f"c{number}" for number, name in enumerate(frame)}
    parts = [f"{shown(name, held[name])} AS {identifier(name)}" for name in (frame if chosen is None else chosen)]
    data = {held[name]: np.ascontiguousarray(column) for name, column in frame.items()}
    with whole_file(target) as part:
        copy_columns(data, f"SELECT {', '.join(parts)} FROM {source}", part, ending=ending)
