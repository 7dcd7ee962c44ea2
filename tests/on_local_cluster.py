"""Run as a program: every work on records on a Spark `local-cluster`, and on this machine.

    python tests/on_local_cluster.py FOLDER

Two worker processes with nothing in common but the network. Prints as JSON which works gave the same bytes, and how
many executors there were. It is a process of its own because a process has one Spark session, and other tests have it.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from diskret.microdata import on_spark
from diskret.microdata.columns import read_records
from diskret.publication.microdata_files import write_records
from diskret.tabulation.combinations import count_combinations

MASTER = "local-cluster[2,1,1024]"
KEYS, VALUES = ["region", "age", "sex"], ["income", "rent"]
Work = Callable[[object], list[Any]]


def main(folder: Path) -> None:
    """Everything twice."""
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    known, released = files(folder)
    begun = SparkSession.builder.master(MASTER).appName("diskret").config("spark.ui.enabled", "false")
    begun = begun.config("spark.sql.shuffle.partitions", "4").config("spark.sql.session.timeZone", "UTC")
    session = begun.getOrCreate()
    try:
        session.sparkContext.setLogLevel("OFF")
        found = {name: work("duckdb") == work(session) for name, work in works(known, released).items()}
        print(json.dumps({"executors": executors(session), "same": found}))
    finally:
        session.stop()


def files(folder: Path) -> tuple[Path, Path]:
    """1,200 persons as they are, and as they might be released: in another order, with noise and gaps."""
    random, n = np.random.default_rng(20), 1200
    persons = {
        "id": np.arange(n), "region": random.choice(np.array(["N", "S", "W", None], dtype=object), n),
        "age": random.integers(0, 9, n), "sex": random.choice(np.array(["m", "w"], dtype=object), n),
    }  # fmt: skip
    amounts = {name: np.exp(random.normal(7, 1, n)).round(2) for name in VALUES}
    amounts["rent"][::40] = np.nan
    order = random.permutation(n)
    noisy = {name: (x * np.exp(random.normal(0, 0.1, n)))[order] for name, x in amounts.items()}
    known, released = folder / "known.parquet", folder / "released.parquet"
    write_records(read_records({**persons, **amounts}), known)
    write_records(read_records({**{name: x[order] for name, x in persons.items()}, **noisy}), released)
    return known, released


def works(known: Path, released: Path) -> dict[str, Work]:
    """What docs/cluster.md says runs where the records are."""

    def combinations(engine: object) -> list[Any]:
        counted = count_combinations(known, by=dict.fromkeys(KEYS), engine=engine)
        return [counted.codes.tobytes(), counted.frequency.tobytes()]

    def anonymous(engine: object) -> list[Any]:
        options = dk.AnonymiseOptions(engine=engine)
        return [
            dk.anonymise(known, KEYS, seed=5, search=dk.LadderSearch(effort=0.02), options=options).frequency.tobytes()
        ]

    def table(engine: object) -> list[Any]:
        by, options = dict.fromkeys(("region", "sex")), dk.TabulationOptions(engine=engine)
        made = dk.tabulate(known, by=by, value="income", options=options)
        return [made.value.tobytes(), made.count.tobytes()]

    def anonymity(engine: object) -> list[Any]:
        measured = dk.measure_anonymity(known, keys=["region", "sex"], sensitive=["age"], engine=engine)
        return [str(measured), repr(measured.sensitive)]

    def attack(engine: object) -> list[Any]:
        options = dk.LinkageOptions(method="single", engine=engine)
        made = dk.attack(released, known, keys=KEYS, values=VALUES, unit="id", options=options)
        return [made.summary(), repr(made.combinations), str(made)]

    def grouped(engine: object) -> list[Any]:
        if engine == "duckdb":
            return bytes_of(dk.microaggregate(known, VALUES).frame)
        return bytes_of(on_spark.microaggregate(known, VALUES, engine=engine).frame.toArrow())

    def noise(engine: object) -> list[Any]:
        secret: dict[str, Any] = {"sd": 0.12, "shift": 0.05, "seed": 771_934_405_113}
        if engine == "duckdb":
            plain = dk.NoiseOptions(pairing="none")
            return bytes_of(dk.add_noise(known, VALUES, options=plain, **secret).frame)
        return bytes_of(on_spark.add_noise(known, VALUES, engine=engine, **secret).frame.toArrow())

    return {each.__name__: each for each in (combinations, anonymous, table, anonymity, attack, grouped, noise)}


def bytes_of(frame: Any) -> list[Any]:
    """The changed columns of records here or of a table from there."""
    columns = [frame[name] for name in VALUES]
    return [np.asarray(c, dtype=np.float64).tobytes() for c in columns]


def executors(session: Any) -> int:
    """Processes that work for the session, as far as they have come up; the driver is not one."""
    scheduler = session.sparkContext._jsc.sc()
    for _ in range(100):
        if scheduler.getExecutorMemoryStatus().size() > 2:
            break
        time.sleep(0.1)
    return int(scheduler.getExecutorMemoryStatus().size()) - 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
