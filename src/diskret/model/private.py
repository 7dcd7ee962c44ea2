"""Folders for what is confidential and must not outlive the process: for their owner alone, gone at the end.

A folder is removed when nobody uses it any more, at the latest when the process ends. A process that is killed removes
nothing; so each folder holds a lock that the system gives back whatever happens, and whoever makes a folder removes
those beside it whose lock is free.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path

from diskret.model.errors import CannotWrite
from diskret.model.locks import AS_THEY_ARE, locked

LOCK = "lock"
ELSEWHERE = ("/tmp", "/var/tmp", "/usr/tmp")
"""Where Python goes, without a word, if the folder of the user's choice cannot be used."""
SPILLED = ("diskret-", "")
"""How folders of spilled records begin and end."""


class PrivateFolder:
    """A folder for its owner alone (0700), with a lock that tells that somebody uses it.

    >>> folder = private_folder()
    >>> oct(folder.path.stat().st_mode & 0o777)
    '0o700'
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.remove = weakref.finalize(self, _remove, path, lock, os.getpid())
        """Called by itself when the folder is forgotten, and at the end of the process."""


def private_folder() -> PrivateFolder:
    """A new folder in the system's temporary folder; what killed processes left there is removed first."""
    place = Path(tempfile.gettempdir())
    asked = os.environ.get("TMPDIR")
    if asked and str(place) in ELSEWHERE and os.path.realpath(asked) != os.path.realpath(place):
        raise CannotWrite(
            "temporary data cannot be written to where TMPDIR says", where=asked, hint="name a folder with free space."
        )
    _sweep_once(place)
    return folder_in(place, *SPILLED)


def remove_with(owner: object, folder: PrivateFolder) -> None:
    """Keep a folder as long as its owner lives, and no longer."""
    weakref.finalize(owner, _gone, folder)


def folder_in(place: Path, begin: str, end: str) -> PrivateFolder:
    """A new private folder in a place, its name beginning and ending as said."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=begin, suffix=end, dir=place))
        # somebody who sweeps may take the folder before it is locked
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | AS_THEY_ARE, 0o600)
            os.write(lock, _here())
            # where the file system knows no locks the folder stays without, and unswept
            if locked(lock, wait=False) is not False and (path / LOCK).exists():
                return PrivateFolder(path, lock)
            os.close(lock)


def sweep(place: Path, begin: str, end: str, rescue: Callable[[Path], None] | None = None) -> None:
    """Remove private folders whose process is gone; ``rescue`` is called with each of them before.

    Only folders of the present user are touched.
    """
    with contextlib.suppress(OSError), os.scandir(place) as found:
        names = [e.path for e in found if e.name.startswith(begin) and e.name.endswith(end) and _is_ours(e)]
        for path in map(Path, names):
            _sweep_one(path, rescue)


@cache
def _sweep_once(place: Path) -> None:
    """At the first folder of a process: what was left by those before it."""
    sweep(place, *SPILLED)


def _sweep_one(path: Path, rescue: Callable[[Path], None] | None) -> None:
    try:
        lock = os.open(path / LOCK, os.O_RDWR | AS_THEY_ARE | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            path.rmdir()  # ended before it was locked: empty, or none of ours
        return
    except OSError:
        return
    # refused while the owner lives; locks of another machine are not always seen here
    if locked(lock, wait=False) and os.read(lock, 256) in (b"", _here()):
        with contextlib.suppress(OSError):
            if rescue is not None:
                rescue(path)
            _remove_all(path, lock)
            return
    os.close(lock)


def _gone(folder: PrivateFolder) -> None:
    folder.remove()


def _here() -> bytes:
    return platform.node().encode()[:255]


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and (
        not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
    )


def _remove(path: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child has the folder in its memory, but it is not the child's
        _remove_all(path, lock)
        return
    with contextlib.suppress(OSError):
        os.close(lock)


def _remove_all(path: Path, lock: int) -> None:
    """The lock last: if this is killed too, the next who sweeps still finds a folder of ours."""
    with contextlib.suppress(OSError):
        for each in path.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each, ignore_errors=True)
            elif each.name != LOCK:
                each.unlink(missing_ok=True)
    if os.name == "nt":  # where an open file cannot be removed
        with contextlib.suppress(OSError):
            os.close(lock)
    shutil.rmtree(path, ignore_errors=True)
    if os.name != "nt":
        with contextlib.suppress(OSError):
            os.close(lock)
