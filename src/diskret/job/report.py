"""The report a job asks for: tables, anonymous files, scientific-use files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.job.models import Job
from diskret.job.section import RelativeKnowledge
from diskret.model.table import Table
from diskret.publication.options import publication
from diskret.publication.report_file import write_report
from diskret.publication.safe_report import safe_sections
from diskret.publication.sections import ReportSection
from diskret.publication.table_report import ReportFacts, report_note, table_sections
from diskret.safe.anonymisation import Anonymisation
from diskret.suppression.result import Suppression

TITLES = {
    "en": {"table": "Confidentiality report", "safe": "Anonymous file: report"},
    "de": {"table": "Bericht zur Geheimhaltung", "safe": "Anonyme Datei: Bericht"},
}


def table_facts(
    job: Job, suppressions: Mapping[str, Suppression], audits: Mapping[str, Mapping[str, Any]] | None = None,
    warnings: Sequence[str] = (),
) -> ReportFacts:  # fmt: skip
    """What a report says about the protection of a job's tables; ``audits`` where they were made apart."""
    found = {name: s.audit.plain() for name, s in suppressions.items() if s.audit is not None}
    unprotected = {name: [u.cell for u in s.unprotected] for name, s in suppressions.items()}
    return ReportFacts(
        audits=dict(found if audits is None else audits),
        asked=asked_of(job),
        unprotected=unprotected,
        warnings=tuple(warnings),
    )


def asked_of(job: Job) -> list[tuple[str, str]]:
    """What was chosen, as far as it is no secret: no parameter of a rule, no range, no error of prior knowledge."""
    asked = job.suppression
    source = "microdata" if job.data.microdata else "cells" if job.data.cells else "table"
    if asked is None:
        return [("source", source)]
    known = asked.knowledge
    kind = "relative" if isinstance(known, RelativeKnowledge) else known
    insiders = "largest" if asked.largest_contributors else "single" if asked.single_contributors else "none"
    barriers = asked.barriers if isinstance(asked.barriers, str) else "chosen"
    found = [
        ("source", source), ("guarantee", asked.guarantee), ("knowledge", kind or ""), ("insiders", insiders),
        ("zeros", asked.zeros), ("barriers", barriers), ("effort", asked.effort if asked.guarantee == "audit" else ""),
    ]  # fmt: skip
    return [(key, choice) for key, choice in found if choice]


def write_table_report(
    job: Job, tables: Mapping[str, Table], facts: ReportFacts, path: str | Path, language: str | None = None
) -> None:
    """A report on protected tables as .html or .pdf; without suppressed values and secret parameters."""
    said = language or job.output.language
    options = publication(mark=job.output.mark, title=job.output.title, language=said)
    sections = table_sections(tables, facts, options)
    write_report(
        path, job.output.title or TITLES[said]["table"], sections, note=report_note(facts, said), language=said
    )


def write_safe_report(
    job: Job, done: Anonymisation, path: str | Path, further: Sequence[ReportSection] = (), language: str | None = None
) -> None:
    """A report on an anonymous file as .html or .pdf."""
    said = language or job.output.language
    title = job.output.title or TITLES[said]["safe"]
    write_report(path, title, [*safe_sections(done, said), *further], language=said)
