"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import auditing, marking, optimal, suppression, tabulation
from benchmarks.case import Case

CASES: dict[str, Case] = {
    case.name: case for room in (tabulation, marking, suppression, auditing, optimal) for case in room.cases()
}
