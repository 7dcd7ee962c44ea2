"""What a translation of a batch works with: files as they are found, metadata, mistakes, and a job as it grows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from diskret.argus.course import Asked, Mistake
from diskret.argus.places import Places, shown
from diskret.io.arb_commands import Command, OpenMicrodata
from diskret.io.metadata import Metadata
from diskret.io.rda import read_metadata
from diskret.model.errors import DiskretError

Content = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Said:
    """A line of the batch and what became of it, in a section of a job."""

    section: str
    line: int
    text: str
    words: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Work:
    """The files of a batch as they are found, and what is wrong so far."""

    places: Places
    mistakes: list[Mistake] = field(default_factory=list)
    metadata: dict[str, Metadata | None] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    written: list[tuple[Command, str]] = field(default_factory=list)

    def wrong(self, command: Command, what: str, hint: str) -> None:
        """Note a mistake of a line."""
        self.mistakes.append((command.line, what, hint))

    def reads(self, command: Command, reference: str) -> str:
        """A file the batch names, found."""
        found = self.places.reads(reference)
        if found is None:
            hint = "it is neither where the batch says nor beside the batch: put it there."
            self.wrong(command, f"there is no file {reference[-100:]!r}", hint)
        else:
            self.read.add(found)
        return found or reference

    def is_empty(self, command: Command, file: str) -> bool:
        """Whether a file that was found holds nothing, which is said: rtauargus writes such a-priori files."""
        found = self.places.here / file
        empty = os.path.isfile(found) and os.path.getsize(found) == 0
        if empty:
            self.places.say(f"line {command.line}: {found.name!r} is empty and says nothing about any cell")
        return empty

    def writes(self, command: Command, reference: str) -> str:
        """Where a file of the batch goes."""
        file = self.places.writes(reference)
        if file is None:
            self.wrong(command, f"no file can be called {reference[-100:]!r}", "name one, such as out.csv.")
            return reference
        self.written.append((command, file))
        return file

    def described(self, asked: Asked) -> Metadata | None:
        """The metadata of a table; None if they cannot be read, which is noted."""
        file = self.reads(asked.metadata, asked.metadata.file)
        if file not in self.metadata:
            try:
                tabular = None if isinstance(asked.data, OpenMicrodata) else True
                found = read_metadata(self.places.here / file, tabular=tabular)
                self.metadata[file] = found
                for v in found.variables:
                    for reference in (v.hierarchy, v.codelist):
                        self._say_where(found, reference)
            except DiskretError as e:
                self.metadata[file] = None
                if self.places.reads(asked.metadata.file) is not None:
                    self.wrong(asked.metadata, f"{e.what} ({e.where})", e.hint)
        return self.metadata[file]

    def _say_where(self, metadata: Metadata, reference: str | None) -> None:
        """Say that a file of the metadata is read beside them, if they name another place."""
        if reference and ("\\" in reference or "/" in reference):
            found = metadata.file(reference)
            named = metadata.path.parent / reference
            if os.path.exists(named) and os.path.samefile(named, found):
                return
            self.places.say(f"{shown(reference)} of the metadata: {found.name!r} beside them is read")


@dataclass(kw_only=True)
class Made:
    """A job as it grows."""

    content: Content = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)

    def note(self, section: str, command: Command, *words: str) -> None:
        """Say which line of the batch a section comes from, and what there is to say about it."""
        self.said.append(Said(section=section, line=command.line, text=command.text, words=words))
