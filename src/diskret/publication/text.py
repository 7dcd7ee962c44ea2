"""A table for the eye: a cross table in the terminal, cut to what fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from math import prod

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from diskret.model.arrays import Ints
from diskret.model.status import MARKS
from diskret.model.table import Table
from diskret.publication.axes import Axis, Sums, arranged, axis_of, cross
from diskret.publication.options import Publication, publication
from diskret.publication.release import Measure, release

GAP = "…"


def show(
    table: Table, *, rows: int = 40, columns: int = 10, mark: str = "x", internal: bool = False, sums: Sums = "after",
    language: str = "en",
) -> Grid:  # fmt: skip
    """A cross table for a rich console: the last classification across, sums bold, suppressed cells as marks.

    Of a table with more than ``rows`` x ``columns`` the first ones and the total are shown. The ``internal`` view, not
    for publication, shows the values of suppressed cells with P (primary) or S (secondary).

    >>> table = Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x")
    >>> show(table).row_count
    2
    """
    table.refuse_sparse("a cross table")
    options = publication(mark=mark, sums=sums, language=language)
    grid, notes = _grid(table, rows, columns, options, internal)
    grid.title = Text(_title(table, options), style="bold")
    grid.caption = Text("\n".join(notes))
    return grid


def columns_that_fit(table: Table, width: int, mark: str = "x") -> int:
    """How many columns of numbers a terminal of some width shows without cutting a number off.

    >>> table = Table.from_cells({"s": ["m"], "r": ["a"], "x": [1]}, by={"s": None, "r": None}, value="x")
    >>> columns_that_fit(table, 80)
    8
    """
    shown = np.flatnonzero(~table.hidden.reshape(-1))
    flat = table.value.reshape(-1)[shown]
    widest = shown[[int(flat.argmin()), int(flat.argmax())]] if shown.size else shown
    numbers = release(table, publication(mark=mark)).measures[0].texts(widest, mark)
    codes = table.hierarchies[-1].codes
    names = sum(max(len(n), *(len(c) for c in h.codes)) + 3 for n, h in list(table.by.items())[:-1])
    each = max(len(w) for w in (*numbers, *codes, mark)) + 3
    return max(2, (width - names - len(table.names[-1]) - 3) // each)


def table_text(
    table: Table, *, rows: int = 40, columns: int = 10, mark: str = "x", internal: bool = False, sums: Sums = "after",
    language: str = "en",
) -> str:  # fmt: skip
    """The cross table of `show` as plain text.

    >>> table = Table.from_cells({"nace": ["B", "C", "F"], "x": [3, 4, 5], "status": ["primary", "secondary", "open"]},
    ...                          by={"nace": None}, value="x", status="status")
    >>> print(table_text(table))
    x by nace
    nace     x
    ──────────
    B        x
    C        x
    F        5
    Total   12
    x = suppressed for confidentiality
    """
    table.refuse_sparse("a cross table")
    options = publication(mark=mark, sums=sums, language=language)
    grid, notes = _grid(table, rows, columns, options, internal)
    out = StringIO()
    # Wide enough that nothing is wrapped: whoever prints the text decides what to do with long lines.
    Console(file=out, width=100_000, color_system=None, force_terminal=False).print(grid)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([_title(table, options), *(line for line in lines if line), *notes])


def _title(table: Table, options: Publication) -> str:
    return options.title_of([table.response], table.names)


def _grid(table: Table, rows: int, columns: int, options: Publication, internal: bool) -> tuple[Grid, list[str]]:
    """The grid, and the lines that belong under it."""
    by = {name: axis_of(h, options.sums, options.language) for name, h in table.by.items()}
    beside, across = cross(by)
    outer, width = tuple(len(h) for h in beside.values()), 1 if across is None else len(across)
    last = options.sums == "after"
    down, over = _kept(prod(outer), rows, last=last), _kept(width, columns, last=last)
    grid = _heads(table.response, by, over, last=last)
    words = _words(table, (down[:, None] * width + over).reshape(-1), options, internal)
    sums_across = np.zeros(1, dtype=np.bool_) if across is None else ~across.is_leaf[over]
    positions = np.stack(np.unravel_index(down, outer), axis=-1).tolist()
    for i, at in enumerate(positions):
        if last and down.size < prod(outer) and i == down.size - 1:
            grid.add_row(*[GAP] * len(grid.columns))
        named, is_sum = _row_head(beside.values(), at)
        here = words[i * over.size : (i + 1) * over.size]
        cells = [_bold(w, is_sum or bold) for w, bold in zip(here, sums_across, strict=True)]
        grid.add_row(*named, *_with_gap(cells, width, last=last))
    if not last and down.size < prod(outer):
        grid.add_row(*[GAP] * len(grid.columns))
    return grid, _notes(table, prod(outer) - down.size, width - over.size, options, internal)


def _heads(response: str, by: Mapping[str, Axis], over: Ints, *, last: bool) -> Grid:
    """A grid without rows: the classifications beside, then the kept codes of the one across."""
    beside, across = cross(by)
    grid = Grid(box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left", show_edge=False, pad_edge=False)
    names, heads, width = list(beside), [Text(response)], 1
    if across is not None:
        names[-1] += f" \\ {list(by)[-1]}"
        heads, width = [Text(across.names[i]) for i in over], len(across)
    for name in names:
        grid.add_column(Text(name), no_wrap=True)
    for head in _with_gap(heads, width, last=last):
        grid.add_column(head, justify="right", no_wrap=True)
    return grid


def _row_head(beside: Iterable[Axis], at: Sequence[int]) -> tuple[list[Text], bool]:
    """The codes a row is about, and whether it is a sum in any of its classifications."""
    here = list(zip(beside, at, strict=True))
    is_sum = any(not h.is_leaf[p] for h, p in here)
    return [_bold(h.names[p], is_sum) for h, p in here], is_sum


def _bold(words: str, bold: bool) -> Text:
    return Text(words, style="bold" if bold else "")


def _kept(count: int, most: int, *, last: bool) -> Ints:
    """The first positions, and the last if that is the total."""
    if not last or count <= max(most, 1):
        return np.arange(min(count, max(most, 1)))
    return np.append(np.arange(max(most, 1) - 1), count - 1)


def _with_gap(items: list[Text], count: int, *, last: bool) -> list[Text]:
    if len(items) == count:
        return items
    return [*items[:-1], Text(GAP), items[-1]] if last else [*items, Text(GAP)]


def _words(table: Table, cells: Ints, options: Publication, internal: bool) -> list[str]:
    if not internal:
        return release(table, options).measures[0].texts(cells, options.mark)
    axes = [axis_of(hierarchy, options.sums) for hierarchy in table.by.values()]
    nothing = np.zeros(table.size, dtype=np.bool_)
    value = arranged(table.value, axes)
    measure = Measure(name=table.response, value=value, hidden=nothing, decimals=table.decimals)
    words = measure.texts(cells, "")
    letters = {int(status): f" {letter}" for status, letter in MARKS.items()}
    return [w + letters.get(s, "") for w, s in zip(words, arranged(table.status, axes)[cells].tolist(), strict=True)]


def _notes(table: Table, rows: int, columns: int, options: Publication, internal: bool) -> list[str]:
    notes = []
    if internal:
        notes.append(options.words["internal view"])
    elif table.hidden.any() or table.altered:
        altered = [table.altered] if table.altered else []
        notes += options.legend(suppressed=bool(table.hidden.any()), altered=altered)
    say = options.words
    left_out = [
        say[f"{n if n == 1 else 'n'} {what}"].format(n=n) for n, what in ((rows, "rows"), (columns, "columns")) if n
    ]
    if left_out:
        notes.append(say["left out"].format(what=say["and"].join(left_out)))
    return notes
