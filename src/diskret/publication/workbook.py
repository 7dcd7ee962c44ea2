"""Excel: one sheet with a cross table per response, written row by row with XlsxWriter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.private import private_folder
from diskret.publication.axes import Axis, cross
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
LINES_AROUND = 16
"""Room kept for title, heading and legend."""
MOST_INDENT = 15
"""Excel indents no further."""
A4 = 9
"""What Excel calls the paper."""
READABLE = 190
"""Characters across a landscape page of A4 that can still be read."""
MOST_FOOTER = 180
"""Excel takes 255 characters, some of them for the number of the page."""
CREATED = datetime(1980, 1, 1)
"""No clock: equal tables are equal files."""


def write_workbook(release: Release, options: Publication, path: Path) -> None:
    """Write the cross tables: the last classification in the columns, the others in the rows."""
    release.refuse_sparse("a cross table")
    rows, columns = release.size // release.width, release.width
    if rows > MOST_ROWS - LINES_AROUND or columns > MOST_COLUMNS - 2 * len(release.by):
        raise BadOption(
            f"a sheet of Excel cannot hold {rows} rows and {columns} columns",
            hint="publish as .csv or .parquet, or put the classification with the fewest codes last.",
        )
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    # packed in memory: where a disk is full, the library would leave its file open
    packed, folder = BytesIO(), private_folder()
    try:
        with Workbook(packed, {"constant_memory": True, "tmpdir": str(folder.path)}) as book:
            book.set_properties({"created": CREATED})
            looks = _Looks(book)
            for name, measure in zip(sheet_names([m.name for m in release.measures]), release.measures, strict=True):
                sheet = book.add_worksheet(name)
                _Page(sheet=sheet, looks=looks, release=release, measure=measure, options=options).write()
    except FileCreateError as e:
        raise e.args[0] from e
    finally:
        folder.remove()
    path.write_bytes(packed.getbuffer())


class _Looks:
    """The formats of a book, each made once."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[tuple[str, object], ...], Any] = {}

    def look(self, **properties: object) -> Any:
        key = tuple(properties.items())
        if key not in self._made:
            self._made[key] = self._book.add_format(properties)
        return self._made[key]


class _Exact(float):
    """A number that is written with all the digits it needs; the library would stop at the sixteenth."""

    def __format__(self, form: str) -> str:
        return float.__repr__(self)


@dataclass(frozen=True, kw_only=True)
class _Stub:
    """A column that names the rows: which classification, and for each of its codes the text and its look."""

    name: str
    axis: int
    texts: Sequence[str]
    looks: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class _Page:
    """A response on its sheet."""

    sheet: Any
    looks: _Looks
    release: Release
    measure: Measure
    options: Publication

    def write(self) -> None:
        """Title, heading, rows and legend; the first columns and rows stay in sight, and on every printed page."""
        stub = self._stub_columns()
        top = self._top([column.name for column in stub])
        widths = [min(60, max(map(len, (column.name, *column.texts))) + 3) for column in stub]
        widths += self._number_widths(top, len(stub))
        for i, width in enumerate(widths):
            self.sheet.set_column(i, i, width)
        self.sheet.freeze_panes(len(top), len(stub))
        for row, (texts, look) in enumerate(top):
            for i, text in enumerate(texts):
                self.sheet.write_string(row, i, text, look)
        self._write_rows(stub, len(top))
        below = len(top) + self.release.size // self.release.width + 1
        legend = self._legend()
        for row, line in enumerate(legend, start=below):
            self.sheet.write_string(row, 0, line)
        self._set_print(len(top), len(stub), below + len(legend), widths)

    def _number_widths(self, top: Sequence[tuple[Sequence[str], Any]], first: int) -> list[int]:
        """As wide as the longest number and the heading, within reason."""
        values = self.measure.value[~self.measure.hidden]
        ends = np.array([values.min(), values.max()]) if values.size else np.zeros(1)
        longest = max(len(f"{end:,.{self.measure.decimals or 0}f}") for end in ends.tolist()) + 2
        heads = [[len(line[i]) for line, _ in top if len(line) > i] for i in range(first, first + self.release.width)]
        return [min(30, max(10, longest, *(n + 2 for n in lengths))) for lengths in heads]

    def _set_print(self, top: int, stub: int, rows: int, widths: Sequence[int]) -> None:
        """Landscape on A4, as many pages broad as can be read, title and codes on each of them."""
        self.sheet.set_landscape()
        self.sheet.set_paper(A4)
        self.sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.7)
        self.sheet.fit_to_pages(-(-sum(widths) // READABLE), 0)
        self.sheet.repeat_rows(0, top - 1)
        self.sheet.repeat_columns(0, stub - 1)
        self.sheet.print_area(0, 0, rows - 1, len(widths) - 1)
        page = self.options.words["page of"].format(page="&P", pages="&N")
        said = "; ".join(self._legend()).replace("&", "&&")
        left = f"&L&8 {said}" if len(said) <= MOST_FOOTER else ""
        self.sheet.set_footer(f"{left}&R&8 {page}")

    def _legend(self) -> list[str]:
        altered = [self.measure.altered] if self.measure.altered else []
        said = self.options.legend(
            suppressed=bool(self.measure.hidden.any()),
            zeros=self.measure.is_value,
            altered=altered,
            care=self.release.care,
        )
        return said + ([f"{self.options.words['source']}: {self.options.source}"] if self.options.source else [])

    def _stub_columns(self) -> list[_Stub]:
        """Codes, and labels where there are any; parts stand indented, sums bold."""
        columns = []
        for number, (name, axis) in enumerate(cross(self.release.by)[0].items()):
            texts = [(name, axis.names)]
            texts += [(f"{name}_label", axis.labels)] if self._shows_labels(axis) else []
            columns += [_Stub(name=n, axis=number, texts=t, looks=self._levels(axis)) for n, t in texts]
        return columns

    def _levels(self, h: Axis) -> list[Any]:
        return [
            self.looks.look(bold=not leaf, align="left", indent=min(indent, MOST_INDENT))
            for indent, leaf in zip((h.depth - h.levels).tolist(), h.is_leaf.tolist(), strict=True)
        ]

    def _shows_labels(self, axis: Axis) -> bool:
        return self.options.labels and axis.labelled

    def _top(self, stub: Sequence[str]) -> list[tuple[Sequence[str], Any]]:
        """Title, unit and heading, each line with its look."""
        measure, names = self.measure, self.release.names
        unit = self.options.words["number"] if measure.is_count else self.options.unit
        said = f"{measure.name}, {self.options.words['unit']}: {unit}" if unit else measure.name
        heading = self.looks.look(bold=True, bottom=1)
        title = self.options.title_of([measure.name], names)
        lines: list[tuple[Sequence[str], Any]] = [([title], self.looks.look(bold=True)), ([said], None), ([], None)]
        across = cross(self.release.by)[1]
        if across is None:
            return [*lines, ([*stub, measure.name], heading)]
        corner = f"{names[0]} \\ {names[-1]}" if len(stub) == 1 else names[-1]
        lines.append(([*[""] * (len(stub) - 1), corner, *across.names], heading))
        if len(stub) > 1 or self._shows_labels(across):
            shown = across.labels if self._shows_labels(across) else [""] * len(across)
            lines.append(([*stub, *shown], heading))
        return lines

    def _write_rows(self, stub: Sequence[_Stub], first: int) -> None:
        """The rows of the table, some thousand cells at a time."""
        release, options, width = self.release, self.options, self.release.width
        beside, across = cross(release.by)
        sums_across = ~across.is_leaf if across is not None else np.zeros(1, dtype=np.bool_)
        zero = options.zero if self.measure.is_value else None
        looks = self._cell_looks()
        for cells in release.chunks(width):
            rows = np.arange(cells.start // width, cells.stop // width)
            at = np.unravel_index(rows, tuple(len(h) for h in beside.values()))
            marked = self.measure.hidden[cells]
            if zero is not None:
                marked = marked | (self.measure.value[cells] == 0)
            bold = (_sum_rows(beside.values(), at)[:, None] | sums_across).reshape(-1)
            texts = self.measure.texts(cells, options.mark, zero)
            filled = list(zip(texts, marked.tolist(), (2 * marked + bold).tolist(), strict=True))
            for i, row in enumerate((rows + first).tolist()):
                for j, column in enumerate(stub):
                    here = int(at[column.axis][i])
                    self.sheet.write_string(row, j, column.texts[here], column.looks[here])
                for j, (text, is_mark, look) in enumerate(filled[i * width : (i + 1) * width], start=len(stub)):
                    if is_mark:
                        self.sheet.write_string(row, j, text, looks[look])
                    else:
                        self.sheet.write_number(row, j, _Exact(text), looks[look])

    def _cell_looks(self) -> list[Any]:
        """Of numbers and of marks, plain and bold."""
        decimals = self.measure.decimals
        form = "General" if decimals is None else "#,##0" + ("." + "0" * decimals if decimals else "")
        return [
            *(self.looks.look(bold=bold, num_format=form) for bold in (False, True)),
            *(self.looks.look(bold=bold, align="right") for bold in (False, True)),
        ]


def _sum_rows(beside: Iterable[Axis], at: tuple[Ints, ...]) -> Bools:
    """Rows that are a sum in any of their classifications."""
    sums = [~hierarchy.is_leaf[positions] for hierarchy, positions in zip(beside, at, strict=True)]
    found: Bools = np.logical_or.reduce(sums)
    return found


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
