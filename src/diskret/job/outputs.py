"""Writing what a job asks for of its tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from diskret.auditing.certificate import certificate_of
from diskret.auditing.certificate_files import write_certificate
from diskret.auditing.plain import write_plain
from diskret.auditing.published_intervals import Intervals
from diskret.io.hst import write_apriori
from diskret.job.outcome import Running
from diskret.job.output_sections import PoolOutput, PoolTableOutput
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.publication.argus.write import write_safe_file
from diskret.publication.doors import Leaving, Result
from diskret.publication.publish import publish
from diskret.publication.transmission import write_transmission
from diskret.publication.working import save_working
from diskret.suppression.result import Suppression


def write_tables(
    asked: PoolTableOutput, running: Running, tables: Mapping[str, Table], intervals: Mapping[str, Intervals],
    meanwhile: Callable[[Path], Path], *, suppressed: bool, results: Mapping[str, Result] | None = None,
) -> list[Path]:  # fmt: skip
    """Tables over the same classifications: for the public, for authorities, to go on with, and for tau-ARGUS.

    What a job has ``suppressed`` leaves even if something in it is exposed: the summary and the exit code tell, and the
    files themselves. Safe files of tau-ARGUS cannot; ``results`` are what protected the tables, if they did alone.
    """
    files, here = list[Path](), running.here
    for name in asked.publish:
        running.say("writing", len(files), len(asked.publish))
        publish(
            tables, meanwhile(here / name), **asked.options,
            intervals=intervals, unprotected=asked.unprotected or suppressed,
        )  # fmt: skip
        files.append(here / name)
    if asked.working:
        # intervals that are published are known from then on
        known = {name: intervals[name].known() if name in intervals else table for name, table in tables.items()}
        save_working(known, meanwhile(here / asked.working))
        files.append(here / asked.working)
    if asked.apriori:
        (one,) = tables.values()
        write_apriori(one, meanwhile(here / asked.apriori))
        files.append(here / asked.apriori)
    for each in asked.transmission:
        assert asked.sdmx is not None
        write_transmission(
            tables, meanwhile(here / each.file), sdmx=asked.sdmx.options, values=each.values,
            prepared=asked.date or running.origin.written, unprotected=asked.unprotected or suppressed,
        )  # fmt: skip
        files.append(here / each.file)
    if asked.tau_argus:
        for name, table in tables.items():
            target = here / asked.tau_argus / re.sub(r"\W+", "_", name)
            written = write_safe_file(table, meanwhile(target.with_suffix(".tab")), report=False)
            files += [target.with_name(f.name) for f in written]
    return files + _safe_files(asked, running, {**tables, **(results or {})}, meanwhile)


def _safe_files(
    asked: PoolTableOutput, running: Running, tables: Mapping[str, Leaving], meanwhile: Callable[[Path], Path]
) -> list[Path]:
    """Every safe file, with what lies beside it."""
    files: list[Path] = []
    for number, each in enumerate(asked.safe_files):
        name = each.response or next(iter(tables))
        if name not in tables or (each.response is None and len(tables) > 1):
            raise BadOption(
                f"output.safe_files.{number}.response: a safe file holds one response", hint=f"one of {listed(tables)}."
            )
        target = running.here / each.file
        written = write_safe_file(
            tables[name], meanwhile(target), each.format,
            unprotected=asked.unprotected, origin=running.origin, **{"language": asked.language, **each.options},
        )  # fmt: skip
        files += [target.with_name(f.name) for f in written]
    return files


def write_certificates(
    asked: PoolOutput, here: Path, suppressions: Mapping[str, Suppression], meanwhile: Callable[[Path], Path]
) -> list[Path]:
    """The certificates of all audits of a job in one file, and the tables they are about, if it asks for them."""
    audits = {name: each.audit for name, each in suppressions.items() if each.audit is not None}
    files = []
    if asked.certificate:
        write_certificate(
            {name: certificate_of(report) for name, report in audits.items()}, meanwhile(here / asked.certificate)
        )
        files.append(here / asked.certificate)
    if asked.plain:
        write_plain({name: report.table for name, report in audits.items()}, meanwhile(here / asked.plain))
        files.append(here / asked.plain)
    return files
