"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from diskret.model.errors import CannotWrite, DiskretError


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary file beside ``path`` that takes its place only when the block ends well.

    Whatever stood at ``path`` before stays as it was if the block fails, the disk is full, or the user interrupts.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "out.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     [p.name for p in Path(folder).iterdir()]
    ['out.txt']
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as e:
        raise _cannot_write(target, e) from e
    except ValueError as e:
        raise CannotWrite("this is not a path", where=repr(str(target)), hint="choose another name.") from e
    os.close(handle)
    part = Path(name)
    try:
        yield part
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(target)
    except OSError as e:
        raise _cannot_write(target, e) from e
    finally:
        part.unlink(missing_ok=True)


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
    stages: dict[Path, Path] = {}
    with contextlib.ExitStack() as stack:

        def meanwhile(path: str | Path) -> Path:
            target = Path(path)
            if target.parent not in stages:
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    hidden = tempfile.TemporaryDirectory(prefix=".diskret.", suffix=".part", dir=target.parent)
                except OSError as e:
                    raise _cannot_write(target, e) from e
                except ValueError as e:
                    raise CannotWrite("this is not a path", where=repr(str(target)), hint="choose another name.") from e
                stages[target.parent] = Path(stack.enter_context(hidden))
            return stages[target.parent] / target.name

        try:
            yield meanwhile
        except DiskretError as e:
            for folder, hidden in stages.items():
                e.where = e.where.replace(str(hidden), str(folder))
            raise
        files = [(file, folder / file.name) for folder, hidden in stages.items() for file in sorted(hidden.iterdir())]
        for _, target in files:
            if target.is_dir():
                raise _cannot_write(target, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
        for file, target in files:
            try:
                file.replace(target)
            except OSError as e:
                raise _cannot_write(target, e) from e


def _cannot_write(target: Path, error: OSError) -> CannotWrite:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CannotWrite(
            "the disk is full", where=str(target), hint="free some space and run again; nothing was changed."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return CannotWrite("no permission to write", where=str(target), hint="choose another folder.")
    return CannotWrite(f"cannot write: {error.strerror or error}", where=str(target), hint="nothing was changed.")
