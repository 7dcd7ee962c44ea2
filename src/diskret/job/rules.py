"""The rules a job asks for."""

from __future__ import annotations

from diskret.job.models import Job, LineRule, MinCountRule
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.rule import AnyOf, Rule


def rules_of(job: Job) -> AnyOf:
    """All primary rules of a job, possibly none.

    >>> job = Job.model_validate({"data": {"cells": "x.csv"}, "rules": {"min_count": 3, "p_percent": 10}})
    >>> [rule.name for rule in rules_of(job)]
    ['minimum count', 'p%']
    """
    asked = job.rules
    levels = asked.counted_by if isinstance(asked.counted_by, list) else [asked.counted_by]
    found: list[Rule] = []
    for level in dict.fromkeys(levels):
        if asked.min_count is not None:
            count = asked.min_count if isinstance(asked.min_count, MinCountRule) else MinCountRule(n=asked.min_count)
            found.append(MinCount(count.n, count.zeros, level))
        found += [Dominance(n, k, level) for n, k in asked.dominance]
        if asked.p_percent is not None:
            found.append(PPercent(asked.p_percent, level))
        if asked.pq is not None:
            found.append(PQ(*asked.pq, level))
    if asked.small_cells is not None:
        found.append(SmallCells(asked.small_cells))
    along = tuple(n for n, c in job.classifications.items() if c.sensitive)
    if asked.small_margin:
        line = asked.small_margin if isinstance(asked.small_margin, LineRule) else LineRule()
        found.append(SmallMargin(line.most, _along(line, along)))
    if asked.one_category:
        line = asked.one_category if isinstance(asked.one_category, LineRule) else LineRule()
        found.append(OneCategory(_along(line, along)))
    return AnyOf(tuple(found))


def _along(line: LineRule, sensitive: tuple[str, ...]) -> tuple[str, ...] | None:
    """The rule's own choice, else the classifications called sensitive, else all."""
    return tuple(line.sensitive) if line.sensitive else sensitive or None
