"""Whether a file is a hierarchy, told from its beginning: what offers files need not read all of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from diskret.io.hierarchies import read_hierarchy
from diskret.model.errors import DiskretError
from diskret.model.sheets import Workbook, read_sheet
from diskret.model.source import EXCEL

ENDINGS = (".hrc", ".csv", ".tsv", ".json", *sorted(EXCEL))
HEAD = 1 << 16
"""Bytes of a text that are looked at."""
MOST_BYTES = 20_000_000
"""Larger files of other kinds, which must be read whole, are data."""


def is_hierarchy(path: str | Path) -> bool:
    """Whether a file looks like a hierarchy: by its ending, and by its columns or its nesting.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "tree.csv").write_text("code;parent\\n05;DE\\n11;DE\\n")
    ...     _ = (Path(folder) / "data.csv").write_text("code;turnover\\n05;1\\n11;2\\n")
    ...     is_hierarchy(Path(folder) / "tree.csv"), is_hierarchy(Path(folder) / "data.csv")
    (True, False)
    """
    file, ending = Path(path), Path(path).suffix.lower()
    if ending not in ENDINGS or not file.is_file():
        return False
    try:
        if ending in (".csv", ".tsv"):
            return _is_list(file)
        if ending in EXCEL:
            return file.stat().st_size < MOST_BYTES and _has_columns(*_sheet(file))
        return ending == ".hrc" or (file.stat().st_size < MOST_BYTES and len(read_hierarchy(file, total=None)) > 1)
    except (DiskretError, OSError):
        return False


def _is_list(file: Path) -> bool:
    """Whether the first lines of a text are codes with parents or levels."""
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    try:
        text = head.decode("utf-8-sig", errors="ignore" if len(head) == HEAD else "strict")
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(head) == HEAD:
        lines = lines[:-1]  # cut off
    if not lines:
        return False
    delimiter = "\t" if file.suffix.lower() == ".tsv" else max(",;\t|", key=lines[0].count)
    try:
        names, *rows = ([field.strip() for field in row] for row in csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return False
    return _has_columns([name.lower() for name in names], rows)


def _sheet(file: Path) -> tuple[list[str], list[list[str]]]:
    columns = read_sheet(Workbook(path=file)).columns
    return [name.lower() for name in columns], [list(row) for row in zip(*columns.values(), strict=True)]


def _has_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether there are the columns of a hierarchy, with every code once."""
    if "code" not in names or not {"parent", "level"} & set(names):
        return False
    at = names.index("code")
    codes = [row[at].strip() for row in rows if len(row) > at and row[at].strip()]
    return bool(codes) and len(set(codes)) == len(codes)
