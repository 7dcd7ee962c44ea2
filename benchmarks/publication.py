"""Publishing a large table in every format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

import diskret as dk
from benchmarks.case import Case

ENDINGS = (".csv", ".parquet", ".xlsx", ".json", ".px")


@cache
def _table(regions: int = 220) -> dk.Table:
    by = {
        "region": dk.Hierarchy.from_parents({f"r{i:05d}": f"R{i // 20}" for i in range(regions)}, total="DE"),
        "nace": dk.Hierarchy.flat([f"n{i}" for i in range(99)]),
        "size": dk.Hierarchy.flat([str(i) for i in range(8)]),
    }
    shape = tuple(len(h) for h in by.values())
    rng = np.random.default_rng(5)
    value, status = rng.integers(0, 10**9, shape) / 100, rng.integers(0, 5, shape).astype(np.uint8)
    return dk.Table(by, "turnover", value, status, decimals=2).sealed()


def cases() -> Iterator[Case]:
    """One per format."""
    for ending in ENDINGS:
        yield Case(
            f"publish-200k{ending}", f"publish {_table().size:,} cells as {ending}", "diskret", partial(run, ending),
            warm=partial(run, ending, 20), repeats=3,
        )  # fmt: skip


def run(ending: str, regions: int = 220) -> str:
    """Write one file; its size."""
    with tempfile.TemporaryDirectory() as folder:
        dk.publish(_table(regions), Path(folder) / f"table{ending}")
        return f"{(Path(folder) / f'table{ending}').stat().st_size / 1e6:.1f} MB"
