"""Writing what a job asks for: all of it, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from diskret.auditing.certificate import certificate_of, write_certificate
from diskret.auditing.published_intervals import Intervals
from diskret.io.cell_list_writer import write_cell_list
from diskret.io.files import all_or_none
from diskret.job.models import Job
from diskret.job.report import table_facts, write_table_report
from diskret.job.suppression import intervals_of
from diskret.model.table import Table
from diskret.publication.plots import plot_comparison
from diskret.publication.publish import publish
from diskret.publication.working import save_working
from diskret.rules.compare import RuleComparison
from diskret.suppression.result import Suppression
from diskret.tabulation.tabulate import Progress


def write_job_files(
    job: Job, here: Path, tables: Mapping[str, Table], suppressions: Mapping[str, Suppression],
    comparison: RuleComparison | None, say: Progress, care: Sequence[str],
) -> tuple[Path, ...]:  # fmt: skip
    """Write everything a job asks for, or nothing."""
    asked = job.output
    intervals = intervals_of(job, tables) if asked.publish else {}
    with all_or_none() as meanwhile:
        files = write_tables(job, here, tables, intervals, meanwhile, say)
        files += write_certificates(job, here, suppressions, meanwhile)
        if asked.report:
            facts = table_facts(job, suppressions, warnings=care)
            write_table_report(job, tables, facts, meanwhile(here / asked.report))
            files.append(here / asked.report)
        if asked.comparison and comparison is not None:
            plot_comparison(comparison, meanwhile(here / asked.comparison))
            files.append(here / asked.comparison)
    return tuple(files)


def write_tables(
    job: Job, here: Path, tables: Mapping[str, Table], intervals: Mapping[str, Intervals],
    meanwhile: Callable[[Path], Path], progress: Progress | None,
) -> list[Path]:  # fmt: skip
    """Tables over the same classifications: for the public, to go on with, and for tau-ARGUS."""
    asked, files = job.output, list[Path]()
    say = progress or (lambda what, done, of: None)
    for name in asked.publish:
        say("writing", len(files), len(asked.publish))
        publish(
            tables, meanwhile(here / name),
            mark=asked.mark, counts=asked.counts, title=asked.title, language=asked.language,
            intervals=intervals,
        )  # fmt: skip
        files.append(here / name)
    if asked.working:
        # intervals that are published are known from then on
        known = {name: intervals[name].known() if name in intervals else table for name, table in tables.items()}
        save_working(known, meanwhile(here / asked.working))
        files.append(here / asked.working)
    if asked.tau_argus:
        for name, table in tables.items():
            target = here / asked.tau_argus / re.sub(r"\W+", "_", name)
            files += [target.with_name(f.name) for f in write_cell_list(table, meanwhile(target))]
    return files


def write_certificates(
    job: Job, here: Path, suppressions: Mapping[str, Suppression], meanwhile: Callable[[Path], Path]
) -> list[Path]:
    """The certificates of all audits of a job in one file, if it asks for one."""
    if not job.output.certificate:
        return []
    audits = {name: each.audit for name, each in suppressions.items()}
    certificates = {name: certificate_of(report) for name, report in audits.items() if report is not None}
    write_certificate(certificates, meanwhile(here / job.output.certificate))
    return [here / job.output.certificate]
