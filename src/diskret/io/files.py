"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from diskret.model.errors import CannotWrite


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


def _cannot_write(target: Path, error: OSError) -> CannotWrite:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CannotWrite(
            "the disk is full", where=str(target), hint="free some space and run again; nothing was changed."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return CannotWrite("no permission to write", where=str(target), hint="choose another folder.")
    return CannotWrite(f"cannot write: {error.strerror or error}", where=str(target), hint="nothing was changed.")
