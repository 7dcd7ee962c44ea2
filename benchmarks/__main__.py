"""`python -m benchmarks [--long] [--go-on] [--minutes 45] [WORD ...]`: measure all cases, write results.csv and .md.

Long cases (`LONG` in cases.py) run with ``--long`` only, which is `make bench-all`. Words choose cases whose name holds
one of them. Ours come first, other programs after them, and both files are written after every case: a run that is
broken off is worth what it measured, and ``--go-on`` leaves out what was measured on this very code already. After so
many ``--minutes`` no further case is begun. ``--list`` says what would run and how long that took the last time.

Every row says on which commit it was measured. What is older than most rows stands apart in results.md, marked so; rows
of cases that no longer exist disappear.

Each case runs in a process of its own. CPU seconds are of the case alone: starting Python, making data, compiling
kernels (shown apart) and judging the result are left out; "whole s" in results.csv is all of it by the clock. Peak
memory is of the whole process.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchmarks.cases import CASES, is_long

HERE = Path(__file__).parent
SHOWN = ("case", "program", "CPU s", "wall s", "peak GB", "compile s", "quality", "commit")
COLUMNS = (*SHOWN, "measured", "whole s")
EARLIER = "earlier"
"""Stands for the commit of rows from before commits were noted."""
Row = dict[str, str]
Key = tuple[str, str]


# --- one case ---------------------------------------------------------------------------------------------------------


def measure(name: str, version: str) -> Row:
    """One row of the table."""
    began, start = datetime.now(UTC), time.perf_counter()
    row = _row(name, **_found(name))
    whole = f"{time.perf_counter() - start:.1f}"
    return row | {"commit": version, "measured": f"{began:%Y-%m-%d %H:%M}", "whole s": whole}


def _found(name: str) -> Mapping[str, object]:
    command = [sys.executable, "-m", "benchmarks.one", name]
    limit = CASES[name].limit
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=HERE.parent, check=False)
    except subprocess.TimeoutExpired:
        return {"quality": f"stopped after {limit} s"}
    if done.returncode != 0:
        silent = f"ended by signal {-done.returncode}" if done.returncode < 0 else "no message"
        last = (done.stderr.strip().splitlines() or [silent])[-1]
        return {"quality": f"failed: {last[:80]}"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _row(name: str, **found: object) -> Row:
    case = CASES[name]
    row = {"case": case.what, "program": case.program, **{k: str(v) for k, v in found.items()}}
    return {column: row.get(column, "") for column in COLUMNS}


# --- which code -------------------------------------------------------------------------------------------------------


def commit() -> str:
    """What is measured; with a plus sign where the package differs from it."""
    found = _git("rev-parse", "--short", "HEAD").stdout.strip()
    return found + ("+" if _git("status", "--porcelain", "--", "src").stdout.strip() else "")


@cache
def is_of_now(version: str) -> bool:
    """Whether the package is still as it was on that commit."""
    if version in ("", EARLIER) or version.endswith("+"):
        return version == commit()
    return _git("diff", "--quiet", version, "--", "src").returncode == 0


def is_before(version: str, whole: str) -> bool:
    """Whether a row was measured on an earlier commit than most rows."""
    one, other = version.rstrip("+"), whole.rstrip("+")
    return one != other and (one in ("", EARLIER) or _git("merge-base", "--is-ancestor", one, other).returncode == 0)


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE.parent, check=False)


# --- which cases ------------------------------------------------------------------------------------------------------


def known(table: Path) -> dict[Key, Row]:
    """The rows as they were left."""
    if not table.exists():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        found = [{column: row.get(column) or "" for column in COLUMNS} for row in csv.DictReader(file)]
    return {(row["case"], row["program"]): row | {"commit": row["commit"] or EARLIER} for row in found}


def chosen(rows: Mapping[Key, Row], given: argparse.Namespace) -> list[str]:
    """Names of the cases to run, ours first."""
    names = [
        n for n in CASES if (given.long or not is_long(n)) and (not given.words or any(w in n for w in given.words))
    ]
    if given.go_on:
        names = [n for n in names if not is_of_now(rows.get(_key(n), {}).get("commit", ""))]
    return sorted(names, key=lambda n: not CASES[n].program.startswith("diskret"))


def _key(name: str) -> Key:
    return CASES[name].what, CASES[name].program


def took(row: Row | None) -> float:
    """Seconds of the last time, as far as they are known: all of them, or those of the case alone."""
    for column in ("whole s", "CPU s"):
        try:
            return float((row or {}).get(column) or "")
        except ValueError:
            continue
    return 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen cases; the rows of the others stay, with the commit they were measured on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--long", action="store_true", help="the long cases too")
    parser.add_argument("--go-on", action="store_true", help="leave out what was measured on this code")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no case after this time")
    parser.add_argument("--list", action="store_true", help="only say what would run")
    given = parser.parse_args(arguments)
    rows = known(HERE / "results.csv")
    names = chosen(rows, given)
    if given.list:
        for name in names:
            print(f"{took(rows.get(_key(name))):8.2f} s {name}")
        print(f"{sum(took(rows.get(_key(n))) for n in names):8.2f} s in all, {len(names)} cases")
        return
    version, end = commit(), time.monotonic() + 60 * given.minutes
    for number, name in enumerate(names):
        if time.monotonic() > end:
            print(f"{len(names) - number} cases are left for --go-on")
            break
        row = rows[_key(name)] = measure(name, version)
        print(f"{number + 1} of {len(names)} | " + " | ".join(row.values()), flush=True)
        _write(rows, HERE)


# --- results ----------------------------------------------------------------------------------------------------------


def _write(rows: Mapping[Key, Row], into: Path) -> None:
    """Both files, with the rows of all cases that there are."""
    kept = [rows[_key(name)] for name in CASES if _key(name) in rows]
    with (into / "results.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    (into / "results.md").write_text(text_of(kept), encoding="utf-8")


def text_of(rows: Sequence[Row]) -> str:
    """What was measured in the last run of all and since, what is older, and the notes."""
    whole = Counter(r["commit"] for r in rows).most_common(1)[0][0]
    new, old = ([r for r in rows if is_before(r["commit"], whole) is before] for before in (False, True))
    again = sum(r["commit"] != whole for r in new)
    times = sorted(r["measured"] for r in new)
    said = [
        "# Benchmarks",
        "Written by `make bench`; every case in its own process. Absolute times depend on the machine, ratios count. "
        "How far patterns are from the cheapest stands in [quality.md](quality.md), time against size and dimension in "
        "[speed.md](speed.md).",
        f"Measured on commit {whole} from {times[0]} to {times[-1]} UTC: {len(new)} of {len(CASES)} cases"
        + (f", {again} of them once more on a later commit, which their row names" if again else "")
        + f"; {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.",
        _table(new),
    ]
    if old:
        said += [
            "## Older rows",
            f"{len(old)} rows were not measured again: they are long (`make bench-all`), or the run was broken off. "
            f'"{EARLIER}": before commits were noted.',
            _table(old),
        ]
    return "\n\n".join(said) + "\n\n" + (HERE / "notes.md").read_text(encoding="utf-8")


def _table(rows: Sequence[Row]) -> str:
    lines = [SHOWN, ["---"] * len(SHOWN), *([r[c] for c in SHOWN] for r in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
