"""What a report was made from and when: data files with their hash, the program, a date that is no clock."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from datetime import date as day_of
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from diskret import __version__
from diskret.model.words import words

MOST_FILES = 8
"""Data in more files have one hash together."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a result comes from. Equal data, job and program give an equal origin: nothing is taken from the clock."""

    date: day_of | None = None
    """Of the release, as somebody said; none: the internal report tells when the data were written."""
    written: day_of | None = None
    """Day on which the youngest data file was written (UTC)."""
    files: tuple[tuple[str, str], ...] = ()
    """Names and SHA-256 of the data files."""
    version: str = __version__

    def rows(self, language: str, *, internal: bool) -> list[tuple[str, str]]:
        """What a report says about it.

        A hash of confidential data is internal: whoever knows most of a small file could try out the rest until it
        fits. So is the day on which the data were written, which is a clock of the house.

        >>> Origin(date=day_of(2026, 3, 31), version="1.0").rows("de", internal=False)
        [('Datum', '31.03.2026'), ('Programm', 'diskret 1.0')]
        """
        say = words("report", language)
        rows = [(say["date"], day_text(self.date, language))] if self.date else []
        if internal:
            rows += [(say["written"], day_text(self.written, language))] if self.written and not self.date else []
            rows += [(say["data"], f"{name}, SHA-256 {found}" if found else name) for name, found in self.files]
        return [*rows, (say["program"], f"diskret {self.version}")]

    def plain(self) -> dict[str, Any]:
        """As plain data, fit to be kept as JSON.

        >>> origin = Origin(written=day_of(2026, 3, 31), files=(("a.csv", "00"),))
        >>> Origin.from_plain(origin.plain()) == origin
        True
        """
        days = {"date": self.date, "written": self.written}
        said = {name: None if day is None else day.isoformat() for name, day in days.items()}
        return {**said, "files": [list(each) for each in self.files], "version": self.version}

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Origin:
        """From what `plain` gave."""
        days = {name: day_of.fromisoformat(given[name]) for name in ("date", "written") if given[name] is not None}
        files = tuple((str(name), str(found)) for name, found in given["files"])
        return cls(**days, files=files, version=str(given["version"]))


def origin_of(files: Sequence[Path], day: day_of | None = None, *, hashed: bool) -> Origin:
    """The origin of what is made from files; the day of a release is that of SOURCE_DATE_EPOCH if nobody said one."""
    there = [each for each in files if each.is_file()]
    youngest = max((each.stat().st_mtime for each in there), default=None)
    return Origin(
        date=day or _given_day(),
        written=None if youngest is None else datetime.fromtimestamp(youngest, tz=UTC).date(),
        files=_hashes(there) if hashed else tuple((each.name, "") for each in there[:MOST_FILES]),
    )


def _given_day() -> day_of | None:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(given), tz=UTC).date() if given.isdecimal() and len(given) < 12 else None


def _hashes(files: Sequence[Path]) -> tuple[tuple[str, str], ...]:
    found = []
    for each in files:
        with each.open("rb") as file:
            found.append((each.name, file_digest(file, "sha256").hexdigest()))
    if len(found) <= MOST_FILES:
        return tuple(found)
    together = sha256("".join(f"{digest}  {name}\n" for name, digest in found).encode()).hexdigest()
    return ((f"{found[0][0]} ... {found[-1][0]} ({len(found)})", together),)


def day_text(day: day_of, language: str) -> str:
    """A day as it is written in a language.

    >>> day_text(day_of(2026, 3, 31), "de"), day_text(day_of(2026, 3, 31), "en")
    ('31.03.2026', '2026-03-31')
    """
    return f"{day:%d.%m.%Y}" if language == "de" else day.isoformat()
