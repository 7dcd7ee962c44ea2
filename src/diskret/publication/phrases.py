"""German for reports on records: a phrase book over the finished sections.

Rooms below speak English only. What is not in the book stays as it is: names of columns, codes, numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diskret.model.words import words
from diskret.publication.sections import Cell, ReportChart, ReportSection, ReportTable

PHRASES, CHART_WORDS = words("phrases", "de"), words("chart_words", "de")
PATTERNS = [(re.compile(pattern), german) for pattern, german in words("patterns", "de").items()]


def in_german(phrase: str) -> str:
    """A phrase in German, if the book knows it.

    >>> in_german("records in the source"), in_german("turnover, before"), in_german("05111")
    ('Datensätze in der Quelle', 'turnover, vorher', '05111')
    """
    if phrase in PHRASES:
        return PHRASES[phrase]
    for pattern, german in PATTERNS:
        found = pattern.fullmatch(phrase)
        if found:
            return german.format(**{k: _inner(v) for k, v in found.groupdict("").items()})
    return phrase


def _inner(said: str) -> str:
    """What stands inside a sentence: a phrase, a number with its decimal sign, or a name."""
    if re.fullmatch(r"\d[\d,]*([.]\d+)?", said):
        return said.translate(str.maketrans(",.", ".,"))
    return PHRASES.get(said, said)


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
    rows = tuple((_fact(row[0]), *(_said(cell) for cell in row[1:])) for row in table.rows)
    return replace(table, head=tuple(in_german(h) for h in table.head), rows=rows, caption=in_german(table.caption))


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
