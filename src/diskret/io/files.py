"""Writing files whole or not at all, several of them together or none, and one writer at a time in a folder.

Files come into being in a hidden private folder beside their places (`.diskret.*.part`) and are moved when all are
there. The folder of a killed process is removed by the next that writes beside it; if the kill came while files were
being moved, the rest is moved first, so that no folder keeps files of two runs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from diskret.model.errors import CannotWrite, DiskretError
from diskret.model.locks import AS_THEY_ARE, is_ours_alone, locked, removed
from diskret.model.private import PrivateFolder, folder_in, sweep

FLAGS = os.O_RDWR | os.O_CREAT | AS_THEY_ARE | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
STAGE = (".diskret.", ".part")
BUSY = ".diskret.lock"
CLOSED = "choose another folder; if the file is open in another program, such as Excel, close it there."
FILES, BEFORE, WHOLE = "files", "before", "whole"
"""In a hidden folder: the files, what stood at their places, and the mark that all of them are there."""


@contextlib.contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Where to write a file that takes its place only when the block ends well.

    Whatever stood at ``path`` before stays as it was if the block fails, the disk is full, or the user interrupts.
    What is confidential is ``private``: for its owner alone (0600), whatever the umask.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "out.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     [p.name for p in Path(folder).iterdir()]
    ['out.txt']
    """
    with all_or_none() as meanwhile:
        part = meanwhile(path)
        try:
            yield part
            if private:
                part.chmod(0o600)
        except OSError as e:
            raise _cannot_write(Path(path), e) from e


@contextlib.contextmanager
def all_or_none() -> Iterator[Callable[[str | Path], Path]]:
    """Several files that take their places only together, when the block ends well.

    Gives a function from the place of a file to where it is written meanwhile: under its own name, in a hidden folder
    beside its place. If anything fails, everything stands as it did before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with contextlib.suppress(ZeroDivisionError), all_or_none() as meanwhile:
    ...         _ = meanwhile(Path(folder) / "one.txt").write_text("one")
    ...         _ = meanwhile(Path(folder) / "two.txt").write_text(str(2 / 0))
    ...     [p.name for p in Path(folder).iterdir()]
    []
    """
    stages: dict[Path, PrivateFolder] = {}

    def meanwhile(path: str | Path) -> Path:
        target = Path(path)
        if "\0" in str(target):
            raise CannotWrite("this is not a path", where=repr(str(target)), hint="choose another name.")
        if target.is_dir():  # said before anything is done that cannot be taken back, such as an entry of a ledger
            raise _cannot_write(target, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
        if target.parent not in stages:
            stages[target.parent] = _stage(target)
        return stages[target.parent].path / FILES / target.name

    try:
        yield meanwhile
        _put_in_place(stages)
    except DiskretError as e:
        for folder, stage in stages.items():
            e.where = e.where.replace(str(stage.path / FILES), str(folder))
        raise
    finally:
        for stage in stages.values():
            stage.remove()


def tidy(folder: Path) -> None:
    """Remove from a folder what killed processes were writing there; what they were moving is moved first."""
    if folder.is_dir():
        with _alone_in([folder]):
            sweep(folder, *STAGE, rescue=_finish)


def _stage(target: Path) -> PrivateFolder:
    """The hidden folder beside a file that is to come."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        tidy(target.parent)
        stage = folder_in(target.parent, *STAGE)
        (stage.path / FILES).mkdir()
    except OSError as e:
        raise _cannot_write(target, e) from e
    return stage


def _put_in_place(stages: dict[Path, PrivateFolder]) -> None:
    """Move everything; two runs with the same places do it one after the other."""
    files = [f for stage in stages.values() for f in sorted((stage.path / FILES).iterdir()) if f.is_file()]
    done: list[Path] = []
    target = next(iter(stages), Path())
    with _alone_in(list(stages)):
        try:
            for file in files:
                target = _place(file)
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            for stage in stages.values() if len(files) > 1 else ():
                (stage.path / WHOLE).touch()
            for file in files:
                target = _place(file)
                _keep(target, file)
                done.append(file)
                file.replace(target)
        except BaseException as e:  # a signal between two moves as well
            for stage in stages.values():
                (stage.path / WHOLE).unlink(missing_ok=True)  # nobody is to move the rest
            for file in reversed(done):
                _take_back(file)
            if isinstance(e, OSError):
                raise _cannot_write(target, e) from e
            raise


def _place(file: Path) -> Path:
    """Where a file of a hidden folder belongs."""
    return file.parent.parent.parent / file.name


def _keep(target: Path, file: Path) -> None:
    """What stands at a place, to be put back if another place cannot be written."""
    before = file.parent.parent / BEFORE
    before.mkdir(exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        try:
            os.link(target, before / file.name, follow_symlinks=False)
        except (OSError, NotImplementedError):  # a file system without links
            shutil.copy2(target, before / file.name, follow_symlinks=False)


def _take_back(file: Path) -> None:
    """What stood at the place of a file before."""
    before = file.parent.parent / BEFORE / file.name
    with contextlib.suppress(OSError):
        if os.path.lexists(before):  # a link that leads nowhere from here is one all the same
            before.replace(_place(file))
        elif not file.exists():
            _place(file).unlink()


def _finish(stage: Path) -> None:
    """Move the files of a run that was killed while it moved them, unless their places were written since."""
    with contextlib.suppress(OSError):
        whole = (stage / WHOLE).stat().st_mtime_ns
        for file in sorted((stage / FILES).iterdir()):
            target = stage.parent / file.name
            if not target.exists() or target.stat().st_mtime_ns <= whole:
                file.replace(target)


@contextlib.contextmanager
def _alone_in(folders: list[Path]) -> Iterator[None]:
    """Let one process at a time move files into folders, in one order so that no two wait for each other."""
    with contextlib.ExitStack() as stack:
        for folder in sorted({Path(os.path.realpath(f)) for f in folders}):
            if (handle := _locked(folder / BUSY)) is not None:
                stack.callback(removed, folder / BUSY, handle)
        yield


def _locked(path: Path) -> int | None:
    """A lock that only processes of this user can take, so that no other can make them wait; None where there is none.

    The folder itself could be locked by everybody who may look into it.
    """
    while True:
        try:
            handle = os.open(path, FLAGS, 0o600)
        except OSError:  # of another user, or nothing can be written here: whoever writes will be told
            return None
        if not _taken(handle):
            os.close(handle)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(handle)):
                return handle
        os.close(handle)  # removed by whoever had it before: the next one counts


def _taken(handle: int) -> bool:
    """Whether a file is ours alone and could be locked; waits for other processes of the same user."""
    if not stat.S_ISREG(os.fstat(handle).st_mode) or not is_ours_alone(handle):
        return False
    return locked(handle, wait=True) is True


def _cannot_write(target: Path, error: OSError) -> CannotWrite:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CannotWrite(
            "the disk is full", where=str(target), hint="free some space and run again; nothing was changed."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return CannotWrite("no permission to write", where=str(target), hint=CLOSED)
    return CannotWrite(f"cannot write: {error.strerror or error}", where=str(target), hint="nothing was changed.")
