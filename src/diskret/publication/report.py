"""A report as one HTML file that needs nothing else: text, tables, and plots as pictures inside the file.

What is shown is plain data (`ReportSection`): any room can have its results shown without knowing the report.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption

Cell = str | int | float | None
LONG = 60
"""Longer tables are folded."""
BROAD = 300
"""Broader plots get a line of their own."""


@dataclass(frozen=True)
class ReportTable:
    """A table of texts and numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class ReportChart:
    """A plot as a Vega-Lite specification with its data inside, and what it shows in words."""

    spec: Mapping[str, Any]
    caption: str


@dataclass(frozen=True)
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

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> ReportSection:
        """From a mapping with title, text (one or several), tables (head, rows, caption) and charts (spec, caption)."""
        unknown = set(given) - {"title", "text", "tables", "charts"}
        if "title" not in given or unknown:
            raise BadOption("a section has title, text, tables and charts", hint="only the title is required.")
        text = given.get("text", ())
        return cls(
            str(given["title"]),
            (text,) if isinstance(text, str) else tuple(text),
            tuple(
                ReportTable(tuple(t["head"]), tuple(tuple(row) for row in t["rows"]), t.get("caption", ""))
                for t in given.get("tables", ())
            ),
            tuple(ReportChart(c["spec"], c.get("caption", "")) for c in given.get("charts", ())),
        )


def write_report(
    path: str | Path, title: str, sections: Sequence[ReportSection], *, note: str = "", language: str = "en"
) -> None:
    """Write sections as one HTML file; plots need the extra ``plots``, without it the report says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "r.html", "Panel", [ReportSection("Utility", ("All is well.",))])
    ...     "<h2 id='s1'>Utility</h2>" in (Path(folder) / "r.html").read_text(encoding="utf-8")
    True
    """
    with whole_file(path) as part:
        part.write_text(report_text(title, sections, note, language), encoding="utf-8")


def report_text(title: str, sections: Sequence[ReportSection], note: str = "", language: str = "en") -> str:
    """The HTML of a report."""
    contents = "".join(f"<li><a href='#s{i}'>{_text(s.title)}</a></li>" for i, s in enumerate(sections, 1))
    body = "".join(_section(i, section) for i, section in enumerate(sections, 1))
    said = f"<p class='note'>{_text(note)}</p>" if note else ""
    return (
        f"<!DOCTYPE html><html lang='{_text(language)}'><head><meta charset='utf-8'><title>{_text(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head>"
        f"<body><h1>{_text(title)}</h1>{said}<nav><ul>{contents}</ul></nav>{body}</body></html>\n"
    )


def _section(number: int, section: ReportSection) -> str:
    parts = [f"<section><h2 id='s{number}'>{_text(section.title)}</h2>"]
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.text]
    parts += [_table(table) for table in section.tables]
    if section.charts:
        parts.append("<div class='charts'>" + "".join(_chart(chart) for chart in section.charts) + "</div>")
    return "".join([*parts, "</section>"])


def _table(table: ReportTable) -> str:
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    head = "".join(f"<th scope='col'>{_text(name)}</th>" for name in table.head)
    rows = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in table.rows)
    whole = f"<div class='wide'><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    if len(table.rows) <= LONG:
        return whole
    return f"<details><summary>{_text(table.caption)}: {len(table.rows):,} rows</summary>{whole}</details>"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "<td class='n'>–</td>"
    if isinstance(cell, str):
        return f"<td>{_text(cell)}</td>"
    return f"<td class='n'>{cell:,}</td>" if isinstance(cell, int) else f"<td class='n'>{cell:,.4g}</td>"


def _chart(chart: ReportChart) -> str:
    """A plot as a picture inside the file: no script runs in a report, and nothing is fetched."""
    try:
        import vl_convert
    except ImportError:
        return f"<figure><figcaption>{_text(chart.caption)}: plots need the extra 'plots'</figcaption></figure>"
    picture = _numbered(vl_convert.vegalite_to_svg(json.dumps(chart.spec)))
    held = base64.b64encode(picture.encode("utf-8")).decode("ascii")
    title = chart.spec.get("title", "")
    words = _text(chart.caption or (title if isinstance(title, str) else ""))
    broad = " class='broad'" if chart.spec.get("width", 0) > BROAD else ""
    source = f"data:image/svg+xml;base64,{held}"
    caption = f"<figcaption>{_text(chart.caption)}</figcaption>" if chart.caption else ""
    return f"<figure{broad}><img alt='{words}' src='{source}'>{caption}</figure>"


def _numbered(picture: str) -> str:
    """Names inside a picture counted from its own beginning: the program that draws counts on from plot to plot."""
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", picture))
    new = {name: f"{name.rstrip('0123456789')}{number}" for number, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda found: new[found[0]], picture)


def _text(words: str) -> str:
    return html.escape(words, quote=True)


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "h1{font-size:1.7rem}h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:1px solid #ccc}"
    ".note{background:#fff4d6;border-left:4px solid #d9a400;padding:.5rem 1rem}"
    "table{border-collapse:collapse;font-size:.88rem;margin:1rem 0}caption{text-align:left;font-weight:600}"
    "th,td{padding:.2rem .7rem;border-bottom:1px solid #e3e3e3;text-align:left;vertical-align:top}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.wide{overflow-x:auto}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}"
    ".broad{grid-column:1/-1}figure{margin:0}figure img{max-width:100%}figcaption{font-size:.82rem;color:#555}"
    "@media print{nav{display:none}section{break-inside:avoid}}"
)
