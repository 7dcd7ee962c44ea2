"""Locks on open files that the system gives back whatever happens to their process: of POSIX, or of Windows."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

fcntl: Any
msvcrt: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

FAR = 1 << 30
"""The byte that is locked on Windows, where what is locked cannot be read: one that no file here has."""
PAUSE = 0.02
"""Seconds between two tries."""
AS_THEY_ARE = getattr(os, "O_BINARY", 0)
"""Bytes are read and written as they are, also on Windows."""


def locked(handle: int, *, wait: bool) -> bool | None:
    """Take the lock of an open file; False if another process has it, None where there are no locks.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     locked(file.fileno(), wait=False)
    True
    """
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return None
        return True
    if msvcrt is None:
        return None
    while not _locked_there(handle):
        if not wait:
            return False
        time.sleep(PAUSE)
    return True


def _locked_there(handle: int) -> bool:
    os.lseek(handle, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return True


def removed(path: Path, handle: int) -> None:
    """Let go of a lock and remove its file: before others get the lock where that can be, else as soon as can be."""
    if fcntl is not None:  # whoever waits sees that the file is another one, or gone
        path.unlink(missing_ok=True)
        os.close(handle)
        return
    os.close(handle)
    with contextlib.suppress(OSError):  # whoever waits has it open, and removes it in turn
        path.unlink()


def is_ours_alone(handle: int) -> bool:
    """Whether an open file belongs to this user and nobody else may open it; Windows does not say it so."""
    if not hasattr(os, "getuid"):
        return True
    found = os.fstat(handle)
    return found.st_uid == os.getuid() and not found.st_mode & 0o077
