"""Compiling while somebody looks at the page for the first time: in a process apart, behind everything else.

``python -m diskret.job.prepare`` is that process. It writes compiled kernels into numba's cache and nothing else, and
ends with whoever started it, however that one ends. `diskret.job.warm` says what it compiles.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from diskret.model.processes import apart, cores, heed
from diskret.tabulation.tabulate import Progress

WORDS = "preparing, once on this machine"
"""What is said while a kernel is compiled."""
KIND = 10
"""How much later than others a process that nobody waits for is served."""


def is_prepared() -> bool:
    """Whether the last kernel of `diskret.job.warm.first_steps` has been compiled since it was written."""
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
    """The process that compiles."""

    process: subprocess.Popen[bytes]

    def close(self) -> None:
        """End it, if it has not ended by itself."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


def start_preparing() -> Preparing | None:
    """Begin to compile, unless that is done or there is only one core."""
    if is_prepared() or cores() < 2:
        return None
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "diskret.job.prepare"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        **apart(),  # Ctrl-C is for whoever started it
    )  # fmt: skip
    return Preparing(process)


@contextlib.contextmanager
def telling_of_compiling(bar: Progress | None) -> Iterator[None]:
    """Let a bar say what is waited for while something is compiled."""
    with contextlib.ExitStack() as stack:
        if bar is not None:
            stack.enter_context(compiling_said(lambda: bar(WORDS, 0, 0)))
        yield


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


if __name__ == "__main__":
    heed(sys.stdin.buffer)
    if hasattr(os, "nice"):
        os.nice(KIND)
    from diskret.job.warm import first_steps

    first_steps()
    os._exit(0)  # nobody waits for the thread that listens
