"""Values changed by cell keys, and all methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import By, Json, Out, Quiet, app, classifications, given, run_content


@app.command("cell-key")
def cell_key(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet or .csv.")],
    by: By,
    out: Out,
    key: Annotated[str, typer.Option(help="Column of record keys.")],
    value: Annotated[str | None, typer.Option(help="Column to add up; none for counts.")] = None,
    modulus: Annotated[int | None, typer.Option(help="Modulus of whole keys, such as 256.")] = None,
    p_table: Annotated[Path | None, typer.Option(help="Perturbation table; designed if left out.")] = None,
    deviation: Annotated[float, typer.Option(help="Largest deviation of a designed table.")] = 5,
    variance: Annotated[float | None, typer.Option(help="Its variance.")] = None,
    smallest: Annotated[int, typer.Option(help="Smallest positive count that is published.")] = 3,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Publish counts or values with noise that is the same for the same cell wherever it appears."""
    asked = given(key=key, deviation=deviation, smallest=smallest, modulus=modulus, variance=variance, p_table=p_table)
    content = {
        "data": given(microdata=data),
        "table": {"by": [*classifications(by)]} | given(value=value),
        "classifications": classifications(by),
        "cell_key": asked,
        "output": given(publish=out),
    }
    run_content(content, quiet, json)


@app.command()
def compare(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet or .csv.")],
    by: By,
    value: Annotated[str | None, typer.Option(help="Column to add up; none for counts.")] = None,
    min_count: Annotated[int | None, typer.Option(help="Fewest contributors of an open cell.")] = None,
    p_percent: Annotated[float | None, typer.Option(help="p of the p% rule.")] = None,
    small_cells: Annotated[int | None, typer.Option(help="Smallest count that may be shown.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Method to compare; all if left out.")] = None,
    ordered: Annotated[list[str] | None, typer.Option(help="Classification with ordered classes.")] = None,
    percent: Annotated[float, typer.Option(help="How close an attacker must come, in percent.")] = 10.0,
    base: Annotated[float | None, typer.Option(help="Base of rounding.")] = None,
    key: Annotated[str | None, typer.Option(help="Column of record keys; drawn if left out.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same comparison.")] = 1,
    out: Annotated[
        list[Path] | None, typer.Option("--out", "-o", help="File to write: .csv .json .txt .html .svg .png.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Protect the same microdata by every method; show what each loses and what an attacker still learns."""
    described = classifications(by)
    for name in ordered or ():
        described[name] = described.get(name, {}) | {"ordered": True}
    asked = given(methods=method, base=base, key=key, percent=percent, seed=seed)
    content = {
        "data": given(microdata=data),
        "table": {"by": [*classifications(by)]} | given(value=value),
        "classifications": described,
        "rules": given(min_count=min_count, p_percent=p_percent, small_cells=small_cells),
        "compare": asked | {"files": [str(f.resolve()) for f in out or ()]},
    }
    run_content(content, quiet, json, marks=True)
