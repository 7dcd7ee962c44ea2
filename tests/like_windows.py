"""Takes away what Windows lacks, before diskret is imported; `sitecustomize` of the tests calls it in every process.

The names are those that Python's documentation calls available on Unix only and that a program could use. Python's own
library is imported before: it was chosen for this system. Locks are those of Windows, made of ours. Text written
without a word about the ends of its lines has those of Windows.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import builtins
import getpass  # noqa: F401
import io
import multiprocessing  # noqa: F401
import os
import platform  # noqa: F401
import shutil
import signal
import socket  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import types
import uuid  # noqa: F401
from typing import Any

GONE = (
    "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getpgid", "getpgrp", "setsid", "setpgid",
    "killpg", "mkfifo", "mknod", "fchmod", "fchown", "chown", "lchown", "chroot", "nice", "sysconf", "pathconf",
    "sched_getaffinity", "statvfs", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "getloadavg",
    "getpriority", "setpriority", "posix_spawn", "posix_fallocate", "confstr", "openpty", "ttyname", "sync",
)  # fmt: skip
"""Not `os.uname`: numpy was chosen for this system as well."""
SIGNALS = ("SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGCONT", "alarm", "pause")
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "crypt", "posix", "spwd", "syslog")


def locks_of_windows() -> types.ModuleType:
    """The part of `msvcrt` that diskret uses."""
    import fcntl

    made = types.ModuleType("msvcrt")

    def locking(handle: int, mode: int, count: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    made.locking, made.LK_NBLCK = locking, 2  # type: ignore[attr-defined]
    return made


def open_of_windows() -> Any:
    """`open`, where a line that is written ends in two characters unless the caller says otherwise."""
    here = io.open

    def opened(
        file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None,
        *others: Any, **named: Any,
    ) -> Any:  # fmt: skip
        if newline is None and "b" not in mode and set(mode) & set("wxa"):
            newline = "\r\n"
        return here(file, mode, buffering, encoding, errors, newline, *others, **named)

    return opened


def take_away() -> None:
    """From here on this process is on a system that is not POSIX, as far as names go."""
    sys.modules["msvcrt"] = locks_of_windows()
    io.open = builtins.open = open_of_windows()
    vars(shutil)["_use_fd_functions"] = False  # Python removes folders by names there, and by handles here
    for name in GONE:
        if hasattr(os, name):
            delattr(os, name)
    for name in SIGNALS:
        if hasattr(signal, name):
            delattr(signal, name)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
