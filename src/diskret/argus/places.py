"""Where the files of a batch are: at the place it names, or else beside it, and where those it writes go.

Batches name places of the machine they were written on: drives, shares of another house, folders with other capitals.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

LONGEST = 200
"""Characters of a name that a message shows."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """The folder of a batch and the one its outputs go to; what was found elsewhere is noted."""

    here: Path
    out: Path | None = None
    notes: dict[str, None] = field(default_factory=dict)
    """What is said about places, in order and once each."""

    def reads(self, reference: str) -> str | None:
        """A file that is there, as a job in the folder of the batch names it; None if there is none."""
        name = _name(reference)
        for folder, parts in self._places(reference):
            if found := _walk(folder, parts):
                if parts != _parts(reference) or found.name != name:
                    self.say(f"{shown(reference)} is not there: {found.name!r} beside the batch is read instead")
                return self._called(found)
        return None

    def _places(self, reference: str) -> list[tuple[Path, tuple[str, ...]]]:
        """Where to look: as written, then beside the batch."""
        parts, name = _parts(reference), _name(reference)
        if not name:
            return []
        own = Path(Path(reference).anchor) if os.path.isabs(reference) else self.here
        return [*([] if _is_foreign(reference) else [(own, parts)]), (self.here, (name,))]

    def writes(self, reference: str) -> str | None:
        """Where a file goes: to ``out``, to the place that is named, or beside the batch; None if it has no name."""
        name = _name(reference)
        if not name:
            return None
        if self.out is not None:
            return self._called(self.out / name)
        wanted = Path(reference) if os.path.isabs(reference) else self.here.joinpath(*_parts(reference))
        if not _is_foreign(reference) and os.path.isdir(wanted.parent):
            return self._called(wanted)
        self.say(f"there is no folder for {shown(reference)}: {name!r} is written beside the batch")
        return self._called(self.here / name)

    def _called(self, path: Path) -> str:
        """A path as a job in the folder of the batch names it."""
        full, here = Path(os.path.abspath(path)), Path(os.path.abspath(self.here))
        return (full.relative_to(here) if full.is_relative_to(here) else full).as_posix()

    def say(self, words: str) -> None:
        """Note what a reader of the log should know."""
        self.notes[words] = None


def shown(reference: str) -> str:
    """A name as the batch writes it, fit for a line.

    >>> shown(r"\\\\house\\firms.asc")
    "'\\\\\\\\house\\\\firms.asc'"
    """
    return "'" + "".join(c if c.isprintable() else "?" for c in reference[:LONGEST]) + "'"


def _parts(reference: str) -> tuple[str, ...]:
    """Folders and name, whichever way the slashes lean, without a drive."""
    if "\0" in reference:
        return ()
    return tuple(part for part in re.split(r"[\\/]", re.sub("^[A-Za-z]:", "", reference)) if part not in ("", "."))


def _name(reference: str) -> str:
    name = (*_parts(reference), "")[-2 if _parts(reference) else -1]
    return "" if name.strip(". ") == "" else name


def _is_foreign(reference: str) -> bool:
    """Whether a place is one of another system: a drive, a share."""
    return not os.path.isabs(reference) and re.match(r"[A-Za-z]:|\\", reference) is not None


def _walk(folder: Path, parts: tuple[str, ...]) -> Path | None:
    """The file at the end of a way, with capitals as they come."""
    place = folder
    for part in parts:
        if not os.path.exists(place / part):
            names = sorted(os.listdir(place)) if os.path.isdir(place) else []
            part = next((each for each in names if each.lower() == part.lower()), part)
        place = place / part
    return place if os.path.isfile(place) else None
