"""What a result tells a report: plain data, nothing of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """A piece of a report: a title, a few sentences, a table, and perhaps a chart (Vega-Lite)."""

    title: str
    text: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    chart: dict[str, Any] | None = None
