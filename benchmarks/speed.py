"""`python -m benchmarks.speed`: CPU seconds against size and dimension, other programs beside ours in one run.

    python -m benchmarks.speed [--tables mid,h3,5-D] [--methods cuboids,quick,default] [--peers INTERPRETER]
                               [--threads] [--growth] [--into benchmarks]

Every run has a process of its own, whose kernels are compiled before the clock starts; single contributors are guarded
against. Patterns are attacked by `benchmarks.lone` (a sample of persons and demands on larger tables), those of the
other programs too. ``--threads`` protects every table as if there were 1, 2 and 4 cores and compares the bytes.
``--growth`` adds exponents from `benchmarks.growth`. GHMITER does not run here: its seconds are stored ones, of these
very tables for mid and h3, of tables of like shape for the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import grids, growth, lone, peers, shapes
from benchmarks.times import seconds as in_words
from diskret.suppression.methods import AnyMethod, Cuboids, Moves

HERE = Path(__file__).parent
SAMPLE = 100
"""Persons and demands of the independent attack on tables of more than `ALL` cells."""
ALL, MOST_ATTACKED, MOST_FOR_PEERS = 6_000, 120_000, 6_000
PROGRAMS = tuple(peers.PROGRAMS)
COLUMNS = ("table", "cells", "primary", "program", "secondaries", "value", "CPU s", "peak GB", "exposed", "attacked")


@dataclass(frozen=True, kw_only=True)
class Sized:
    """A table of the list."""

    make: Callable[[], grids.Grid | dk.Table | None]
    ghmiter: str = ""
    """Stored CPU seconds and secondaries, with interval protection and single contributors."""


def _made(branching: Sequence[Sequence[int]], records: int) -> Callable[[], grids.Grid]:
    return partial(grids.filled, "made", "made", branching, records, skew=1.3, seed=1)


TABLES: dict[str, Sized] = {
    "mid": Sized(make=partial(grids.read, "mid"), ghmiter="0.21 (376)"),
    "h3": Sized(make=partial(grids.read, "h3"), ghmiter="5.8 (7,736)"),
    "4-D": Sized(make=_made([(4, 5), (3, 4), (9,), (9,)], 200_000)),
    "5-D": Sized(make=_made([(3, 3), (4,), (4,), (3,), (3,)], 4_000), ghmiter="2.8 (1,991), like shape"),
    "6-D": Sized(make=_made([(4,), (3,), (3,), (3,), (3,), (3,)], 3_000), ghmiter="6.7 (2,961), like shape"),
    "3-D 104,000": Sized(make=_made([(8, 7), (3, 12), (3, 12)], 60_000), ghmiter="20.7 (19,059), like shape"),
    "2-D 717,914": Sized(make=lambda: shapes.turnover_tax().table()),
}


def method_of(name: str) -> AnyMethod:
    """A method by its name here."""
    return Cuboids() if name == "cuboids" else Moves(effort=name)  # type: ignore[arg-type]


# --- one run, in a process of its own ---------------------------------------------------------------------------------


def one(table: str, name: str, threads: int | None) -> dict[str, Any]:
    """Protect one table once, warm; ``threads``: as if the machine had so many cores."""
    if threads is not None:
        os.cpu_count = lambda: threads
    warnings.simplefilter("ignore")
    grid = TABLES[table].make()
    if grid is None:
        return {}
    made = grid.table if isinstance(grid, grids.Grid) else grid
    small = grids.filled("small", "small", [(2, 2)] * len(made.shape), 40 * len(made.shape), skew=1.3, seed=1)
    dk.suppress(small.table, dk.Promise(), method_of(name))
    start = time.process_time()
    done = dk.suppress(made, dk.Promise(), method_of(name))
    used = time.process_time() - start
    found = {
        "cells": made.size, "primary": int((made.status == dk.Status.PRIMARY).sum()),
        "secondaries": int(done.secondary.sum()), "value": float(made.value[done.secondary].sum()), "cpu": used,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, "audited": done.audit is not None,
        "bytes": hashlib.sha256(done.table.status.tobytes()).hexdigest(), "unprotected": len(done.unprotected),
    }  # fmt: skip
    if threads is None and isinstance(grid, grids.Grid):
        found |= attacked(grid, grid.own(done.table.hidden))
    return found


def attacked(grid: grids.Grid, hidden: grids.Bools) -> dict[str, Any]:
    """How many primary cells the independent attack exposes, and how much of it was made."""
    if grid.value.size > MOST_ATTACKED:
        return {}
    most = None if grid.value.size <= ALL else SAMPLE
    return {"exposed": len(lone.exposed(grid, hidden, singles=True, most=most)), "sampled": most is not None}


def elsewhere(table: str, name: str, threads: int | None = None, limit: float = 1800) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed", "--one", table, name, str(threads or 0)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=HERE.parent, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {limit:g} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_of(table: str, given: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Ours by every method, GHMITER's stored figures, then the other programs."""
    cells = primary = ""
    for name in given.methods:
        found = elsewhere(table, name)
        if not found or "failed" in found:
            yield table, cells, primary, f"diskret, {name}", "", "", found.get("failed", "not here"), "", "", ""
            continue
        cells, primary = f"{found['cells']:,}", f"{found['primary']:,}"
        yield (
            table, cells, primary, f"diskret, {name}", f"{found['secondaries']:,}", f"{found['value']:,.0f}",
            in_words(found["cpu"]), f"{found['peak']:.2f}", *_said(found),
        )  # fmt: skip
    if TABLES[table].ghmiter:
        yield table, cells, primary, "GHMITER (stored)", "", "", TABLES[table].ghmiter, "", "", ""
    grid = TABLES[table].make()
    if isinstance(grid, grids.Grid) and grid.value.size <= MOST_FOR_PEERS:
        yield from _others(table, grid, given.peers)


def _said(found: dict[str, Any]) -> tuple[str, str]:
    if "exposed" not in found:
        return "", "by its own audit" if found.get("audited") else ""
    return str(found["exposed"]), f"sample of {SAMPLE}" if found["sampled"] else "all"


def _others(table: str, grid: grids.Grid, interpreter: Path) -> Iterator[tuple[str, ...]]:
    sizes = f"{grid.value.size:,}", f"{int(grid.primary.sum()):,}"
    with tempfile.TemporaryDirectory() as folder:
        grids.write(grid, Path(folder), "made")
        for program in PROGRAMS:
            words = peers.PROGRAMS[program]
            found = peers.run(program, "made", Path(folder), interpreter)
            if isinstance(found, str):
                yield table, *sizes, words, "", "", found, "", "", ""
                continue
            secondary = np.zeros(grid.value.size, dtype=np.bool_)
            secondary[np.array(found["secondary"], dtype=np.int64)] = True
            hidden = grid.primary | secondary.reshape(grid.shape)
            yield (
                table, *sizes, f"{words} {found['version']}", f"{int(secondary.sum()):,}",
                f"{grid.value.reshape(-1)[secondary].sum():,.0f}", in_words(found["cpu"]), f"{found['peak']:.2f}",
                *_said(attacked(grid, hidden)),
            )  # fmt: skip


def same_bytes(table: str, name: str) -> bool:
    """Whether a table comes out the same with 1, 2 and 4 threads."""
    found = [elsewhere(table, name, threads) for threads in (1, 2, 4)]
    return len({each.get("bytes") for each in found}) == 1


def growing() -> list[str]:
    """How CPU and memory grow with the number of cells."""
    measured = growth.rows((1_000, 10_000, 30_000, 100_000), effort="default")
    said = [f"{name.replace('_', ' ')} {power:.2f}" for name, power in growth.exponents(measured).items()]
    return [f"Exponents from 10,000 to {measured[-1].cells:,} cells in 3 dimensions: {', '.join(said)}."]


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write; 1 if a pattern is exposed or depends on the number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--tables", type=lambda text: text.split(","), default=[*TABLES])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["cuboids", "quick", "default"])
    parser.add_argument("--peers", type=Path, default=peers.INTERPRETER, help="an interpreter that has them")
    parser.add_argument("--threads", action="store_true", help="compare the bytes of 1, 2 and 4 threads")
    parser.add_argument("--growth", action="store_true", help="state growth exponents")
    parser.add_argument("--into", type=Path, help="folder for speed.md; left out: it is printed only")
    given = parser.parse_args(words)
    if given.one:
        print(json.dumps(one(given.one[0], given.one[1], int(given.one[2]) or None)))
        return 0
    rows, notes, bad = [], [], False
    for table in given.tables:
        for row in rows_of(table, given):
            print(" | ".join(row), flush=True)
            rows.append(row)
            bad |= row[3] in ("diskret, quick", "diskret, default") and row[8] not in ("", "0")
        if given.threads:
            same = all(same_bytes(table, name) for name in given.methods)
            notes.append(f"{table}: {'the same bytes' if same else 'OTHER BYTES'} with 1, 2 and 4 threads.")
            print(notes[-1], flush=True)
            bad |= not same
    notes += growing() if given.growth else []
    if given.into is not None:
        lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS), *(" | ".join(r) for r in rows)]
        head = (
            "# CPU seconds against size and dimension\n\nWritten by `python -m benchmarks.speed`; single contributors "
        )
        head += "are guarded against. `exposed` is what `benchmarks/lone.py` finds, which shares nothing with us.\n\n"
        text = head + "\n".join(f"| {line} |" for line in lines) + "\n\n" + "\n".join(f"- {n}" for n in notes) + "\n"
        (given.into / "speed.md").write_text(text, encoding="utf-8")
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
