"""Microdata in an embedded DuckDB: files of any size, frames of the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import nanoarrow as na
import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.engine import readable
from diskret.model.source import Relation, open_source
from diskret.tabulation.backend import Batch

ARROW_NUMBERS = {"int64": np.dtype(np.int64), "double": np.dtype(np.float64)}


class DuckDBBackend:
    """Reads batches of records; the roll-up adds them up faster than the engine's own grouping."""

    aggregates = False

    def __init__(self, data: Relation) -> None:
        self.data = data

    @classmethod
    def open(cls, source: object, threads: int | None, memory_limit: str) -> DuckDBBackend:
        """Open a file or frame."""
        data = open_source(source, threads=threads, memory_limit=memory_limit)
        # Order does not matter here: whole numbers add up to the same sum in any order.
        data.connection.execute("SET preserve_insertion_order = false")
        return cls(data)

    def lookup(self, name: str, codes: Sequence[str], positions: Ints) -> None:
        """Make a small table of codes and positions."""
        connection = self.data.connection
        connection.register("given_codes", {"code": np.array(codes, dtype=object), "position": positions})
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT code, position FROM given_codes")
        connection.unregister("given_codes")

    def keep(self, name: str, sql: str) -> None:
        """Keep the result of a statement under a name."""
        with readable(self.data.where):
            self.data.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")

    def batches(self, sql: str) -> Iterator[Batch]:
        """The columns of a large result, in batches, straight from the engine's memory."""
        with readable(self.data.where):
            stream = na.ArrayStream(self.data.connection.sql(sql))
            names = [field.name for field in stream.schema.fields]
            for chunk in stream:
                yield {name: _numbers(column) for name, column in zip(names, chunk.iter_children(), strict=True)}

    def close(self) -> None:
        """Close the connection, and with it every temporary table."""
        self.data.connection.close()


def _numbers(column: na.Array) -> npt.NDArray[Any]:
    """A column of the stream as an array; the statements leave no NULL in it."""
    kind = ARROW_NUMBERS[column.schema.type.name.lower()]
    return np.frombuffer(column.buffer(1), dtype=kind)[column.offset : column.offset + len(column)]
