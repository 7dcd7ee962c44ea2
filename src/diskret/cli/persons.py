"""Persons: a survey planned before it is collected, and records made anonymous by SAFE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from diskret.cli.app import EXPOSED, Formulas, Json, Quiet, app, classifications, given, run_content
from diskret.cli.jobs import run
from diskret.cli.sections import Said, with_sections
from diskret.cli.show import echo_json


@app.command()
def plan(
    file: Annotated[Path | None, typer.Argument(help="Plan (TOML) with shares; or give --shares.")] = None,
    shares: Annotated[list[str] | None, typer.Option(help="Shares of an attribute: age=0.4,0.3,0.2,0.1")] = None,
    n: Annotated[list[int] | None, typer.Option("--n", "-n", help="Number of persons; several for a curve.")] = None,
    tolerated: Annotated[float | None, typer.Option(help="Tolerated share, such as 0.05: says what to merge.")] = None,
    ordered: Annotated[list[str] | None, typer.Option(help="Attribute whose levels merge with neighbours.")] = None,
    freely: Annotated[list[str] | None, typer.Option(help="Attribute whose levels may merge with any other.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Attribute that stays as it is.")] = None,
    estimator: Annotated[str | None, typer.Option("--by", help="Plan by orwell or by expected.")] = None,
    worst: Annotated[bool, typer.Option("--worst", help="Compute the true worst case (few cells).")] = False,
    plot: Annotated[Path | None, typer.Option(help="Curves over N: .svg, .html, .png.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Estimate before collection how many persons could be singled out, and which levels to merge."""
    from diskret.job.plan import plan_from, read_plan, run_plan, shares_from_options

    said: dict[str, Any] = {"shares": shares_from_options(shares or ())}
    may = given(ordered=ordered, freely=freely, keep=keep)
    said |= may | given(n=n, tolerated=tolerated, by=estimator, worst=worst or None)
    if file is not None:
        before = read_plan(file).model_dump(exclude_unset=True)
        said = before | said | {"shares": before.get("shares", {}) | said["shares"]}
    found = run_plan(plan_from(said, str(file or "the command's options")))
    if plot is not None:
        from diskret.publication.plots import plot_estimate

        plot_estimate(found.estimate, plot)
    if json:
        echo_json(found.summary())
    elif not quiet:
        typer.echo(found.estimate)
        if found.merges is not None:
            typer.echo(found.merges)
        if plot is not None:
            typer.echo(f"wrote {plot}")


@app.command()
@with_sections("risk")
def risk(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet, .csv or .xlsx.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Report: .html or .pdf; internal.")] = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Measure how many records could be found by what an attacker may know."""
    run_content({"data": given(microdata=data), **said, "output": given(internal_report=out)}, quiet, json)


@app.command()
@with_sections("anonymise")
def anonymise(
    data: Annotated[
        Path, typer.Argument(help="Microdata, .parquet, .csv or .xlsx; or a job file (.toml) that anonymises.")
    ],
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", "-a", help="Column, COLUMN=FILE, or COLUMN=2,3 for prefixes.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Anonymous microdata: .parquet or .csv.")] = None,
    quality: Annotated[Path | None, typer.Option(help="Report on the control tables: .json or .txt; internal.")] = None,
    formulas: Formulas = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Make microdata k-anonymous so that their tables stay (SAFE). Ctrl-C gives the best file so far."""
    from diskret.model.errors import BadOption

    if data.suffix == ".toml":
        run(data, quiet=quiet, json=json)
        return
    if not attribute or out is None:
        raise BadOption("attributes or output are missing", hint="say --attribute COLUMN ... --out FILE.")
    described = classifications(attribute)
    content = {
        "data": given(microdata=data),
        "anonymise": said["anonymise"] | {"attributes": [*described]},
        "classifications": {n: c for n, c in described.items() if c},
        "output": given(microdata=out, quality=quality, formulas=formulas),
    }
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)
