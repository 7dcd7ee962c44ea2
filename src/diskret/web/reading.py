"""Reading what users hand in, in a process apart: a file that crashes, loops or fills the memory ends there.

Only what this server's own child sends is unpickled.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from diskret.model.errors import BadOption, DiskretError, ReadingFailed
from diskret.model.private import PrivateFolder, private_folder
from diskret.model.processes import apart
from diskret.web.answers import OurMistake
from diskret.web.confined import most_memory

T = TypeVar("T")
SECONDS = 120.0
LONG = 3600.0
"""Seconds for what computes as well as reads."""
GONE = (EOFError, OSError, pickle.UnpicklingError)


class Reading(Protocol):
    """Who reads: a process apart, or, in tests, this one."""

    def do(self, function: Callable[..., T], *given: Any, where: str = "", seconds: float | None = None) -> T:
        """What a function gives; it and what it takes are sent by name and by value."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


class Here:
    """Reads in this process.

    >>> Here().do(max, 1, 2)
    2
    """

    def do(self, function: Callable[..., T], *given: Any, where: str = "", seconds: float | None = None) -> T:
        """Call the function."""
        return function(*given)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Apart:
    """Reads in up to ``most`` processes that are kept for the next file and replaced when they die.

    >>> reading = Apart(memory=0)
    >>> reading.do(max, 1, 2)
    2
    >>> reading.do(os._exit, 3, where="firms.csv")
    Traceback (most recent call last):
    diskret.model.errors.ReadingFailed: [W7] reading was given up: the process that reads crashed
      where: firms.csv
      what to do: is it the right file, and whole? Everything else goes on; `diskret run` reads without these limits.
    >>> reading.do(max, 1, 2)
    2
    >>> reading.close()
    """

    seconds: float = SECONDS
    """How long a file may take."""
    memory: int = field(default_factory=most_memory)
    """Bytes a process may hold; 0: as many as there are."""
    most: int = 2
    most_waiting: int = 16
    """How many may wait for a process; more are turned away, so that other questions find somebody to answer."""
    idle: list[_Process] = field(default_factory=list, repr=False)
    busy: set[_Process] = field(default_factory=set, repr=False)
    waiting: int = field(default=0, repr=False)
    closed: bool = field(default=False, repr=False)
    changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    temporary: list[PrivateFolder] = field(default_factory=list, repr=False)
    """Where records are spilled to: one folder, made when the first process is."""

    def do(self, function: Callable[..., T], *given: Any, where: str = "", seconds: float | None = None) -> T:
        """What a function gives, if it ends in time and well."""
        with self._process() as process:
            found: T = process.ask(function, given, where, seconds or self.seconds)
            return found

    def warm(self) -> None:
        """Have a process ready that knows what readers need."""
        with suppress(DiskretError):  # the server may end before it has begun
            self.do(_know_readers)

    def close(self) -> None:
        """End all processes; whoever waits for one is told."""
        with self.changed:
            self.closed = True
            for process in self.busy:
                process.kill()
            for process in self.idle:
                process.end()
            self.idle.clear()
            self.changed.notify_all()
        for folder in self.temporary:
            folder.remove()

    @contextmanager
    def _process(self) -> Iterator[_Process]:
        process = self._taken()
        try:
            yield process
        finally:
            with self.changed:
                self.busy.discard(process)
                if process.is_alive and not self.closed:
                    self.idle.append(process)
                else:
                    process.end()
                self.changed.notify()

    def _taken(self) -> _Process:
        with self.changed:
            if self.waiting >= self.most_waiting:
                raise BadOption("many files are being read", hint="wait for them, and ask again.")
            self.waiting += 1
            try:
                self.changed.wait_for(lambda: self.closed or len(self.busy) < self.most)
            finally:
                self.waiting -= 1
            if self.closed:
                raise BadOption("the server is ending", hint="start it again.")
            while self.idle:
                process = self.idle.pop()
                if process.is_alive:
                    break
                process.end()
            else:
                process = _Process(self.memory, self._spilled())
            self.busy.add(process)
            return process

    def _spilled(self) -> str:
        if not self.temporary:
            self.temporary.append(private_folder())
        return str(self.temporary[0].path)


class _Process:
    """One process that reads, and the two pipes to it."""

    def __init__(self, memory: int, temporary: str) -> None:
        said = None if os.environ.get("DISKRET_DEBUG") else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "diskret.web.reader", str(memory)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, **apart(),
            env=os.environ | {"TMPDIR": temporary, "TEMP": temporary, "TMP": temporary},
        )  # fmt: skip
        self.lock = threading.Lock()
        self.is_asked = self.is_late = False

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None and not self.is_late

    def ask(self, function: Callable[..., Any], given: tuple[Any, ...], where: str, seconds: float) -> Any:
        """The answer, or why there is none. After anything but an answer the process is ended."""
        asked = pickle.dumps((function, given, seconds))
        self.is_asked = True
        timer = threading.Timer(seconds, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            kind, found = self._exchange(asked)
        except GONE as e:
            self.end()
            how = f"took longer than {seconds:g} seconds" if self.is_late else "crashed"
            raise ReadingFailed.ended(how, where) from e
        except BaseException:
            self.end()
            raise
        finally:
            timer.cancel()
            with self.lock:
                self.is_asked = False
        if kind == "memory":
            self.end()
            raise ReadingFailed.ended("needs more memory than it may have", where)
        if kind == "mistake":
            raise OurMistake(found.what, where=where, hint=found.hint)
        if kind == "refused":
            raise found
        return found

    def _exchange(self, asked: bytes) -> tuple[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(asked)
        self.process.stdin.flush()
        answer: tuple[str, Any] = pickle.load(self.process.stdout)
        return answer

    def _give_up(self) -> None:
        with self.lock:  # an answer may have come in the last moment
            if self.is_asked:
                self.is_late = True
                self.process.kill()

    def kill(self) -> None:
        """Let whoever waits for it wait no longer."""
        self.process.kill()

    def end(self) -> None:
        """End it, for whoever has it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()


def _know_readers() -> None:
    """Import what reading needs, and load what is compiled, by a table of two records."""
    import diskret.job.recognise
    import diskret.web.table_runs  # noqa: F401
    from diskret.tabulation.tabulate import tabulate

    tabulate({"sex": ["m", "w"], "income": [1, 2]}, by={"sex": None}, value="income")
