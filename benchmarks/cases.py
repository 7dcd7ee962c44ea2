"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import marking, risk, suppression, tabulation
from benchmarks.case import Case

CASES: dict[str, Case] = {
    case.name: case for case in (*tabulation.cases(), *marking.cases(), *suppression.cases(), *risk.cases())
}
