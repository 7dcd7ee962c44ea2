"""Tables that were made elsewhere: all that is known of them is what was published."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np

from diskret.io.text import read_text
from diskret.ledger.about import About
from diskret.ledger.entry import EntryCells, scaled
from diskret.model.arrays import Floats
from diskret.model.damage import reading
from diskret.model.errors import DuplicateCell, UnknownCode, UnreadableFile, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status

HIDDEN = ("x", "X", ".", "/", "", "...", "…", "*", "c", "C", "·")
NOTHING = ("-", "–", "—")
"""Signs that official tables put in the place of a hidden number, and of nothing at all."""
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
"""A number of which nobody can say whether its point sets thousands or decimals apart."""


def published_cells(
    path: str | Path, by: Mapping[str, Hierarchy | None], value: str, about: About
) -> tuple[dict[str, Hierarchy], EntryCells, int]:
    """The cells of a published file with one row per cell: codes, the value or a sign, and bounds if there are any.

    Besides, the decimals that its values are printed with.

    A classification without hierarchy is a list of codes of which nothing is known; the total is the code ``Total`` if
    there is one.
    """
    with reading(path, "the published table cannot be read"):
        text = read_text(Path(path))
        rows = list(csv.DictReader(io.StringIO(text), delimiter=_sign(text)))
        columns = list(rows[0]) if rows else []
        missing = [name for name in (*by, value) if name not in columns]
        if missing or not rows:
            raise UnreadableFile(f"no column {listed(missing)}", where=str(path), hint=f"it has {listed(columns)}.")
    trees = {name: tree or _flat(rows, name) for name, tree in by.items()}
    for name, tree in trees.items():
        unknown = [row[name] for row in rows if row[name] not in tree]
        if unknown:
            raise UnknownCode.in_column(name, unknown, tree.codes)
    at = tuple(np.array([tree.index(row[name]) for row in rows], dtype=np.int64) for name, tree in trees.items())
    if np.unique(np.column_stack(at), axis=0).shape[0] < len(rows):
        raise DuplicateCell("a cell stands in the file more than once", where=str(path), hint="keep one of them.")
    factor = 1.0 if about.ratio is not None else about.scale[0]
    shown = scaled(_numbers(rows, value, path, text), factor)
    lower, upper = _ends(rows, value, path, text, factor)
    if about.rounded and about.ratio is None:
        half = about.rounded * factor / 2
        lower, upper = np.fmax(lower, shown - half), np.fmin(upper, shown + half)
    hidden = np.isnan(shown)
    exact = ~hidden & ~(np.isfinite(lower) & (lower < shown))
    size = len(rows)
    return trees, EntryCells(
        at=at, shown=shown,
        lower=np.where(exact | np.isnan(lower), -np.inf, lower), upper=np.where(exact | np.isnan(upper), np.inf, upper),
        value=np.where(exact, shown, np.nan),
        status=np.where(hidden, np.uint8(Status.PRIMARY), np.uint8(Status.OPEN)),
        below=np.zeros(size), above=np.zeros(size), count=np.full(size, -1), largest=np.empty((size, 0)),
    ), max(len((row[value] or "").strip().partition(".")[2]) for row in rows)  # fmt: skip


def _sign(text: str) -> str:
    head = text.split("\n", 1)[0]
    return max(";,\t|", key=head.count)


def _flat(rows: list[dict[str, str]], name: str) -> Hierarchy:
    codes = list(dict.fromkeys(row[name] for row in rows))
    total = "Total" if "Total" in codes else f"all {name}"
    return Hierarchy.flat([code for code in codes if code != total], total=total)


def _numbers(rows: list[dict[str, str]], column: str, path: str | Path, header: str) -> Floats:
    """The numbers of a column, undefined (NaN) for signs of hidden ones.

    Where no comma sets columns apart, points may set thousands apart: 1.234 is refused if no other number tells.
    """
    texts = [(row[column] or "").strip() for row in rows]
    pointed = [text.replace(" ", "") for text in texts if "." in text and text not in HIDDEN]
    if pointed and _sign(header) != "," and all(THOUSANDS.fullmatch(text) for text in pointed):
        raise UnreadableFile(
            f"all points of column {column!r} may set thousands apart, or decimals", where=str(path),
            hint="write 1234 for 1.234 if it is more than a thousand, or 1.2340 if it is little more than one.",
        )  # fmt: skip
    found = np.empty(len(rows))
    for i, text in enumerate(texts):
        try:
            found[i] = np.nan if text in HIDDEN else 0.0 if text in NOTHING else float(text.replace(" ", ""))
        except ValueError:
            found[i] = np.inf
        if np.isinf(found[i]) or (np.isnan(found[i]) and text not in HIDDEN):
            raise UnreadableFile(
                f"row {i + 2} of column {column!r} is neither a number nor a sign of a hidden one",
                where=str(path),
                hint=f"hidden values are {listed([s for s in HIDDEN if s])} or blank.",
            )
    return found


def _ends(
    rows: list[dict[str, str]], value: str, path: str | Path, header: str, factor: float
) -> tuple[Floats, Floats]:
    """Intervals that were published in columns of their own."""
    ends = []
    for end, otherwise in (("lower", -np.inf), ("upper", np.inf)):
        name = f"{value}_{end}"
        known = scaled(_numbers(rows, name, path, header), factor) if name in rows[0] else np.full(len(rows), np.nan)
        ends.append(np.where(np.isnan(known), otherwise, known))
    return ends[0], ends[1]


def fingerprint_of(path: str | Path) -> str:
    """The hash of a file."""
    with reading(path, "the published table cannot be read"):
        return sha256(Path(path).read_bytes()).hexdigest()
