"""The steps of a table, one command each: tabulate, mark, suppress, publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from diskret.cli.app import (
    EXPOSED,
    By,
    Formulas,
    Json,
    Out,
    Quiet,
    Value,
    app,
    classifications,
    given,
    run_content,
)
from diskret.cli.sections import Said, with_sections

Unprotected = Annotated[
    bool, typer.Option("--unprotected", help="Publish even if no rule marked the table, or nothing protects it.")
]


@app.command()
def tabulate(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet, .csv or .xlsx.")],
    by: By,
    out: Out,
    value: Value = None,
    weight: Annotated[str | None, typer.Option(help="Column with sampling weights.")] = None,
    holding: Annotated[str | None, typer.Option(help="Column that joins records of one owner.")] = None,
    largest: Annotated[int, typer.Option(min=0, max=100, help="How many largest contributions to keep.")] = 2,
    engine: Annotated[str, typer.Option(help="duckdb, spark, or the URL of a Spark master.")] = "duckdb",
    delimiter: Annotated[str | None, typer.Option(help="Separator of a text file.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of numbers in text; detected if left out.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Add microdata up to a working file with all sums (confidential)."""
    content = {
        "data": given(microdata=data, engine=engine, decimal=decimal, delimiter=delimiter),
        "table": {"by": [*classifications(by)]} | given(value=value, weight=weight, holding=holding),
        "classifications": classifications(by),
        "output": given(working=out),
    }
    run_content(content, quiet, json, largest=largest)


@app.command()
@with_sections("rules")
def mark(
    table: Annotated[Path, typer.Argument(help="Working file written by tabulate or run.")],
    out: Out,
    dominance: Annotated[list[str] | None, typer.Option(help="n,k of a dominance rule, such as 2,85.")] = None,
    margin: Annotated[
        float | None, typer.Option(help="Percent of the value that the minimum count asks for around it; secret.")
    ] = None,
    compare: Annotated[Path | None, typer.Option(help="Plot of the rules' regions (.svg, .html, .png).")] = None,
    unprotected: Unprotected = False,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Mark the sensitive cells of a working file; write a working file or, by its ending, a file for the public."""
    rules = said["rules"] | given(dominance=[_pair(d) for d in dominance or ()])
    if margin is not None and "min_count" in rules:
        rules["min_count"] = {"n": rules["min_count"], "margin": margin}
    elif margin is not None:
        from diskret.model.errors import BadOption

        raise BadOption("a margin without a minimum count", hint="give --min-count as well, such as --min-count 3.")
    output = output_of(out) | given(comparison=compare, unprotected=unprotected)
    content = {"data": given(table=table), "rules": rules, "output": output}
    run_content(content, quiet, json, marks=True)


@app.command()
@with_sections("promise", "suppression")
def suppress(
    table: Annotated[Path, typer.Argument(help="Working file with marked cells.")],
    out: Out,
    guarantee: Annotated[str | None, typer.Option(hidden=True, help="Older name of --method.")] = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Hide further cells so that no primary cell can be computed back."""
    content = {"data": {"table": str(table.resolve())}, **said, "output": output_of(out)}
    content["suppression"] = given(guarantee=guarantee) or {"method": "moves"}
    content["suppression"] |= said["suppression"]
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)


@app.command()
@with_sections("promise", "thin")
def thin(
    table: Annotated[Path, typer.Argument(help="Working file with a pattern from elsewhere.")],
    out: Out,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Open secondary cells again that the promise does not need; hide nothing else."""
    asked = {**said["thin"], "method": "thin"}
    content = {"data": {"table": str(table.resolve())}, "promise": said["promise"], "suppression": asked}
    if run_content(content | {"output": output_of(out)}, quiet, json).exposed:
        raise typer.Exit(EXPOSED)


@app.command()
def publish(
    table: Annotated[Path, typer.Argument(help="Working file.")],
    out: Annotated[
        list[Path],
        typer.Option("--out", "-o", help="File for the public: .csv .xlsx .parquet .json .px .arrow .dta and others."),
    ],
    sign: Annotated[str, typer.Option("--mark", help="What stands for a suppressed value.")] = "x",
    counts: Annotated[bool, typer.Option("--counts", help="Publish contributor counts too.")] = False,
    language: Annotated[str, typer.Option(help="Language of the legend: en or de.")] = "en",
    formulas: Formulas = None,
    dataflow: Annotated[str | None, typer.Option(help="Dataflow of SDMX files, such as 'ESTAT:SBS(1.0)'.")] = None,
    unprotected: Unprotected = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a working file for the public, suppressed values as marks."""
    files = [str(each.resolve()) for each in out]
    output = {"publish": files, "mark": sign, "counts": counts, "language": language, "unprotected": unprotected}
    output |= given(formulas=formulas, sdmx=None if dataflow is None else {"dataflow": dataflow})
    run_content({"data": {"table": str(table.resolve())}, "output": output}, quiet, json)


def output_of(out: Path) -> dict[str, Any]:
    """A working file, or by its ending a file for the public."""
    target = str(out.resolve())
    return {"working": target} if out.suffix == ".parquet" else {"publish": [target]}


def _pair(text: str) -> list[Any]:
    return [part.strip() for part in text.split(",")]
