"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import (
    auditing,
    cell_key,
    comparison,
    complete,
    marking,
    microdata,
    optimal,
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
    tabulation, marking, suppression, auditing, complete, pools, systems, optimal, perturbation, cell_key, microdata,
    safe, risk, comparison, publication,
)  # fmt: skip
CASES: dict[str, Case] = {case.name: case for room in ROOMS for case in room.cases()}
