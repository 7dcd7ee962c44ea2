"""What a pattern costs, in shares: how much another one could save, and what last period's pattern was worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskret.model.words import words
from diskret.publication.public_report import decimal
from diskret.publication.sections import Cell, ReportSection, ReportTable

PRICED = ("gap", "consistency")
"""What of the summary of a suppression is told here."""


def price_section(found: Mapping[str, Mapping[str, Any]], language: str) -> ReportSection | None:
    """Per response the gap to the cheapest pattern and the curve of consistency against price; None without either.

    >>> price_section({"x": {"gap": 0.031}}, "en").text
    ('x: another pattern could save at most 3.1 % of its price.',)
    """
    say, text, tables = words("table_report", language), [], []
    for name, facts in found.items():
        gap, kept = facts.get("gap"), facts.get("consistency")
        if gap is not None:
            key = "gap" if gap else "gap none"
            text.append(say[key].format(table=name, gap=_percent(gap, language)))
        if kept is not None:
            text.append(_kept(name, kept, say, language))
            tables.append(_curve(name, kept, say, language))
    if not text:
        return None
    return ReportSection(title=say["price"], text=tuple(text), tables=tuple(tables))


def _kept(name: str, kept: Mapping[str, Any], say: Mapping[str, str], language: str) -> str:
    shares = {key: _percent(kept[key], language) for key in ("share", "share without", "dearer")}
    allowed = say["anything"] if kept["at most"] is None else _percent(kept["at most"], language)
    return say["kept"].format(
        table=name, share=shares["share"], without=shares["share without"], dearer=shares["dearer"], allowed=allowed
    )


def _curve(name: str, kept: Mapping[str, Any], say: Mapping[str, str], language: str) -> ReportTable:
    """What was tried, one row each."""
    rows: list[tuple[Cell, ...]] = [
        (
            say["as printed"] if one["bonus"] is None else decimal(f"{one['bonus']:g}", language),
            _percent(one["share"], language),
            say["not comparable"] if one["dearer"] is None else _percent(one["dearer"], language),
        )
        for one in kept["curve"]
    ]
    head = tuple(say[key] for key in ("surcharge", "kept share", "dearer"))
    return ReportTable(head=head, rows=tuple(rows), caption=say["curve"].format(table=name), right=(0, 1, 2))


def _percent(share: float | None, language: str) -> str:
    return "–" if share is None else decimal(f"{100 * share:.1f} %", language)
