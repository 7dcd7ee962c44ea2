"""Hierarchies as files that are read back as the same tree: ``.csv`` with parents and labels, or ``.hrc``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from diskret.io.files import whole_file
from diskret.io.hrc import hrc_text, refuse_unwritable
from diskret.io.text import inside
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy

ENDINGS = (".csv", ".hrc")


def write_hierarchy(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write a hierarchy, by the ending of the file; a ``.hrc`` file keeps neither labels nor the name of the total.

    >>> import tempfile
    >>> from diskret.io.hierarchies import read_hierarchy
    >>> region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}, labels={"05": "NRW"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_hierarchy(region, Path(folder) / "region.csv")
    ...     read_hierarchy(Path(folder) / "region.csv") == region
    True
    """
    with inside(path):
        text = hierarchy_text(hierarchy, Path(path).suffix)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


def hierarchy_text(hierarchy: Hierarchy, ending: str) -> str:
    """The text of a hierarchy file; refuses codes and labels that could not be read back.

    >>> hierarchy_text(Hierarchy.flat(["a", "b"], labels={"a": "men"}), ".csv")
    'code;parent;label\\na;Total;men\\nb;Total;\\nTotal;;\\n'
    """
    if ending.lower() not in ENDINGS:
        raise BadOption(f"hierarchies are not written as {ending or 'files without an ending'}", hint=".csv or .hrc.")
    if ending.lower() == ".hrc":
        return hrc_text(hierarchy)
    hierarchy.refuse_overlapping("a list of codes and parents")
    refuse_unwritable(hierarchy, (*hierarchy.codes, *hierarchy.labels))
    file = io.StringIO()
    writer = csv.writer(file, delimiter=";", lineterminator="\n")
    writer.writerow(["code", "parent", "label"])
    for code, parent, label in zip(hierarchy.codes, hierarchy.parents, hierarchy.labels, strict=True):
        writer.writerow([code, hierarchy.codes[parent] if parent >= 0 else "", label if label != code else ""])
    return file.getvalue()
