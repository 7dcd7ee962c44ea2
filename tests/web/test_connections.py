"""Connections on a real socket: none stays open for nothing, and strangers keep nobody out."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2 as httpx
import uvicorn

from diskret.web.connections import Patience, listening_config
from diskret.web.reading import Here
from diskret.web.serve import LOOPBACK, _listen
from diskret.web.server import make_app
from diskret.web.workbench import Workbench

SHORT = Patience(request=0.15, silent=0.3, most=8, look=0.02)


class Listening:
    """A workbench that listens."""

    def __init__(self, bench: Workbench) -> None:
        self.bench, self.port = bench, bench.place.port

    def connected(self, sent: bytes = b"") -> socket.socket:
        """A new connection on which something has been sent."""
        made = socket.create_connection((LOOPBACK, self.port), timeout=5)
        made.sendall(sent)
        return made

    def head(self, line: str, *more: str) -> bytes:
        """The head of a request from our own page."""
        host = f"{LOOPBACK}:{self.port}"
        return "\r\n".join([f"{line} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", *more, "", ""]).encode()

    def entered(self) -> str:
        """The header with the cookie of somebody who has shown the token."""
        body = json.dumps({"token": self.bench.sessions.token}).encode()
        with self.connected(self.head("POST /api/session", f"Content-Length: {len(body)}") + body) as one:
            said = one.recv(10_000).decode()
        return "Cookie: " + said.split("set-cookie: ")[1].split(";")[0]


@contextmanager
def listening(folder: Path, patience: Patience) -> Iterator[Listening]:
    with _listen(0) as sock:
        bench = Workbench.at(folder, int(sock.getsockname()[1]), reading=Here())
        server = uvicorn.Server(listening_config(make_app(bench), patience))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield Listening(bench)
        finally:
            server.should_exit = True
            thread.join()


def is_dropped(one: socket.socket) -> bool:
    """Whether the other side ends the connection without an answer; waits for it."""
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


HALVES: dict[str, Callable[[Listening], bytes]] = {
    "nothing": lambda page: b"",
    "half a head": lambda page: page.head("GET /")[:-2],
    "half a body from a stranger": lambda page: page.head("POST /api/session", "Content-Length: 50") + b"{",
}


def test_who_asks_nothing_and_who_stops_in_the_middle_is_dropped(tmp_path: Path) -> None:
    with listening(tmp_path, SHORT) as page:
        for sent in HALVES.values():
            with page.connected(sent(page)) as one:
                assert is_dropped(one)
        upload = page.head("PUT /api/files/x.csv", "Content-Length: 50", page.entered())
        with page.connected(upload + b"a") as one:
            assert is_dropped(one)
    assert [p.name for p in tmp_path.iterdir()] == []  # nothing half-written


def test_who_drips_a_head_is_dropped_and_who_has_the_token_may_send_a_file_slowly(tmp_path: Path) -> None:
    with listening(tmp_path, SHORT) as page:
        head = page.head("PUT /api/files/x.csv", "Content-Length: 12", page.entered())
        with page.connected(head) as known, page.connected() as stranger:
            for letter in b"a,b\n1,2\n3,4\n":
                time.sleep(0.03)
                known.sendall(bytes([letter]))
                with suppress(OSError):
                    stranger.sendall(b"G")
            assert is_dropped(stranger)
            assert known.recv(100).startswith(b"HTTP/1.1 201")
        assert (tmp_path / "x.csv").read_bytes() == b"a,b\n1,2\n3,4\n"


def test_who_does_not_take_an_answer_is_dropped(tmp_path: Path) -> None:
    with listening(tmp_path, SHORT) as page, page.connected() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.sendall(page.head("GET /static/i18n/de.json") * 2000)
        watch = select.poll()
        watch.register(one, select.POLLHUP)
        assert watch.poll(10_000)


def test_strangers_who_hold_on_to_connections_keep_nobody_out(tmp_path: Path) -> None:
    with listening(tmp_path, Patience(most=8)) as page:
        crowd = [page.connected(b"GET") for _ in range(30)]
        answer = httpx.get(f"http://{LOOPBACK}:{page.port}/", timeout=5)
        assert answer.status_code == 200
        assert sum(is_dropped(one) for one in crowd[:22]) == 22
        for one in crowd:
            one.close()
