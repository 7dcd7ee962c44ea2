"""`python -m benchmarks.adjustment FOLDER [NAME ...] [--seconds=60]`: adjusted tables of the literature.

FOLDER holds JJ files. Printed are the distance with all primary cells moved up, that with chosen directions and its
gap, least squares, the seconds each took, and how many primary cells somebody finds exactly who knows the method.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diskret as dk

COLUMNS = ("instance", "primary", "all up", "s", "chosen", "gap %", "s", "L2", "gap %", "s", "found up", "found chosen")


def rows(folder: Path, names: list[str], seconds: float) -> Iterator[list[str]]:
    for path in sorted(folder.glob("*.jj*"), key=lambda each: each.stat().st_size):
        name = path.name.split(".")[0]
        if not names or name in names:
            yield [name, *_measured(dk.read_jj(path), seconds)]


def _measured(system: dk.System, seconds: float) -> list[str]:
    up, first = _timed(system, directions="up", whole=False, seconds=seconds)
    chosen, second = _timed(system, whole=False, seconds=seconds)
    squares, third = _timed(system, distance="L2", whole=False, seconds=seconds)
    found = [dk.attack_perturbed(each, most=system.size).summary()["found exactly"] for each in (up, chosen)]
    return [
        str(up.summary()["primary"]), f"{up.distance:.6f}", f"{first:.1f}",
        f"{chosen.distance:.6f}", f"{100 * chosen.gap:.2f}", f"{second:.0f}",
        f"{squares.distance:.6g}", f"{100 * squares.gap:.2f}", f"{third:.0f}", *map(str, found),
    ]  # fmt: skip


def _timed(system: dk.System, **asked: Any) -> tuple[dk.Adjustment, float]:
    begun = time.perf_counter()
    return dk.adjust(system, **asked), time.perf_counter() - begun


def main() -> None:
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    seconds = next((float(each.split("=")[1]) for each in sys.argv[1:] if each.startswith("--seconds=")), 60.0)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for row in rows(Path(given[0]), given[1:], seconds):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
