"""CSV: one row per cell, UTF-8, comma and decimal point or semicolon and decimal comma; nothing in it is a formula."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from diskret.publication.formulas import spoken
from diskret.publication.options import Publication
from diskret.publication.release import Release


def write_csv(release: Release, options: Publication, path: Path) -> None:
    """Write codes, labels and values or marks in long form."""
    comma = ";" if options.decimal == "," else ","

    def fields(texts: Iterable[str]) -> list[str]:
        return [field(text, comma) for text in spoken(texts, options.formulas)]

    header = fields(release.long_names(labels=options.labels, statuses=False))
    (mark,) = fields([options.mark])
    zero = None if options.zero is None else fields([options.zero])[0]
    # Codes are quoted once each, not once per cell.
    codes = [
        (axis, np.array(fields(texts), dtype=object))
        for _, axis, texts in release.columns_of_codes(labels=options.labels)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(comma.join(header) + "\n")
        for cells in release.chunks():
            positions = release.positions(cells)
            columns = [texts[positions[axis]].tolist() for axis, texts in codes]
            for m in release.measures:
                columns.append(m.texts(cells, mark, None if m.is_count else zero, options.decimal))
                if m.altered:
                    columns.append([m.altered] * len(columns[-1]))
            file.writelines(comma.join(row) + "\n" for row in zip(*columns, strict=True))


def field(text: str, comma: str = ",") -> str:
    """A text as CSV wants it.

    >>> field("05111"), field('Köln, "Stadt"')
    ('05111', '"Köln, ""Stadt""\"')
    """
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (comma, *'"\r\n')) or not text else text
