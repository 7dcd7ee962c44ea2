"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import (
    auditing,
    cell_key,
    complete,
    marking,
    microdata,
    optimal,
    pools,
    risk,
    safe,
    suppression,
    tabulation,
)
from benchmarks.case import Case

ROOMS = (tabulation, marking, suppression, auditing, complete, pools, optimal, microdata, safe, risk, cell_key)
CASES: dict[str, Case] = {case.name: case for room in ROOMS for case in room.cases()}
