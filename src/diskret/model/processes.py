"""Processes that this one starts: apart from its terminal, told to stop by a word, ended with it. On every system."""

from __future__ import annotations

import _thread
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

STOP = b"s"
"""The word on standard input that means Ctrl-C: no system has a signal for it that reaches only one process."""
EVERY = 2.0
"""Seconds between two looks at the parent."""


def cores() -> int:
    """The cores that this process may use, fewer than the machine has where a batch system or container says so.

    >>> 1 <= cores() <= (os.cpu_count() or 1)
    True
    """
    if hasattr(os, "sched_getaffinity"):  # neither on Windows nor on a Mac
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def apart() -> dict[str, Any]:
    """Options of `subprocess.Popen` for a process that Ctrl-C in the terminal does not reach: its parent ends it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def ask_to_stop(process: subprocess.Popen[bytes]) -> None:
    """Tell a process that listens by `heed` to stop; one that has ended needs no word."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(STOP)
        process.stdin.flush()


def heed(words: IO[bytes]) -> None:
    """In such a process: end with whoever started it, and stop as by Ctrl-C when told so. Returns at once."""

    def listen() -> None:
        while said := words.read(1):
            if said == STOP:
                _thread.interrupt_main()
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


def end_with_parent() -> None:
    """End this process when the one that started it does, for those who need their standard input. Returns at once."""
    parent = os.getppid()
    wait = _waits_for(parent)
    threading.Thread(target=lambda: (wait(), os._exit(1)), daemon=True).start()


def _waits_for(parent: int) -> Callable[[], None]:
    """A function that returns when a process has ended."""
    if sys.platform == "win32":  # where nobody inherits a process whose parent has ended
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(0x00100000, False, parent)  # SYNCHRONIZE
        return lambda: kernel.WaitForSingleObject(handle, -1) if handle else threading.Event().wait()

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(EVERY)

    return wait


def is_alive(pid: object) -> bool:
    """Whether a process is there, of this user or another.

    >>> is_alive(os.getpid()), is_alive(2**30), is_alive(None)
    (True, False, False)
    """
    if not isinstance(pid, int) or pid <= 0:
        return False
    if sys.platform == "win32":  # where sending it nothing would end it
        import ctypes

        kernel, code = ctypes.windll.kernel32, ctypes.c_ulong()
        handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return False
        try:
            return not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value == 259  # STILL_ACTIVE
        finally:
            kernel.CloseHandle(handle)
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
