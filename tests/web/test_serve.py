"""Starting: on the loopback address only, refused with a reason, nothing said but the address."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from diskret.model.errors import BadOption, MissingExtra
from diskret.web.serve import _listen, serve
from tests.web.case import Served


def test_only_this_machine_is_listened_to() -> None:
    with _listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadOption, match=f"port {port} is taken"):
            serve(tmp_path, port=port, open_page=False)


def test_a_workspace_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(BadOption, match="the workspace is a file"):
        serve(tmp_path / "firms.csv", open_page=False)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"the workbench needs 'uvicorn', .*not installed[\s\S]*diskret\[web\]"):
        serve(tmp_path, open_page=False)


def test_what_diskret_itself_lacks_is_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of ours that cannot be imported is a mistake of ours, which no installing cures."""
    monkeypatch.setitem(sys.modules, "diskret.web.connections", None)
    with pytest.raises(ModuleNotFoundError, match=r"diskret\.web\.connections"):
        serve(tmp_path, open_page=False)


@contextmanager
def _half_a_file(served: Served) -> Iterator[None]:
    """Somebody is handing in a file and has not come to its end."""
    ours = {"Origin": f"http://{served.host}"}
    with closing(HTTPConnection(served.host)) as us:
        us.request("POST", "/api/session", json.dumps({"token": served.token}), ours)
        answer = us.getresponse()
        ours |= {"Cookie": answer.headers["set-cookie"].split(";")[0]}
        answer.read()
        us.request("PUT", "/api/files/new.csv", None, ours | {"Content-Length": "99", "Expect": "100-continue"})
        assert b"100" in us.sock.recv(1000)  # it is being read
        us.send(b"a,b")
        yield


def test_the_server_says_its_address_and_leaves_nothing_but_runs(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    start: Callable[[Path], Served] = request.getfixturevalue("serve")
    folder = tmp_path / "new"
    served = start(folder)
    way_in = folder / "open-workbench.html"
    assert way_in.stat().st_mode & 0o077 == 0
    assert served.token in way_in.read_text(encoding="utf-8")
    with _half_a_file(served):
        said = served.end(signal.SIGHUP)  # the window it was started in is closed
    assert served.process.returncode == 0
    assert "error" not in said.lower()
    assert said.count(served.token) == 1
    assert not way_in.exists()
    assert list(folder.iterdir()) == []
