"""Whole jobs: run one, check one, begin one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app, leave_if_stopped
from diskret.cli.next_file import AtMost, Instead, OtherData, OutFolder, Previous, job_for
from diskret.cli.show import cured_by_options, progress_bar, report


@app.command()
def run(
    job: Annotated[Path, typer.Argument(help="Job file (TOML).")],
    data: OtherData = None,
    previous: Previous = None,
    at_most: AtMost = None,
    out: OutFolder = None,
    show: Annotated[bool, typer.Option("--show", help="Print the tables, suppressed cells as marks.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do what a job file says, with its own data or others of the same kind."""
    from diskret.job.output_sections import Appearance
    from diskret.job.prepare import telling_of_compiling
    from diskret.job.run import run_job

    asked = job_for(job, Instead(data=data or (), previous=previous or (), at_most=at_most, out=out), quiet)
    with progress_bar(quiet or json) as progress, telling_of_compiling(progress):
        result = run_job(asked, job.parent, progress)
    output = getattr(asked, "output", None)
    report(result, quiet, json, show, output.looks if isinstance(output, Appearance) else None)
    leave_if_stopped(result)
    if result.exposed:
        raise typer.Exit(EXPOSED)


@app.command()
def check(
    job: Annotated[Path, typer.Argument(help="Job file (TOML).")],
    data: OtherData = None,
    previous: Previous = None,
    at_most: AtMost = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do everything a job says except writing: files, codes and sums are checked."""
    from diskret.job.run import run_job

    asked = job_for(job, Instead(data=data or (), previous=previous or (), at_most=at_most, write=False), quiet)
    with progress_bar(quiet or json) as progress:
        result = run_job(asked, job.parent, progress, write=False)
    report(result, quiet, json, show=False)


@app.command()
def init(
    data: Annotated[Path, typer.Argument(help="Records or cells: .parquet, .csv, .xlsx and others.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Job file to write.")] = Path("job.toml"),
    delimiter: Annotated[str | None, typer.Option(help="Separator of a text file.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of numbers in text; detected if left out.")] = None,
    thousands: Annotated[str | None, typer.Option(help="Sign between thousands; detected if left out.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; detected if left out.")] = None,
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook; if left out, the first that is not hidden.")
    ] = None,
    header: Annotated[str | None, typer.Option(help="Rows of names, such as 4 or 4,5; detected if left out.")] = None,
    cells: Annotated[str | None, typer.Option("--range", help="Cells of a table, such as B4:H120.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="What rows are: microdata (records) or cells; guessed if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing job file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a commented job file for a data file."""
    from diskret.io.files import whole_file
    from diskret.job.template import job_text, refuse_reading, rows_said
    from diskret.model.errors import BadOption
    from diskret.model.places import typed

    reading = {
        "delimiter": delimiter, "decimal": decimal, "thousands": thousands, "encoding": encoding, "sheet": sheet,
        "header": rows_said(header), "range": cells,
    }  # fmt: skip
    refuse_reading(data, reading)
    if os.path.exists(out) and not force:
        raise BadOption(
            "the job file exists already", where=str(out), hint="choose another with --out, or add --force."
        )
    with cured_by_options(*reading):
        text = job_text(data, out.parent, reading, cast(Any, kind))  # another kind is refused there
    with whole_file(out) as part:
        part.write_text(text, encoding="utf-8", newline="")
    if not quiet:
        typer.echo(f"wrote {out}; look through it, then: diskret run {typed(out)}")


@app.command()
def schema(
    of: Annotated[str, typer.Argument(help="job: of job files; api: of the interface for programs (OpenAPI).")] = "job",
) -> None:
    """Print the JSON Schema of job files, for editors, or the OpenAPI document of `diskret serve --api`."""
    from diskret.cli.show import echo_json
    from diskret.job.models import job_schema
    from diskret.model.errors import BadOption, MissingExtra

    if of == "job":
        echo_json(job_schema())
    elif of == "api":
        try:
            from diskret.web.api.document import document
        except ImportError as e:
            raise MissingExtra.behind(e, "web", "the interface for programs") from e
        echo_json(document())
    else:
        raise BadOption(f"no schema of {of!r}", hint="there are those of job and of api.")
