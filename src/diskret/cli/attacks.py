"""Attacks on what is to be released: tables, anonymous files, records by linkage; and a certificate checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app, classifications, given, run_content
from diskret.cli.sections import Said, with_sections
from diskret.cli.show import echo_json

if TYPE_CHECKING:
    from diskret.auditing.certificate import Verification
    from diskret.model.promise import Promise
    from diskret.model.table import Table


@app.command()
@with_sections("promise")
def audit(
    table: Annotated[Path, typer.Argument(help="Working file with suppressed cells.")],
    insiders: Annotated[str | None, typer.Option(hidden=True, help="Older name of --guard.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="File for a certificate that diskret verify checks; confidential.")
    ] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show intervals; not for publication.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Attack a table with a solver; exit code 1 if anything is exposed."""
    from diskret.auditing.audit import audit as attack
    from diskret.auditing.certificate import certificate_of
    from diskret.auditing.certificate_files import write_certificate

    older = given(guard={"none": "public"}.get(insiders or "", insiders))
    reports = {
        name: attack(each, promise, certify=certificate is not None)
        for name, (each, promise) in _promised(table, said["promise"] | older).items()
    }
    if certificate is not None:
        write_certificate({name: certificate_of(r) for name, r in reports.items()}, certificate)
    lines = [f"{name}: {r.report(internal=internal)}" for name, r in reports.items()]
    _tell(reports, [*lines, f"wrote {certificate}"] if certificate else lines, quiet, json)
    if not all(r.safe for r in reports.values()):
        raise typer.Exit(EXPOSED)


@app.command()
@with_sections("promise")
def verify(
    table: Annotated[Path, typer.Argument(help="Working file the certificate is about.")],
    certificate: Annotated[Path, typer.Argument(help="Certificate written by audit or run.")],
    promise: Annotated[
        Path | None, typer.Option(help="What it must prove: a job file or another .toml with [promise], or a .json.")
    ] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show the ranges of the promise.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Check a certificate in whole numbers, without a solver; exit code 1 if it does not hold.

    With --promise, or with options of the promise, it must prove that; without any, whatever it says it does.
    """
    from diskret.auditing.certificate import verify_tables
    from diskret.auditing.certificate_files import read_certificate

    certificates = read_certificate(certificate)
    tables = _promised(table, said["promise"]) if promise is None else _demanded(table, promise, said["promise"])
    demanded = promise is not None or bool(said["promise"])
    found: dict[str, Verification] = {}
    for name, (each, asked) in tables.items():
        found |= verify_tables({name: each}, certificates, asked if demanded else None)
    _tell(found, [f"{name}: {v.report(internal=internal)}" for name, v in found.items()], quiet, json)
    if not all(v.holds for v in found.values()):
        raise typer.Exit(EXPOSED)


@app.command()
def plain(
    table: Annotated[Path, typer.Argument(help="Working file.")],
    out: Annotated[Path, typer.Argument(help="JSON file to write; confidential.")],
    quiet: Quiet = False,
) -> None:
    """Write a working file as plain JSON for tools/check_certificate.py (confidential)."""
    from diskret.auditing.plain import write_plain
    from diskret.publication.working import load_working

    write_plain(load_working(table), out)
    if not quiet:
        typer.echo(f"wrote {out}; it holds hidden values and stays in-house")


def _demanded(table: Path, promise: Path, said: dict[str, Any]) -> dict[str, tuple[Table, Promise]]:
    """The tables of a working file, each with the promise that a file demands."""
    from diskret.auditing.certificate_files import read_promise
    from diskret.job.pool_job import PoolJob
    from diskret.job.read import job_content, read_job
    from diskret.job.suppression import promise_of
    from diskret.job.table_job import TableJob
    from diskret.model.errors import BadOption
    from diskret.publication.working import load_working

    if said:
        raise BadOption("a promise in a file and in options", hint="give one of them.")
    if promise.suffix == ".json":
        asked = read_promise(promise)
        return {name: (each, asked) for name, each in load_working(table).items()}
    content = job_content(promise)
    if content.keys() == {"promise"}:
        return _promised(table, content["promise"])
    job = read_job(promise)
    if not isinstance(job, TableJob | PoolJob):
        raise BadOption("the job makes no promise about a table", where=str(promise), hint="give one with [promise].")
    return {name: (each, promise_of(job, each)) for name, each in load_working(table).items()}


def _promised(table: Path, said: dict[str, Any]) -> dict[str, tuple[Table, Promise]]:
    """The tables of a working file, each with the promise that options make about it."""
    from diskret.job.read import job_from
    from diskret.job.suppression import promise_of
    from diskret.job.table_job import TableJob
    from diskret.publication.working import load_working

    tables = load_working(table)
    job = job_from({"data": given(table=table), "promise": said}, "the command's options", Path(), TableJob)
    return {name: (each, promise_of(job, each)) for name, each in tables.items()}


def _tell(found: Mapping[str, Any], lines: Sequence[str], quiet: bool, json: bool) -> None:
    if json:
        echo_json({name: each.summary() for name, each in found.items()})
    elif not quiet:
        typer.echo("\n".join(lines))


@app.command()
@with_sections("attack")
def attack(
    released: Annotated[Path, typer.Argument(help="Records that are to be released: .parquet or .csv.")],
    key: Annotated[list[str] | None, typer.Option(help="Column that must agree; NAME=OTHER for another name.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="Column that should be close; NAME=OTHER likewise.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column of the combinations; NAME=20,50 for classes.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Risk of every combination: .csv or .json.")] = None,
    plot: Annotated[Path | None, typer.Option(help="The same as a plot: .svg, .html, .png.")] = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Link records with an external file; exit code 1 if a combination has too high a risk."""
    keys, values, limits = (
        dict(map(_renamed, key or ())),
        dict(map(_renamed, value or ())),
        dict(map(_limits, by or ())),
    )
    asked = said["attack"] | given(
        keys=[*keys], values=[*values], names={a: b for a, b in (keys | values).items() if a != b}, by=[*limits],
        classes={name: each for name, each in limits.items() if each},
    )  # fmt: skip
    content = {"data": given(microdata=released), "attack": asked, "output": given(risks=out, risk_plot=plot)}
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)


@app.command("attack-anonymous")
def attack_anonymous(
    file: Annotated[Path, typer.Argument(help="Anonymous microdata: .parquet, .csv or .xlsx.")],
    original: Annotated[Path, typer.Option(help="The microdata it was made of; confidential.")],
    attribute: Annotated[
        list[str], typer.Option("--attribute", "-a", help="Column, COLUMN=FILE, or COLUMN=2,3 for prefixes.")
    ],
    k: Annotated[int, typer.Option(help="Fewest objects of a combination.")] = 3,
    up_to: Annotated[int, typer.Option(help="Control tables up to this dimension deviate as published.")] = 3,
    largest: Annotated[
        list[int] | None, typer.Option(help="Largest deviation that is published, by dimension from 1; repeatable.")
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(help="A control table whose original counts are known, as region,sex.")
    ] = None,
    records: Annotated[Path | None, typer.Option(help="Persons the attacker knows.")] = None,
    least: Annotated[int | None, typer.Option(help="How many values must stay possible; k if left out.")] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Name exposed counts; not for publication.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Attack an anonymous file as somebody who knows the method; exit code 1 if a small count can be told."""
    from diskret.job.anonymise_job import AnonymiseJob, made_of_data
    from diskret.job.loading import classified_source, hierarchies_of
    from diskret.job.read import job_from
    from diskret.safe.control import Control
    from diskret.safe.file_attack import attack_anonymous as attack
    from diskret.safe.published import FileKnowledge, Published

    said = classifications(attribute)
    content = {
        "data": given(microdata=original), "anonymise": {"attributes": [*said], "k": k, "up_to": up_to},
        "classifications": {n: c for n, c in said.items() if c},
    }  # fmt: skip
    job = job_from(content, "the command's options", Path(), AnonymiseJob)
    data, described = classified_source(job.data, job.classifications, Path())
    by = hierarchies_of(job, Path(), job.anonymise.attributes, data, described)
    bounds = largest or []
    most = {d: bounds[min(d, len(bounds)) - 1] for d in range(1, max(up_to, 1) + 1)} if bounds else {}
    knowledge = FileKnowledge(
        tables=[table.split(",") for table in known or ()], records=records,
        listed=[name for name, tree in by.items() if tree is not None and name not in made_of_data(job)],
    )  # fmt: skip
    found = attack(
        file, Published(largest=most), knowledge, original=data, attributes=by,
        control=Control(up_to=up_to), k=k, least=least,
    )  # fmt: skip
    if json:
        echo_json(found.summary())
    elif not quiet:
        typer.echo(found.report(internal=internal))
    if not found.safe:
        raise typer.Exit(EXPOSED)


def _renamed(text: str) -> tuple[str, str]:
    name, _, other = text.partition("=")
    return name, other or name


def _limits(text: str) -> tuple[str, list[str]]:
    name, _, limits = text.partition("=")
    return name, [part.strip() for part in limits.split(",")] if limits else []
