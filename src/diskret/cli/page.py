"""The workbench: a page on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.app import app


@app.command()
def serve(
    workspace: Annotated[
        Path, typer.Option("--workspace", "-w", help="Folder with data, jobs and runs; nothing else is touched.")
    ] = Path("diskret-workspace"),
    port: Annotated[int, typer.Option(help="Port on the loopback address; 0 takes any that is free.")] = 0,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    api: Annotated[
        bool, typer.Option("--api", help="Answer programs too, and open no browser; see docs/api.md.")
    ] = False,
    most_upload: Annotated[int, typer.Option(min=1, help="Largest file the page takes, in megabytes.")] = 1024,
    read_seconds: Annotated[float, typer.Option(min=1, help="Longest time the page reads one file, in seconds.")] = 120,
) -> None:
    """Open the workbench: a page on this machine that does what job files do."""
    from diskret.web.serve import serve as start

    start(
        workspace, port=port, open_page=open_page and not api, api=api, most_upload=most_upload << 20,
        read_seconds=read_seconds, say=typer.echo,
    )  # fmt: skip
