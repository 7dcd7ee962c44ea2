"""Packed files that unpack to no more than they can be worth: a few kilobytes may hold gigabytes of the same byte."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diskret.model.errors import TooLarge
from diskret.model.limits import limits, refuse_more

FREE = 5_000_000
"""Bytes that every file may unpack to, however small it is."""
CHUNK = 1 << 16


@dataclass
class Packed:
    """A zip file, and how much more may come out of it."""

    file: zipfile.ZipFile
    where: str
    most: int
    taken: int = 0

    def __contains__(self, part: str) -> bool:
        return part in self.file.NameToInfo

    def take(self, size: int) -> None:
        """Count what came out; refuse when it is too much."""
        self.taken += size
        if self.taken > self.most:
            refuse_more("bytes", self.taken, "the file unpacks to {} bytes", self.where)
            raise TooLarge.over("unpacked", limits().unpacked, "the file unpacks to many times its size", self.where)

    def chunks(self, part: str) -> Iterator[bytes]:
        """A part, piece by piece."""
        info = self.file.getinfo(part)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("packed in a way that nobody uses")
        with self.file.open(info) as file:
            while chunk := file.read(CHUNK):
                self.take(len(chunk))
                yield chunk


def unpacking(file: zipfile.ZipFile, path: str | Path) -> Packed:
    """A zip file, to be unpacked within the limits."""
    worth = max(FREE, limits().unpacked * Path(path).stat().st_size)
    return Packed(file, str(path), min(worth, limits().bytes))
