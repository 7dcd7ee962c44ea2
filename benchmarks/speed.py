"""`python -m benchmarks.speed`: CPU seconds against size and dimension, other programs beside ours in one run.

    python -m benchmarks.speed [--tables mid,h3,5-D] [--methods cuboids,quick,default] [--peers INTERPRETER]
                               [--threads] [--growth] [--into benchmarks]

Every run has a process of its own, whose kernels are compiled before the clock starts; single contributors are guarded
against. Patterns are attacked by `benchmarks.lone` (a sample of persons and demands on larger tables), those of the
other programs too. ``--threads`` protects every table as if there were 1, 2 and 4 cores and compares the bytes.
``--growth`` adds how CPU seconds grow with the number of cells (exponents, from `benchmarks.growth`) and, of tables
with as many cells and firms, with the number of dimensions. GHMITER does not run here: its seconds are stored ones, of
these very tables for mid and h3, of tables of like shape for the others.

Written are speed.md and speed.svg, after every table: what was measured stands, whenever it is broken off.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import grids, growth, lone, peers, shapes
from benchmarks.__main__ import commit
from benchmarks.times import seconds as in_words
from diskret.publication.plots import save_chart
from diskret.suppression.methods import AnyMethod, Cuboids, Moves

HERE = Path(__file__).parent
SAMPLE = 100
"""Persons and demands of the independent attack on tables of more than `ALL` cells."""
SECONDS, FEW_SECONDS = 30.0, 3.0
"""CPU seconds of an attack by a sample; of one on tables that only show growth."""
ALL, MOST_FOR_PEERS = 3_000, 6_000
PROGRAMS = tuple(peers.PROGRAMS)
PROVED = ("quick", "default", "economy")
"""Methods whose patterns must not be exposed."""
THREADS = (1, 4)
"""As if there were so many cores; the run that is shown has two."""
LATE = 300
"""Seconds by the clock for a table that shows growth."""
DIFFERENT = "OTHER BYTES"
SHOWN = ("CPU s", "secondaries", "exposed")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What GHMITER took, with interval protection and single contributors."""

    cpu: float
    secondaries: int
    value: str = ""
    like: str = ""
    """Says so if that was another table of like shape."""


@dataclass(frozen=True, kw_only=True)
class Sized:
    """A table of the list."""

    make: Callable[[], grids.Grid | None]
    dimensions: int
    ghmiter: Stored | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One program on one table, as it is shown."""

    table: str
    dimensions: int
    cells: str = ""
    primary: str = ""
    program: str = ""
    secondaries: str = ""
    value: str = ""
    cpu_s: str = ""
    peak_gb: str = ""
    exposed: str = ""
    attacked: str = ""


def _made(branching: Sequence[Sequence[int]], records: int) -> Callable[[], grids.Grid]:
    return partial(grids.filled, "made", "made", branching, records, skew=1.3, seed=1)


LIKE = "a table of like shape"
TABLES: dict[str, Sized] = {
    "mid": Sized(
        make=partial(grids.read, "mid"), dimensions=3, ghmiter=Stored(cpu=0.21, secondaries=376, value="420,999"),
    ),
    "h3": Sized(
        make=partial(grids.read, "h3"), dimensions=3, ghmiter=Stored(cpu=5.8, secondaries=7_736, value="15,485,036"),
    ),
    "5-D": Sized(
        make=_made([(3, 3), (4,), (4,), (3,), (3,)], 4_000), dimensions=5,
        ghmiter=Stored(cpu=2.8, secondaries=1_991, like=LIKE),
    ),
    "6-D": Sized(
        make=_made([(4,), (3,), (3,), (3,), (3,), (3,)], 3_000), dimensions=6,
        ghmiter=Stored(cpu=6.7, secondaries=2_961, like=LIKE),
    ),
    "4-D": Sized(make=_made([(4, 5), (3, 4), (9,), (9,)], 200_000), dimensions=4),
    "3-D": Sized(
        make=_made([(8, 7), (3, 12), (3, 12)], 60_000), dimensions=3,
        ghmiter=Stored(cpu=20.7, secondaries=19_059, like=LIKE),
    ),
    "2-D": Sized(make=lambda: grids.Counted.of(shapes.turnover_tax().table()), dimensions=2),
}  # fmt: skip

ALIKE: dict[str, Sized] = {
    f"alike-{len(sides)}": Sized(make=_made([(n - 1,) for n in sides], 4_000), dimensions=len(sides))
    for sides in ((72, 72), (17, 17, 18), (8, 8, 9, 9), (5, 5, 6, 6, 6), (4, 4, 4, 4, 4, 5), (3, 3, 3, 3, 4, 4, 4))
}
"""Some 5,200 cells and 4,000 firms in 2 to 7 dimensions without levels."""


def method_of(name: str) -> AnyMethod:
    """A method by its name here."""
    return Cuboids() if name == "cuboids" else Moves(effort=name)  # type: ignore[arg-type]


# --- one run, in a process of its own ---------------------------------------------------------------------------------


def one(table: str, name: str, threads: int | None) -> dict[str, Any]:
    """Protect one table once, warm; ``threads``: as if the machine had so many cores."""
    os.sched_getaffinity = lambda process: set(range(threads or 2))
    warnings.simplefilter("ignore")
    grid = (TABLES | ALIKE)[table].make()
    if grid is None:
        return {}
    made = grid.table
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
    if threads is None:
        found |= attacked(grid, grid.own(done.table.hidden), SECONDS if table in TABLES else FEW_SECONDS)
    return found


def attacked(grid: grids.Grid, hidden: grids.Bools, seconds: float = SECONDS) -> dict[str, Any]:
    """How many primary cells the independent attack exposes, and how much of it was made."""
    most = None if grid.value.size <= ALL else SAMPLE
    found = lone.attacked(grid, hidden, singles=True, most=most, seconds=np.inf if most is None else seconds)
    words = "all" if most is None and found.settled == found.questions else f"{found.settled:,} questions"
    return {"exposed": len(found.exposed), "attacked": words}


def elsewhere(table: str, name: str, threads: int | None = None, limit: float = 1800) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed", "--one", table, name, str(threads or 0)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=HERE.parent, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {limit:g} s"}
    if done.returncode < 0:
        return {"failed": f"ended by {signal.Signals(-done.returncode).name}"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:80]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_of(table: str, given: argparse.Namespace) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Ours by every method, GHMITER's stored figures, then the other programs; with what was found."""
    base = Row(table=table, dimensions=TABLES[table].dimensions)
    for name in given.methods:
        found = elsewhere(table, name)
        row = replace(base, program=f"diskret, {name}")
        if not found or "failed" in found:
            yield replace(row, cpu_s=found.get("failed", "not here")), {}
            continue
        base = replace(base, cells=f"{found['cells']:,}", primary=f"{found['primary']:,}")
        yield _shown(replace(row, cells=base.cells, primary=base.primary), found), found
    stored = TABLES[table].ghmiter
    if stored is not None:
        words = f"GHMITER (stored{', ' + stored.like if stored.like else ''})"
        # how much another table hides says nothing of this one
        number, spent = "" if stored.like else f"{stored.secondaries:,}", in_words(stored.cpu)
        yield replace(base, program=words, secondaries=number, value=stored.value, cpu_s=spent), {}
    grid = TABLES[table].make()
    if grid is not None and grid.value.size <= MOST_FOR_PEERS:
        yield from ((row, {}) for row in _others(base, grid, given))


def _shown(row: Row, found: dict[str, Any]) -> Row:
    exposed = str(found.get("exposed", ""))
    return replace(
        row, secondaries=f"{found['secondaries']:,}", value=f"{found['value']:,.0f}", cpu_s=in_words(found["cpu"]),
        peak_gb=f"{found['peak']:.2f}", exposed=exposed, attacked=found.get("attacked", ""),
    )  # fmt: skip


def _others(base: Row, grid: grids.Grid, given: argparse.Namespace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        grids.write(grid, Path(folder), "made")
        for program in PROGRAMS:
            words = peers.PROGRAMS[program]
            found = peers.run(program, "made", Path(folder), given.peers, given.limit)
            if isinstance(found, str):
                yield replace(base, program=words, cpu_s=found)
                continue
            secondary = np.zeros(grid.value.size, dtype=np.bool_)
            secondary[np.array(found["secondary"], dtype=np.int64)] = True
            sizes = {"secondaries": int(secondary.sum()), "value": float(grid.value.reshape(-1)[secondary].sum())}
            hidden = grid.primary | secondary.reshape(grid.shape)
            yield _shown(replace(base, program=f"{words} {found['version']}"), found | sizes | attacked(grid, hidden))


def same_bytes(table: str, name: str, with_two: str) -> bool:
    """Whether a table comes out the same with 1 and 4 threads as with 2."""
    return all(elsewhere(table, name, threads).get("bytes") == with_two for threads in THREADS)


def growing(efforts: Sequence[str] = ("quick", "default")) -> list[str]:
    """How CPU and memory grow with the number of cells, as lines."""
    names = [field.name for field in fields(growth.Row)]
    lines = [["effort", *(name.replace("_", " ") for name in names)], ["---"] * (1 + len(names))]
    said = []
    for effort in efforts:
        measured = growth.rows((1_000, 10_000, 30_000, 100_000), effort=effort, limit=LATE)
        lines += [[effort, *(f"{getattr(row, name):,}" for name in names)] for row in measured]
        powers = [f"{name.replace('_', ' ')} {power:.2f}" for name, power in growth.exponents(measured).items()]
        said.append(f"{effort}, from 10,000 to {measured[-1].cells:,} cells: {', '.join(powers)}.")
    return [
        "## Growth with the number of cells\n\nCubes with as many firms to a cell at every size, single contributors "
        "guarded against, every pattern attacked without the moves that made it; CPU seconds and gigabytes; nan: "
        f"the attack was stopped after {LATE} s by the clock.\n",
        *(f"| {' | '.join(line)} |" for line in lines),
        "\nExponents (slopes of the logarithms; 1 is linear):\n",
        *(f"- {each}" for each in said),
    ]


def by_dimensions(methods: Sequence[str] = ("cuboids", "quick", "default")) -> list[str]:
    """How CPU grows with the number of dimensions, as lines."""
    found = {name: [elsewhere(table, name) for table in ALIKE] for name in methods}
    lines = [["dimensions", "cells", "primary", *(f"{name}: {what}" for name in methods for what in SHOWN)]]
    lines.append(["---"] * len(lines[0]))
    for i, sized in enumerate(ALIKE.values()):
        runs = [found[name][i] for name in methods]
        whole = [run for run in runs if "cpu" in run][:1]
        size = [f"{whole[0]['cells']:,}", f"{whole[0]['primary']:,}"] if whole else ["", ""]
        shown = [
            [in_words(run["cpu"]), f"{run['secondaries']:,}", str(run["exposed"])]
            if "cpu" in run
            else [run.get("failed", ""), "", ""]
            for run in runs
        ]
        lines.append([str(sized.dimensions), *size, *(word for run in shown for word in run)])
    said = []
    for name in methods:
        points = [
            (s.dimensions, run["cpu"]) for s, run in zip(ALIKE.values(), found[name], strict=True) if "cpu" in run
        ]
        if len(points) > 1:
            slope = np.polyfit([d for d, _ in points], np.log([cpu for _, cpu in points]), 1)[0]
            power = np.polyfit(np.log([d for d, _ in points]), np.log([cpu for _, cpu in points]), 1)[0]
            said.append(
                f"{name}: dimensions to the power of {power:.2f}, or {np.exp(slope):.2f} times as much for each more."
            )
    return [
        "\n## Growth with the number of dimensions\n\nTables without levels, with as many cells and firms in 2 to 7 "
        "dimensions.\n",
        *(f"| {' | '.join(line)} |" for line in lines),
        "",
        *(f"- {each}" for each in said),
    ]


# --- what is written --------------------------------------------------------------------------------------------------


def text_of(rows: Sequence[Row], notes: Sequence[str], grown: Sequence[str]) -> str:
    """One table, and what was found beside it."""
    names = [field.name for field in fields(Row)]
    head = [name.replace("_", " ").replace("cpu", "CPU").replace("gb", "GB") for name in names]
    lines = [head, ["---"] * len(head), *([str(getattr(row, name)) for name in names] for row in rows)]
    parts = [
        "# CPU seconds against size and dimension",
        f"Written by `python -m benchmarks.speed` on commit {commit()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; "
        f"{os.cpu_count()} cores. Single contributors are guarded against, costs are values. `exposed` is what "
        "`benchmarks/lone.py` finds, which shares nothing with us: `attacked` says whether everybody asked about every "
        "primary cell and side, or how many such questions a sample of persons and cells answered. Cuboids promise "
        "nothing across subtables.",
        "![CPU seconds against the number of cells](speed.svg)",
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        *(["\n".join(f"- {note}" for note in notes)] if notes else []),
        *(["\n".join(grown)] if grown else []),
    ]
    return "\n\n".join(parts) + "\n"


def chart_of(rows: Sequence[Row]) -> dict[str, Any]:
    """CPU seconds against cells, both by their logarithms; dimensions are shapes, programs colours."""
    points = []
    for row in rows:
        try:
            spent = float(row.cpu_s)
        except ValueError:
            continue
        program = " ".join(row.program.split("(")[0].split())
        points.append(
            {"cells": int(row.cells.replace(",", "")), "CPU s": spent, "program": program, "dim": str(row.dimensions)}
        )
    log = {"type": "log"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "CPU seconds against the number of cells",
        "data": {"values": points},
        "width": 520,
        "height": 320,
        "mark": {"type": "point", "filled": True, "size": 70},
        "encoding": {
            "x": {"field": "cells", "type": "quantitative", "scale": log, "title": "cells"},
            "y": {"field": "CPU s", "type": "quantitative", "scale": log, "title": "CPU s"},
            "color": {"field": "program", "type": "nominal", "title": "program"},
            "shape": {"field": "dim", "type": "nominal", "title": "dimensions"},
        },
    }


def write(rows: Sequence[Row], notes: Sequence[str], grown: Sequence[str], into: Path) -> None:
    """Both files."""
    (into / "speed.md").write_text(text_of(rows, notes, grown), encoding="utf-8")
    save_chart(chart_of(rows), into / "speed.svg", internal=False)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write; 1 if a pattern is exposed or depends on the number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--tables", type=lambda text: text.split(","), default=[*TABLES])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["cuboids", "quick", "default"])
    parser.add_argument("--peers", type=Path, default=peers.INTERPRETER, help="an interpreter that has them")
    parser.add_argument("--limit", type=float, default=30, help="seconds for each of them")
    parser.add_argument("--threads", action="store_true", help="compare the bytes of 1, 2 and 4 threads")
    parser.add_argument("--growth", action="store_true", help="state growth exponents")
    parser.add_argument("--into", type=Path, help="folder for the results; left out: they are printed only")
    given = parser.parse_args(words)
    if given.one:
        print(json.dumps(one(given.one[0], given.one[1], int(given.one[2]) or None)))
        return 0
    rows: list[Row] = []
    notes: list[str] = []
    grown: list[str] = []
    for table in given.tables:
        last: dict[str, Any] = {}
        for row, found in rows_of(table, given):
            print(" | ".join(str(word) for word in vars(row).values()), flush=True)
            rows.append(row)
            last = found or last
        if given.threads and last:
            same = same_bytes(table, given.methods[-1], last["bytes"])
            said = "the same bytes" if same else DIFFERENT
            notes.append(f"{table}, {given.methods[-1]}: {said} with 1, 2 and 4 threads.")
            print(notes[-1], flush=True)
        if given.into is not None:
            write(rows, notes, grown, given.into)
    if given.growth:
        grown = growing() + by_dimensions()
        print("\n".join(grown), flush=True)
    if given.into is not None:
        write(rows, notes, grown, given.into)
    exposed = any(row.exposed not in ("", "0") for row in rows if row.program.removeprefix("diskret, ") in PROVED)
    return int(exposed or any(DIFFERENT in note for note in notes))


if __name__ == "__main__":
    raise SystemExit(main())
