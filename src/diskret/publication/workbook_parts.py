"""The fixed parts of an .xlsx file and the smallest pieces of a sheet, as XML text."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS_KIND = "application/vnd.openxmlformats-package.relationships+xml"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET_FOOT = "</sheetData></worksheet>"

# Styles by number: plain, title, heading, then the stub (plain and bold for every indent), then four per sheet
# (number, bold number, mark, bold mark).
TITLE, HEADING, STUB = 1, 2, 3
MOST_INDENT = 15
FIRST_FORMAT = 164
"""Numbers below belong to Excel's own formats."""


def stub_style(indent: int, *, bold: bool) -> int:
    """Style of a text that names a row."""
    return STUB + 2 * min(indent, MOST_INDENT) + bold


def number_style(depth: int, sheet: int) -> int:
    """First of the four styles of a sheet's cells."""
    return STUB + 2 * min(depth, MOST_INDENT + 1) + 4 * sheet


def entry(name: str) -> zipfile.ZipInfo:
    """A file of the archive without the time of writing, so that equal tables give equal bytes."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def frame(sheets: Sequence[str], depth: int, decimals: Sequence[int | None]) -> Iterator[tuple[str, str]]:
    """All files but the sheets: name and content."""
    numbers = range(1, len(sheets) + 1)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{KIND}.worksheet+xml"/>' for i in numbers
    )
    yield (
        "[Content_Types].xml",
        (
            f'{XML}<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="{RELATIONS_KIND}"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/>{overrides}</Types>'
        ),
    )
    yield "_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")])
    named = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(sheets, start=1)
    )
    yield "xl/workbook.xml", f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>{named}</sheets></workbook>'
    targets = [("worksheet", f"worksheets/sheet{i}.xml") for i in numbers]
    yield "xl/_rels/workbook.xml.rels", _relations([*targets, ("styles", "styles.xml")])
    yield "xl/styles.xml", _styles(depth, decimals)


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{i}" Type="{DOCUMENT}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, start=1)
    )
    return f'{XML}<Relationships xmlns="{RELATIONS}">{listed}</Relationships>'


def _styles(depth: int, decimals: Sequence[int | None]) -> str:
    short = sorted({d for d in decimals if d is not None})
    codes = {d: "#,##0" + ("." + "0" * d if d else "") for d in short}
    formats = "".join(f'<numFmt numFmtId="{FIRST_FORMAT + d}" formatCode="{codes[d]}"/>' for d in short)
    styles = [_style(), _style(bold=True), _style(bold=True, border=True)]
    for indent in range(min(depth, MOST_INDENT + 1)):
        styles += [_style(bold=bold, align=f'horizontal="left" indent="{indent}"') for bold in (False, True)]
    for d in decimals:
        number = 0 if d is None else FIRST_FORMAT + d
        styles += [_style(bold=bold, number=number) for bold in (False, True)]
        styles += [_style(bold=bold, align='horizontal="right"') for bold in (False, True)]
    font = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
    side = "<left/><right/><top/>"
    return (
        f'{XML}<styleSheet xmlns="{MAIN}">'
        + (f'<numFmts count="{len(short)}">{formats}</numFmts>' if short else "")
        + f'<fonts count="2"><font>{font}</font><font><b/>{font}</font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        f'<fill><patternFill patternType="gray125"/></fill></fills>'
        f'<borders count="2"><border>{side}<bottom/><diagonal/></border>'
        f'<border>{side}<bottom style="thin"/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{len(styles)}">{"".join(styles)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _style(*, bold: bool = False, border: bool = False, number: int = 0, align: str = "") -> str:
    inner = f'applyAlignment="1"><alignment {align}/></xf>' if align else "/>"
    return (
        f'<xf numFmtId="{number}" fontId="{int(bold)}" fillId="0" borderId="{int(border)}" xfId="0" '
        f'applyNumberFormat="1" applyFont="1" applyBorder="1" {inner}'
    )


def sheet_head(stub: int, top: int, widths: Sequence[int], columns: int) -> str:
    """Start of a sheet whose first columns and rows stay in sight."""
    sized = "".join(f'<col min="{i}" max="{i}" width="{w}" customWidth="1"/>' for i, w in enumerate(widths, start=1))
    sized += f'<col min="{stub + 1}" max="{stub + columns}" width="14" customWidth="1"/>'
    return (
        f'{XML}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
        f'<pane xSplit="{stub}" ySplit="{top}" '
        f'topLeftCell="{letters(stub)}{top + 1}" activePane="bottomRight" state="frozen"/></sheetView></sheetViews>'
        f"<cols>{sized}</cols><sheetData>"
    )


def row(number: int, cells: Sequence[str]) -> str:
    """One row of a sheet."""
    return f'<row r="{number}">{"".join(cells)}</row>'


def cell(letter: str, number: int, word: str, style: int, marked: bool) -> str:
    """A number, or a mark that is already escaped."""
    if marked:
        return f'<c r="{letter}{number}" s="{style}" t="inlineStr"><is><t>{word}</t></is></c>'
    return f'<c r="{letter}{number}" s="{style}"><v>{word}</v></c>'


def text(letter: str, number: int, words: str, style: int) -> str:
    """A cell with a text."""
    return f'<c r="{letter}{number}{text_tail(words, style)}'


def text_tail(words: str, style: int) -> str:
    """What follows the row number in a cell with a text; signs that XML cannot hold are left out."""
    clean = escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", words))
    return f'" s="{style}" t="inlineStr"><is><t xml:space="preserve">{clean}</t></is></c>'


def letters(column: int) -> str:
    """Excel's name of a column counted from 0.

    >>> letters(0), letters(25), letters(26), letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    name = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        name = chr(ord("A") + digit) + name
    return name
