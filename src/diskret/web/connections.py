"""Connections end: those that ask nothing, that fall silent in the middle, that do not take what they asked for.

A request must be there within some seconds; only who has shown the token may take longer to send a body, and nobody
may be silent. There are so many connections at most: the next one takes the place of the oldest stranger.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

BACKLOG = 32
"""Connections that are accepted before the oldest are looked at."""
AT_ONCE = struct.pack("ii", 1, 0)
"""Keep nothing for the other side after the end."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a connection may do what, in seconds, and how many there may be."""

    request: float = 20.0
    """From the start of a connection, or the last answer, until a request is there; from strangers, with its body."""
    silent: float = 60.0
    """Between two pieces of a body that is sent in, or of an answer that is taken."""
    most: int = 200
    """Connections at a time."""
    look: float = 1.0
    """Between two looks at a connection."""


class Watched(H11Protocol):  # type: ignore[misc,unused-ignore]
    """One connection, looked at from time to time."""

    def __init__(self, *given: Any, patience: Patience | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self.patience = patience or Patience()
        self.since = self.heard = self.taken = self.loop.time()
        self.unsent = 0
        self.next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override,unused-ignore]
        """Begin; the oldest stranger makes room if there is none, and if all are known, the newest does not get in."""
        super().connection_made(transport)
        self.look()
        if len(self.connections) > self.patience.most:
            others = [each for each in self.connections if each is not self and not each.is_known]
            min(others, key=lambda each: each.since, default=self).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self.next_look is not None:
            self.next_look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something was sent in."""
        self.heard = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """The next request has all its time."""
        self.since = self.loop.time()
        super().on_response_complete()

    @property
    def is_known(self) -> bool:
        """Whether the guard has let in what is being asked."""
        return self.cycle is not None and not self.cycle.response_complete and bool(self.scope.get("session"))

    def look(self) -> None:
        """Drop the connection if it has used up its time."""
        if self.is_overdue():
            self.drop()
        else:
            self.next_look = self.loop.call_later(self.patience.look, self.look)

    def is_overdue(self) -> bool:
        """Whether we have waited long enough for the other side."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if unsent < self.unsent or not unsent:
            self.taken = now
        self.unsent = unsent
        if unsent:
            return bool(now - self.taken > self.patience.silent)
        if self.cycle is None or self.cycle.response_complete:
            return bool(now - self.since > self.patience.request)
        if not self.cycle.more_body:
            return False  # it waits for us
        if self.flow.read_paused:
            self.heard = now
        late = not self.is_known and now - self.since > self.patience.request
        return bool(late or now - self.heard > self.patience.silent)

    def drop(self) -> None:
        """End the connection at once, with all that waits to be sent."""
        self.connections.discard(self)
        with suppress(OSError):
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.transport.abort()


def listening_config(app: ASGIApp, patience: Patience | None = None) -> uvicorn.Config:
    """How the server listens: no web sockets, no word from proxies, no log."""
    # what goes wrong is answered by the guard; requests that are given up at the end are no mistake
    said = "error" if os.environ.get("DISKRET_DEBUG") else "critical"
    return uvicorn.Config(
        app, http=partial(Watched, patience=patience), ws="none", proxy_headers=False, log_level=said,
        access_log=False, server_header=False, timeout_keep_alive=5, timeout_graceful_shutdown=2, backlog=BACKLOG,
    )  # fmt: skip
