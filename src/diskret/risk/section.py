"""What a result tells a report: plain data, nothing of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Section:
    """A piece of a report: a title, a few sentences, a table, and perhaps a chart (Vega-Lite)."""

    title: str
    text: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    chart: dict[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        """The same as a mapping, for whoever writes the report.

        >>> said = Section(title="Risk", text="Low.", columns=("region", "risk"), rows=(("West", 0.2),))
        >>> said.plain()["tables"]
        [{'head': ['region', 'risk'], 'rows': [['West', 0.2]]}]
        """
        tables = [{"head": list(self.columns), "rows": [list(row) for row in self.rows]}] if self.rows else []
        charts = [{"spec": self.chart}] if self.chart else []
        return {"title": self.title, "text": self.text, "tables": tables, "charts": charts}
