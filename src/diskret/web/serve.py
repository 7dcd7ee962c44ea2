"""Starting the workbench: a free port on the loopback address, a token, the page opened."""

from __future__ import annotations

import contextlib
import html
import json
import os
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from diskret.model.errors import BadOption, CannotWrite, DiskretError, MissingExtra
from diskret.model.locks import AS_THEY_ARE

LOOPBACK = "127.0.0.1"
WAY_IN = "open-workbench.html"
FOR_PROGRAMS = ".diskret-api.json"
"""In the workspace: where programs ask, and their token."""


def serve(
    folder: str | Path, *, port: int = 0, open_page: bool = True, api: bool = False, most_upload: int | None = None,
    read_seconds: float | None = None, say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Serve the page until the user stops it; port 0 takes any that is free. A file may take some seconds to read.

    With ``api`` programs are answered as well, by a token of their own that stands in a file of the workspace.
    """
    try:
        import uvicorn

        from diskret.web.connections import listening_config
        from diskret.web.reading import SECONDS, Apart
        from diskret.web.server import MOST_UPLOAD, make_app
        from diskret.web.workbench import Workbench
    except ImportError as e:
        raise MissingExtra.behind(e, "web", "the workbench") from e
    listening = _listen(port)
    with listening:
        found = int(listening.getsockname()[1])
        key = secrets.token_urlsafe(32) if api else None
        bench = Workbench.at(folder, found, reading=Apart(seconds=read_seconds or SECONDS), key=key)
        app = make_app(bench, most_upload=most_upload or MOST_UPLOAD)
        address = f"http://{LOOPBACK}:{found}/#token={bench.sessions.token}"
        # the address with the token stands in no log
        config = listening_config(app)
        root = bench.workspace.root
        with contextlib.ExitStack() as stack:
            stack.enter_context(_ended_from_outside())
            stack.enter_context(contextlib.closing(bench))
            file = stack.enter_context(way_in(root / WAY_IN, address))
            say(f"workspace: {root}")
            say(f"open {address}")
            if key is not None:
                stack.enter_context(private_text(root / FOR_PROGRAMS, for_programs(found, key)))
                say(f"programs: address and token are in {root / FOR_PROGRAMS}")
            say("this address is for you alone; nothing leaves this machine. Ctrl-C ends it.")
            if open_page:
                webbrowser.open(file.as_uri())  # the socket listens already: the browser waits for us
            server = uvicorn.Server(config)
            server.run(sockets=[listening])
            if not server.started:
                raise DiskretError("the page could not be started", hint="set DISKRET_DEBUG=1 and start again.")


@contextlib.contextmanager
def _ended_from_outside() -> Iterator[None]:
    """Tidy up as after Ctrl-C. Whoever serves ends only by being ended: that is as it should be, and code 0."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(0)

    def hang_up(number: int, frame: object) -> None:
        signal.raise_signal(signal.SIGTERM)  # of which the server knows

    with contextlib.ExitStack() as stack:
        for name, heard in (("SIGTERM", leave), ("SIGHUP", hang_up)):
            with contextlib.suppress(ValueError, AttributeError):  # in a thread, or on Windows, there is none
                each = getattr(signal, name)
                if signal.getsignal(each) is signal.SIG_IGN:  # nohup: it is to outlive its terminal
                    continue
                stack.callback(signal.signal, each, signal.signal(each, heard))
        yield


def way_in(path: Path, address: str) -> AbstractContextManager[Path]:
    """A file that leads to an address, for its owner alone: every user of a machine can see with what a browser starts.

    >>> import tempfile
    >>> with way_in(Path(tempfile.mkdtemp()) / "open.html", "http://127.0.0.1:1/#token=x") as file:
    ...     oct(file.stat().st_mode & 0o777), "token=x" in file.read_text(encoding="utf-8")
    ('0o600', True)
    >>> file.exists()
    False
    """
    return private_text(path, f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">\n')


def for_programs(port: int, key: str) -> str:
    """What programs need to ask: where, and the token to show each time."""
    return json.dumps({"address": f"http://{LOOPBACK}:{port}", "token": key, "interface": 1}) + "\n"


@contextlib.contextmanager
def private_text(path: Path, text: str) -> Iterator[Path]:
    """A file for its owner alone, as long as the block lasts."""
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | AS_THEY_ARE, 0o600)
    except OSError as e:
        raise CannotWrite(f"cannot write: {e.strerror}", where=str(path), hint="choose another workspace.") from e
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # on Windows reuse means that another program may take the port as well, and hear what is asked of us
    how = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    listening.setsockopt(socket.SOL_SOCKET, how, 1)
    try:
        listening.bind((LOOPBACK, port))
    except (OSError, OverflowError) as e:
        listening.close()
        raise BadOption(f"port {port} is taken or not allowed", hint="choose another with --port, or none.") from e
    listening.listen()
    return listening
