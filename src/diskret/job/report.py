"""The report a job asks for: tables, anonymous files, scientific-use files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.job.output_sections import TableOutput
from diskret.job.record_sections import AnonymiseOutput
from diskret.model.table import Table
from diskret.publication.options import publication
from diskret.publication.origin import Origin
from diskret.publication.price_section import PRICED
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.safe_report import safe_sections
from diskret.publication.table_report import ReportFacts, report_note, table_sections
from diskret.publication.table_verdict import table_verdict
from diskret.publication.verdict import Reason, Verdict
from diskret.safe.chance import GUESSABLE
from diskret.suppression.result import Suppression

if TYPE_CHECKING:
    from diskret.job.table_job import TableJob
    from diskret.safe.anonymisation import Anonymisation
    from diskret.safe.file_attack import FileAttack

TITLES = {
    "en": {"table": "Confidentiality report", "safe": "Anonymous file: report"},
    "de": {"table": "Bericht zur Geheimhaltung", "safe": "Anonyme Datei: Bericht"},
}


GUARANTEES = {"moves": "audit", "cuboids": "subtables", "complete": "complete", "optimal": "optimal", "thin": "audit"}
"""What a report calls the methods."""


def table_facts(
    job: TableJob, suppressions: Mapping[str, Suppression], audits: Mapping[str, Mapping[str, Any]] | None = None,
    warnings: Sequence[str] = (), summary: Mapping[str, Any] | None = None, unmarked: Sequence[str] = (),
) -> ReportFacts:  # fmt: skip
    """What a report says about the protection of a job's tables; ``audits`` where they were made apart.

    The ``summary`` of a run tells what only the run knows: prices, and what the attack on changed values found.
    """
    found = {name: s.audit.plain() for name, s in suppressions.items() if s.audit is not None}
    unprotected = {name: [u.cell for u in s.unprotected] for name, s in suppressions.items()}
    said = dict(found) if audits is None else dict(audits)
    promises = {name: s.promise for name, s in suppressions.items()} if job.suppression is not None else {}
    return ReportFacts(
        audits=said, asked=asked_of(job), unprotected=unprotected, warnings=tuple(warnings), promises=promises,
        too_close=None if summary is None else too_close_in(summary), priced=priced_in(summary or {}),
        unmarked=unmarked,
    )  # fmt: skip


def priced_in(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """From the summary of a run: what is known of the prices of its patterns, in shares."""
    done = {name: facts.get("suppression") or {} for name, facts in summary.get("tables", {}).items()}
    return {name: {key: each[key] for key in PRICED if key in each} for name, each in done.items()}


def too_close_in(summary: Mapping[str, Any]) -> dict[str, int]:
    """From the summary of a run: how many changed values the attack on each table found too closely."""
    found = {name: facts.get("perturbation attack", {}) for name, facts in summary.get("tables", {}).items()}
    return {name: attack["closer than demanded"] for name, attack in found.items() if attack}


def asked_of(job: TableJob) -> list[tuple[str, str]]:
    """What was chosen, as far as it is not secret: no parameter of a rule, no range, no error of prior knowledge."""
    source = "microdata" if job.data.microdata else "cells" if job.data.cells else "table"
    first = [("source", source), *([("gaps", gaps)] if (gaps := _gaps(job)) else [])]
    if job.suppression is None:
        return first
    return [*first, *((key, choice) for key, choice in _chosen(job).items() if choice)]


def _gaps(job: TableJob) -> str:
    """What became of rows without a value or a code; how many there were is told in the internal report alone.

    That somebody did not answer tells little, that one did not may tell who.
    """
    codes = [said for each in job.classifications.values() for said in (each.without_code, each.unknown)]
    left = "leave out" in (job.table.without_value, *codes)
    zero = job.table.without_value == "zero"
    return "both" if left and zero else "left out" if left else "zero" if zero else ""


def _chosen(job: TableJob) -> dict[str, str]:
    """The choices of [promise] and [suppression] in words, without numbers."""
    assert job.suppression is not None
    said, known = job.suppression.keywords(), job.promise.knowledge_said().kind
    guard = job.promise.keywords()["guard"]
    return {
        "guarantee": GUARANTEES[job.suppression.method],
        "knowledge": "" if known == "usual" else known,
        "insiders": "none" if guard == "public" else guard,
        "zeros": said["zeros"],
        "barriers": said["barriers"] if isinstance(said["barriers"], str) else "chosen",
        "effort": said.get("effort", ""),
        "cost": said["cost"] if isinstance(said["cost"], str) else said["cost"].by if said["cost"] else "value",
    }


def write_table_report(
    asked: TableOutput, tables: Mapping[str, Table], facts: ReportFacts, path: str | Path, language: str | None = None,
    *, internal: bool = False, origin: Origin | None = None,
) -> None:  # fmt: skip
    """A report on protected tables as .html or .pdf; without suppressed values and secret parameters.

    The public one names no cell and gives no reasons; the ``internal`` one counts primary cells and names the closest.
    """
    said = language or asked.language
    options = publication(mark=asked.mark, title=asked.title, language=said, sums=asked.sums)
    sections = table_sections(tables, facts, options, internal=internal)
    note = report_note(tables, facts, said, internal=internal)
    head = head_of(table_verdict(tables, facts), origin, said, note=note, internal=internal)
    write_report(path, asked.title or TITLES[said]["table"], sections, language=said, head=head)


def safe_verdict(done: Anonymisation, found: FileAttack) -> Verdict:
    """Whether an anonymous file may leave: if an attacker who knows the method can tell no small count too closely."""
    lost: list[Reason] = [("small counts", {"n": len(found.exposed), "least": found.least})] if found.exposed else []
    lost += [("small counts undecided", {"n": found.undecided})] if found.undecided else []
    look: list[Reason] = [] if done.complete else [("stopped", {})]
    look += [("guessable seed", {})] if done.seed < GUESSABLE else []
    look += [("limits below the floor", {})] if done.closer else []
    return Verdict(against=tuple(lost), look=tuple(look), found=("no small count", {"least": found.least}))


def write_safe_report(
    asked: AnonymiseOutput, done: Anonymisation, found: FileAttack, path: str | Path, *, internal: bool = False,
    origin: Origin | None = None,
) -> None:  # fmt: skip
    """A report on an anonymous file as .html or .pdf; the public one tells bounds of the deviations alone."""
    title = asked.title or TITLES[asked.language]["safe"]
    sections = safe_sections(done, found, asked.language, internal=internal)
    head = head_of(safe_verdict(done, found), origin, asked.language, internal=internal)
    write_report(path, title, sections, language=asked.language, head=head)
