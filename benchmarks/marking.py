"""Primary rules on a large table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import diskret as dk
from benchmarks.business import classifications, records
from benchmarks.case import Case
from benchmarks.tabulation import warm


@cache
def _table() -> dk.Table:
    return dk.tabulate(records(1_000_000), by=classifications(), value="turnover")


def cases() -> Iterator[Case]:
    """All magnitude rules together."""
    what = "mark 25.5 M cells, minimum count, (1,k), (2,k), p%"
    yield Case("mark-25M", what, "diskret", run, _table, partial(_warm_rules))


def _warm_rules() -> None:
    dk.mark(warm(), _rules())


def _rules() -> dk.MinCount:
    return dk.MinCount(3) | dk.Dominance(1, 85) | dk.Dominance(2, 90) | dk.PPercent(10)  # type: ignore[return-value]


def run() -> str:
    """Judge every cell by four rules."""
    marked = dk.mark(_table(), _rules())
    return f"{int(marked.hidden.sum()):,} primary"
