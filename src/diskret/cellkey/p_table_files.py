"""Perturbation tables as files: the text of tau-ARGUS, which the R packages ptable and cellKey write too.

One line per entry: ``i;j;p;v;p_int_ub`` and, for magnitudes, ``type``. i is the original value, j = i + v the published
one, p the probability, p_int_ub p cumulated over the row. The names of the columns differ a little between versions.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path

import numpy as np

from diskret.cellkey.p_table import ALL, PTable
from diskret.io.files import whole_file
from diskret.io.text import read_text
from diskret.model.damage import reading
from diskret.model.errors import BadPTable
from diskret.model.tolerances import ROUNDING

NAMES = {
    "i": ("i",),
    "j": ("j",),
    "p": ("p", "p_ij", "pij"),
    "v": ("v", "diff"),
    "upper": ("p_int_ub", "p_ij_ub", "kum_p_o", "ub"),
    "type": ("type",),
}
LONGEST_KIND = 20
SEPARATORS = (";", ",", "\t")


def read_p_table(path: str | Path) -> PTable:
    """Read a perturbation table; cumulated probabilities are taken as the file gives them, so noise is the same.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "p.txt").write_text("i;j;p;v;p_int_ub\\n0;0;1;0;1\\n1;0;0.5;-1;0.5\\n1;2;0.5;1;1\\n")
    ...     read_p_table(Path(folder) / "p.txt").rows().variance.tolist()
    [0.0, 1.0]
    """
    text, where = read_text(path, lines=True), str(path)
    separator = max(SEPARATORS, key=text.splitlines()[0].count)
    with reading(path, "the perturbation table is not a table"):
        head, *lines = csv.reader(io.StringIO(text), delimiter=separator)
    at = _places([name.strip().lower() for name in head], where)
    entries = [(number, line) for number, line in enumerate(lines, start=2) if "".join(line).strip()]
    columns = {
        word: [_number(line, at[word], where, number) for number, line in entries]
        for word in ("i", "j", "p", "v", "upper")
        if word in at
    }
    i, v = columns["i"], columns["v"]
    if "j" in columns:
        _refuse_wrong_results(i, columns["j"], v, where, [number for number, _ in entries])
    kind = [_kind(line, at["type"], where, number) for number, line in entries] if "type" in at else None
    return PTable.of(i, v, columns["p"], columns.get("upper"), kind, where=where)


def _places(head: Sequence[str], where: str) -> dict[str, int]:
    """Where each column stands; i, p and v must be there. Names nobody knows tau-ARGUS passes over: so do we."""
    at = {word: head.index(name) for word, names in NAMES.items() for name in reversed(names) if name in head}
    if not at and len(head) in (len(NAMES) - 1, len(NAMES)) and not any(map(_is_number, head)):
        return dict(zip(NAMES, range(len(head)), strict=False))
    lacking = [word for word in ("i", "p", "v") if word not in at]
    if lacking:
        raise BadPTable(
            f"the perturbation table has no column {', '.join(lacking)}",
            where=where,
            hint="the first line names the columns: i;j;p;v;p_int_ub.",
        )
    return at


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _number(line: Sequence[str], place: int, where: str, number: int) -> float:
    try:
        found = float(line[place].strip().replace(",", "."))
    except (ValueError, IndexError):
        found = inf
    if not isfinite(found):
        raise BadPTable(
            "an entry of the perturbation table is not a number",
            where=f"{where}, line {number}",
            hint="give i, j, p, v and, if at all, p_int_ub in every line.",
        )
    return found


def _kind(line: Sequence[str], place: int, where: str, number: int) -> str:
    found = line[place].strip() if place < len(line) else ""
    if len(found) > LONGEST_KIND:
        raise BadPTable(
            "a type of the perturbation table is too long",
            where=f"{where}, line {number}",
            hint="types are all, even and odd.",
        )
    return found or ALL


def _refuse_wrong_results(i: list[float], j: list[float], v: list[float], where: str, lines: list[int]) -> None:
    off = np.flatnonzero(np.abs(np.array(i) + np.array(v) - np.array(j)) > ROUNDING)
    if off.size:
        raise BadPTable(
            f"{off.size} entries of the perturbation table have a j that is not i + v",
            where=f"{where}, line {lines[int(off[0])]}",
            hint="j is what is published, v the deviation.",
        )


def write_p_table(table: PTable, path: str | Path) -> None:
    """Write a perturbation table as tau-ARGUS reads it; read again, every number is the same. Confidential."""
    kinds = table.kinds != (ALL,) or not table.counts
    lines = ["i;j;p;v;p_int_ub" + (";type" if kinds else "")]
    columns = (table.cell, table.cell + table.deviation, table.p, table.deviation, table.upper)
    for number, entry in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        lines.append(";".join([*map(_written, entry), *([table.kind[number]] if kinds else [])]))
    with whole_file(path, private=True) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _written(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
