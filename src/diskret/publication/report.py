"""A report as one file that needs nothing else, HTML or PDF: text, tables, and plots inside the file.

What is shown is plain data (`ReportSection`): any room can have its results shown without knowing the report.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.model.words import words
from diskret.publication.drawing import Plot, draw, svg

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
    right: tuple[int, ...] = ()
    """Columns of texts that stand like numbers: marks, and values with all their decimals."""


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
            str(given["title"]),
            (text,) if isinstance(text, str) else tuple(text),
            tuple(
                ReportTable(
                    tuple(t["head"]), tuple(tuple(row) for row in t["rows"]), t.get("caption", ""),
                    tuple(t.get("right", ())),
                )
                for t in given.get("tables", ())
            ),
            tuple(ReportChart(c["spec"], c.get("caption", "")) for c in given.get("charts", ())),
            tuple(Plot(**{**p, "x": tuple(p["x"])}) for p in given.get("plots", ())),
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """The same as a mapping of plain data, fit to be kept as JSON.

        >>> section = ReportSection("Risk", ("None.",), (ReportTable(("n",), ((1,),)),))
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


ENDINGS = (".html", ".pdf")


def write_report(
    path: str | Path, title: str, sections: Sequence[ReportSection], *, note: str = "", language: str = "en"
) -> None:
    """Write sections as one HTML or PDF file, by its ending.

    PDF needs the extra ``report``. Charts of the extra ``plots`` need it too; without it the report says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "r.html", "Panel", [ReportSection("Utility", ("All is well.",))])
    ...     "<h2 id='s1'>Utility</h2>" in (Path(folder) / "r.html").read_text(encoding="utf-8")
    True
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise BadOption(
            f"reports are not written as {target.suffix or 'a file without ending'}",
            where=str(target),
            hint=f"choose an ending of {listed(ENDINGS)}.",
        )
    if target.suffix.lower() == ".pdf":
        from diskret.publication.report_pdf import report_pdf

        content = report_pdf(title, sections, note, language)
    else:
        content = report_text(title, sections, note, language).encode("utf-8")
    with whole_file(target) as part:
        part.write_bytes(content)


def report_text(title: str, sections: Sequence[ReportSection], note: str = "", language: str = "en") -> str:
    """The HTML of a report."""
    contents = "".join(f"<li><a href='#s{i}'>{_text(s.title)}</a></li>" for i, s in enumerate(sections, 1))
    body = "".join(_section(i, section, language) for i, section in enumerate(sections, 1))
    said = f"<p class='note' role='note'>{_text(note)}</p>" if note else ""
    name = words("report", language)["contents"]
    return (
        f"<!DOCTYPE html><html lang='{_text(language)}'><head><meta charset='utf-8'><title>{_text(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head>"
        f"<body><header><h1>{_text(title)}</h1>{said}</header><nav aria-label='{name}'><ul>{contents}</ul></nav>"
        f"<main>{body}</main></body></html>\n"
    )


def _section(number: int, section: ReportSection, language: str) -> str:
    parts = [f"<section><h2 id='s{number}'>{_text(section.title)}</h2>"]
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.text]
    parts += [f"<figure class='plot'>{svg(draw(plot, language))}</figure>" for plot in section.plots]
    parts += [_table(table, language) for table in section.tables]
    if section.charts:
        parts.append("<div class='charts'>" + "".join(_chart(chart, language) for chart in section.charts) + "</div>")
    return "".join([*parts, "</section>"])


def _table(table: ReportTable, language: str) -> str:
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    right = set(table.right)
    head = "".join(f"<th scope='col'{_N if i in right else ''}>{_text(name)}</th>" for i, name in enumerate(table.head))
    rows = "".join(
        "<tr>" + "".join(_cell(cell, language, i in right) for i, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    whole = f"<div class='wide'><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    if len(table.rows) <= LONG:
        return whole
    count = words("report", language)["rows"].format(n=number_text(len(table.rows), language))
    return f"<details><summary>{_text(table.caption)}: {count}</summary>{whole}</details>"


_N = " class='n'"


def number_text(number: float, language: str = "en") -> str:
    """A number for the eye: groups of three digits, four leading ones of a fraction.

    >>> number_text(12345), number_text(0.123456, "de"), number_text(12345, "de")
    ('12,345', '0,1235', '12.345')
    """
    text = f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"
    return text.translate(str.maketrans(",.", ".,")) if language == "de" else text


def _cell(cell: Cell, language: str, right: bool) -> str:
    if cell is None:
        return f"<td{_N}>–</td>"
    if isinstance(cell, str):
        return f"<td{_N if right else ''}>{_text(cell)}</td>"
    return f"<td{_N}>{number_text(cell, language)}</td>"


def _chart(chart: ReportChart, language: str) -> str:
    """A plot as a picture inside the file: no script runs in a report, and nothing is fetched."""
    try:
        import vl_convert
    except ImportError:
        said = words("report", language)["extra"]
        return f"<figure><figcaption>{_text(chart.caption)}: {_text(said)}</figcaption></figure>"
    picture = _numbered(vl_convert.vegalite_to_svg(json.dumps(chart.spec)))
    held = base64.b64encode(picture.encode("utf-8")).decode("ascii")
    title = chart.spec.get("title", "")
    said = _text(chart.caption or (title if isinstance(title, str) else ""))
    broad = " class='broad'" if chart.spec.get("width", 0) > BROAD else ""
    source = f"data:image/svg+xml;base64,{held}"
    caption = f"<figcaption>{_text(chart.caption)}</figcaption>" if chart.caption else ""
    return f"<figure{broad}><img alt='{said}' src='{source}'>{caption}</figure>"


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
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.wide{overflow-x:auto}"
    "th{background:#f3f5f7}.plot{max-width:46rem;margin:1rem 0}.plot svg{width:100%;height:auto}"
    "nav ul{columns:2;font-size:.92rem}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}"
    ".broad{grid-column:1/-1}figure{margin:0}figure img{max-width:100%}figcaption{font-size:.82rem;color:#555}"
    "@media print{nav{display:none}section{break-inside:avoid}}"
)
