"""A report as PDF: the same sections as the page, tables with repeated heads, plots as vectors. Needs fpdf2."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from diskret.model.errors import MissingExtra
from diskret.model.words import words
from diskret.publication.drawing import Drawing, Words, draw
from diskret.publication.report_head import ReportHead, mark_text
from diskret.publication.report_html import svg
from diskret.publication.sections import Cell, ReportChart, ReportSection, ReportTable, number_text

MARGIN = 18.0
INK, GREY, SHADE = (27, 27, 27), (110, 110, 110), (243, 245, 247)
READY, WAITING, NOTED = (230, 244, 232), (251, 228, 228), (255, 244, 214)
LONGEST = 2_000
"""Longer tables are not for paper."""
FEWEST = 8
"""A table that does not fit begins on this page only if so many of its rows do."""
LINE = 4.8
PLOT = 150.0
"""Width of a plot."""
SMALLEST = 0.7
"""A plot may shrink so far where that keeps it on the page."""
PLAIN = str.maketrans({"–": "-", "—": "-", "×": "x", "„": '"', "“": '"', "”": '"', "’": "'", "…": "...", "≥": ">=",
                       "≤": "<=", "\u00a0": " ", "\u202f": " ", "−": "-", "→": "->"})  # fmt: skip


def report_pdf(
    title: str, sections: Sequence[ReportSection], language: str = "en", head: ReportHead | None = None
) -> bytes:
    """The bytes of a PDF with its mark on every page; equal sections give equal bytes."""
    try:
        from fpdf import FPDF
    except ImportError as e:
        raise MissingExtra.needed("report", "a report as .pdf") from e

    head = head or ReportHead()
    page, mark = words("report", language)["page"], mark_text(head, language)

    class Document(FPDF):  # type: ignore[misc]
        def footer(self) -> None:
            self.set_y(-13)
            self.set_font("Helvetica", size=8)
            self.set_text_color(*GREY)
            self.cell(0, 6, _plain(f"{mark}  -  {title}  -  {page} {self.page_no()}/{{nb}}"), align="C")

    pdf: Any = Document(format="A4")
    # no clock: equal reports are equal files
    pdf.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))
    pdf.set_producer("diskret")
    pdf.set_title(_plain(title))
    pdf.set_subject(_plain(mark))
    pdf.set_lang(language)
    pdf.set_margins(MARGIN, MARGIN, MARGIN)
    pdf.set_auto_page_break(True, margin=MARGIN)
    pdf.add_page()
    _words(pdf, mark, 10, "B", 6)
    _words(pdf, title, 18, "B", 9)
    _head(pdf, head)
    for section in sections:
        _section(pdf, section, language)
    return bytes(pdf.output())


def _head(pdf: Any, head: ReportHead) -> None:
    """The verdict, what the report holds, and what it is about."""
    for text, style, size, colour in (
        (head.verdict, "B", 11.0, READY if head.ready else WAITING), (head.note, "", 9.5, NOTED)
    ):  # fmt: skip
        if text:
            pdf.set_fill_color(*colour)
            pdf.set_font("Helvetica", style=style, size=size)
            pdf.multi_cell(0, 5, _plain(text), align="L", fill=True, padding=2, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(1.5)
    for name, what in head.about:
        pdf.set_font("Helvetica", size=8.5)
        pdf.set_text_color(*GREY)
        pdf.cell(34, 4.4, _plain(name))
        pdf.set_text_color(*INK)
        pdf.multi_cell(0, 4.4, _plain(what), align="L", new_x="LMARGIN", new_y="NEXT")


def _section(pdf: Any, section: ReportSection, language: str) -> None:
    # a heading stands with what it is about: some rows, or a plot
    needed = 40 if not section.plots else 16 + 5 * min(2, len(section.text)) + SMALLEST * PLOT * 0.42
    if pdf.get_y() + needed > pdf.h - MARGIN:
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
    """A table with its head on every page, in several pieces if it is too broad, each with the names of its rows."""
    if len(table.rows) > LONGEST:
        said = words("report", language)["too long"].format(n=number_text(len(table.rows), language))
        _words(pdf, f"{table.caption}: {said}" if table.caption else said, 9.5, "", 5)
        return
    size = 8.0 if len(table.head) <= 8 else 6.8
    shown = [table.head, *(tuple(_shown(cell, language) for cell in row) for row in table.rows)]
    pdf.set_font("Helvetica", style="B", size=size)
    widths = [max(pdf.get_string_width(_plain(text)) for text in column) + 3.5 for column in zip(*shown, strict=True)]
    for columns in _pieces(widths, table.stub, pdf.w - 2 * MARGIN):
        _piece(pdf, table, [[row[i] for i in columns] for row in shown], columns, size)


def _pieces(widths: Sequence[float], stub: int, room: float) -> list[list[int]]:
    """Columns that fit side by side, each piece with the first ones; all of them where none names the rows.

    >>> _pieces([20, 30, 30, 30], 1, 85), _pieces([20, 80], 0, 85)
    ([[0, 1, 2], [0, 3]], [[0, 1]])
    """
    if not stub or sum(widths) <= room:
        return [list(range(len(widths)))]
    first = list(range(stub))
    pieces, left = [list(first)], room - sum(widths[:stub])
    for column in range(stub, len(widths)):
        if widths[column] > left and len(pieces[-1]) > stub:
            pieces.append(list(first))
            left = room - sum(widths[:stub])
        pieces[-1].append(column)
        left -= widths[column]
    return pieces


def _piece(pdf: Any, table: ReportTable, shown: Sequence[list[str]], columns: Sequence[int], size: float) -> None:
    """Some columns of a table; what is too broad for its column goes on in the next line."""
    from fpdf.fonts import FontFace

    needed = LINE * (min(FEWEST, len(shown)) + 2)
    if pdf.get_y() + needed > pdf.h - MARGIN:
        pdf.add_page()
    if table.caption:
        pdf.ln(1.5)
        _words(pdf, table.caption, 9.5, "B", 5)
    widths = _widths(pdf, shown, size)
    pdf.set_font("Helvetica", size=size)
    pdf.set_draw_color(210, 210, 210)
    pdf.set_fill_color(255, 255, 255)  # a note or a plot before may have left its own
    with pdf.table(
        rows=[], align="LEFT", borders_layout="HORIZONTAL_LINES", col_widths=tuple(widths), width=sum(widths),
        headings_style=FontFace(emphasis="BOLD", fill_color=SHADE), line_height=LINE,
    ) as grid:  # fmt: skip
        for texts, cells in zip(shown, (table.head, *table.rows), strict=True):
            row = grid.row()
            for text, i in zip(texts, columns, strict=True):
                right = i in table.right or not isinstance(cells[i], str)
                row.cell(_plain(text), align="R" if right else "L")
    pdf.ln(1)


def _widths(pdf: Any, rows: Sequence[Sequence[str]], size: float) -> list[float]:
    """Columns as wide as their words, together no wider than the page."""
    pdf.set_font("Helvetica", style="B", size=size)
    widths = [max(pdf.get_string_width(_plain(text)) for text in column) + 3.5 for column in zip(*rows, strict=True)]
    return _narrowed(widths, pdf.w - 2 * MARGIN)


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


def _shown(cell: Cell, language: str) -> str:
    return "-" if cell is None else cell if isinstance(cell, str) else number_text(cell, language)


def _drawing(pdf: Any, drawing: Drawing) -> None:
    """A plot as vectors, in the width of the page; a little smaller where that keeps it on this one."""
    parts = tuple(replace(p, text=_plain(p.text)) if isinstance(p, Words) else p for p in drawing.parts)
    picture = svg(replace(drawing, parts=parts), alone=True)
    pdf.ln(2)
    width = PLOT
    share = (pdf.h - MARGIN - pdf.get_y() - 1) / (width * drawing.height / drawing.width)
    pdf.image(
        BytesIO(picture.encode()), w=width * (share if SMALLEST <= share < 1 else 1), alt_text=_plain(drawing.words)
    )
    pdf.ln(2)


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
