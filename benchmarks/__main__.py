"""`python -m benchmarks [WORD ...]`: run all cases, or those whose name holds a word; write results.csv and results.md.

Each case runs in a process of its own. CPU seconds are of the case alone: starting Python, making data, compiling
kernels (shown apart) and judging the result are left out. Peak memory is of the whole process.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import CASES

HERE = Path(__file__).parent
COLUMNS = ["case", "program", "CPU s", "wall s", "peak GB", "compile s", "quality"]


def measure(name: str) -> dict[str, str]:
    """One row of the table."""
    command = [sys.executable, "-m", "benchmarks.one", name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=CASES[name].limit, cwd=HERE.parent, check=False
        )
    except subprocess.TimeoutExpired:
        return _row(name, quality=f"stopped after {CASES[name].limit} s")
    if done.returncode != 0:
        silent = f"ended by signal {-done.returncode}" if done.returncode < 0 else "no message"
        last = (done.stderr.strip().splitlines() or [silent])[-1]
        return _row(name, quality=f"failed: {last[:80]}")
    return _row(name, **json.loads(done.stdout.splitlines()[-1]))


def _row(name: str, **found: object) -> dict[str, str]:
    case = CASES[name]
    row = {"case": case.what, "program": case.program, **{k: str(v) for k, v in found.items()}}
    return {column: row.get(column, "") for column in COLUMNS}


def main() -> None:
    """Run the chosen cases; keep the rows of the others."""
    words = sys.argv[1:]
    chosen = [n for n in CASES if not words or any(w in n for w in words)]
    table = HERE / "results.csv"
    rows = {}
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            rows = {(r["case"], r["program"]): r for r in csv.DictReader(file)}
    for name in chosen:
        row = measure(name)
        rows[row["case"], row["program"]] = row
        print(" | ".join(row.values()), flush=True)
    order = {(c.what, c.program): i for i, c in enumerate(CASES.values())}
    kept = sorted((r for key, r in rows.items() if key in order), key=lambda r: order[r["case"], r["program"]])
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    lines += [" | ".join(r[c] for c in COLUMNS) for r in kept]
    text = "# Benchmarks\n\nWritten by `make bench`; every case in its own process. "
    text += "Absolute times depend on the machine, ratios count.\n\n"
    text += f"Last run: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.\n\n"
    text += "\n".join(f"| {line} |" for line in lines) + "\n\n" + (HERE / "notes.md").read_text(encoding="utf-8")
    (HERE / "results.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
