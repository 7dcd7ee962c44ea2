"""Runs: each a folder in the workspace with its job, its state and, once finished, its result; each a process.

A run is cancelled by ending its process. Its result comes into being in ``result.part`` and gets its name when it is
whole, so that whatever happens leaves a whole result or none. A server that starts again finds all of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, NoSuchRun
from diskret.web.workspace import Workspace

JOB, STATUS, RESULT, PART, TEMPORARY = "job.json", "status.json", "result", "result.part", "tmp"
ACTIVE = "running"
MOST_ACTIVE = 4
SILENT = 120.0
"""Seconds without a sign of life after which a run of another server counts as interrupted."""


@dataclass
class RunProgress:
    """Called with what is being done, how much of it is done and of how much; ``more`` is for the page to plot."""

    tell: Callable[[Mapping[str, Any]], None]
    more: dict[str, Any] = field(default_factory=dict)

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say it."""
        self.tell({"what": what, "done": int(done), "of": int(of), **self.more})


@dataclass
class Runs:
    """All runs of a workspace, and the processes of those this server started."""

    workspace: Workspace
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, repr=False)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def folder(self, name: str) -> Path:
        """The folder of a run that exists."""
        found = self.workspace.runs / name
        if not re.fullmatch(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}", name) or not (found / STATUS).is_file():
            raise NoSuchRun(
                f"there is no run {name!r}", hint="look at the list of runs; deleted ones do not come back."
            )
        return found

    def finished(self, name: str) -> Path:
        """The folder of a finished run's result."""
        result = self.folder(name) / RESULT
        if not result.is_dir():
            state = self.status(name)["state"]
            raise NoSuchRun(f"the run {name!r} has no result: it is {state}", hint="wait for it, or start it again.")
        return result

    def start(self, content: Mapping[str, Any], *, name: str = "", kind: str = "job", of: str = "") -> dict[str, Any]:
        """Begin a run of a job; ``kind`` says what `worker` does with it, ``of`` to which run it belongs."""
        self.workspace.refuse_outside(content)
        with self.lock:
            if sum(p.poll() is None for p in self.processes.values()) >= MOST_ACTIVE:
                raise BadOption(f"{MOST_ACTIVE} runs are at work", hint="wait for one of them, or cancel one.")
            run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            folder = self.workspace.runs / run
            (folder / TEMPORARY).mkdir(parents=True)
            for each in (self.workspace.runs, folder):
                each.chmod(0o700)
            _keep_out_of_git(self.workspace.runs)
            write_json(folder / JOB, content)
            status = {
                "id": run, "name": name or run, "kind": kind, "of": of, "state": ACTIVE, "started": time.time(),
                "progress": {"what": "starting", "done": 0, "of": 0},
            }  # fmt: skip
            write_json(folder / STATUS, status)
            self.processes[run] = _process(folder, kind)
            return status

    def status(self, name: str) -> dict[str, Any]:
        """How far a run is; what ended without a word is found out here."""
        folder = self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            ended = process is not None and process.poll() is not None
            status = read_json(folder / STATUS)  # after looking: its last words may have come meanwhile
            if ended:
                self._forget(name)
            if status["state"] != ACTIVE:
                return status
            if process is not None and not ended:
                return status
            if process is None and _alive(status.get("pid")) and time.time() - _written(folder) < SILENT:
                return status  # of another server on the same workspace
            return self._ended(folder, status, "interrupted" if process is None else "failed")

    def all(self) -> list[dict[str, Any]]:
        """Every run, the newest first."""
        if not self.workspace.runs.is_dir():
            return []
        names = sorted((p.name for p in self.workspace.runs.iterdir() if (p / STATUS).is_file()), reverse=True)
        found = []
        for name in names:
            with contextlib.suppress(NoSuchRun, OSError, ValueError):
                found.append(self.status(name))
        return found

    def content(self, name: str) -> dict[str, Any]:
        """The job of a run."""
        return read_json(self.folder(name) / JOB)

    def cancel(self, name: str) -> dict[str, Any]:
        """End a run's process; nothing half-done stays."""
        folder = self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                status = self.status(name)
                if status["state"] == ACTIVE:
                    raise NoSuchRun("the run belongs to another server", hint="cancel it on its page.")
                return status
            process.kill()
            process.wait()
            self._forget(name)
            status = read_json(folder / STATUS)
            return status if status["state"] != ACTIVE else self._ended(folder, status, "cancelled")

    def stop(self, name: str) -> dict[str, Any]:
        """Ask a search for the best it has so far; other runs end without a result."""
        self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                return self.status(name)
            process.send_signal(signal.SIGINT)
        return self.status(name)

    def delete(self, name: str) -> None:
        """Remove a run that is not at work, with everything in it."""
        if self.status(name)["state"] == ACTIVE:
            raise NoSuchRun("the run is still at work", hint="cancel it first.")
        shutil.rmtree(self.folder(name))

    def close(self) -> None:
        """End all processes of this server."""
        for name, process in list(self.processes.items()):
            if process.poll() is None:
                self.cancel(name)
            else:
                self._forget(name)

    def _forget(self, name: str) -> None:
        """Let go of a process that has ended."""
        process = self.processes.pop(name)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _ended(self, folder: Path, status: dict[str, Any], state: str) -> dict[str, Any]:
        tidy(folder)
        ended = status | {"state": state, "ended": time.time()}
        write_json(folder / STATUS, ended)
        return ended


def tidy(folder: Path) -> None:
    """Leave of a run that came to no end only its job and its state."""
    for each in folder.iterdir():
        if each.name not in (JOB, STATUS):
            shutil.rmtree(each) if each.is_dir() else each.unlink()


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """A small file, whole."""
    with whole_file(path) as part:
        part.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """A small file."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _process(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    """The process of a run. It ends when its standard input does: it never outlives the server."""
    # what is spilled to disk is confidential: it stays in the run's own folder and goes with it
    temporary = str(folder / TEMPORARY)
    environment = os.environ | {"TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}
    return subprocess.Popen(
        [sys.executable, "-m", "diskret.web.worker", str(folder), kind],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        start_new_session=True,  # Ctrl-C is for the server, which ends its runs
    )  # fmt: skip


def _keep_out_of_git(folder: Path) -> None:
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _alive(pid: object) -> bool:
    if not isinstance(pid, int) or os.name == "nt":  # where asking would be ending it
        return False
    with contextlib.suppress(OSError):  # where there is such a folder: a process nobody has buried is dead too
        if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z":
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _written(folder: Path) -> float:
    return (folder / STATUS).stat().st_mtime
