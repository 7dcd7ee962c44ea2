"""Texts in CSV that a spreadsheet would take for a formula.

A CSV file has no types: what begins with ``= + - @``, with a tab or a line break, is computed by spreadsheets as soon
as the file is opened, and formulas can call programs or send cells elsewhere. Values are never touched: only codes,
labels, names of columns and marks are texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption, listed
from diskret.model.spelling import INVISIBLE, any_of

Formulas = Literal["escape", "keep"]
"""Put an apostrophe before such texts, or write them as they are."""

SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""What formulas begin with; spreadsheets in East Asian languages take the wide signs, too."""
BREAKS = ";\t\r\n"
"""Where a spreadsheet may begin another cell, besides the comma: semicolons where the comma is the decimal sign."""
HARMLESS = rf"(?:[{SIGNS}]|[+\-][0-9]+(?:[.,][0-9]+)*)"
"""A sign alone, such as a dash for nothing, and a plain number, such as the code -9: read again, they are the same."""
BLANK = rf'[^\S\t\r\n]|"|{any_of(INVISIBLE)}'
"""What cannot be seen before a sign: blanks of all kinds, marks that spreadsheets read over, and quotation marks, which
are none of a text's own where a spreadsheet divides it."""
RISKY = re.compile(
    rf"^(?='*[\t\r\n\ufeff])|(?:^|(?<=[{BREAKS}]))(?='*(?:{BLANK})*[{SIGNS}])(?!'* *{HARMLESS} *(?:[{BREAKS}]|\Z))"
)
"""Where an apostrophe is put; before another one as well, so that no two texts become one."""


def escaped(text: str) -> str:
    """A text that no spreadsheet computes: with an apostrophe before whatever would begin a formula.

    >>> escaped("=1+1"), escaped("@sum(a)"), escaped("-A"), escaped("a;=1+1")
    ("'=1+1", "'@sum(a)", "'-A", "a;'=1+1")
    >>> escaped("'=1+1")   # no two codes become one
    "''=1+1"
    >>> escaped("-9"), escaped("+49"), escaped("-"), escaped("05-11"), escaped("<5")
    ('-9', '+49', '-', '05-11', '<5')
    """
    return RISKY.sub("'", text)


def spoken(texts: Iterable[str], formulas: Formulas) -> list[str]:
    """Texts as they are to stand in a CSV file.

    >>> spoken(["a", "=b"], "escape"), spoken(["a", "=b"], "keep")
    (['a', "'=b"], ['a', '=b'])
    """
    return [escaped(text) for text in texts] if formulas == "escape" else list(texts)


def spoken_column(column: npt.NDArray[Any], formulas: Formulas) -> npt.NDArray[Any]:
    """A column of records: texts as they are to stand in a CSV file, whatever is no text as it was.

    >>> spoken_column(np.array(["=x", None], dtype=object), "escape").tolist()
    ["'=x", None]
    """
    if formulas == "keep" or column.dtype.kind not in "OU":
        return column
    known = {text: escaped(text) if isinstance(text, str) else text for text in dict.fromkeys(column.tolist())}
    return np.array([known[text] for text in column.tolist()], dtype=object)


def refuse_unknown(formulas: object) -> None:
    """Refuse a choice there is not."""
    if formulas not in get_args(Formulas):
        raise BadOption(f"formulas cannot be {formulas!r}", hint=f"one of {listed(get_args(Formulas))}.")
