"""One process at a time in a ledger: a lock on a file in its folder, given back by the system whatever happens."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from diskret.model.errors import CannotWrite, LedgerBusy

PATIENCE = 60.0
"""Seconds to wait for another process; entering a table takes a few."""
PAUSE = 0.02


@contextlib.contextmanager
def alone_in(folder: Path, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Be the only process in a ledger; waits for others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, alone_in(Path(folder)):
    ...     [each.name for each in Path(folder).iterdir()]
    ['lock']
    """
    path = folder / "lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as e:
        raise CannotWrite(
            f"the ledger cannot be locked: {e.strerror}", where=str(folder), hint="open it with read_only=True."
        ) from e
    try:
        end = clock() + patience
        while not _taken(handle):
            if clock() > end:
                raise LedgerBusy(
                    "another process is working in the ledger", where=str(folder), hint="try again when it has ended."
                )
            time.sleep(PAUSE)
        try:
            yield
        finally:
            _given_back(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _taken(handle: int) -> bool:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _given_back(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _given_back(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
