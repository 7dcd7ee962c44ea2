"""The commands' common ground: the app they register with, exit codes, options that several take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskret.cli.sections import Commands
from diskret.cli.show import progress_bar, report

if TYPE_CHECKING:
    from diskret.job.outcome import JobResult

EXPOSED, REFUSED, BROKEN, STOPPED, UNREAD = 1, 2, 3, 130, 141

app = typer.Typer(
    name="diskret",
    help="Protect tables and microdata: tell much about all, nothing about one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    cls=Commands,
)


def _version(asked: bool) -> None:
    if asked:
        from diskret import __version__

        typer.echo(f"diskret {__version__}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version, and do nothing.")
    ] = False,
) -> None:
    """Protect tables and microdata: tell much about all, nothing about one."""


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="File to write; its ending chooses the format.")]
Formulas = Annotated[
    str | None,
    typer.Option(
        "--formulas",
        help="Texts in CSV that a spreadsheet would compute: escape (the default for tables) or keep (for records).",
    ),
]
By = Annotated[
    list[str],
    typer.Option(
        "--by", help="Classification: COLUMN, COLUMN=FILE, COLUMN=2,3 for prefixes, or COLUMN=month for dates."
    ),
]
Value = Annotated[list[str] | None, typer.Option("--value", help="Column to add up; none for a frequency table.")]


def run_content(content: dict[str, Any], quiet: bool, json: bool, marks: bool = False, **options: Any) -> JobResult:
    """Run a job made from the command's options: one way to do a thing."""
    from diskret.job.compare_job import CompareJob
    from diskret.job.read import job_from
    from diskret.job.rules import rules_of
    from diskret.job.run import run_job
    from diskret.job.table_job import TableJob
    from diskret.model.errors import BadOption

    job = job_from(content, "the command's options", Path())
    if marks and isinstance(job, TableJob | CompareJob) and not rules_of(job).rules:
        raise BadOption("no rule to mark by", hint="give at least one, such as --min-count 3 or --p-percent 10.")
    with progress_bar(quiet or json) as progress:
        result = run_job(job, Path(), progress, **options)
    report(result, quiet, json, show=False)
    leave_if_stopped(result)
    return result


def leave_if_stopped(result: JobResult) -> None:
    """What the user ended is not done, even where the best so far was written: scripts must see it."""
    if result.stopped:
        raise typer.Exit(STOPPED)


def given(**options: Any) -> dict[str, Any]:
    """Options that were given, as a job file says them: paths from the root."""
    said = {key: each for key, each in options.items() if each is not None and each != []}
    return {key: str(each.resolve()) if isinstance(each, Path) else each for key, each in said.items()}


def classifications(by: list[str]) -> dict[str, dict[str, Any]]:
    """All classifications of a command, by column."""
    return dict(classification(each) for each in by)


def classification(text: str) -> tuple[str, dict[str, Any]]:
    """COLUMN, COLUMN=FILE, COLUMN=2,3 or COLUMN=month as a job file says it."""
    name, _, how = text.partition("=")
    if not how:
        return name, {}
    if how in ("year", "quarter", "month"):
        return name, {"period": how}
    parts = how.split(",")
    return name, {"prefixes": [int(p) for p in parts]} if all(p.strip().isdecimal() for p in parts) else {
        "hierarchy": str(Path(how).resolve())
    }
