"""Arrow: the stream format (IPC), which R, Python, SAS Viya, DuckDB and many others read without copying."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import nanoarrow as na
import numpy as np
from nanoarrow import ipc

from diskret.model.arrays import Bools
from diskret.model.errors import BadOption
from diskret.publication.long_columns import Numbers, Texts, long_columns, notes
from diskret.publication.options import Publication
from diskret.publication.release import Release

MOST_TEXT = 2**31 - 1
"""Bytes of the texts of one column."""


def write_arrow(release: Release, options: Publication, path: Path) -> None:
    """Write codes, labels, values and statuses, as in Parquet; a hidden value is null, and nothing stands behind it."""
    columns = list(long_columns(release, options))
    arrays = [_texts(each) if isinstance(each, Texts) else _numbers(each) for each in columns]
    schema = na.struct({each.name: kind for each, (kind, _) in zip(columns, arrays, strict=True)}, nullable=False)
    noted = na.c_schema(schema)
    if said := notes(release, options):
        noted = noted.modify(metadata={"note": "; ".join(said)})
    whole = na.c_array_from_buffers(noted, release.size, [None], null_count=0, children=[made for _, made in arrays])
    made = io.BytesIO()  # errors of the disk are told by Python in its own words
    with ipc.StreamWriter.from_writable(made) as writer:
        writer.write_array(whole)
    path.write_bytes(made.getbuffer())


def _texts(column: Texts) -> tuple[Any, Any]:
    coded = [text.encode() for text in column.different]
    lengths = np.array([len(each) for each in coded], dtype=np.int64)[column.at]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    if offsets[-1] > MOST_TEXT:
        raise BadOption(f"the texts of {column.name!r} are too long for Arrow", hint="publish the table as .parquet.")
    joined = b"".join(np.array(coded, dtype=object)[column.at].tolist())
    kind = na.string(nullable=False)
    return kind, na.c_array_from_buffers(
        kind, len(column.at), [None, offsets.astype(np.int32), joined], null_count=0
    )  # fmt: skip


def _numbers(column: Numbers) -> tuple[Any, Any]:
    if column.whole:
        kind = na.int64(nullable=False)
        return kind, na.c_array_from_buffers(
            kind, len(column.values), [None, column.values.astype(np.int64)], null_count=0
        )  # fmt: skip
    hidden: Bools = np.isnan(column.values)
    values = np.where(hidden, 0.0, column.values)
    there = None if not hidden.any() else np.packbits(~hidden, bitorder="little")
    kind = na.float64()
    return kind, na.c_array_from_buffers(kind, len(values), [there, values], null_count=int(hidden.sum()))
