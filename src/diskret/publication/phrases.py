"""German for reports on records: a phrase book over the finished sections.

Rooms below speak English only. What is not in the book stays as it is: names of columns, codes, numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskret.model.messages import message_in
from diskret.model.words import words
from diskret.publication.sections import Cell, ReportChart, ReportSection, ReportTable

PHRASES, CHART_WORDS = words("phrases", "de"), words("chart_words", "de")
PATTERNS, WARNINGS, ATTACKERS = (
    [(re.compile(pattern, re.DOTALL), german) for pattern, german in words(paper, "de").items()]
    for paper in ("patterns", "warnings", "attackers")
)


FACTS, CODES = ("note", "sums off", "contributors"), ("class", "column", "coefficient of", "sensitive")
"""Columns that hold phrases of ours, and first columns that hold names of the user."""


def in_german(phrase: str) -> str:
    """A phrase in German, if the book knows it.

    >>> in_german("records in the source"), in_german("turnover, before"), in_german("05111")
    ('Datensätze in der Quelle', 'turnover, vorher', '05111')
    """
    return PHRASES[phrase] if phrase in PHRASES else _fitting(phrase, PATTERNS)


def warning_in(warning: str, language: str) -> str:
    """A warning in the language of a report.

    >>> warning_in("2 cells cannot be protected as asked: a, b", "de")
    '2 Zellen lassen sich nicht wie verlangt schützen: a, b'
    """
    if language != "de":
        return warning
    known = _fitting(warning, WARNINGS)
    return known if known != warning else message_in(warning, language)


def attacker_in(who: str, language: str) -> str:
    """Who attacks, in the language of a report.

    >>> attacker_in("the largest contributor of (a)", "de")
    'der größte Beitragende von (a)'
    """
    return _fitting(who, ATTACKERS) if language == "de" else who


def _fitting(phrase: str, patterns: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """What the first pattern that fits makes of a phrase; the phrase itself if none does."""
    for pattern, german in patterns:
        found = pattern.fullmatch(phrase)
        if found:
            return german.format(**{k: _inner(v) for k, v in found.groupdict("").items()})
    return phrase


def _inner(said: str) -> str:
    """What stands inside a sentence: a phrase, a number with its decimal sign, or a name."""
    if re.fullmatch(r"\d[\d,]*([.]\d+)?", said):
        return said.translate(str.maketrans(",.", ".,"))
    return PHRASES[said] if said in PHRASES else _fitting(said, ATTACKERS)


def section_in_german(section: ReportSection) -> ReportSection:
    """A section with its title, texts, tables and charts in German."""
    return replace(
        section,
        title=in_german(section.title),
        text=tuple(_sentences(each) for each in section.text),
        tables=tuple(_table(each) for each in section.tables),
        charts=tuple(ReportChart(spec=_spec(each.spec), caption=in_german(each.caption)) for each in section.charts),
    )


def _sentences(text: str) -> str:
    """A paragraph as a whole, or sentence by sentence."""
    whole = in_german(text)
    if whole != text:
        return whole
    return " ".join(in_german(part) for part in re.split(r"(?<=[.]) ", text))


def _table(table: ReportTable) -> ReportTable:
    # the first column of a small table of facts names them; elsewhere codes of the user stand there
    facts = [i for i, name in enumerate(table.head) if name in FACTS] + ([0] if _known(table.head[0]) else [])
    facts = [i for i in facts if table.head[i] not in CODES]
    rows = tuple(tuple(_fact(c) if i in facts else _said(c) for i, c in enumerate(row)) for row in table.rows)
    return replace(table, head=tuple(in_german(h) for h in table.head), rows=rows, caption=in_german(table.caption))


def _known(phrase: str) -> bool:
    """Whether the book knows a phrase."""
    return phrase in PHRASES or in_german(phrase) != phrase


def _fact(cell: Cell) -> Cell:
    return in_german(cell) if isinstance(cell, str) else cell


def _said(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    if cell in ("yes", "no", "none"):
        return PHRASES[cell]
    return re.sub(r"(groups split 2 to rest|groups at their mean|groups|variance lost|codes changed)\b", _one, cell)


def _one(found: re.Match[str]) -> str:
    return PHRASES[found[0]]


def _spec(spec: Any) -> Any:
    """The words of a chart; its data and field names stay."""
    if isinstance(spec, Mapping):
        return {k: v if k in ("field", "mark", "type") else _spec(v) for k, v in spec.items()}
    if isinstance(spec, list):
        return [_spec(each) for each in spec]
    return CHART_WORDS.get(spec, spec) if isinstance(spec, str) else spec
