"""Records on a Spark session: numbered as they come, and worked on there with the same code that works here.

What work needs beside the records goes to the workers with its code, never as text of a statement: plans and event logs
of a session show statements, and what is secret must not stand there.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.tabulation.spark_backend import SparkRelation, said

Result = TypeVar("Result")
Columns = Mapping[str, Any]
"""Columns of a batch, as Arrow arrays."""


def gathered(
    data: SparkRelation,
    columns: Mapping[str, str],
    work: Callable[[Columns], Result],
    add: Callable[[Result, Result], Result],
) -> list[Result]:
    """What work makes of the batches of every part of the data, added up; ``columns`` are names and their SQL."""
    listing = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())

    def through(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        made: list[Result] = []
        for batch in batches:
            found = work({name: batch.column(name) for name in columns})
            made = [add(made[0], found)] if made else [found]
        if made:
            yield pa.record_batch([pa.array([pickle.dumps(made[0])], pa.binary())], ["made"])

    frame = data.connection.sql(f"SELECT {listing} FROM {data.view}").mapInArrow(through, "made binary")
    return [pickle.loads(bytes(row["made"])) for row in said(data.where, frame.collect)]


def numbered(
    data: SparkRelation, columns: Mapping[str, str], schema: str, work: Callable[[Ints, Columns], Mapping[str, Any]]
) -> Any:
    """A frame of what work makes of every batch, with ``n``: the number of the row, from 0, as engines here count it.

    Rows of one file or frame have the order that they have there, files that of their names.
    """
    listing = "".join(f", {sql} AS {name}" for name, sql in columns.items())
    # asked for with the same columns both times, so that the session cuts the rows into the same parts both times
    frame = data.connection.sql(f"SELECT input_file_name() AS diskret_file{listing} FROM {data.view}")
    counts = said(data.where, frame.mapInArrow(_counted, "part bigint, file string, rows bigint").collect)
    start: dict[tuple[int, str], int] = {}
    at = 0
    for part, file, rows in sorted(map(tuple, counts), key=lambda row: (row[1], row[0])):
        start[part, file] = at
        at += rows

    def through(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        part, seen = _part(), dict(start)
        for batch in batches:
            if batch.num_rows:
                number = _numbers(part, batch.column("diskret_file"), seen)
                made = {"n": number, **work(number, {name: batch.column(name) for name in columns})}
                yield pa.record_batch([pa.array(v) for v in made.values()], names=list(made))

    return frame.mapInArrow(through, f"n bigint{schema and ', '}{schema}")


def _part() -> int:
    """The part of the rows that this worker has; what SQL says of it may have been worked out elsewhere."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _counted(batches: Iterator[Any]) -> Iterator[Any]:
    """How many rows of each file a part has."""
    import pyarrow as pa

    part, found = _part(), Counter[str]()
    for batch in batches:
        counts = batch.column("diskret_file").value_counts()
        for each in counts.to_pylist():
            found[each["values"]] += each["counts"]
    listing = pa.array([part] * len(found), pa.int64()), pa.array(list(found), pa.string())
    yield pa.record_batch([*listing, pa.array(list(found.values()), pa.int64())], names=["part", "file", "rows"])


def _numbers(part: int, files: Any, seen: dict[tuple[int, str], int]) -> Ints:
    """The numbers of a batch's rows; ``seen`` goes on."""
    found = files.dictionary_encode()
    names, index = found.dictionary.to_pylist(), found.indices.to_numpy()
    number = np.empty(index.size, dtype=np.int64)
    for place, name in enumerate(names):
        rows = np.flatnonzero(index == place)
        number[rows] = seen[part, name] + np.arange(rows.size)
        seen[part, name] += rows.size
    return number


def doubles(column: Any) -> npt.NDArray[np.float64]:
    """A column of numbers; missing ones are NaN."""
    found: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return found


def places(column: Any, place: Mapping[Any, int]) -> npt.NDArray[np.int64]:
    """The place of every entry of a column; -1 of what has none."""
    found = column.dictionary_encode()
    to = np.array([*(place.get(entry, -1) for entry in found.dictionary.to_pylist()), -1], dtype=np.int64)
    index = found.indices.fill_null(len(to) - 1).to_numpy(zero_copy_only=False)
    made: npt.NDArray[np.int64] = to[index]
    return made
