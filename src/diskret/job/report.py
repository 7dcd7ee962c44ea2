"""The report a job asks for: tables, anonymous files, scientific-use files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.job.form import RelativeKnowledge
from diskret.job.record_sections import AnonymiseOutput
from diskret.job.table_sections import SuppressionSection, TableOutput
from diskret.model.table import Table
from diskret.publication.options import publication
from diskret.publication.report import write_report
from diskret.publication.safe_report import safe_sections
from diskret.publication.table_report import ReportFacts, report_note, table_sections
from diskret.safe.result import Anonymisation
from diskret.suppression.result import Suppression

if TYPE_CHECKING:
    from diskret.job.table_job import TableJob

TITLES = {
    "en": {"table": "Confidentiality report", "safe": "Anonymous file: report"},
    "de": {"table": "Bericht zur Geheimhaltung", "safe": "Anonyme Datei: Bericht"},
}


def table_facts(
    job: TableJob, suppressions: Mapping[str, Suppression], audits: Mapping[str, Mapping[str, Any]] | None = None,
    warnings: Sequence[str] = (),
) -> ReportFacts:  # fmt: skip
    """What a report says about the protection of a job's tables; ``audits`` where they were made apart."""
    found = {name: s.audit.plain() for name, s in suppressions.items() if s.audit is not None}
    unprotected = {name: [u.cell for u in s.unprotected] for name, s in suppressions.items()}
    return ReportFacts(dict(found if audits is None else audits), asked_of(job), unprotected, tuple(warnings))


def asked_of(job: TableJob) -> list[tuple[str, str]]:
    """What was chosen, as far as it is not secret: no parameter of a rule, no range, no error of prior knowledge."""
    asked = job.suppression
    source = "microdata" if job.data.microdata else "cells" if job.data.cells else "table"
    if asked is None:
        return [("source", source)]
    return [("source", source), *((key, choice) for key, choice in _chosen(asked).items() if choice)]


def _chosen(asked: SuppressionSection) -> dict[str, str]:
    """The choices of [suppression] in words, without numbers."""
    known = "relative" if isinstance(asked.knowledge, RelativeKnowledge) else asked.knowledge
    insiders = "largest" if asked.largest_contributors else "single" if asked.single_contributors else "none"
    return {
        "guarantee": asked.guarantee,
        "knowledge": known or "",
        "insiders": insiders,
        "zeros": asked.zeros,
        "barriers": asked.barriers if isinstance(asked.barriers, str) else "chosen",
        "effort": asked.effort if asked.guarantee == "audit" else "",
    }


def write_table_report(
    asked: TableOutput, tables: Mapping[str, Table], facts: ReportFacts, path: str | Path, language: str | None = None
) -> None:
    """A report on protected tables as .html or .pdf; without suppressed values and secret parameters."""
    said = language or asked.language
    options = publication(mark=asked.mark, title=asked.title, language=said)
    sections = table_sections(tables, facts, options)
    write_report(path, asked.title or TITLES[said]["table"], sections, note=report_note(facts, said), language=said)


def write_safe_report(asked: AnonymiseOutput, done: Anonymisation, path: str | Path) -> None:
    """A report on an anonymous file as .html or .pdf."""
    title = asked.title or TITLES[asked.language]["safe"]
    write_report(path, title, safe_sections(done, asked.language), language=asked.language)
