"""What refusing and recognising costs when sizes double: CPU seconds, and the factor from one size to the next.

``python -m benchmarks.refusals`` prints a table; a factor near 2 is linear, near 4 quadratic. ``python -m
benchmarks.refusals amounts`` compares sums with Python's decimals over magnitudes, 10 draws each.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from diskret import Hierarchy, ProtectionWarning, System, Table, tabulate
from diskret.io.hierarchies import read_hierarchy
from diskret.io.mappings import read_mapping
from diskret.job.read import job_from
from diskret.job.recognise import recognise
from diskret.microdata.columns import read_records
from diskret.model.errors import DiskretError, NotExact, UnknownCode
from diskret.model.source import open_source

Case = Callable[[int, Path], Callable[[], object]]


def _codes(n: int) -> list[str]:
    return [f"{i:07d}" for i in range(n)]


def _file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def duplicate_in_csv(n: int, folder: Path) -> Callable[[], object]:
    lines = [f"{c};all" for c in _codes(n)]
    file = _file(folder, "h.csv", "\n".join(["code;parent", *lines, lines[-1]]))
    return lambda: read_hierarchy(file)


def duplicate_in_hrc(n: int, folder: Path) -> Callable[[], object]:
    file = _file(folder, "h.hrc", "\n".join([*_codes(n), f"{n - 1:07d}"]))
    return lambda: read_hierarchy(file)


def duplicate_in_json(n: int, folder: Path) -> Callable[[], object]:
    inner = json.dumps(dict.fromkeys(_codes(n)))
    file = _file(folder, "h.json", f'{{"all": {inner[:-1]}, "{n - 1:07d}": null}}}}')
    return lambda: read_hierarchy(file)


def duplicate_in_mapping(n: int, folder: Path) -> Callable[[], object]:
    file = _file(folder, "m.csv", "\n".join(["code,class", *(f"{c},1" for c in _codes(n)), f"{n - 1:07d},2"]))
    return lambda: read_mapping(file)


def two_parents(n: int, folder: Path) -> Callable[[], object]:
    file = _file(folder, "h.csv", "\n".join(["code;parent", *(f"{c};all" for c in _codes(n)), f"{n - 1:07d};other"]))
    return lambda: read_hierarchy(file)


def cycle(n: int, folder: Path) -> Callable[[], object]:
    codes = _codes(n)
    return lambda: Hierarchy.from_parents(list(zip(codes, [*codes[1:], codes[0]], strict=True)))


def chain(n: int, folder: Path) -> Callable[[], object]:
    codes = _codes(n)
    return lambda: Hierarchy.from_parents(list(itertools.pairwise(codes))).levels


def descending_levels(n: int, folder: Path) -> Callable[[], object]:
    return lambda: Hierarchy.from_levels(_codes(n), list(range(n, 0, -1)))


def sums_of_sums(n: int, folder: Path) -> Callable[[], object]:
    first = Hierarchy.flat(["a", "b"], total="all")
    further = {f"s{i}": [f"s{i + 1}"] for i in range(n)} | {f"s{n}": ["a"], "s0": ["nowhere"]}
    return lambda: Hierarchy.from_groupings(first, further)


def unknown_code(n: int, folder: Path) -> Callable[[], object]:
    region = Hierarchy.flat(_codes(n))
    return lambda: tabulate({"r": ["000123x"], "x": [1]}, by={"r": region}, value="x")


def all_codes_unknown(n: int, folder: Path) -> Callable[[], object]:
    region, data = Hierarchy.flat(_codes(n)), {"r": [f"{c}x" for c in _codes(n)], "x": [1] * n}
    return lambda: Table.from_cells(data, by={"r": region}, value="x")


def long_code(n: int, folder: Path) -> Callable[[], object]:
    return lambda: UnknownCode.in_column("r", ["x" * n], ["y" * n, "x" * n + "y"])


def duplicate_cell(n: int, folder: Path) -> Callable[[], object]:
    data = {"r": [*_codes(n), f"{n - 1:07d}"], "x": [1] * (n + 1)}
    return lambda: Table.from_cells(data, by={"r": None}, value="x")


def wrong_sums(n: int, folder: Path) -> Callable[[], object]:
    codes = _codes(n)
    pairs = {f"{c}a": c for c in codes}
    data = {"r": [*pairs, *codes], "x": [1] * n + [2] * n}
    return lambda: Table.from_cells(data, by={"r": Hierarchy.from_parents(pairs, total="all")}, value="x")


def system_cells(n: int, folder: Path) -> Callable[[], object]:
    return lambda: System.of(_codes(n), [1.0] * n, [{f"{i:07d}": 1, "nowhere": -1} for i in range(n)])


def missing_column(n: int, folder: Path) -> Callable[[], object]:
    data = {f"c{i}": [1] for i in range(n)}
    return lambda: open_source(data).require(["c12x"])


def equal_columns(n: int, folder: Path) -> Callable[[], object]:
    file = _file(folder, "w.csv", ",".join(["x"] * n) + "\n" + ",".join(["1"] * n) + "\n")
    return lambda: open_source(file).require(["y"])


def wide_file(n: int, folder: Path) -> Callable[[], object]:
    draw = random.Random(1)
    rows = [",".join(draw.choice("abc") if i % 2 else repr(draw.random()) for i in range(n)) for _ in range(50)]
    file = _file(folder, "w.csv", "\n".join([",".join(f"c{i}" for i in range(n)), *rows]) + "\n")
    return lambda: recognise(file)


def wide_records(n: int, folder: Path) -> Callable[[], object]:
    file = _file(folder, "w.csv", ",".join(f"c{i}" for i in range(n)) + "\n" + (",".join(["1"] * n) + "\n") * 50)
    return lambda: read_records(file)


def unknown_keys(n: int, folder: Path) -> Callable[[], object]:
    content: dict[str, Any] = {"data": {"cells": "a.csv"}, "table": {f"key{i}": 1 for i in range(n)}}
    return lambda: job_from(content, "job.toml", folder)


CASES: dict[Case, int] = {
    duplicate_in_csv: 200_000, duplicate_in_hrc: 200_000, duplicate_in_json: 200_000, duplicate_in_mapping: 200_000,
    two_parents: 200_000, cycle: 200_000, chain: 200_000, descending_levels: 200_000, sums_of_sums: 20_000,
    unknown_code: 200_000, all_codes_unknown: 200_000, long_code: 1_000_000, duplicate_cell: 200_000,
    wrong_sums: 100_000, system_cells: 50_000, missing_column: 10_000, equal_columns: 10_000, wide_file: 10_000,
    wide_records: 10_000,
    unknown_keys: 20_000,
}  # fmt: skip
"""Every case with its largest size; it is measured at a quarter, at half and at all of it."""


def seconds(case: Case, n: int) -> float:
    """CPU seconds of one refusal, whatever it says; what it needs is made before."""
    with tempfile.TemporaryDirectory() as folder:
        work = case(n, Path(folder))
        start = time.process_time()
        with warnings.catch_warnings(), contextlib.suppress(DiskretError):
            warnings.simplefilter("ignore")
            work()
        return time.process_time() - start


def main() -> None:
    """Print the table."""
    seconds(duplicate_cell, 10)  # so that nothing is loaded or compiled while it is measured
    print("| case | size | CPU s at a quarter, half, all | factors |\n|---|---|---|---|")
    for case, most in CASES.items():
        found = [seconds(case, most // part) for part in (4, 2, 1)]
        factors = ", ".join(f"{b / max(a, 1e-3):.1f}" for a, b in itertools.pairwise(found))
        print(f"| {case.__name__.replace('_', ' ')} | {most:,} | {', '.join(f'{s:.2f}' for s in found)} | {factors} |")


def amounts(draws: int = 10) -> None:
    """Sums against decimals: wrong ones, and how many were refused, by decimals and digits before the point."""
    draw = random.Random(16)
    warnings.simplefilter("error", ProtectionWarning)
    print("| decimals | digits | exact | refused | warned of | wrong |\n|---|---|---|---|---|---|")
    for decimals in (0, 1, 2, 3, 4, 6):
        for digits in range(8, 18):
            counts = {"exact": 0, "refused": 0, "warned": 0, "wrong": 0}
            for _ in range(draws):
                most = 10 ** (digits + decimals)
                drawn = [Decimal(draw.randint(-most, most)).scaleb(-decimals) for _ in range(3)]
                cells = {"r": ["a", "b", "c"], "x": [f"{x:f}" for x in drawn]}
                try:
                    table = Table.from_cells(cells, by={"r": None}, value="x")
                    met = [Decimal(repr(v)) for v in table.value.tolist()] == [*drawn, sum(drawn)]
                    counts["exact" if met else "wrong"] += 1
                except NotExact:
                    counts["refused"] += 1
                except ProtectionWarning:
                    counts["warned"] += 1
            print(f"| {decimals} | {digits} | {' | '.join(map(str, counts.values()))} |", flush=True)


if __name__ == "__main__":
    amounts() if sys.argv[1:] == ["amounts"] else main()
