"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import marking, safe, suppression, tabulation
from benchmarks.case import Case

ALL = (*tabulation.cases(), *marking.cases(), *suppression.cases(), *safe.cases())
CASES: dict[str, Case] = {case.name: case for case in ALL}
