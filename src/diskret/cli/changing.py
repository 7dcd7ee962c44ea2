"""Changing the values of a table instead of hiding them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import EXPOSED, Json, Out, Quiet, app, given, run_content
from diskret.cli.sections import Said, with_sections
from diskret.cli.tables import output_of


@app.command()
@with_sections("perturbation")
def perturb(
    table: Annotated[Path, typer.Argument(help="Working file; for cuboids with marked cells.")],
    out: Out,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Change values instead of hiding them: along cuboids so that sums hold, or by rounding.

    With --attack exit code 1 if a value is found closer than its rule demands.
    """
    content = {"data": given(table=table), **said, "output": output_of(out)}
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)
