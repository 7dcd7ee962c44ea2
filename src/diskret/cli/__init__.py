"""The command line: parse, run a job, show progress, print a summary.

Exit codes: 0 done; 1 an audit found something exposed; 2 the input was refused (the message says what to do); 3 a
mistake in diskret itself; 130 stopped by the user.
"""

from __future__ import annotations

import os

import typer

# isort: off
# importing a module of commands registers them, in the order of the help text
from diskret.cli import jobs  # noqa: F401
from diskret.cli import tables  # noqa: F401
from diskret.cli import changing  # noqa: F401
from diskret.cli import attacks  # noqa: F401
from diskret.cli import persons  # noqa: F401
from diskret.cli import comparing  # noqa: F401
from diskret.cli import runs  # noqa: F401
from diskret.cli import page  # noqa: F401

# isort: on
from diskret.cli.app import BROKEN, REFUSED, STOPPED, app

__all__ = ["app", "main"]

STOPPED_WORDS = "diskret: stopped by the user; nothing half-written is left"


def main() -> None:
    """Entry point: every refusal becomes a message and an exit code, never a traceback."""
    from diskret.model.errors import DiskretError

    try:
        app()
    except DiskretError as e:
        typer.echo(f"diskret: {e}\n  more: {e.docs}", err=True)
        raise SystemExit(REFUSED) from None
    except SystemExit as e:
        if e.code == STOPPED:  # Ctrl-C, of which typer makes an exit without a word
            typer.echo(STOPPED_WORDS, err=True)
        raise
    except KeyboardInterrupt:
        typer.echo(STOPPED_WORDS, err=True)
        raise SystemExit(STOPPED) from None
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        typer.echo(
            f"diskret: a mistake in diskret itself ({type(e).__name__}); please report it.\n"
            "  what to do: set DISKRET_DEBUG=1 and run again to see where.",
            err=True,
        )
        raise SystemExit(BROKEN) from None
