"""Tables that people ask for, and outputs made elsewhere, checked before they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import EXPOSED, Json, Quiet, app
from diskret.cli.ledger import ledger_app
from diskret.cli.show import echo_json


@app.command("check-output")
def check_output(
    file: Annotated[Path, typer.Argument(help="Outputs to be checked (TOML), see docs/requests.md.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the records: .json; only its owner can read it.")
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


@ledger_app.command()
def answer(
    file: Annotated[Path, typer.Argument(help="Request (TOML), see docs/requests.md.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the person who asked; its ending chooses the format.")
    ] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Show the reasons; not for the person who asked.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Answer a request beside everything released, and remember it; exit code 1 if it is refused."""
    from diskret.job.request_file import answer_file

    done, files = answer_file(file, out)
    if json:
        echo_json(done.summary() | ({"reasons": list(done.reasons)} if internal else {}))
    elif not quiet:
        typer.echo(done.report(internal=internal))
        for each in files:
            typer.echo(f"wrote {each}")
    if done.kind == "refused":
        raise typer.Exit(EXPOSED)
