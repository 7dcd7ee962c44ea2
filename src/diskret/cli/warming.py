"""Compiling ahead."""

from __future__ import annotations

from typing import Annotated

import typer

from diskret.cli.app import Json, Quiet, app
from diskret.cli.show import progress_bar


@app.command()
def warm(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(help="Kinds of jobs: table, pool, records, anonymise, attack, risk, compare; all if left out."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compile beforehand what jobs need, for images and containers; NUMBA_CACHE_DIR says where it is kept."""
    from json import dumps

    from diskret.job.warm import warm as compile_ahead

    with progress_bar(quiet or json) as progress:
        done = compile_ahead(kinds or (), progress)
    if json:
        typer.echo(dumps(done.summary(), indent=2))
    elif not quiet:
        typer.echo(done.in_words())
