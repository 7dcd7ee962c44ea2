"""Mappings from codes to coarser classes: a CSV file with the columns ``code`` and ``class``."""

from __future__ import annotations

from pathlib import Path

from diskret.model.alike import warn_of_spellings
from diskret.model.errors import DuplicateCode, MissingCode, listed
from diskret.model.source import open_source
from diskret.model.spelling import again


def read_mapping(path: str | Path) -> dict[str, str]:
    """Codes with their classes; further columns, such as labels, are passed over.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "classes.csv"
    ...     _ = file.write_text("code,class,label\\n10,1,Mining\\n11,1,Mining\\n15,2,Food\\n")
    ...     read_mapping(file)
    {'10': '1', '11': '1', '15': '2'}
    """
    relation = open_source(path)
    relation.require(["code", "class"])
    rows = relation.query(f"SELECT {relation.code('code')}, {relation.code('class')} FROM {relation.view}")
    blank = [number for number, row in enumerate(rows, 1) if None in row]
    if blank:
        raise MissingCode(
            "a code or a class is blank", where=f"{path}, rows {listed(blank)}", hint="give every code a class."
        )
    codes = [code for code, _ in rows]
    twice = list(dict.fromkeys(codes[at] for at in again(codes)))
    if twice:
        raise DuplicateCode(f"code {listed(twice)} is listed twice", where=str(path), hint="a code has one class.")
    warn_of_spellings("code", codes)
    return dict(rows)
