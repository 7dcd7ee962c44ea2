"""The beginning of any file as texts, for whoever says where its table begins."""

from __future__ import annotations

from pathlib import Path

from diskret.model.delimited import first_lines, found_delimiter, records_of
from diskret.model.encoding import text_facts
from diskret.model.engine import connect
from diskret.model.errors import BadOption
from diskret.model.header import find_layout
from diskret.model.places import plain_file
from diskret.model.sheets import MOST_SHOWN, Preview, preview_sheet, proposed, shown_rows
from diskret.model.source import EXCEL, TEXT


def preview(path: Path, sheet: str | None = None, encoding: str | None = None) -> Preview:
    """The first rows and columns of a file, and the rows of names that seem right.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "firms.csv").write_text("Turnover\\n\\nregion;x\\nN;1\\n")
    ...     found = preview(Path(folder) / "firms.csv")
    >>> found.header, found.sure, found.rows[2]
    ([3], True, ['region', 'x'])
    """
    file = plain_file(path)
    if file.suffix.lower() in EXCEL:
        return preview_sheet(file, sheet)
    if file.suffix.lower() not in TEXT:
        raise BadOption("this kind of file has no rows to look at", where=str(path), hint="its columns have names.")
    found = text_facts(file, encoding)
    lines = first_lines(connect(), file, found.encoding)
    records = records_of(lines, found_delimiter(lines), str(path))
    layout = find_layout(records) if records.rows else None
    records.rows = {number: row for number, row in records.rows.items() if number <= MOST_SHOWN}
    return Preview(
        sheets=[],
        sheet="",
        rows=shown_rows(records),
        header=list(proposed(layout)) if layout else None,
        sure=bool(layout and not layout.doubt),
    )
