"""Protecting on workers without common memory: the same bytes, and what grows with what.

    python -m benchmarks.cluster same [CELLS] [MASTER]     the same table on this machine and on a Spark session
    python -m benchmarks.cluster records [PERSONS ...]     counting, measures, tables: on a cluster and by DuckDB
    python -m benchmarks.cluster growth [CELLS ...]        CPU and bytes of the driver and of its workers, measured
    python -m benchmarks.cluster simulate [WORKERS ...]    from these figures to a billion cells

MASTER is `local-cluster[2,1,1024]` unless given: two worker processes with nothing in common but the network.
"""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

import diskret as dk
from benchmarks.shapes import Shape, cube
from diskret.suppression.by_cuboids import by_cuboids

PROMISE = dk.Promise(levels=False)


@dataclass
class Measured:
    """Workers of this process that count what they would take elsewhere."""

    count: int = 8
    far: bool = True
    worked: float = 0.0
    sent: int = 0
    back: int = 0
    parts: int = 0
    longest: list[float] = field(default_factory=list)
    """Of every round the longest part."""

    def map(self, work: Callable[[Any, Any], Any], shared: Any, parts: Sequence[Any]) -> list[Any]:
        """One after the other, by way of bytes."""
        found, longest = [], 0.0
        self.sent += self.count * len(pickle.dumps(shared, pickle.HIGHEST_PROTOCOL))
        for part in parts:
            sent = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
            begun = time.process_time()
            back = pickle.dumps(work(shared, pickle.loads(sent)), pickle.HIGHEST_PROTOCOL)
            took = time.process_time() - begun
            self.worked, longest = self.worked + took, max(longest, took)
            self.sent, self.back, self.parts = self.sent + len(sent), self.back + len(back), self.parts + 1
            found.append(pickle.loads(back))
        self.longest.append(longest)
        return found


def _table(cells: int) -> dk.Table:
    shape: Shape = cube(cells)
    return shape.table()


def same(cells: int, master: str) -> None:
    """The same table protected twice."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master(master).appName("diskret").config("spark.ui.enabled", "false").getOrCreate()
    table = _table(cells)
    for method in (dk.methods.Cuboids(), dk.methods.Moves(effort="quick")):
        begun = time.monotonic()
        here = dk.suppress(table, PROMISE, method)
        between = time.monotonic()
        there = dk.suppress(table, PROMISE, method, engine=session)
        alike = here.table.status.tobytes() == there.table.status.tobytes()
        alike = alike and here.moves.cells.tobytes() == there.moves.cells.tobytes()
        print(
            f"{type(method).__name__}: {table.size:,} cells, {int(here.secondary.sum()):,} secondary, "
            f"the same bytes: {alike}; {between - begun:.1f} s here, {time.monotonic() - between:.1f} s there",
            flush=True,
        )
    session.stop()


def records(sizes: Sequence[int], master: str = "local-cluster[2,1,1024]") -> None:
    """Combinations counted, k-anonymity measured and a table made on a cluster, and by DuckDB here: the same bytes."""
    from pyspark.sql import SparkSession

    from benchmarks import census
    from diskret.tabulation.combinations import count_combinations

    session = SparkSession.builder.master(master).appName("diskret").config("spark.ui.enabled", "false").getOrCreate()
    by, keys = census.attributes(), ["region", "age", "sex", "nationality"]

    def combinations(source: object, engine: object) -> list[bytes]:
        found = count_combinations(source, by=by, engine=engine)
        return [found.codes.tobytes(), found.frequency.tobytes()]

    def measures(source: object, engine: object) -> list[str]:
        found = dk.measure_anonymity(source, keys=keys, sensitive=["marital", "education"], engine=engine)
        return [str(found), repr(found.sensitive)]

    def table(source: object, engine: object) -> list[bytes]:
        asked = {name: by[name] for name in ("region", "age", "sex")}
        return [dk.tabulate(source, by=asked, options=dk.TabulationOptions(engine=engine)).value.tobytes()]

    works: Sequence[Callable[[object, object], list[Any]]] = (combinations, measures, table)
    for number in sizes:
        source = census.persons(number)
        for work in works:
            begun = time.monotonic()
            here = work(source, "duckdb")
            between = time.monotonic()
            there = work(source, session)
            print(
                f"{work.__name__} of {number:,} persons, the same bytes: {here == there}; "
                f"{between - begun:.1f} s here, {time.monotonic() - between:.1f} s there",
                flush=True,
            )
    session.stop()


def growth(sizes: Sequence[int]) -> list[dict[str, float]]:
    """Measure, print, and say with which power of the number of cells everything grows."""
    rows = []
    for cells in sizes:
        table, workers = _table(cells), Measured()
        begun = time.process_time()
        by_cuboids(table, PROMISE, dk.methods.Cuboids(thin=False), workers=workers)
        driver = time.process_time() - begun - workers.worked
        row = {
            "cells": table.size, "driver": driver, "workers": workers.worked, "longest": sum(workers.longest),
            "sent": workers.sent, "back": workers.back, "rounds": len(workers.longest),
        }  # fmt: skip
        rows.append(row)
        print(
            f"{table.size:>12,} cells: driver {driver:.2f} s, workers {workers.worked:.2f} s, longest parts "
            f"{row['longest']:.2f} s in {row['rounds']} rounds; {workers.sent / 1e6:.1f} MB sent, "
            f"{workers.back / 1e6:.1f} MB back",
            flush=True,
        )
    for name in ("driver", "workers", "sent", "back"):
        print(f"{name} grows with the power {exponent(rows, name):.2f} of the cells")
    return rows


def exponent(rows: Sequence[dict[str, float]], name: str) -> float:
    """The power of the number of cells, between the first row and the last."""
    first, last = rows[0], rows[-1]
    return log(last[name] / first[name]) / log(last["cells"] / first["cells"])


def simulate(rows: Sequence[dict[str, float]], workers: Sequence[int]) -> None:
    """From the largest table that was measured to a billion cells, with the powers that were measured."""
    last = rows[-1]
    for cells in (1e7, 1e8, 1e9):
        factor = cells / last["cells"]
        grown = {name: last[name] * factor ** max(1.0, exponent(rows, name)) for name in ("driver", "workers", "sent")}
        for count in workers:
            work = grown["workers"] / count
            print(
                f"{cells:>15,.0f} cells, {count:>4} workers: driver {grown['driver'] / 60:.0f} min, each worker "
                f"{work / 60:.1f} min, {grown['sent'] / 1e9:.0f} GB over the network; the driver holds "
                f"{cells * 90 / 1e9:.0f} GB"
            )


def main(arguments: Sequence[str]) -> None:
    """Do what was asked for."""
    warnings.simplefilter("ignore")
    what, given = arguments[0], arguments[1:]
    if what == "same":
        same(int(given[0]) if given else 30_000, given[1] if len(given) > 1 else "local-cluster[2,1,1024]")
    elif what == "records":
        records([int(n) for n in given] or [100_000, 1_000_000])
    elif what == "growth":
        growth([int(n) for n in given] or [10_000, 100_000])
    else:
        counts = [int(n) for n in given] or [8, 64, 512]
        simulate(growth([10_000, 100_000, 1_000_000]), counts)


if __name__ == "__main__":
    main(sys.argv[1:])
