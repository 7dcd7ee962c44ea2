"""What stands at the head of a report: the verdict, what the report is about, what it holds."""

from __future__ import annotations

from dataclasses import dataclass

from diskret.model.words import words
from diskret.publication.origin import Origin
from diskret.publication.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """The first lines of a report."""

    mark: str = "internal"
    """Public or internal."""
    verdict: str = ""
    """In one line whether something may be released; empty where nothing is judged."""
    ready: bool = False
    note: str = ""
    about: tuple[tuple[str, str], ...] = ()
    """Date, data and program, by name."""


def head_of(
    verdict: Verdict | None, origin: Origin | None, language: str, *, note: str = "", internal: bool = True
) -> ReportHead:
    """The head of a report in its language.

    >>> head_of(Verdict(), Origin(version="1.0"), "en", internal=False).verdict
    'May be released.'
    """
    return ReportHead(
        mark="internal" if internal else "public",
        verdict="" if verdict is None else verdict.words(language, internal=internal),
        ready=verdict is not None and verdict.ready,
        note=note,
        about=tuple((origin or Origin()).rows(language, internal=internal)),
    )


def mark_text(head: ReportHead, language: str) -> str:
    """The mark in words.

    >>> mark_text(ReportHead(mark="public"), "de")
    'Öffentlich'
    """
    return words("report", language)[head.mark]
