"""The rules a job asks for."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.job.models import Job, LineRule, MarginRule, MinCountRule
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.rule import AnyOf, Rule


def rules_of(job: Job, names: Sequence[str] = ()) -> AnyOf:
    """All primary rules of a job, possibly none; ``names`` are the classifications where the job does not list them.

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
    if asked.small_margin:
        margin = asked.small_margin if isinstance(asked.small_margin, MarginRule) else MarginRule()
        found.append(SmallMargin(margin.most, _along(margin, job, names)))
    if asked.one_category:
        line = asked.one_category if isinstance(asked.one_category, LineRule) else LineRule()
        found.append(OneCategory(_along(line, job, names)))
    return AnyOf(tuple(found))


def _along(line: LineRule, job: Job, names: Sequence[str]) -> tuple[str, ...] | None:
    """The rule's own choice, else the classifications called sensitive, else all but those called not sensitive."""
    if line.sensitive:
        return tuple(line.sensitive)
    said = {n: c.sensitive for n, c in job.classifications.items() if c.sensitive is not None}
    chosen = [n for n in job.table.by or names or said if said.get(n, not any(said.values()))]
    return tuple(chosen) if said else None
