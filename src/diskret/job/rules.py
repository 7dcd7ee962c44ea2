"""The rules a job asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from diskret.io.grc import read_recoding
from diskret.io.rda import read_metadata
from diskret.job.rule_sections import (
    ContributionRules,
    CountedBy,
    LineRule,
    MarginRule,
    MinCountRule,
    PPercentRule,
    PQRule,
    Rules,
)
from diskret.model.coded import MISSING
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.further import Given, Request, ZeroCells
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.rule import AnyOf, Rule

if TYPE_CHECKING:
    from diskret.job.compare_job import CompareJob
    from diskret.job.pool_job import PoolJob
    from diskret.job.table_job import TableJob

    Ruled: TypeAlias = TableJob | PoolJob | CompareJob


def rules_of(job: Ruled, names: Sequence[str] = ()) -> AnyOf:
    """All primary rules of a job, possibly none; ``names`` are the classifications where the job does not list them.

    >>> from diskret.job.models import job_of
    >>> job = job_of({"data": {"cells": "x.csv"}, "rules": {"min_count": 3, "p_percent": 10}})
    >>> [rule.name for rule in rules_of(job)]
    ['minimum count', 'p%']
    """
    found: list[Rule] = [rule for level in job.rules.levels for rule in _of_contributions(job.rules, level)]
    if job.rules.holding is not None:
        found += _of_contributions(job.rules.holding, "holding")
    return AnyOf((*found, *_of_cells(job.rules), *_of_units(job, names)))


def missing_of(job: TableJob, here: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Codes of missing categories whose cells no rule judges: those the job names, or else those of its metadata."""
    if job.rules.missing != "safe":
        return {}
    told = read_metadata(here / job.data.metadata).variables if job.data.metadata else ()
    found = {v.name: list(v.missing) for v in told}
    for name, said in job.classifications.items():
        found[name] = [*(said.missing_codes or found.get(name, [])), *([said.missing] if said.missing else [])]
        found[name] += read_recoding(here / said.recode).missing if said.recode else ()
    # records without a code have one of ours
    return {name: [*found.get(name, []), MISSING] for name in names}


def _of_contributions(asked: ContributionRules, level: CountedBy) -> Iterator[Rule]:
    """Rules that count or compare contributors, on one level of counting."""
    if asked.min_count is not None:
        count = asked.min_count if isinstance(asked.min_count, MinCountRule) else MinCountRule(n=asked.min_count)
        yield MinCount(count.n, count.zeros, level, count.margin, count.weighted)
    for n, k in asked.dominance:
        yield Dominance(n, k, level)
    for p in asked.several("p_percent"):
        yield PPercent(p.p, level, p.n) if isinstance(p, PPercentRule) else PPercent(p, level)
    for pq in asked.several("pq"):
        yield PQ(pq.p, pq.q, level, pq.n) if isinstance(pq, PQRule) else PQ(pq[0], pq[1], level)
    if asked.request is not None:
        yield Request(asked.request.percent, asked.request.n, asked.request.margin, level)


def _of_cells(asked: Rules) -> Iterator[Rule]:
    """Rules that look at the value or the status of a cell alone."""
    if asked.zeros is not None:
        yield ZeroCells(asked.zeros)
    if asked.given is not None:
        yield Given(asked.given)


def _of_units(job: Ruled, names: Sequence[str]) -> Iterator[Rule]:
    """Rules of frequency tables."""
    asked = job.rules
    if asked.small_cells is not None:
        yield SmallCells(asked.small_cells)
    if asked.small_margin:
        margin = asked.small_margin if isinstance(asked.small_margin, MarginRule) else MarginRule()
        yield SmallMargin(margin.most, _along(margin, job, names))
    if asked.one_category:
        line = asked.one_category if isinstance(asked.one_category, LineRule) else LineRule()
        yield OneCategory(_along(line, job, names))


def _along(line: LineRule, job: Ruled, names: Sequence[str]) -> tuple[str, ...] | None:
    """The rule's own choice, else the classifications called sensitive, else all but those called not sensitive."""
    if line.sensitive:
        return tuple(line.sensitive)
    said = {n: c.sensitive for n, c in job.classifications.items() if c.sensitive is not None}
    chosen = [n for n in job.table.by or names or said if said.get(n, not any(said.values()))]
    return tuple(chosen) if said else None
