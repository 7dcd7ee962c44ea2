"""Excel: one sheet with a cross table per response, written part by part into the zip file that an .xlsx is."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.publication import workbook_parts as parts
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release, labelled

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
LINES_AROUND = 16
"""Room kept for title, heading and legend."""


def write_workbook(release: Release, options: Publication, path: Path) -> None:
    """Write the cross tables: the last classification in the columns, the others in the rows."""
    rows, columns = release.size // release.width, release.width
    if rows > MOST_ROWS - LINES_AROUND or columns > MOST_COLUMNS - 2 * len(release.by):
        raise BadOption(
            f"a sheet of Excel cannot hold {rows} rows and {columns} columns",
            hint="publish as .csv or .parquet, or put the classification with the fewest codes last.",
        )
    names = sheet_names([m.name for m in release.measures])
    depth = max(h.depth for h in release.by.values())
    formats = [m.decimals for m in release.measures]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.frame(names, depth, formats):
            with book.open(parts.entry(name), "w") as file:
                file.write(text.encode())
        for number, measure in enumerate(release.measures):
            sheet = parts.entry(f"xl/worksheets/sheet{number + 1}.xml")
            with book.open(sheet, "w", force_zip64=True) as file:
                for text in _sheet(release, measure, options, parts.number_style(depth, number)):
                    file.write(text.encode())


def _sheet(release: Release, measure: Measure, options: Publication, style: int) -> Iterator[str]:
    beside = dict(list(release.by.items())[: max(1, len(release.by) - 1)])
    across = list(release.by.values())[-1] if len(release.by) > 1 else None
    stub = _stub_columns(beside, options)
    top = _top(release, measure, options, [name for name, _ in stub], across)
    first = len(top) + 1
    widths = [min(60, max(len(name), *(len(t) for t in texts)) + 3) for name, (_, texts, _) in stub]
    yield parts.sheet_head(len(stub), len(top), widths, release.width)
    yield from (parts.row(number, cells) for number, cells in enumerate(top, start=1))
    yield from _body(release, measure, options, [column for _, column in stub], across, first, style)
    below = first + release.size // release.width + 1
    legend = options.legend(
        suppressed=bool(measure.hidden.any()), zeros=not (measure.is_count or measure.is_bound),
        altered=[measure.altered] if measure.altered else [],
    )  # fmt: skip
    if options.source:
        legend.append(f"{options.words['source']}: {options.source}")
    yield from (parts.row(below + i, [parts.text("A", below + i, line, 0)]) for i, line in enumerate(legend))
    yield parts.SHEET_FOOT


Column = tuple[int, Sequence[str], Sequence[int]]
"""Which classification of the rows, and for each of its codes the text and the style."""


def _stub_columns(beside: dict[str, Hierarchy], options: Publication) -> list[tuple[str, Column]]:
    """The columns that name the rows: codes, and labels where there are any; parts stand indented, sums bold."""
    columns: list[tuple[str, Column]] = []
    for axis, (name, h) in enumerate(beside.items()):
        styles = [
            parts.stub_style(indent, bold=not leaf)
            for indent, leaf in zip((h.depth - h.levels).tolist(), h.is_leaf.tolist(), strict=True)
        ]
        columns.append((name, (axis, h.codes, styles)))
        if options.labels and labelled(h):
            columns.append((f"{name}_label", (axis, h.labels, styles)))
    return columns


def _top(
    release: Release, measure: Measure, options: Publication, stub: Sequence[str], across: Hierarchy | None
) -> list[list[str]]:
    """Title, unit and heading."""
    lines: list[list[tuple[str, int]]] = [[(options.title_of([measure.name], release.names), parts.TITLE)]]
    unit = options.words["number"] if measure.is_count else options.unit
    lines.append([(f"{measure.name}, {options.words['unit']}: {unit}" if unit else measure.name, 0)])
    lines.append([])
    if across is None:
        lines.append([(name, parts.HEADING) for name in (*stub, measure.name)])
    else:
        blank = [("", parts.HEADING)] * (len(stub) - 1)
        corner = f"{release.names[0]} \\ {release.names[-1]}" if len(stub) == 1 else release.names[-1]
        lines.append([*blank, (corner, parts.HEADING), *((code, parts.HEADING) for code in across.codes)])
        if len(stub) > 1 or (options.labels and labelled(across)):
            shown = across.labels if options.labels and labelled(across) else [""] * len(across)
            lines.append([*((name, parts.HEADING) for name in stub), *((label, parts.HEADING) for label in shown)])
    return [
        [parts.text(parts.letters(i), number, words, style) for i, (words, style) in enumerate(line)]
        for number, line in enumerate(lines, start=1)
    ]


def _body(
    release: Release,
    measure: Measure,
    options: Publication,
    stub: Sequence[Column],
    across: Hierarchy | None,
    first: int,
    style: int,
) -> Iterator[str]:
    """The rows of the table, some thousand cells at a time."""
    width = release.width
    outer = release.shape[:-1] if across is not None else release.shape
    zero = None if measure.is_count or measure.is_bound else options.zero
    letters = [parts.letters(len(stub) + i) for i in range(width)]
    heads = [
        (f'<c r="{parts.letters(i)}', axis, [parts.text_tail(words, s) for words, s in zip(texts, styles, strict=True)])
        for i, (axis, texts, styles) in enumerate(stub)
    ]
    bold_columns = ~across.is_leaf if across is not None else np.zeros(1, dtype=np.bool_)
    for cells in release.chunks(width):
        numbers = range(cells.start // width, cells.stop // width)
        at = np.unravel_index(np.arange(numbers.start, numbers.stop), outer)
        marked = measure.hidden[cells] if zero is None else measure.hidden[cells] | (measure.value[cells] == 0)
        bold = (_sum_rows(release, at)[:, None] | bold_columns).reshape(-1)
        styles = (style + bold + 2 * marked).tolist()
        words = measure.texts(cells, escape(options.mark), None if zero is None else escape(zero))
        positions = [axis.tolist() for axis in at]
        for i, outer_row in enumerate(numbers):
            row, here = outer_row + first, slice(i * width, (i + 1) * width)
            named = [f"{start}{row}{tails[positions[axis][i]]}" for start, axis, tails in heads]
            filled = zip(letters, words[here], styles[here], marked[here].tolist(), strict=True)
            yield parts.row(row, named + [parts.cell(letter, row, word, s, m) for letter, word, s, m in filled])


def _sum_rows(release: Release, at: tuple[Ints, ...]) -> Bools:
    """Rows that are a sum in any of their classifications."""
    result = np.zeros(at[0].size, dtype=np.bool_)
    for hierarchy, positions in zip(release.by.values(), at, strict=False):
        result |= ~hierarchy.is_leaf[positions]
    return result


def sheet_names(responses: Sequence[str]) -> list[str]:
    """Names that Excel accepts: short, without its special signs, each one once.

    >>> sheet_names(["turnover", "Turnover", "a/b"])
    ['turnover', 'Turnover 2', 'a b']
    """
    names: list[str] = []
    for response in responses:
        clean = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", response).strip(" '") or "table"
        name, number = clean[:31], 1
        while name.casefold() in {n.casefold() for n in names} or name.casefold() == "history":
            number += 1
            name = f"{clean[: 30 - len(str(number))]} {number}"
        names.append(name)
    return names
