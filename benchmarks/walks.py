"""`python -m benchmarks.walks [newcomer|contributor]`: two walks in a fresh clone, with a clock.

The newcomer has a file of his own and wants a protected workbook; the contributor wants to change a rule. Every step is
a command that README or CONTRIBUTING names. Seconds are those of the wall and of the processor, beside the load of the
machine; nothing is cached in the clone, packages come from wherever pip gets them.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
Step = tuple[str, str]
NEWCOMER: Sequence[Step] = (
    ("clone the repository", "git clone -q {root} clone"),
    ("one command: `make demo` makes an environment and shows a protected table", "make -C clone demo"),
    ("a commented job file for a file of one's own", "clone/.venv/bin/diskret init own.csv --out own.toml"),
    ("protect it, and write the workbook", "clone/.venv/bin/diskret run own.toml"),
    ("the same once more, with everything compiled", "clone/.venv/bin/diskret run own.toml"),
)
CONTRIBUTOR: Sequence[Step] = (
    ("clone the repository", "git clone -q {root} clone"),
    ("`make lint` makes the environment with all tools, and passes", "make -C clone lint"),
    ("`make hooks`: lint and types before every commit", "make -C clone hooks"),
    ("the tests of the room", "cd clone && .venv/bin/python -m pytest tests/rules -q -m 'not slow'"),
    ("change the rule", "cd clone && sed -i 's/^USUAL_MARGIN = 8$/USUAL_MARGIN = 10/' src/diskret/rules/magnitude.py"),
    (
        "the tests say what the change means",
        "cd clone && ! .venv/bin/python -m pytest tests/rules src/diskret/rules -q -m 'not slow'",
    ),
    ("lint and types of the change", "make -C clone lint types"),
    (
        "a commit that the hooks let through",
        "cd clone && git -c user.name=n -c user.email=n@localhost commit -q -am 'A minimum count asks for ten percent'",
    ),
)
WALKS = {"newcomer": NEWCOMER, "contributor": CONTRIBUTOR}


def own_file(path: Path, firms: int = 130) -> None:
    """What an office might have: semicolons, decimal commas, umlauts, a few large firms."""
    chance = random.Random(8)
    rows = ["Betrieb;Kreis;Branche;Umsatz"]
    for i in range(firms):
        value = f"{chance.lognormvariate(4, 2):.2f}".replace(".", ",")
        rows.append(f"{i:04};{chance.choice(['Aachen', 'Köln', 'Bonn', 'Düren'])};{chance.choice('ABCDEF')};{value}")
    path.write_text("\n".join(rows) + "\n", encoding="latin-1")


def walk(steps: Sequence[Step], folder: Path) -> list[tuple[str, float, float, float]]:
    """What every step took: its words, seconds on the wall, seconds of the processor, load before it."""
    own_file(folder / "own.csv")
    taken = []
    for words, command in steps:
        load, begin, cpu = os.getloadavg()[0], time.monotonic(), _children()
        done = subprocess.run(
            command.format(root=ROOT), shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        taken.append((words, time.monotonic() - begin, _children() - cpu, load))
        print(f"{taken[-1][1]:7.1f} s  {words}", file=sys.stderr, flush=True)
    return taken


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def text_of(taken: Sequence[tuple[str, float, float, float]]) -> str:
    """The walk as a table."""
    lines, since = ["| step | seconds | CPU seconds | since the start | load |", "|---|---|---|---|---|"], 0.0
    for words, wall, cpu, load in taken:
        since += wall
        lines.append(f"| {words} | {wall:.0f} | {cpu:.0f} | {since:.0f} | {load:.0f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Walk, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk", choices=[*WALKS], nargs="?", default="newcomer")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        taken = walk(WALKS[given.walk], Path(folder))
        if given.walk == "newcomer":
            assert (Path(folder) / "out" / "own.xlsx").stat().st_size > 5_000
    print(text_of(taken))


if __name__ == "__main__":
    main()
