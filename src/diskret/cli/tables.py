"""The steps of a table, one command each: tabulate, mark, suppress, publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from diskret.cli.app import By, Json, Out, Quiet, Value, app, classification, run_content


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
    decimal: Annotated[str, typer.Option(help="Decimal sign of a text file.")] = ".",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Add microdata up to a working file with all sums (confidential)."""
    classifications = dict(classification(each) for each in by)
    content: dict[str, Any] = {
        "data": {"microdata": str(data.resolve()), "engine": engine, "decimal": decimal},
        "table": {"by": list(classifications), "value": value or []},
        "classifications": classifications,
        "output": {"working": str(out.resolve())},
    }
    content["data"] |= {"delimiter": delimiter} if delimiter else {}
    content["table"] |= {k: v for k, v in (("weight", weight), ("holding", holding)) if v}
    run_content(content, quiet, json, largest=largest)


@app.command()
def mark(
    table: Annotated[Path, typer.Argument(help="Working file written by tabulate or run.")],
    out: Out,
    min_count: Annotated[int | None, typer.Option(help="Fewest contributors of an open cell.")] = None,
    p_percent: Annotated[float | None, typer.Option(help="p of the p% rule.")] = None,
    dominance: Annotated[list[str] | None, typer.Option(help="n,k of a dominance rule, such as 2,85.")] = None,
    small_cells: Annotated[int | None, typer.Option(help="Smallest count that may be shown.")] = None,
    small_margin: Annotated[bool, typer.Option("--small-margin", help="Lines with a margin of 1 or 2.")] = False,
    one_category: Annotated[bool, typer.Option("--one-category", help="Lines with all units in one category.")] = False,
    counted_by: Annotated[str, typer.Option(help="respondent or holding.")] = "respondent",
    compare: Annotated[Path | None, typer.Option(help="Plot of the rules' regions (.svg, .html, .png).")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark the sensitive cells of a working file; write a working file or, by its ending, a file for the public."""
    rules: dict[str, Any] = {
        "min_count": min_count, "p_percent": p_percent, "small_cells": small_cells, "small_margin": small_margin,
        "one_category": one_category, "counted_by": counted_by, "dominance": [_pair(d) for d in dominance or ()],
    }  # fmt: skip
    output = output_of(out) | ({"comparison": str(compare.resolve())} if compare else {})
    given = {k: v for k, v in rules.items() if v is not None}
    run_content({"data": {"table": str(table.resolve())}, "rules": given, "output": output}, quiet, json, marks=True)


@app.command()
def suppress(
    table: Annotated[Path, typer.Argument(help="Working file with marked cells.")],
    out: Out,
    min_relative_range: Annotated[float, typer.Option(help="Interval over value must be greater.")] = 0.0,
    levels: Annotated[
        bool | None, typer.Option("--levels/--no-levels", help="Intervals as wide as the primary rules demand.")
    ] = None,
    guarantee: Annotated[
        str, typer.Option(help="What is promised: audit (whole table, attacked), complete or subtables.")
    ] = "audit",
    zeros: Annotated[str, typer.Option(help="Which zeros may be suppressed: marked, allowed, forbidden.")] = "marked",
    barriers: Annotated[str, typer.Option(help="Keep margins visible: on or off.")] = "on",
    previous: Annotated[Path | None, typer.Option(help="Working file of the last period.")] = None,
    effort: Annotated[
        str, typer.Option(help="How long to look for a cheaper pattern: quick, default, economy.")
    ] = "default",
    thin: Annotated[bool, typer.Option(help="Open secondaries again that nobody needs.")] = True,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Hide further cells so that no primary cell can be computed back."""
    asked: dict[str, Any] = {
        "min_relative_range": min_relative_range, "levels": levels, "zeros": zeros, "barriers": barriers,
        "effort": effort, "thin": thin, "guarantee": guarantee,
    }  # fmt: skip
    asked |= {"previous": str(previous.resolve())} if previous else {}
    content = {"data": {"table": str(table.resolve())}, "suppression": asked, "output": output_of(out)}
    run_content(content, quiet, json)


@app.command()
def publish(
    table: Annotated[Path, typer.Argument(help="Working file.")],
    out: Annotated[list[Path], typer.Option("--out", "-o", help="File for the public: .csv .parquet .xlsx .json .px.")],
    sign: Annotated[str, typer.Option("--mark", help="What stands for a suppressed value.")] = "x",
    counts: Annotated[bool, typer.Option("--counts", help="Publish contributor counts too.")] = False,
    language: Annotated[str, typer.Option(help="Language of the legend: en or de.")] = "en",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a working file for the public, suppressed values as marks."""
    files = [str(each.resolve()) for each in out]
    output = {"publish": files, "mark": sign, "counts": counts, "language": language}
    run_content({"data": {"table": str(table.resolve())}, "output": output}, quiet, json)


def output_of(out: Path) -> dict[str, Any]:
    """A working file, or by its ending a file for the public."""
    target = str(out.resolve())
    return {"working": target} if out.suffix == ".parquet" else {"publish": [target]}


def _pair(text: str) -> list[Any]:
    return [part.strip() for part in text.split(",")]
