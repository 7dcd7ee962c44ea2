"""Sparse tables: time and memory of every step, on records that fill few of the possible cells.

    python -m benchmarks.sparse --shape 13,13,13,13,13,13,13,13 --records 30000 --method moves

Records come in clusters: most of what one record says the records of its cluster say too, as firms of one branch and
region do. ``--shape`` are the finest codes of each classification (``a/b``: a groups of b codes each).
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from diskret import Hierarchy, MinCount, PPercent, Promise, Table, TabulationOptions, audit, mark, suppress, tabulate
from diskret.publication.publish import publish
from diskret.suppression.methods import Cuboids, Moves


def records_of(shape: str, number: int, seed: int, spread: float) -> tuple[dict[str, Any], dict[str, Hierarchy]]:
    """Records in clusters, and the hierarchies of their classifications."""
    draw = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    by: dict[str, Hierarchy] = {}
    cluster = (draw.pareto(1.2, number) * 20).astype(np.int64)
    for axis, size in enumerate(shape.split(",")):
        groups, _, each = size.partition("/")
        number_of_codes = int(groups) * int(each or 1)
        width = len(str(number_of_codes))
        codes = [
            f"{i // int(each):0{width}d}.{i % int(each):0{width}d}" if each else f"{i:0{width}d}"
            for i in range(number_of_codes)
        ]
        name = f"c{axis}"
        by[name] = Hierarchy.from_prefixes(codes, [width]) if each else Hierarchy.flat(codes)
        usual = np.random.default_rng([seed, axis]).permutation(int(cluster.max()) + 1)[cluster] % number_of_codes
        other = np.minimum(draw.pareto(1.0, number) * number_of_codes / 20, number_of_codes - 1).astype(np.int64)
        columns[name] = np.array(codes, dtype=object)[np.where(draw.random(number) < spread, other, usual)]
    columns["turnover"] = np.rint(draw.lognormal(4, 1.2, number) + 1)
    return columns, by


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Do something and say what it took."""
    cpu, clock = time.process_time(), time.monotonic()
    found = work()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{what:12s} {time.process_time() - cpu:9.1f} CPU s {time.monotonic() - clock:9.1f} s, {most:5.2f} GB at most",
        flush=True,
    )
    return found


def main() -> None:
    """Run all steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="12,12,12,12,12,12,12,12")
    parser.add_argument("--records", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", type=float, default=0.2)
    parser.add_argument("--minimum", type=int, default=3)
    parser.add_argument("--guard", default="single")
    parser.add_argument("--method", choices=("moves", "quick", "cuboids", "none"), default="moves")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--no-audit", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    columns, by = records_of(given.shape, given.records, given.seed, given.spread)
    options = TabulationOptions(sparse=not given.dense)
    table: Table = timed("tabulate", lambda: tabulate(columns, by=by, value="turnover", options=options))
    marked: Table = timed("mark", lambda: mark(table, MinCount(given.minimum) | PPercent(10)))
    print(marked)
    promise = Promise(guard=given.guard)
    methods: dict[str, Any] = {"moves": Moves(), "quick": Moves(effort="quick"), "cuboids": Cuboids()}
    if given.method != "none":
        done = timed("protect", lambda: suppress(marked, promise, methods[given.method]))
        print(f"{int(done.secondary.sum())} secondary cells, {len(done.unprotected)} unprotected")
        marked = done.table
    if not given.no_audit:
        report = timed("audit", lambda: audit(marked, promise))
        print(f"{len(report.exposed)} exposed, {len(report.undecided)} undecided, {report.programmes} programmes")
    with TemporaryDirectory() as folder:
        for kind in ("csv", "parquet") if given.publish else ():
            path = Path(folder) / f"table.{kind}"
            timed(kind, partial(publish, marked, path, unprotected=True))


if __name__ == "__main__":
    main()
