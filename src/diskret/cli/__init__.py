"""The command line: parse, run a job, show progress, print a summary.

Exit codes: 0 done; 1 an audit found something exposed; 2 the input was refused (the message says what to do); 3 a
mistake in diskret itself; 130 stopped by the user (Ctrl-C), also where the best so far was written; 143 and 129 ended
from outside (SIGTERM, SIGHUP); 141 whoever read the output went away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
from collections.abc import Iterator

import typer

# isort: off
# importing a module of commands registers them, in the order of the help text
from diskret.cli import jobs  # noqa: F401
from diskret.cli import examples  # noqa: F401
from diskret.cli import batches  # noqa: F401
from diskret.cli import tables  # noqa: F401
from diskret.cli import changing  # noqa: F401
from diskret.cli import attacks  # noqa: F401
from diskret.cli import persons  # noqa: F401
from diskret.cli import comparing  # noqa: F401
from diskret.cli import ledger  # noqa: F401
from diskret.cli import zoning  # noqa: F401
from diskret.cli import requests  # noqa: F401
from diskret.cli import runs  # noqa: F401
from diskret.cli import page  # noqa: F401
from diskret.cli import warming  # noqa: F401

# isort: on
from diskret.cli.app import BROKEN, REFUSED, STOPPED, UNREAD, app

__all__ = ["app", "main"]

STOPPED_WORDS = "diskret: stopped by the user; nothing half-written is left"
MEMORY_WORDS = (
    "diskret: there is not enough memory for this\n"
    "  what to do: use coarser hierarchies, fewer classifications or several linked tables; or a larger machine."
)
FULL_WORDS = "diskret: the disk is full, or whatever the output goes to\n  what to do: free some space, and run again."
NO_MEMORY = "[Cc]annot allocate memory|failed to map segment"
"""How the system and its loader say it; nothing of ours is imported any more where there is no memory."""
ENDED = ("SIGTERM", "SIGHUP")


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether it was the memory, here or in what led to it."""
    while error is not None:
        if isinstance(error, MemoryError) or re.search(NO_MEMORY, str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextlib.contextmanager
def _tidy_when_ended() -> Iterator[None]:
    """Ended from outside: tidy up as after Ctrl-C, and say so by the code that shells give."""
    heard: list[int] = []

    def ended(number: int, frame: object) -> None:
        heard.append(number)
        raise SystemExit(128 + number)

    with contextlib.ExitStack() as stack:
        for each in (signal.Signals[name] for name in ENDED if name in signal.Signals.__members__):
            if signal.getsignal(each) is signal.SIG_IGN:  # nohup: it is to outlive its terminal
                continue
            with contextlib.suppress(ValueError):  # signals are heard by the first thread only
                stack.callback(signal.signal, each, signal.signal(each, ended))
        try:
            yield
        finally:
            if heard:  # whatever the engine made of it: a query that is broken off looks like Ctrl-C
                raise SystemExit(128 + heard[0])


def main() -> None:
    """Entry point: every refusal becomes a message and an exit code, never a traceback."""
    from diskret.cli.show import cures, echo_json
    from diskret.model.errors import DiskretError

    try:
        with _tidy_when_ended():
            app()
    except DiskretError as e:
        if "--json" in sys.argv[1:]:
            echo_json({"error": e.plain()})
        typer.echo("\n".join([f"diskret: {e}", *cures(e), f"  more: {e.docs}"]), err=True)
        raise SystemExit(REFUSED) from None
    except SystemExit as e:
        if isinstance(e.__context__, BrokenPipeError):  # of which typer makes the code of an exposed table
            raise SystemExit(UNREAD) from None
        if e.code == STOPPED:  # Ctrl-C, of which typer makes an exit without a word
            typer.echo(STOPPED_WORDS, err=True)
        raise
    except KeyboardInterrupt:
        typer.echo(STOPPED_WORDS, err=True)
        raise SystemExit(STOPPED) from None
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT):
            typer.echo(FULL_WORDS, err=True)
            raise SystemExit(REFUSED) from None
        if _lacks_memory(e):
            typer.echo(MEMORY_WORDS, err=True)
            raise SystemExit(REFUSED) from None
        typer.echo(
            f"diskret: a mistake in diskret itself ({type(e).__name__}); please report it.\n"
            "  what to do: set DISKRET_DEBUG=1 and run again to see where.",
            err=True,
        )
        raise SystemExit(BROKEN) from None
