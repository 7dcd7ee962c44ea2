"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import (
    auditing,
    cell_key,
    comparison,
    marking,
    microdata,
    optimal,
    perturbation,
    risk,
    safe,
    suppression,
    tabulation,
)
from benchmarks.case import Case

ROOMS = (tabulation, marking, suppression, auditing, optimal, perturbation, cell_key, microdata, safe, risk, comparison)
CASES: dict[str, Case] = {case.name: case for room in ROOMS for case in room.cases()}
