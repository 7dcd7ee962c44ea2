"""A report as PDF: the same sections as the page, tables with repeated heads, plots as vectors. Needs fpdf2."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from diskret.model.errors import MissingExtra
from diskret.model.words import words
from diskret.publication.drawing import Box, Drawing, Path, draw
from diskret.publication.sections import Cell, ReportChart, ReportSection, ReportTable, number_text

MARGIN = 18.0
INK, GREY, SHADE = (27, 27, 27), (110, 110, 110), (243, 245, 247)
LONGEST = 400
"""Rows of a table that are printed; the page holds all of them."""
PLAIN = str.maketrans({"–": "-", "—": "-", "×": "x", "„": '"', "“": '"', "”": '"', "’": "'", "…": "...", "≥": ">=",
                       "≤": "<=", "\u00a0": " ", "\u202f": " ", "−": "-", "→": "->"})  # fmt: skip


def report_pdf(title: str, sections: Sequence[ReportSection], note: str = "", language: str = "en") -> bytes:
    """The bytes of a PDF; equal sections give equal bytes."""
    try:
        from fpdf import FPDF
    except ImportError as e:
        raise MissingExtra.needed("report", "a report as .pdf") from e

    page = words("report", language)["page"]

    class Document(FPDF):  # type: ignore[misc]
        def footer(self) -> None:
            self.set_y(-13)
            self.set_font("Helvetica", size=8)
            self.set_text_color(*GREY)
            self.cell(0, 6, _plain(f"{title}  -  {page} {self.page_no()}/{{nb}}"), align="C")

    pdf: Any = Document(format="A4")
    # no clock: equal reports are equal files
    pdf.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))
    pdf.set_producer("diskret")
    pdf.set_title(_plain(title))
    pdf.set_lang(language)
    pdf.set_margins(MARGIN, MARGIN, MARGIN)
    pdf.set_auto_page_break(True, margin=MARGIN)
    pdf.add_page()
    _words(pdf, title, 18, "B", 9)
    if note:
        pdf.set_fill_color(255, 244, 214)
        pdf.set_font("Helvetica", size=9.5)
        pdf.multi_cell(0, 5, _plain(note), align="L", fill=True, padding=2, new_x="LMARGIN", new_y="NEXT")
    for section in sections:
        _section(pdf, section, language)
    return bytes(pdf.output())


def _section(pdf: Any, section: ReportSection, language: str) -> None:
    if pdf.get_y() > pdf.h - 55:
        pdf.add_page()
    pdf.ln(5)
    pdf.start_section(_plain(section.title))
    _words(pdf, section.title, 13, "B", 7)
    for paragraph in section.text:
        _words(pdf, paragraph, 9.5, "", 4.8)
        pdf.ln(1)
    for plot in section.plots:
        _drawing(pdf, draw(plot, language))
    for table in section.tables:
        _table(pdf, table, language)
    for chart in section.charts:
        _chart(pdf, chart, language)


def _words(pdf: Any, text: str, size: float, style: str, height: float) -> None:
    pdf.set_font("Helvetica", style=style, size=size)
    pdf.set_text_color(*INK)
    pdf.multi_cell(0, height, _plain(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _table(pdf: Any, table: ReportTable, language: str) -> None:
    if table.caption:
        pdf.ln(1.5)
        _words(pdf, table.caption, 9.5, "B", 5)
    widths = _widths(pdf, table, language)
    right = set(table.right)
    pdf.set_draw_color(210, 210, 210)

    def head() -> None:
        pdf.set_font("Helvetica", style="B", size=_size(table))
        pdf.set_fill_color(*SHADE)
        for i, (name, width) in enumerate(zip(table.head, widths, strict=True)):
            pdf.cell(width, 5.4, _fitting(pdf, name, width), border="B", fill=True, align="R" if i in right else "L")
        pdf.ln()
        pdf.set_font("Helvetica", size=_size(table))

    if pdf.get_y() > pdf.h - MARGIN - 16:
        pdf.add_page()
    head()
    for row in table.rows[:LONGEST]:
        if pdf.get_y() > pdf.h - MARGIN - 6:
            pdf.add_page()
            head()
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            number = i in right or not isinstance(cell, str)
            pdf.cell(width, 4.8, _fitting(pdf, _shown(cell, language), width), border="B", align="R" if number else "L")
        pdf.ln()
    if len(table.rows) > LONGEST:
        _words(pdf, f"+ {number_text(len(table.rows) - LONGEST, language)}", 8, "", 4)
    pdf.ln(1)


def _size(table: ReportTable) -> float:
    return 8.0 if len(table.head) <= 8 else 6.8


def _widths(pdf: Any, table: ReportTable, language: str) -> list[float]:
    """Columns as wide as their words, together no wider than the page."""
    pdf.set_font("Helvetica", style="B", size=_size(table))
    rows = [tuple(_shown(c, language) for c in row) for row in table.rows[:LONGEST]]
    found = [
        max(pdf.get_string_width(_plain(text)) for text in column) + 3.5
        for column in zip(table.head, *rows, strict=True)
    ]
    return _narrowed(found, pdf.w - 2 * MARGIN)


def _narrowed(widths: Sequence[float], room: float) -> list[float]:
    """Widths that fit the room: narrow columns stay whole, the widest give way.

    >>> _narrowed([10, 60, 80], 100)
    [10, 45.0, 45.0]
    """
    if sum(widths) <= room:
        return list(widths)
    rest = room
    for left, width in zip(range(len(widths), 0, -1), sorted(widths), strict=True):
        if width * left > rest:
            return [min(w, rest / left) for w in widths]
        rest -= width
    return list(widths)


def _fitting(pdf: Any, text: str, width: float) -> str:
    words = _plain(text)
    if pdf.get_string_width(words) <= width - 1.5:
        return words
    while words and pdf.get_string_width(words + "..") > width - 1.5:
        words = words[:-1]
    return words + ".."


def _shown(cell: Cell, language: str) -> str:
    return "-" if cell is None else cell if isinstance(cell, str) else number_text(cell, language)


def _drawing(pdf: Any, drawing: Drawing) -> None:
    """A plot line by line, in the width of the page."""
    scale = (pdf.w - 2 * MARGIN) / drawing.width
    if pdf.get_y() + drawing.height * scale > pdf.h - MARGIN:
        pdf.add_page()
    x0, y0 = pdf.l_margin, pdf.get_y() + 2
    for part in drawing.parts:
        if isinstance(part, Box):
            pdf.set_fill_color(*_rgb(part.colour))
            pdf.rect(x0 + part.x * scale, y0 + part.y * scale, part.width * scale, part.height * scale, style="F")
        elif isinstance(part, Path):
            pdf.set_draw_color(*_rgb(part.colour))
            pdf.set_line_width(part.width * scale * 0.6)
            if part.dash:
                pdf.set_dash_pattern(part.dash[0] * scale, part.dash[1] * scale)
            pdf.polyline([(x0 + x * scale, y0 + y * scale) for x, y in part.points])
            pdf.set_dash_pattern()
        else:
            pdf.set_font("Helvetica", size=part.size * scale * 2.6)
            pdf.set_text_color(*INK)
            text = _plain(part.text)
            shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[part.anchor] * pdf.get_string_width(text)
            pdf.text(x0 + part.x * scale - shift, y0 + part.y * scale, text)
    pdf.set_line_width(0.2)
    pdf.set_y(y0 + drawing.height * scale + 2)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _chart(pdf: Any, chart: ReportChart, language: str) -> None:
    """A chart of the plotting library, as a picture."""
    try:
        import vl_convert
    except ImportError:
        _words(pdf, f"{chart.caption}: {words('report', language)['extra']}", 9, "", 5)
        return
    picture = BytesIO(vl_convert.vegalite_to_png(json.dumps(chart.spec), scale=2))
    width = min(pdf.w - 2 * MARGIN, 0.3 * chart.spec.get("width", 260) + 30)
    if chart.caption:
        if pdf.get_y() > pdf.h - 80:
            pdf.add_page()
        _words(pdf, chart.caption, 9, "", 5)
    pdf.image(picture, w=width, alt_text=_plain(chart.caption) or None)
    pdf.ln(2)


def _plain(text: str) -> str:
    """Text in the letters of the fonts every PDF reader has; other signs without their accents, or as a question mark.

    >>> _plain("Größe – łódź")
    'Größe - ?ódz'
    """
    words = text.translate(PLAIN)
    found = []
    for sign in words:
        if ord(sign) < 256:
            found.append(sign)
            continue
        base = unicodedata.normalize("NFKD", sign).encode("latin-1", "ignore").decode("latin-1")
        found.append(base or "?")
    return "".join(found)
