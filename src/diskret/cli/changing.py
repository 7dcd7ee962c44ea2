"""Changing the values of a table instead of hiding them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import EXPOSED, Json, Out, Quiet, app, given, run_content
from diskret.cli.tables import output_of


@app.command()
def perturb(
    table: Annotated[Path, typer.Argument(help="Working file; for cuboids with marked cells.")],
    out: Out,
    method: Annotated[str, typer.Option(help="cuboid or rounding.")] = "cuboid",
    seed: Annotated[int | None, typer.Option(help="Start of the random numbers, secret; left out: drawn.")] = None,
    base: Annotated[float | None, typer.Option(help="Rounding: values become multiples of it.")] = None,
    rounding: Annotated[str, typer.Option(help="controlled, random or deterministic.")] = "controlled",
    max_relative_change: Annotated[float, typer.Option(help="Cuboid: largest change over the value.")] = 0.5,
    min_relative_range: Annotated[float, typer.Option(help="Cuboid: twice the change over the value.")] = 0.0,
    min_count: Annotated[int | None, typer.Option(help="Cuboid: rebook contributors up to this count.")] = None,
    attack: Annotated[bool, typer.Option("--attack", help="Attack the result, the method being known.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Change values instead of hiding them: along cuboids so that sums hold, or by rounding.

    With --attack exit code 1 if a value is found closer than its rule demands.
    """
    asked = given(method=method, attack=attack, rounding=rounding, seed=seed, base=base, min_count=min_count)
    if method == "cuboid":
        asked |= {"max_relative_change": max_relative_change, "min_relative_range": min_relative_range}
    content = {"data": given(table=table), "perturbation": asked, "output": output_of(out)}
    if run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)
