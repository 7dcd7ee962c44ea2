"""Compiling ahead: what protecting a table needs is compiled once per machine, in a process apart while data are read.

``python -m diskret.job.prepare`` is that process. It writes compiled kernels into numba's cache and nothing else, and
ends with whoever started it, however that one ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from diskret.job.models import Job
from diskret.job.table_job import TableJob
from diskret.tabulation.tabulate import Progress

WORDS = "preparing, once on this machine"
"""What is said while a kernel is compiled."""
KIND = 10
"""How much later than others a process that nobody waits for is served."""
EARLY = ("reading records", "adding up", "joining holdings", "counting combinations")
"""What a job does before it needs what is being compiled."""


def is_prepared() -> bool:
    """Whether the largest kernel has been compiled since it was written."""
    from diskret.moves import _cuboid_kernels

    kernel = _cuboid_kernels.certify
    if not hasattr(kernel, "stats"):  # numba is switched off
        return True
    written = Path(_cuboid_kernels.__file__).stat().st_mtime
    with contextlib.suppress(OSError):
        names = Path(kernel.stats.cache_path).glob(f"_cuboid_kernels.{kernel.py_func.__name__}-*.nbi")
        return any(each.stat().st_mtime >= written for each in names)
    return False


@dataclass
class Preparing:
    """The process that compiles; it is ended with the block."""

    process: subprocess.Popen[bytes]

    def __enter__(self) -> Preparing:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End it, if it has not ended by itself."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def before(self, say: Progress | None) -> Progress:
        """The same words, but whoever comes to protecting waits until everything is compiled: twice takes no less."""

        def said(what: str, done: int, of: int) -> None:
            while what not in EARLY and self.process.poll() is None:
                if say is not None:
                    say(WORDS, 0, 0)
                time.sleep(0.1)
            if say is not None:
                say(what, done, of)

        return said


def start_preparing(*, patient: bool = False) -> Preparing | None:
    """Begin to compile, unless that is done or there is only one core; a ``patient`` one lets others go first."""
    if is_prepared() or (os.cpu_count() or 1) < 2:
        return None
    words = [sys.executable, "-P", "-m", "diskret.job.prepare", str(KIND if patient else 0)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for whoever started it
    )  # fmt: skip
    return Preparing(process)


@contextlib.contextmanager
def prepared(job: Job, bar: Progress | None) -> Iterator[Progress | None]:
    """Words about the progress of a job; what it needs is compiled beside it, and where it waits it says so."""
    asked = job.suppression if isinstance(job, TableJob) else None
    preparing = start_preparing() if asked is not None and asked.method == "moves" else None
    with contextlib.ExitStack() as stack:
        if bar is not None:
            stack.enter_context(compiling_said(lambda: bar(WORDS, 0, 0)))
        yield bar if preparing is None else stack.enter_context(preparing).before(bar)


def compile_ahead() -> None:
    """Protect and attack a table of a few cells as jobs do: whatever that needs is compiled and kept."""
    from diskret.auditing.audit import audit
    from diskret.model.promise import Promise
    from diskret.model.table import Table
    from diskret.rules.magnitude import PPercent
    from diskret.rules.mark import mark
    from diskret.suppression.suppress import suppress

    codes = [(a, b) for a in ("a1", "a2", "b1", "b2") for b in "xyz"]
    value = [float(7 + 3 * i) for i in range(len(codes))]
    cells = {
        "row": [a for a, _ in codes], "column": [b for _, b in codes], "value": value,
        "first": [0.95 * v if i % 4 == 0 else 0.3 * v for i, v in enumerate(value)],
        "second": [0.04 * v if i % 4 == 0 else 0.2 * v for i, v in enumerate(value)],
        "count": [1 if i % 4 == 0 else 9 for i in range(len(codes))],
    }  # fmt: skip
    table = Table.from_cells(
        cells, by={"row": None, "column": None}, value="value", largest=["first", "second"], count="count"
    )
    done = suppress(mark(table, PPercent(10)), Promise())
    audit(done.table, done.promise, moves=done.moves)


@contextlib.contextmanager
def compiling_said(say: Callable[[], None]) -> Iterator[None]:
    """Call something as often as a kernel of ours begins to be compiled, and not only to be read from the cache."""
    from numba.core import event

    class Heard(event.Listener):  # type: ignore[misc]
        def on_start(self, event: event.Event) -> None:
            kernel = (event.data or {}).get("dispatcher")
            if getattr(kernel, "__module__", "").startswith("diskret."):
                say()

        def on_end(self, event: event.Event) -> None:
            pass

    with event.install_listener("numba:compile", Heard()):
        yield


def _end_with_starter() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_starter, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[1]))
    compile_ahead()
    os._exit(0)  # nobody waits for the thread that listens
