"""`python -m benchmarks [--most 60] [WORD ...]`: run all cases, or those whose name holds a word; write the results.

With ``--most`` cases that took more CPU seconds the last time, or were stopped, are left out: with 60 the others take
about 25 minutes instead of 100 (90: 40 minutes). Every row of results.csv and results.md says on which commit it was
measured, so that one sees which are older. ``--list`` says what would run and how long that took.

Each case runs in a process of its own. CPU seconds are of the case alone: starting Python, making data, compiling
kernels (shown apart) and judging the result are left out. Peak memory is of the whole process.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.cases import CASES

HERE = Path(__file__).parent
COLUMNS = ["case", "program", "CPU s", "wall s", "peak GB", "compile s", "quality", "commit"]
Row = dict[str, str]


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


def commit() -> str:
    """What is measured; with a plus sign where files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE.parent, check=False).stdout

    return git("rev-parse", "--short", "HEAD").strip() + ("+" if git("status", "--porcelain", "src").strip() else "")


def took(row: Row | None) -> float:
    """CPU seconds of the last time; infinite if it was stopped, nothing if it is not known."""
    if row is None:
        return 0.0
    if row["quality"].startswith("stopped"):
        return float("inf")
    try:
        return float(row["CPU s"])
    except ValueError:
        return 0.0


def known(table: Path) -> dict[tuple[str, str], Row]:
    """The rows as they were left."""
    if not table.exists():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        found = [{column: row.get(column) or "" for column in COLUMNS} for row in csv.DictReader(file)]
    return {(row["case"], row["program"]): row for row in found}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen cases; keep the rows of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--most", type=float, default=float("inf"), help="CPU seconds of a case, as it took last")
    parser.add_argument("--list", action="store_true", help="only say what would run")
    given = parser.parse_args(arguments)
    rows = known(HERE / "results.csv")
    last = {name: took(rows.get((case.what, case.program))) for name, case in CASES.items()}
    chosen = [n for n in CASES if last[n] <= given.most and (not given.words or any(w in n for w in given.words))]
    if given.list:
        for name in chosen:
            print(f"{last[name]:8.2f} s {name}")
        print(f"{sum(last[n] for n in chosen if last[n] < float('inf')):8.2f} s in all, {len(chosen)} cases")
        return
    version = commit()
    for name in chosen:
        row = measure(name) | {"commit": version}
        rows[row["case"], row["program"]] = row
        print(" | ".join(row.values()), flush=True)
        _write(rows)


def _write(rows: Mapping[tuple[str, str], Row]) -> None:
    """Both files, with the rows of all cases that there are."""
    order = {(c.what, c.program): i for i, c in enumerate(CASES.values())}
    kept = sorted((r for key, r in rows.items() if key in order), key=lambda r: order[r["case"], r["program"]])
    with (HERE / "results.csv").open("w", encoding="utf-8", newline="") as file:
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
