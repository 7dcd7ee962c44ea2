"""All cases, in the order of the table."""

from __future__ import annotations

from benchmarks import marking, microdata, suppression, tabulation
from benchmarks.case import Case

CASES: dict[str, Case] = {
    case.name: case for case in (*tabulation.cases(), *marking.cases(), *suppression.cases(), *microdata.cases())
}
