"""The page beside a safe file: what the table is, how it was protected, and what there is of every status. Internal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.model.table import Table
from diskret.model.words import words
from diskret.perturbation.changed_table import Perturbation
from diskret.publication.argus.cells import (
    EMPTY,
    FREQUENCY,
    MANUAL,
    PROTECTED,
    REQUEST,
    RULE,
    SAFE,
    SAFE_BY_HAND,
    SECONDARY,
    SECONDARY_BY_HAND,
    ZERO,
    costs_of,
    decimals_in,
    status_numbers,
)
from diskret.publication.argus.keys import before_of
from diskret.publication.argus.layout import Layout
from diskret.publication.argus.options import KNOWN, SafeFile
from diskret.publication.doors import Leaving
from diskret.publication.numbers import grouped, number_words
from diskret.publication.origin import Origin
from diskret.publication.report_head import head_of
from diskret.publication.report_html import report_text
from diskret.publication.sections import Cell, ReportSection, ReportTable
from diskret.suppression.result import Suppression

STATUSES = (
    SAFE, SAFE_BY_HAND, RULE, REQUEST, FREQUENCY, ZERO, MANUAL, PROTECTED, SECONDARY, SECONDARY_BY_HAND, EMPTY,
)  # fmt: skip


def summary_text(
    given: Leaving, table: Table, layout: Layout, options: SafeFile, files: Sequence[Path], origin: Origin | None
) -> str:
    """The page as one text that needs nothing else. Parameters of rules stay out of it."""
    say = words("safe_file", options.language)
    head = head_of(None, origin, options.language, note=say["note"], internal=True)
    before = before_of(given, table)
    sections = [
        _files(options, files),
        _table(before, layout, options),
        _rules(before, options),
        _protection(given, table, options),
        _statuses(before, options),
        *_codes(layout, options),
    ]
    return report_text(say["title"], sections, options.language, head)


def _pairs(title: str, rows: Sequence[tuple[Cell, ...]]) -> ReportSection:
    return ReportSection(title=title, tables=(ReportTable(head=("", ""), rows=tuple(rows)),))


def _files(options: SafeFile, files: Sequence[Path]) -> ReportSection:
    say = words("safe_file", options.language)
    chosen = [name for name in KNOWN[options.format] if getattr(options, name)]
    rows: list[tuple[Cell, ...]] = [(say["format"], options.format), (say["options"], ", ".join(chosen) or "-")]
    return _pairs(say["files"], [*rows, *((say["file"], file.name) for file in files)])


def _table(table: Table, layout: Layout, options: SafeFile) -> ReportSection:
    say = words("safe_file", options.language)
    rows: list[tuple[Cell, ...]] = [(say["response"], table.response, None)]
    rows += [(say["explanatory"].format(n=i), name, len(axis)) for i, (name, axis) in enumerate(layout.by.items(), 1)]
    rows.append((say["cost"], table.response if table.weight is None else say["weight"], None))
    found = ReportTable(head=(say["variable"], say["name"], say["codes"]), rows=tuple(rows))
    return ReportSection(title=say["structure"], tables=(found,))


def _rules(table: Table, options: SafeFile) -> ReportSection:
    say = words("safe_file", options.language)
    names = [judge.name for judge in table.judges] or [name for name in table.rules if name != "given"]
    return ReportSection(title=say["rules"], text=(", ".join(dict.fromkeys(names)) or say["no rules"], say["secret"]))


def _protection(given: Leaving, table: Table, options: SafeFile) -> ReportSection:
    say = words("safe_file", options.language)
    text = [say["protected"] if table.protected and not table.unmarked else say["not protected"]]
    if isinstance(given, Suppression | AuditReport):
        text.append(" ".join(given.promise.describe(options.language, table=given.table).split()))
    if isinstance(given, Perturbation):
        text.append(given.method)
    exposed = given.exposed if isinstance(given, Suppression) else given.open if isinstance(given, AuditReport) else 0
    text += [say["exposed"].format(n=exposed)] if exposed else []
    audited = given.audit if isinstance(given, Suppression) else given if isinstance(given, AuditReport) else None
    text += [say["audited"] if audited.safe else say["audit found"]] if audited is not None else []
    return ReportSection(title=say["protection"], text=tuple(text))


def _statuses(table: Table, options: SafeFile) -> ReportSection:
    """Cells, contributors, values and costs of every status."""
    say = words("safe_file", options.language)
    numbers, cost = status_numbers(table), costs_of(table, options)
    count = None if table.respondents is None else table.respondents.count
    decimals = decimals_in(table, options)
    rows: list[tuple[Cell, ...]] = []
    for status in (*STATUSES, None):
        chosen = np.ones(table.shape, np.bool_) if status is None else numbers == status
        people = "-" if count is None else int(count[chosen].sum())
        sums = number_words(np.array([table.value[chosen].sum(), cost[chosen].sum()]), decimals)
        name = say["total"] if status is None else say[f"status {status}"]
        rows.append((status or "", name, int(chosen.sum()), people, *(grouped(s, options.language) for s in sums)))
    head = ("", *(say[name] for name in ("status", "cells", "respondents", "values", "costs")))
    found = ReportTable(head=head, rows=tuple(rows), right=(4, 5))
    return ReportSection(title=say["summary"], tables=(found,))


def _codes(layout: Layout, options: SafeFile) -> Iterator[ReportSection]:
    """The codes of every classification, those of lower levels behind points."""
    say = words("safe_file", options.language)
    for (name, axis), level in zip(layout.by.items(), layout.depths(), strict=True):
        rows = [("." * int(depth) + code,) for code, depth in zip(axis.codes, level.tolist(), strict=True)]
        yield ReportSection(
            title=say["codes of"].format(name=name), tables=(ReportTable(head=(say["code"],), rows=tuple(rows)),)
        )
