"""Outputs made elsewhere, checked before they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app
from diskret.cli.show import echo_json


@app.command("check-output")
def check_output(
    file: Annotated[Path, typer.Argument(help="Outputs to be checked (TOML), see docs/requests.md.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the records: .json; for its owner alone.")
    ] = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Enter what is accepted into the ledger of the house.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Judge outputs of a research project: accept, change or refuse; exit code 1 unless all are accepted."""
    from diskret.job.check_file import check_file

    done = check_file(file, out, remember=remember)
    if json:
        echo_json(done.summary())
    elif not quiet:
        typer.echo(done.report())
        if out is not None:
            typer.echo(f"wrote {out}")
    if done.verdict != "accept":
        raise typer.Exit(EXPOSED)
