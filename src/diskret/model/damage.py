"""One idea of a damaged file: what goes wrong while a file is taken apart is the file's fault, not diskret's.

Only taking apart and looking over belong inside the block. What is done with the result stands outside, so that a
mistake of our own is not blamed on a file.
"""

from __future__ import annotations

import contextlib
import csv
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from diskret.model.errors import DiskretError, UnreadableFile

DAMAGE = (
    ValueError,  # and with it text that is no text, JSON that is none, numbers without end
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    SyntaxError,  # headers of NumPy's files are Python
    tokenize.TokenError,
    csv.Error,
    EOFError,
    MemoryError,
    RuntimeError,  # nesting without end, packed parts with a password
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
)


@contextlib.contextmanager
def reading(
    path: str | Path, what: str = "the file is damaged, or not what its name says", hint: str = "make it again."
) -> Iterator[None]:
    """Say of whatever goes wrong in the block that the file is damaged; our own refusals learn where they belong.

    >>> with reading("plan.json", "the plan is damaged"):
    ...     {}["n"]
    Traceback (most recent call last):
    diskret.model.errors.UnreadableFile: [T8] the plan is damaged
      where: plan.json
      what to do: make it again.
    """
    try:
        yield
    except DiskretError as e:
        if str(path) not in e.where:
            e.where = f"{path}, {e.where}" if e.where else str(path)
        raise
    except OSError as e:
        reason = e.strerror or "the system gives no reason"
        raise UnreadableFile(f"cannot read: {reason}", where=str(path), hint="check the path.") from e
    except DAMAGE as e:
        raise UnreadableFile(what, where=str(path), hint=hint) from e
