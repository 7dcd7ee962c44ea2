"""What a report shows, as plain data: any room can have its results shown without knowing the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from diskret.model.errors import BadOption
from diskret.publication.drawing import Plot
from diskret.publication.numbers import number_text as number_text

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """A table of texts and numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    right: tuple[int, ...] = ()
    """Columns of texts that stand like numbers: marks, and values with all their decimals."""
    stub: int = 0
    """How many of the first columns name the rows: where a table is broader than a page, they stand on each."""


@dataclass(frozen=True, kw_only=True)
class ReportChart:
    """A plot as a Vega-Lite specification with its data inside, and what it shows in words."""

    spec: Mapping[str, Any]
    caption: str = ""

    @property
    def shown(self) -> str:
        """For those who do not see it: the caption, or the title."""
        title = self.spec.get("title", "")
        return self.caption or (title if isinstance(title, str) else "")


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A heading with paragraphs, tables and plots.

    >>> plain = {"title": "Risk", "text": "No cell above the cap.",
    ...          "tables": [{"head": ["cell", "risk"], "rows": [["West/20", 0.2]]}]}
    >>> ReportSection.from_plain(plain).tables[0].rows
    (('West/20', 0.2),)
    """

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    charts: tuple[ReportChart, ...] = field(default=(), repr=False)
    plots: tuple[Plot, ...] = field(default=(), repr=False)
    """Plots that need no plotting library."""

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> ReportSection:
        """From a mapping with title, text (one or several), tables, charts and plots, each by their fields."""
        unknown = set(given) - {"title", "text", "tables", "charts", "plots"}
        if "title" not in given or unknown:
            raise BadOption("a section has title, text, tables, charts and plots", hint="only the title is required.")
        text = given.get("text", ())
        return cls(
            title=str(given["title"]),
            text=(text,) if isinstance(text, str) else tuple(text),
            tables=tuple(_table(each) for each in given.get("tables", ())),
            charts=tuple(ReportChart(**each) for each in given.get("charts", ())),
            plots=tuple(_plot(each) for each in given.get("plots", ())),
        )

    def plain(self) -> dict[str, Any]:
        """The same as a mapping of plain data, fit to be kept as JSON.

        >>> section = ReportSection(title="Risk", text=("None.",), tables=(ReportTable(head=("n",), rows=((1,),)),))
        >>> ReportSection.from_plain(section.plain()) == section
        True
        """
        return {
            "title": self.title,
            "text": list(self.text),
            "tables": [asdict(table) for table in self.tables],
            "charts": [{"spec": chart.spec, "caption": chart.caption} for chart in self.charts],
            "plots": [asdict(plot) for plot in self.plots],
        }


def _table(given: Mapping[str, Any]) -> ReportTable:
    rows = tuple(tuple(row) for row in given["rows"])
    return ReportTable(
        head=tuple(given["head"]), rows=rows, caption=given.get("caption", ""), right=tuple(given.get("right", ())),
        stub=int(given.get("stub", 0)),
    )  # fmt: skip


def _plot(given: Mapping[str, Any]) -> Plot:
    known = {name: value for name, value in given.items() if name != "stacked"}  # kept by runs of earlier versions
    return Plot(**{**known, "x": tuple(given["x"])})
