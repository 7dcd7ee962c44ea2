"""Batch files of tau-ARGUS: run one, or explain it as job files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app
from diskret.cli.show import echo_json, progress_bar, report

if TYPE_CHECKING:
    from diskret.argus.run import ArgusResult


@app.command()
def argus(
    batch: Annotated[Path, typer.Argument(help="Batch file of tau-ARGUS (.arb).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for all files; otherwise where the batch says.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Only write the job files that do the same, with comments.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="With --explain: replace existing job files.")] = False,
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="Open the page where the batch says <GOINTERACTIVE>.")
    ] = True,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a batch file of tau-ARGUS, or explain it as job files."""
    from diskret.argus.run import explain_argus, run_argus
    from diskret.model.places import typed

    if explain:
        for file in explain_argus(batch, out=out, force=force):
            _say(f"wrote {file}; look through it, then: diskret run {typed(file)}", quiet)
        return
    with progress_bar(quiet or json) as progress:
        done = run_argus(batch, out=out, progress=progress)
    _report(done, quiet, json)
    if done.interactive:
        _go_on(batch, out, page and not quiet and sys.stdout.isatty(), quiet or json)
    if done.exposed:
        raise typer.Exit(EXPOSED)


def _say(words: str, quiet: bool) -> None:
    if not quiet:
        typer.echo(words)


def _report(done: ArgusResult, quiet: bool, json: bool) -> None:
    """What was done, job by job, and what was said."""
    if json:
        files = [str(file) for file in done.files]
        echo_json({"jobs": [each.summary() for each in done.results], "notes": list(done.notes), "files": files})
        return
    for words in () if quiet else done.notes:
        typer.echo(f"note: {words}", err=True)
    for each in done.results:
        report(each, quiet, json, show=False)
    told = {file for each in done.results for file in each.files}
    for file in done.files:
        if file not in told:
            _say(f"wrote {file}", quiet)


def _go_on(batch: Path, out: Path | None, page: bool, quiet: bool) -> None:
    """Where tau-ARGUS would go on at the screen, the page opens with the job; without a screen it is only said."""
    from diskret.argus.run import explain_argus

    if not page:
        _say(
            "the batch goes on at the screen: diskret argus --explain writes its jobs, diskret serve opens them", quiet
        )
        return
    from diskret.web.serve import serve

    for file in explain_argus(batch, out=out, force=True):
        _say(f"wrote {file}", quiet)
    serve(out or batch.parent, say=typer.echo)
