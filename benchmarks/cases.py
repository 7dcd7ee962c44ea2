"""All cases, in the order of the table."""

from __future__ import annotations

from fnmatch import fnmatch

from benchmarks import (
    auditing,
    cell_key,
    comparison,
    complete,
    far,
    large_files,
    marking,
    microdata,
    perturbation,
    pools,
    publication,
    risk,
    safe,
    suppression,
    systems,
    tabulation,
)
from benchmarks.case import Case

ROOMS = (
    tabulation, marking, suppression, auditing, complete, pools, systems, perturbation, cell_key, microdata,
    large_files, safe, risk, far, comparison, publication,
)  # fmt: skip
CASES: dict[str, Case] = {case.name: case for room in ROOMS for case in room.cases()}

LONG = (
    # other programs, which take a minute or more; smaller data say the same
    "tabulate-10M-duckdb", "tabulate-10M-polars", "suppress-h3-pytauargus*", "suppress-h3-gconfid",
    "risk-anonymity-*-pycanon",
    # ours at a size whose claim a smaller case makes as well
    "holdings-50M", "suppress-10M-cells-3-dimensions-q0-thinned", "suppress-10M-cells-5-dimensions-q0",
    "complete-extract4-audit", "complete-ranges-extract4-*", "pools-1000-audit", "systems-nine5d", "systems-dale",
    "systems-table3", "systems-hier13*",
    "perturbation-rounding-[34]d-large", "perturbation-rounding-[34]d-sparse",
    # economy of h3 is measured by benchmarks.quality
    "protect-h3-*-economy",
    # searches of SAFE: the census of a million persons to 2/6/6 stays
    "safe-adult-122", "safe-census100k-266", "safe-census100k-printed", "safe-census1m-277", "safe-census*-default",
    "safe-weights-*", "safe-size-*", "safe-wide",
    # workers of their own, and files larger than memory: minutes to hours
    "far-*-spark", "far-*-3M-*", "far-*-10M-*", "large-file-10M-*", "large-file-100M-*",
)  # fmt: skip
"""Cases that only `make bench-all` runs, by name."""


def is_long(name: str) -> bool:
    """Whether a case waits for `make bench-all`."""
    return any(fnmatch(name, each) for each in LONG)
