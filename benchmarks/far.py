"""Records on workers of their own: the attack by blocks, groups and noise on a `local-cluster`, beside one machine.

    python -m benchmarks.far same [RECORDS]      the same bytes here and there
    python -m benchmarks.far logs [RECORDS]      what the event log of a session tells of noise
    python -m benchmarks.far memory PART         what a worker takes: nothing, attack, groups or noise
    python -m benchmarks.far WORK RECORDS        one work measured: attack, groups or noise

Every process that belongs to the session is looked at twice a second: CPU seconds are those of all of them together,
peak memory is of the largest Python worker and of the largest executor.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.case import Case
from benchmarks.times import seconds

DATA = Path(__file__).parent / "data"
MASTER = "local-cluster[2,1,1536]"
SIZES = {"1M": 1_000_000, "3M": 3_000_000, "10M": 10_000_000}
KEYS, VALUES = ["region", "age", "sex"], ["income", "rent", "tax"]
SECRET = {"sd": 0.1318257, "shift": 0.0912837, "seed": 771_934_405_113}
WORKS = {
    "attack": "attack by blocks, single units: {} x {} persons, 3 keys, 3 values",
    "groups": "microaggregate 3 columns of {} persons, m = 3",
    "noise": "noise on 3 columns of {} persons, two peaks, no pairs",
}


def cases() -> Iterator[Case]:
    """Every work at every size, here and on a cluster of this machine; each in processes of its own."""
    for work, words in WORKS.items():
        for label, number in SIZES.items():
            for place, program in (("spark", f"diskret, Spark {MASTER}"), ("here", "diskret, one machine")):
                run = partial(apart, work, number, place)
                what = words.format(label, label)
                yield Case(
                    f"far-{work}-{label}-{place}", what, program, run, partial(files, number), judge=judged, limit=3600
                )


def files(number: int) -> tuple[Path, Path]:
    """Persons as they are, and as they might be released: 800 blocks, three correlated amounts, with noise."""
    import duckdb

    DATA.mkdir(exist_ok=True)
    known, released = (DATA / f"persons-{number}-{name}.parquet" for name in ("known", "released"))
    if not known.exists():
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            normal = [_normal(f"i * 16 + {2 * k}", f"i * 16 + {2 * k + 1}") for k in range(4)]
            amounts = [f"round(exp(7 + 0.8 * {normal[0]} + 0.3 * {each}), 2)" for each in normal[1:]]
            codes = "hash(i * 3) % 40 AS region, hash(i * 3 + 1) % 10 AS age, hash(i * 3 + 2) % 2 AS sex"
            listing = ", ".join(f"{sql} AS {name}" for sql, name in zip(amounts, VALUES, strict=True))
            made = f"SELECT i AS id, {codes}, {listing} FROM range({number}) AS r(i)"
            connection.execute(f"COPY ({made}) TO '{known}.part' (FORMAT parquet)")
            changed = ", ".join(
                f"round({name} * exp(0.05 * {_normal(f'id * 7 + {k}', f'id * 7 + {k + 3}')}), 2) AS {name}"
                for k, name in enumerate(VALUES)
            )
            shown = f"SELECT id, region, age, sex, {changed} FROM read_parquet('{known}.part') ORDER BY hash(id)"
            connection.execute(f"COPY ({shown}) TO '{released}' (FORMAT parquet)")
            os.replace(f"{known}.part", known)
    return released, known


def _normal(one: str, two: str) -> str:
    """A normal number drawn by two numbers, in SQL."""
    first, second = (f"((hash({each}) % 1000003) / 1000003.0)" for each in (one, two))
    return f"(sqrt(-2 * ln({first} + 1e-12)) * cos(6.283185307179586 * {second}))"


@contextmanager
def session(**more: str) -> Iterator[Any]:
    """Workers of their own on this machine."""
    from pyspark.sql import SparkSession

    begun = SparkSession.builder.master(MASTER).appName("diskret").config("spark.ui.enabled", "false")
    begun = begun.config("spark.sql.shuffle.partitions", "16").config("spark.sql.session.timeZone", "UTC")
    for name, value in more.items():
        begun = begun.config(name.replace("_", "."), value)
    made = begun.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    try:
        yield made
    finally:
        made.stop()


# --- works -----------------------------------------------------------------------------------------------------------


def attack(number: int, engine: object) -> str:
    """Whom somebody finds who looks for every unit on its own."""
    options = dk.LinkageOptions(method="single", engine=engine)
    found = dk.attack(*files(number), keys=KEYS, values=VALUES, unit="id", options=options)
    return f"{found.blocks} blocks, {found.correct:,} found, true match rate {found.true_match_rate:.4f}"


def groups(number: int, engine: object) -> Any:
    """Each column on its own."""
    from diskret.microdata import on_spark

    known = files(number)[1]
    if engine == "duckdb":
        return dk.microaggregate(known, VALUES).frame
    return on_spark.microaggregate(known, VALUES, engine=engine).frame


def noise(number: int, engine: object) -> Any:
    """The columns together."""
    from diskret.microdata import on_spark

    known, secret = files(number)[1], dict(SECRET)
    if engine == "duckdb":
        plain = dk.NoiseOptions(pairing="none")
        return dk.add_noise(known, VALUES, options=plain, **secret).frame  # type: ignore[arg-type]
    return on_spark.add_noise(known, VALUES, engine=engine, **secret).frame  # type: ignore[arg-type]


RUN: Mapping[str, Callable[[int, object], Any]] = {"attack": attack, "groups": groups, "noise": noise}


def done(work: str, number: int, engine: object) -> str:
    """The work to its end: files are written."""
    found = RUN[work](number, engine)
    if isinstance(found, str):
        return found
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        target = Path(folder) / "made.parquet"
        if engine == "duckdb":
            from diskret.publication.microdata_files import write_records

            write_records(found, target)
        else:
            found.write.parquet(str(target))
        size = sum(f.stat().st_size for f in Path(folder).rglob("*.parquet") if f.is_file())
    return f"{number:,} records written, {size / 1e6:.0f} MB"


# --- measuring -------------------------------------------------------------------------------------------------------


@dataclass
class Watched:
    """What the processes of a session use, as /proc tells."""

    cpu: dict[int, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)
    over: bool = False

    def look(self) -> None:
        """Look at everybody who descends from this process."""
        parents: dict[int, int] = {}
        told: dict[int, tuple[float, float, str]] = {}
        for place in Path("/proc").iterdir():
            if not place.name.isdigit():
                continue
            try:
                words = (place / "stat").read_text().rpartition(")")[2].split()
                name = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            pid = int(place.name)
            parents[pid] = int(words[1])
            ticks = os.sysconf("SC_CLK_TCK")
            told[pid] = ((int(words[11]) + int(words[12])) / ticks, int(words[21]) * 4096 / 1e9, name)
        ours = {os.getpid()}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        for pid in ours & told.keys():
            used, size, name = told[pid]
            self.cpu[pid] = max(self.cpu.get(pid, 0.0), used)
            kind = "driver"
            if "CoarseGrainedExecutorBackend" in name:
                kind = "executor"
            elif "pyspark" in name and pid != os.getpid() and "java" not in name:
                kind = "worker"
            elif "java" in name:
                kind = "master"
            self.peak[kind] = max(self.peak.get(kind, 0.0), size)

    def watch(self) -> None:
        """Look until it is over."""
        while not self.over:
            self.look()
            time.sleep(0.5)


def measured(work: str, number: int, place: str) -> dict[str, Any]:
    """CPU of all processes, wall, peak memory by kind; compiling and starting left out where that is one machine."""
    warnings.simplefilter("ignore")
    done(work, 1000 if (DATA / "persons-1000-known.parquet").exists() else _small(), "duckdb")
    watched = Watched()
    watched.look()
    before = sum(watched.cpu.values())
    watching = threading.Thread(target=watched.watch, daemon=True)
    watching.start()
    begun = time.monotonic()
    if place == "here":
        quality = done(work, number, "duckdb")
    else:
        with session() as engine:
            quality = done(work, number, engine)
            watched.look()
    wall = time.monotonic() - begun
    watched.look()
    watched.over = True
    return {"cpu": sum(watched.cpu.values()) - before, "wall": wall, "peak": watched.peak, "quality": quality}


def _small() -> int:
    files(1000)
    return 1000


def apart(work: str, number: int, place: str) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.far", work, str(number), place]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=DATA.parents[1])
    if ran.returncode:
        raise RuntimeError((ran.stderr.strip().splitlines() or ["no message"])[-1])
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def judged(found: dict[str, Any]) -> Mapping[str, str]:
    """The row of a work."""
    kinds = ", ".join(f"{kind} {size:.2f} GB" for kind, size in sorted(found["peak"].items()))
    peak = max(found["peak"].values())
    return {
        "CPU s": seconds(found["cpu"]), "wall s": seconds(found["wall"]), "peak GB": f"{peak:.2f}", "compile s": "",
        "quality": f"{found['quality']}; {kinds}",
    }  # fmt: skip


# --- claims ----------------------------------------------------------------------------------------------------------


def same(number: int) -> None:
    """The same outcome, and the same bytes in every row."""
    warnings.simplefilter("ignore")
    with session() as engine:
        for work, run in RUN.items():
            begun = time.monotonic()
            here = run(number, "duckdb")
            between = time.monotonic()
            there = run(number, engine)
            if work != "attack":
                table = there.toArrow()
                alike = all(here[n].tobytes() == table.column(n).to_numpy().tobytes() for n in VALUES)
            else:
                alike = here == there
            took = f"{between - begun:.1f} s here, {time.monotonic() - between:.1f} s there"
            print(f"{work} of {number:,} persons, the same: {alike}; {took}", flush=True)


def logs(number: int) -> None:
    """Search the event log of a session for the parameters of noise, in every way they might be written."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        told = {
            "spark_eventLog_enabled": "true",
            "spark_eventLog_dir": f"file://{folder}",
            "spark_eventLog_compress": "false",
        }
        with session(**told) as engine:
            noise(number, engine).write.parquet(f"{folder}/made.parquet")
        text = b"".join(f.read_bytes() for f in Path(folder).rglob("*") if f.is_file() and f.suffix != ".parquet")
    words = (
        {str(v) for v in SECRET.values()}
        | {f"{v:.4g}" for v in SECRET.values()}
        | {f"{v:e}"[:6] for v in SECRET.values()}
    )
    found = sorted(w for w in words if w.encode() in text)
    print(
        f"{len(text):,} bytes of event log, MapInArrow in it: {b'MapInArrow' in text}; secrets in it: {found or 'none'}"
    )


def memory(part: str) -> float:
    """Peak memory of this process in GB, with the largest thing that a worker is given and what it makes of it."""
    import pyarrow as pa

    from diskret.microdata import on_spark
    from diskret.risk import far_linkage

    random = np.random.default_rng(1)
    n = np.arange(500_000)
    if part == "attack":
        codes = {f"k{i}": random.integers(0, 4, n.size).astype(np.int32) for i in range(3)}
        sides = []
        for _ in range(2):
            points = {f"p{i}": random.normal(size=n.size) for i in range(3)}
            sides.append({"n": n, "share": n * 0, "block": n // 625, **codes, **points})
        told = {"r": n} | {f"{kind}{i}": random.normal(size=n.size) for kind in "to" for i in range(3)}
        told |= {f"g{i}": codes[f"k{i}"].astype(str).astype(object) for i in range(3)}
        tables = [pa.table(sides[0]), pa.table({**sides[1], **told})]
        del sides, told
        limits: dict[str, Any] = dict.fromkeys(KEYS)
        options = dk.LinkageOptions(method="single", engine="spark")
        left, right = tables
        far_linkage._linked(left, right, 3, tuple(VALUES), limits, options, True)
    elif part == "groups":
        values = np.sort(random.lognormal(8, 2, 1 << 20))
        at = np.arange(values.size)
        table = pa.table({"n": random.permutation(at), "w": [""] * at.size, "x": values, "at": at, "part": at * 0})
        how = on_spark._Grouping(m=3, fixed=False, keep_variance=False, place=0)
        on_spark._as_arrow(partial(on_spark._group, most={"": float(values[-1])}, how=how))(table)
    elif part == "noise":
        rows = np.arange(1 << 16)
        table = pa.table(
            {"n": rows, "block": rows * 0, **{f"x{i}": random.lognormal(size=rows.size) for i in range(30)}}
        )
        secret = on_spark._Noise(shift=0.05, factor=0.1 * np.eye(30), seed=5)
        on_spark._as_arrow(partial(on_spark._overlaid, noise=secret))(table)
    else:
        far_linkage._sorted(pa.table({"n": n[:10]}))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(arguments: Sequence[str]) -> None:
    """Do what was asked for."""
    what = arguments[0]
    number = int(arguments[1]) if len(arguments) > 1 and what != "memory" else 100_000
    if what == "same":
        same(number)
    elif what == "logs":
        logs(number)
    elif what == "memory":
        print(f"{memory(arguments[1]):.3f} GB after {arguments[1]}")
    else:
        print(json.dumps(measured(what, number, arguments[2] if len(arguments) > 2 else "spark")))


if __name__ == "__main__":
    main(sys.argv[1:])
