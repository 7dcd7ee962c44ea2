"""Tables and texts as HTML for notebooks: suppressed cells by sign, letter and colour, no value that may not leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.model.framed import may_be_shown, shown_values
from diskret.model.status import Status

if TYPE_CHECKING:
    from diskret.model.table import Table

MOST_ROWS, MOST_COLUMNS = 40, 12
"""What a notebook shows of a table; more is a matter of the page, or of a frame."""
SIGNS = {Status.PRIMARY: ("■ P", "rgba(200,60,40,.22)"), Status.SECONDARY: ("□ S", "rgba(220,160,30,.22)")}
NOT_YET = "not protected yet: no value is shown"


def as_html(title: str, *parts: str) -> str:
    """A title with what stands below it.

    >>> as_html("a < b", "<p>x</p>")
    '<div><p><strong>a &lt; b</strong></p><p>x</p></div>'
    """
    return f"<div><p><strong>{escape(title)}</strong></p>{''.join(parts)}</div>"


def paragraphs(lines: Iterable[str]) -> str:
    """Lines of text."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


class Told:
    """A result that is looked at by its words: a notebook keeps whatever an object says of itself, so it says no more.

    >>> class Found(Told):
    ...     def __str__(self):
    ...         return "3 records\\n  1 alone"
    >>> Found(), Found()._repr_html_()
    (Found(3 records), '<div><p><strong>3 records</strong></p><p>  1 alone</p></div>')
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self).splitlines()[0].rstrip(':')})"

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines()
        return as_html(first, paragraphs(rest))


def rows_html(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """A table of texts, each with its style."""
    names = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{style}">{escape(text)}</td>' for text, style in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def frame_html(columns: Mapping[str, Any], most: int = 10) -> str:
    """The first rows of a frame."""
    rows = [[(str(entry), "") for entry in row] for row in zip(*(c[:most] for c in columns.values()), strict=True)]
    return rows_html(list(columns), rows)


def table_html(table: Table) -> str:
    """A table with its last classification across, as much of it as fits a notebook."""
    if not table.by:  # linked tables and systems of equations have cells, but no rows and columns
        return paragraphs([repr(table)])
    head, beside, across = _sides(table)
    rows = list(_rows(table, beside, across))
    notes = [] if may_be_shown(table) else [NOT_YET]
    left = table.size - len(rows) * max(1, len(across))
    notes += [f"{left:,} more cells: to_pandas() has all of them"] if left > 0 else []
    return rows_html(head, rows) + paragraphs(notes)


def _sides(table: Table) -> tuple[list[str], list[tuple[int, ...]], list[int]]:
    """The names above the columns, and the positions of rows and columns that are shown."""
    *before, last = table.shape
    if not before:
        return [table.names[0], table.response], [(i,) for i in range(min(last, MOST_ROWS))], []
    rows = product(*(range(n) for n in before))
    across = list(range(min(last, MOST_COLUMNS)))
    codes = [table.hierarchies[-1].codes[i] for i in across]
    return [*table.names[:-1], *codes], [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)], across


def _rows(
    table: Table, beside: Sequence[tuple[int, ...]], across: Sequence[int]
) -> Iterator[list[tuple[str, str]]]:  # fmt: skip
    values, write = shown_values(table).reshape(table.shape), _writer(table)
    for at in beside:
        codes = [(table.hierarchies[axis].codes[i], "text-align:left") for axis, i in enumerate(at)]
        places = [(*at, i) for i in across] or [at]
        yield codes + [_entry(Status(int(table.status[p])), float(values[p]), write) for p in places]


def _entry(status: Status, value: float, write: Any) -> tuple[str, str]:
    if status in SIGNS:
        sign, colour = SIGNS[status]
        return sign, f"text-align:right;background:{colour}"
    return ("·" if np.isnan(value) else write(value + 0.0)), "text-align:right"


def _writer(table: Table) -> Any:
    """How a value is written: with the decimals of the open values, for those of a hidden one would tell."""
    from diskret.model.exact import decimals_of

    places = decimals_of(table.published_value[~table.hidden])
    return "{:,}".format if places is None else f"{{:,.{places}f}}".format
