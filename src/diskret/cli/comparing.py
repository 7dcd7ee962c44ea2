"""Values changed by cell keys, and all methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import By, Json, Out, Quiet, app, classifications, given, run_content
from diskret.cli.sections import Said, with_sections

Records = Annotated[Path, typer.Argument(help="Microdata: .parquet or .csv.")]
OneValue = Annotated[str | None, typer.Option(help="Column to add up; none for counts.")]


@app.command("cell-key")
@with_sections("cell_key")
def cell_key(
    data: Records, by: By, out: Out, value: OneValue = None, quiet: Quiet = False, json: Json = False, *, said: Said
) -> None:
    """Publish counts or values with noise that is the same for the same cell wherever it appears."""
    content = {
        "data": given(microdata=data),
        "table": {"by": [*classifications(by)]} | given(value=value),
        "classifications": classifications(by),
        "output": given(publish=out),
    }
    run_content(content | said, quiet, json)


@app.command()
@with_sections("rules", "compare")
def compare(
    data: Records,
    by: By,
    value: OneValue = None,
    ordered: Annotated[list[str] | None, typer.Option(help="Classification with ordered classes.")] = None,
    out: Annotated[
        list[Path] | None, typer.Option("--out", "-o", help="File to write: .csv .json .txt .html .svg .png.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    said: Said,
) -> None:
    """Protect the same microdata by every method; show what each loses and what an attacker still learns."""
    described = classifications(by)
    for name in ordered or ():
        described[name] = described.get(name, {}) | {"ordered": True}
    content = {
        "data": given(microdata=data),
        "table": {"by": [*classifications(by)]} | given(value=value),
        "classifications": described,
        "rules": said["rules"],
        "compare": said["compare"] | {"files": [str(f.resolve()) for f in out or ()]},
    }
    run_content(content, quiet, json, marks=True)
