"""One process at a time in a ledger: a lock on a file in its folder, given back by the system whatever happens."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from diskret.model.errors import CannotWrite, LedgerBusy
from diskret.model.locks import locked

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
        while not (taken := locked(handle, wait=False)):
            if taken is None:
                raise CannotWrite(
                    "the ledger cannot be locked: its file system has no locks", where=str(folder),
                    hint="keep the ledger on another disk, or open it with read_only=True.",
                )  # fmt: skip
            if clock() > end:
                raise LedgerBusy(
                    "another process is working in the ledger", where=str(folder), hint="try again when it has ended."
                )
            time.sleep(PAUSE)
        yield
    finally:
        os.close(handle)  # gives the lock back
