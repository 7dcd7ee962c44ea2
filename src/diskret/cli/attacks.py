"""Attacks on what is to be released: on a table with a solver, on records by linkage; and a certificate checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app, run_content


@app.command()
def audit(
    table: Annotated[Path, typer.Argument(help="Working file with suppressed cells.")],
    min_relative_range: Annotated[float, typer.Option(help="Interval over value must be greater.")] = 0.0,
    guard: Annotated[
        str, typer.Option("--guard", "--insiders", help="Who attacks besides everybody: single, largest or public.")
    ] = "single",
    certificate: Annotated[
        Path | None, typer.Option(help="File for a certificate that diskret verify checks; confidential.")
    ] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show intervals; not for publication.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Attack a table with a solver; exit code 1 if anything is exposed."""
    from diskret.auditing.audit import audit as attack
    from diskret.auditing.certificate import certificate_of, write_certificate
    from diskret.model.promise import Promise
    from diskret.publication.working import load_working

    reports = {}
    for name, each in load_working(table).items():
        promise = Promise(guard=cast(Any, guard), min_relative_range=min_relative_range)
        reports[name] = attack(each, promise, certify=certificate is not None)
    if certificate is not None:
        write_certificate({name: certificate_of(r) for name, r in reports.items()}, certificate)
    if json:
        import json as writer

        typer.echo(writer.dumps({name: r.summary() for name, r in reports.items()}, ensure_ascii=False, indent=2))
    elif not quiet:
        for name, r in reports.items():
            typer.echo(f"{name}: {r.report(internal=internal)}")
        if certificate is not None:
            typer.echo(f"wrote {certificate}")
    if not all(r.safe for r in reports.values()):
        raise typer.Exit(EXPOSED)


@app.command()
def verify(
    table: Annotated[Path, typer.Argument(help="Working file the certificate is about.")],
    certificate: Annotated[Path, typer.Argument(help="Certificate written by audit or run.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check a certificate without a solver: every equation is added up again; exit code 1 if it does not hold."""
    from diskret.auditing.certificate import read_certificate, verify_tables
    from diskret.publication.working import load_working

    found = verify_tables(load_working(table), read_certificate(certificate))
    if json:
        import json as writer

        typer.echo(writer.dumps({name: v.summary() for name, v in found.items()}, ensure_ascii=False, indent=2))
    elif not quiet:
        for name, v in found.items():
            typer.echo(f"{name}: {v.report()}")
    if not all(v.holds for v in found.values()):
        raise typer.Exit(EXPOSED)


@app.command()
def attack(
    released: Annotated[Path, typer.Argument(help="Records that are to be released: .parquet or .csv.")],
    external: Annotated[Path, typer.Option(help="File the attacker has.")],
    key: Annotated[list[str] | None, typer.Option(help="Column that must agree; NAME=OTHER for another name.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="Column that should be close; NAME=OTHER likewise.")] = None,
    unit: Annotated[list[str] | None, typer.Option(help="Column that says who is who in both files.")] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Both files hold the same units in the same order.")
    ] = False,
    original: Annotated[Path | None, typer.Option(help="File before protection, to judge values by.")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Value the attacker wants; those he links by if none.")
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column of the combinations; NAME=20,50 for classes.")] = None,
    method: Annotated[str, typer.Option(help="assignment, single or fellegi_sunter.")] = "assignment",
    scale: Annotated[str, typer.Option(help="log, standard or rank.")] = "log",
    usable_within: Annotated[float, typer.Option(help="Largest relative deviation that is still of use.")] = 0.1,
    cap: Annotated[float, typer.Option(help="Highest risk of a combination.")] = 0.5,
    engine: Annotated[
        str, typer.Option(help="For fellegi_sunter: duckdb, spark, or the URL of a Spark master.")
    ] = "duckdb",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Risk of every combination: .csv or .json.")] = None,
    plot: Annotated[Path | None, typer.Option(help="The same as a plot: .svg, .html, .png.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Link records with an external file; exit code 1 if a combination has too high a risk."""
    named = dict(_renamed(each) for each in [*(key or ()), *(value or ())])
    classes = {n: limits for n, limits in (_limits(each) for each in by or ()) if limits}
    asked: dict[str, Any] = {
        "external": str(external.resolve()), "keys": [_renamed(k)[0] for k in key or ()],
        "values": [_renamed(v)[0] for v in value or ()], "names": {a: b for a, b in named.items() if a != b},
        "unit": unit or [], "aligned": aligned, "targets": target or [], "by": [_limits(b)[0] for b in by or ()],
        "classes": classes, "method": method, "scale": scale, "usable_within": usable_within, "cap": cap,
        "engine": engine,
    }  # fmt: skip
    asked |= {"original": str(original.resolve())} if original else {}
    output = {k: str(p.resolve()) for k, p in (("risks", out), ("risk_plot", plot)) if p}
    content = {"data": {"microdata": str(released.resolve())}, "attack": asked, "output": output}
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)


def _renamed(text: str) -> tuple[str, str]:
    name, _, other = text.partition("=")
    return name, other or name


def _limits(text: str) -> tuple[str, list[str]]:
    name, _, limits = text.partition("=")
    return name, [part.strip() for part in limits.split(",")] if limits else []
