"""Something to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import Quiet, app


@app.command()
def examples(
    folder: Annotated[Path, typer.Argument(help="Folder that is made, or is empty.")] = Path("examples"),
    quiet: Quiet = False,
) -> None:
    """Copy the examples of the documentation into a folder: made-up data with their job files."""
    from diskret.job.examples import copy_to
    from diskret.model.errors import BadOption

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(
            "there is already something where the examples should go", where=str(folder), hint="name a new folder."
        )
    copy_to(folder)
    if not quiet:
        typer.echo(f"copied the examples to {folder}")
