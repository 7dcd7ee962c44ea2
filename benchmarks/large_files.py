"""Scientific-use files larger than memory: 24 amounts and 6 codes a record, protected a few columns at a time.

The file is made by a process of its own, so that peak memory is that of protecting.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job

DATA = Path(__file__).parent / "data"
SIZES = {"1M": 1_000_000, "10M": 10_000_000, "100M": 100_000_000}
CODES = {"land": 16, "county": 400, "industry": 60, "size": 6, "sex": 2, "age": 18}
AMOUNTS = [f"x{i}" for i in range(24)]
STEPS: list[dict[str, Any]] = [
    {"do": "microaggregate", "columns": AMOUNTS[:20]},
    {"do": "noise", "columns": AMOUNTS[20:22], "sd": 0.12, "shift": 0.05, "pairing": "blocks"},
    {"do": "noise", "columns": AMOUNTS[22:], "sd": 0.12, "pairing": "none"},
    {"do": "swap", "regions": ["county"], "risk": ["industry", "size"], "similar": [["size"]], "rate": 0.02},
    {"do": "pram", "columns": ["sex", "age"], "keep": 0.95},
]


def cases() -> Iterator[Case]:
    """Protected by column at every size, and with all of it in memory where that is possible."""
    what = "scientific-use file of {} x 30: 20 columns grouped, 4 with noise, swapped, post-randomised"
    for label, number in SIZES.items():
        make = partial(made, number)
        warm = partial(protected, 2_000, True)
        yield Case(
            f"large-file-{label}-by-column", what.format(label), "diskret, by column", partial(protected, number, True),
            make, warm, in_numbers, limit=14_400,
        )  # fmt: skip
        if number <= SIZES["1M"]:
            run = partial(protected, number, False)
            yield Case(
                f"large-file-{label}-whole", what.format(label), "diskret, in memory", run, make, warm, in_numbers
            )


def file_of(number: int) -> Path:
    """Where the records lie."""
    return DATA / f"large-{number}.parquet"


def made(number: int) -> None:
    """The records, streamed to Parquet by another process; nothing is downloaded."""
    for each in (number, 2_000):
        if not file_of(each).exists():
            subprocess.run([sys.executable, "-m", "benchmarks.large_files", str(each)], check=True, cwd=DATA.parents[1])


def make(number: int) -> None:
    """Amounts that share a factor, by hashes of the number of the record."""
    import duckdb

    DATA.mkdir(exist_ok=True)
    chance = "((hash(i * 64 + {}) % 1000003) / 1000003.0)"
    codes = [f"hash(i * 64 + {40 + k}) % {size} AS {name}" for k, (name, size) in enumerate(CODES.items())]
    amounts = [
        f"round(exp(6 + 2 * {chance.format(0)} + {chance.format(k + 1)} + {chance.format(k + 2)}), 2) AS {name}"
        for k, name in enumerate(AMOUNTS)
    ]
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        rows = f"SELECT i AS id, {', '.join([*codes, *amounts])} FROM range({number}) AS r(i)"
        part = file_of(number).with_suffix(".part")
        connection.execute(f"COPY ({rows}) TO '{part}' (FORMAT parquet, COMPRESSION zstd)")
        part.replace(file_of(number))


def protected(number: int, by_column: bool) -> JobResult:
    """The job, from file to file."""
    target = f"released-{number}-{'parts' if by_column else 'whole'}.parquet"
    asked = {
        "data": {"microdata": str(file_of(number))},
        "microdata": {"values": AMOUNTS, "seed": 902_177_104_551, "by_column": by_column, "steps": STEPS},
        "output": {"records": target},
    }
    return run_job(job_from(asked, "job", DATA), DATA)


def in_numbers(done: JobResult) -> str:
    """How large the file is; it is removed."""
    (file,) = done.files
    size = file.stat().st_size
    other = file.with_name(file.name.replace("parts", "whole"))
    alike = ""
    if "parts" in file.name and other.exists():
        alike = f"; the bytes of the job in memory: {file.read_bytes() == other.read_bytes()}"
    if size > 1e9:
        file.unlink()
    assert done.microdata is not None
    return f"{done.microdata['records']:,} records written, {size / 1e6:,.0f} MB{alike}"


if __name__ == "__main__":
    make(int(sys.argv[1]))
