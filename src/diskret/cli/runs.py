"""Finished runs: a report on one, two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import Json, Quiet, app
from diskret.cli.show import echo_json


@app.command("compare-runs")
def compare_two_runs(
    one: Annotated[Path, typer.Argument(help="Working file of the first run.")],
    two: Annotated[Path, typer.Argument(help="Working file of the second run.")],
    attack: Annotated[
        bool, typer.Option("--attack", help="Attack both with a solver first, for exposed cells.")
    ] = False,
    internal: Annotated[
        bool, typer.Option("--internal", help="Show the share of hidden values and the closest calls.")
    ] = False,
    language: Annotated[str, typer.Option(help="Language of the text: en or de.")] = "en",
    json: Json = False,
) -> None:
    """Compare two protected versions of a table: hidden cells, those only one hides, closest calls."""
    from diskret.auditing.audit import audit
    from diskret.model.errors import BadOption, listed
    from diskret.publication.working import load_working
    from diskret.suppression.difference import compare_suppressions

    if language not in ("en", "de"):
        raise BadOption(f"language {language!r}", hint="'en' or 'de'.")
    first, second = load_working(one), load_working(two)
    shared = [name for name in first if name in second]
    if not shared:
        raise BadOption(
            "the files have no table in common", hint=f"the first has {listed(first)}, the second {listed(second)}."
        )
    found = {}
    for name in shared:
        pair = first[name], second[name]
        audits = (audit(pair[0]), audit(pair[1])) if attack else (None, None)
        found[name] = compare_suppressions(*pair, audits=audits)
    if json:
        echo_json({name: each.plain(internal=internal) for name, each in found.items()})
        return
    for each in found.values():
        typer.echo("\n".join(each.words(language, internal=internal)))


@app.command("report")
def report_on(
    table: Annotated[Path, typer.Argument(help="Working file of a finished run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Report to write: .html or .pdf.")],
    attack: Annotated[bool, typer.Option("--attack", help="Attack the tables with a solver for the report.")] = False,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    language: Annotated[str, typer.Option(help="en or de.")] = "en",
    date: Annotated[str | None, typer.Option(help="Date of the release, such as 2026-03-31.")] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="The confidential report: counts of primary cells, closest calls.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on the tables of a working file: for everybody, or with --internal for the house."""
    from diskret.auditing.audit import audit
    from diskret.job.origin import job_origin
    from diskret.job.read import job_from
    from diskret.job.release_warnings import unguarded, unmarked
    from diskret.job.report import table_facts, write_table_report
    from diskret.job.table_job import TableJob
    from diskret.publication.working import load_working

    output = {"report": str(out.resolve()), "title": title, "language": language, "date": date}
    content = {"data": {"table": str(table.resolve())}, "output": output}
    job = job_from(content, "the command's options", Path(), TableJob)
    tables = load_working(table)
    audits = {name: audit(each).plain() for name, each in tables.items()} if attack else {}
    care = [*unmarked(tables), *unguarded(tables)]
    origin = job_origin(job, Path(), hashed=internal)
    facts = table_facts(job, {}, audits, care)
    write_table_report(job.output, tables, facts, out, internal=internal, origin=origin)
    if not quiet:
        typer.echo(f"wrote {out}")
    for words in care:
        typer.echo(f"care: {words}", err=True)
