"""How protecting and attacking grow with the table: CPU and memory from a thousand to a million cells.

    python -m benchmarks.growth [--most 1000000] [--guard single] [--effort quick]

Tables have three dimensions, as many firms to a cell at every size, and single contributors are guarded against. Each
size is protected in a process of its own, then its pattern is attacked without the moves that made it. Exponents are
the slopes of the logarithms from ten thousand cells on: 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FIRST = 10_000
"""Below this many cells what every run costs anyway hides the growth."""
COSTS = ("protect_seconds", "protect_gigabytes", "audit_seconds", "audit_gigabytes")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One table: what it holds, and what protecting and attacking it took (CPU seconds; peak of the process)."""

    cells: int
    primary: int
    secondary: int
    exposed: float
    undecided: float
    protect_seconds: float
    protect_gigabytes: float
    audit_seconds: float
    audit_gigabytes: float


def rows(
    sizes: Sequence[int] = SIZES, *, guard: str = "single", effort: str = "default", limit: int = 1800
) -> list[Row]:
    """Measure every size in a process of its own; what takes longer than ``limit`` seconds ends the list.

    If that is the attack, the row says what protecting took (the rest is nan).
    """
    found: list[Row] = []
    for cells in sizes:
        command = [sys.executable, "-m", "benchmarks.growth", "--one", str(cells), "--guard", guard, "--effort", effort]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, cwd=Path(__file__).parents[1], check=True
            )
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode().splitlines()
            return [*found, *(Row(**json.loads(line)) for line in said[-1:])]
        found.append(Row(**json.loads(done.stdout.splitlines()[-1])))
    return found


def exponents(measured: Sequence[Row], first: int = FIRST) -> dict[str, float]:
    """With which power of the number of cells each cost grows, from ``first`` cells on.

    >>> costs = {"protect_gigabytes": 1.0, "audit_gigabytes": 1.0, "audit_seconds": 1.0}
    >>> same = {"primary": 0, "secondary": 0, "exposed": 0, "undecided": 0}
    >>> two = [Row(cells=n, protect_seconds=n * n / 1e6, **costs, **same) for n in (10_000, 100_000)]
    >>> round(exponents(two)["protect_seconds"], 3), abs(round(exponents(two)["audit_seconds"], 3))
    (2.0, 0.0)
    """
    found = {}
    for each in COSTS:
        points = [(row.cells, getattr(row, each)) for row in measured if row.cells >= first]
        points = [(cells, cost) for cells, cost in points if np.isfinite(cost)]
        if len(points) > 1:
            size, cost = np.log(np.array(points)).T
            found[each] = float(np.polyfit(size, cost, 1)[0])
    return found


def one(cells: int, guard: Any = "single", effort: Any = "default") -> Row:
    """Protect and attack one table here."""
    import diskret as dk
    from benchmarks.auditing import _warm
    from benchmarks.shapes import cube

    _warm()
    table, promise = cube(cells).table(), dk.Promise(guard=guard)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        done, protecting, most = _measured(lambda: dk.suppress(table, promise, dk.methods.Moves(effort=effort)))
    pattern = done.table
    secondary = int((pattern.status == dk.Status.SECONDARY).sum())
    nothing = {"exposed": np.nan, "undecided": np.nan, "audit_seconds": np.nan, "audit_gigabytes": np.nan}
    primary = int((pattern.status == dk.Status.PRIMARY).sum())
    known: dict[str, Any] = {"cells": table.size, "primary": primary, "secondary": secondary}
    known |= {"protect_seconds": protecting, "protect_gigabytes": most}
    print(json.dumps(known | nothing), flush=True)
    del done
    report, attacking, more = _measured(lambda: dk.audit(pattern, promise))
    return Row(
        **known, exposed=len(report.exposed), undecided=len(report.undecided), audit_seconds=attacking,
        audit_gigabytes=more,
    )  # fmt: skip


def _measured(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """What comes of it, its CPU seconds, and the most memory this process had so far."""
    start = time.process_time()
    result = run()
    used = time.process_time() - start
    return result, round(used, 3), round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 3)


def main(words: Sequence[str] | None = None) -> None:
    """Print the table and the exponents."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--most", type=int, default=SIZES[-1], help="the largest table")
    asked.add_argument("--guard", default="single")
    asked.add_argument("--effort", default="default")
    asked.add_argument("--one", type=int, help="one table of this size, as JSON")
    given = asked.parse_args(words)
    if given.one:
        print(json.dumps(asdict(one(given.one, given.guard, given.effort))))
        return
    measured = rows([n for n in SIZES if n <= given.most], guard=given.guard, effort=given.effort)
    names = [field.name for field in fields(Row)]
    print("| " + " | ".join(name.replace("_", " ") for name in names) + " |\n" + "|---" * len(names) + "|")
    for row in measured:
        print("| " + " | ".join(f"{getattr(row, name):,}" for name in names) + " |")
    for name, power in exponents(measured).items():
        print(f"{name.replace('_', ' ')}: cells to the power of {power:.2f}")


if __name__ == "__main__":
    main()
