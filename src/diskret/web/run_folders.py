"""Runs: each a folder in the workspace with its job, its state and, once finished, its result; each a process.

A run is cancelled by ending its process. Its result comes into being in ``result.part`` and gets its name when it is
whole, so that whatever happens leaves a whole result or none. A server that starts again finds all of them.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from diskret.io.files import STAGE
from diskret.job.prepare import Preparing
from diskret.model.errors import BadOption, CannotWrite, DamagedRun, NoSuchRun, TooLarge, UnreadableFile
from diskret.model.private import sweep
from diskret.model.processes import apart, ask_to_stop, is_alive
from diskret.web.answers import plain
from diskret.web.run_files import (
    JOB,
    RESULT,
    STATUS,
    folder_of_runs,
    make_private,
    read_json,
    read_status,
    write_json,
)
from diskret.web.workspace import Workspace

PART, TEMPORARY = "result.part", "tmp"
RUN = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}", re.ASCII)
COMING, GOING = ".new-", ".old-"
"""How folders begin that are not yet, or no longer, the folder of a run."""
ACTIVE, DAMAGED = "running", "damaged"
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
    preparing: Preparing | None = field(default=None, repr=False)
    """Who compiles what runs need, since the server was started for the first time on this machine."""
    damaged: dict[str, DamagedRun] = field(default_factory=dict, repr=False)
    """Runs whose results turned out to be damaged when they were opened."""

    def folder(self, name: str) -> Path:
        """The folder of a run that exists, whole or damaged."""
        found = self.workspace.runs / name
        if not RUN.fullmatch(name) or not os.path.lexists(found):
            raise NoSuchRun(
                f"there is no run {name!r}", hint="look at the list of runs; deleted ones do not come back."
            )
        return found

    def finished(self, name: str) -> Path:
        """The folder of a finished run's result; refuses a run that has none, or a damaged one."""
        state = self._whole(name)["state"]
        if state != "finished":
            raise NoSuchRun(f"the run {name!r} has no result: it is {state}", hint="wait for it, or start it again.")
        return self.folder(name) / RESULT

    @contextlib.contextmanager
    def result(self, name: str) -> Iterator[Path]:
        """The same, to be read: a run in which that fails counts as damaged from now on."""
        folder = self.finished(name)
        try:
            yield folder
        except (UnreadableFile, TooLarge) as e:
            self.damaged[name] = DamagedRun.found(name, e.what)
            raise self.damaged[name] from e

    def _whole(self, name: str) -> dict[str, Any]:
        """The state of a run that is not damaged."""
        status = self.status(name)
        if status["state"] == DAMAGED:
            raise DamagedRun(status["error"]["what"], hint=status["error"]["hint"])
        return status

    def start(self, content: Mapping[str, Any], *, name: str = "", kind: str = "job", of: str = "") -> dict[str, Any]:
        """Begin a run of a job; ``kind`` says what `worker` does with it, ``of`` to which run it belongs."""
        self.workspace.refuse_outside(content)
        with self.lock:
            if sum(p.poll() is None for p in self.processes.values()) >= MOST_ACTIVE:
                raise BadOption(f"{MOST_ACTIVE} runs are at work", hint="wait for one of them, or cancel one.")
            run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            status = {
                "id": run, "name": name or run, "kind": kind, "of": of, "state": ACTIVE, "started": time.time(),
                "progress": {"what": "starting", "done": 0, "of": 0}, "data": self.workspace.state_of(content),
            }  # fmt: skip
            folder = _new_folder(self.workspace.runs, content, status)
            self.processes[run] = _process(folder, kind)
            return status

    def status(self, name: str) -> dict[str, Any]:
        """How far a run is; what ended without a word, and what is damaged, is found out here."""
        folder = self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            ended = process is not None and process.poll() is not None
            try:
                status = read_status(folder)  # after looking: its last words may have come meanwhile
            except DamagedRun as e:
                return _damaged(name, e)
            finally:
                if ended:
                    self._forget(name)
            if status["state"] != ACTIVE:
                return _damaged(name, self.damaged[name]) if name in self.damaged else status
            if process is not None and not ended:
                return status
            if process is None and is_alive(status.get("pid")) and _spoke(folder):
                return status  # of another server on the same workspace
            return self._ended(folder, status, "interrupted" if process is None else "failed")

    def all(self) -> list[dict[str, Any]]:
        """Every run, the newest first, each judged for itself."""
        found = []
        for name in sorted(self._names(), reverse=True):
            with contextlib.suppress(NoSuchRun):  # deleted meanwhile
                found.append(self.status(name))
        return found

    def sweep(self) -> None:
        """Tidy up after servers that were killed: runs that came to no end, half a result, spilled records."""
        for each in list(self._entries()):
            with contextlib.suppress(OSError):  # what cannot be removed keeps no server from starting
                if each.name.startswith((COMING, GOING)) and time.time() - each.lstat().st_mtime > SILENT:
                    remove(each)
        for status in self.all():
            if status["state"] not in (ACTIVE, DAMAGED):
                folder = self.workspace.runs / status["id"]
                sweep(folder, *STAGE)
                for name in (PART, TEMPORARY):
                    with contextlib.suppress(OSError):
                        remove(folder / name)

    def _names(self) -> list[str]:
        return [each.name for each in self._entries() if RUN.fullmatch(each.name)]

    def _entries(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            yield from self.workspace.runs.iterdir()

    def content(self, name: str) -> dict[str, Any]:
        """The job of a run."""
        self._whole(name)
        return read_json(self.folder(name) / JOB)

    def cancel(self, name: str) -> dict[str, Any]:
        """End a run's process; nothing half-done stays."""
        folder = self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
                self._forget(name)
                with contextlib.suppress(DamagedRun):  # said below
                    status = read_status(folder)
                    return status if status["state"] != ACTIVE else self._ended(folder, status, "cancelled")
            status = self.status(name)
            if status["state"] == ACTIVE:
                raise NoSuchRun("the run belongs to another server", hint="cancel it on its page.")
            return status

    def stop(self, name: str) -> dict[str, Any]:
        """Ask a search for the best it has so far; other runs end without a result."""
        self.folder(name)
        with self.lock:
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                return self.status(name)
            ask_to_stop(process)
        return self.status(name)

    def delete(self, name: str) -> None:
        """Remove a run that is not at work, with everything in it, however damaged it is."""
        with self.lock:
            state = self.status(name)["state"]
            if state == DAMAGED:
                self.cancel(name)
            elif state == ACTIVE:
                raise NoSuchRun("the run is still at work", hint="cancel it first.")
            if name in self.processes:  # it has said its last words and is about to end
                self.processes[name].kill()
                self._forget(name)
            folder = self.folder(name)
            remove(folder.rename(folder.with_name(f"{GOING}{name}")))  # nobody sees half a run
            self.damaged.pop(name, None)

    def close(self) -> None:
        """End all processes of this server."""
        if self.preparing is not None:
            self.preparing.close()
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
        ended = status | {"state": state, "ended": time.time()}
        with contextlib.suppress(OSError, CannotWrite):  # a folder that may not be written says so the next time, too
            tidy(folder)
            write_json(folder / STATUS, ended)
        return ended


def _new_folder(runs: Path, content: Mapping[str, Any], status: Mapping[str, Any]) -> Path:
    """The folder of a new run; it gets its name when it is whole, so that nobody sees half a run."""
    folder = folder_of_runs(runs) / f"{COMING}{status['id']}"
    try:
        make_private(folder)
        make_private(folder / TEMPORARY)
        write_json(folder / JOB, content)
        write_json(folder / STATUS, status)
        return folder.rename(runs / status["id"])
    except BaseException:
        remove(folder)
        raise


def tidy(folder: Path) -> None:
    """Leave of a run that came to no end only its job and its state."""
    for each in folder.iterdir():
        if each.name not in (JOB, STATUS):
            remove(each)


def remove(path: Path) -> None:
    """Remove whatever is there; of a link, the link only."""
    with contextlib.suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _damaged(name: str, error: DamagedRun) -> dict[str, Any]:
    """What is said of a run that does not say it itself."""
    try:
        started = datetime.strptime(name[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:  # the 99th of a month
        started = 0.0
    return {
        "id": name, "name": name, "kind": "job", "of": "", "state": DAMAGED, "started": max(started, 0.0),
        "progress": {"what": "", "done": 0, "of": 0}, "error": plain(error),
    }  # fmt: skip


def _process(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    """The process of a run. It ends when its standard input does: it never outlives the server."""
    # what is spilled to disk is confidential: it stays in the run's own folder and goes with it
    temporary = str(folder / TEMPORARY)
    environment = os.environ | {"TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "diskret.web.worker", str(folder), kind],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        **apart(),  # Ctrl-C is for the server, which ends its runs
    )  # fmt: skip


def _spoke(folder: Path) -> bool:
    """Whether a run gave a sign of life lately; one that is still to come is none."""
    return abs(time.time() - (folder / STATUS).stat().st_mtime) < SILENT
