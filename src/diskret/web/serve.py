"""Starting the workbench: a free port on the loopback address, a token, the page opened."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

from diskret.model.errors import BadOption, MissingExtra

LOOPBACK = "127.0.0.1"


def serve(
    folder: str | Path, *, port: int = 0, open_page: bool = True, most_upload: int | None = None,
    say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Serve the page until the user stops it; port 0 takes any that is free."""
    try:
        import uvicorn

        from diskret.web.app import MOST_UPLOAD, make_app
        from diskret.web.workbench import Workbench
    except ImportError as e:
        raise MissingExtra.needed("web", "the workbench") from e
    listening = _listen(port)
    with listening:
        found = int(listening.getsockname()[1])
        bench = Workbench.at(folder, found)
        app = make_app(bench, most_upload=most_upload or MOST_UPLOAD)
        address = f"http://{LOOPBACK}:{found}/#token={bench.sessions.token}"
        say(f"workspace: {bench.workspace.root}")
        say(f"open {address}")
        say("this address is for you alone; nothing leaves this machine. Ctrl-C ends it.")
        # the address with the token stands in no log
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        if open_page:
            webbrowser.open(address)  # the socket listens already: the browser waits for us
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except (OSError, OverflowError) as e:
        listening.close()
        raise BadOption(f"port {port} is taken or not allowed", hint="choose another with --port, or none.") from e
    listening.listen(128)
    return listening
