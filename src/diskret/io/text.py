"""Reading small text files of foreign programs: hierarchies, code lists, metadata."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from diskret.model.encoding import codec_of, not_in, text_facts
from diskret.model.errors import DiskretError, EmptyData, UnreadableFile
from diskret.model.limits import limits, refuse_more
from diskret.model.places import plain_file


def read_text(path: str | Path, *, lines: bool = False) -> str:
    """The text of a file: UTF-8, or as older programs write it; refuses missing, empty and binary files.

    With ``lines`` it is read line by line, and no line may be longer than a text may be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "old.cdl").write_bytes("1,K\xf6ln".encode("latin-1"))
    ...     read_text(Path(folder) / "old.cdl") == "1,K\xf6ln"
    True
    """
    file = Path(path)
    content = read_bytes(file)
    refuse_more("rows", content.count(b"\n"), "the file has {} lines", str(file))
    if lines:
        longest = max(map(len, content.splitlines()), default=0)
        refuse_more("text", longest, "a line has {} characters", str(file))
    if b"\0" in content:
        raise UnreadableFile("the file is not plain text", where=str(file), hint="save it as text in UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _as_older(content, file)
    if not text.strip():
        raise EmptyData("the file is empty", where=str(file), hint="was it written completely?")
    return text


def _as_older(content: bytes, file: Path) -> str:
    encoding = text_facts(file).encoding
    try:
        return content.decode(codec_of(encoding, file))
    except UnicodeDecodeError as e:  # its first bytes say UTF-8 or UTF-16, and it is not
        raise not_in(encoding, file) from e


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, if it is one and no larger than it may be; neither a pipe nor a device."""
    file = plain_file(path)
    try:
        with file.open("rb") as opened:
            # a buffer as large as a raised limit may not fit the memory; one byte more tells a file that grows
            size = os.fstat(opened.fileno()).st_size
            content = opened.read(min(limits().bytes, size) + 1)
    except OSError as e:
        raise UnreadableFile(f"cannot read: {e.strerror}", where=str(file), hint="check the path.") from e
    refuse_more("bytes", len(content), "the file has {} bytes or more", str(file))
    return content


@contextlib.contextmanager
def inside(path: str | Path) -> Iterator[None]:
    """Say in every error of the block which file it is about."""
    try:
        yield
    except DiskretError as e:
        if str(path) not in e.where:
            # a list of cells is handed on as columns; the user knows it as a file
            place = e.where.removeprefix("the dict").removeprefix(":").removeprefix(",").strip()
            e.where = f"{path}, {place}" if place else str(path)
        raise
