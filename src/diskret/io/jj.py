"""Cells and equations in the JJ format of the literature on cell suppression.

A file holds a 0, the number of cells, one line per cell (``index value cost status lower upper below above sliding``),
the number of equations, and one line per equation (``right-hand-side terms : index (coefficient) ...``). A status is
``s`` (may be suppressed), ``u`` (sensitive), ``m`` (suppressed secondary) or ``z`` (never suppressed). Files may be
packed (``.gz``).
"""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from diskret.io.files import whole_file
from diskret.io.text import inside, read_bytes
from diskret.model.arrays import Floats, Ints
from diskret.model.damage import reading
from diskret.model.errors import BadOption, EmptyData, ProtectionWarning, TooLarge, UnreadableFile
from diskret.model.given import refuse_other
from diskret.model.limits import limits
from diskret.model.packed import FREE
from diskret.model.status import Status
from diskret.model.system import System

STATUSES = {"s": Status.OPEN, "u": Status.PRIMARY, "m": Status.SECONDARY, "z": Status.NEVER}
LETTERS = {
    Status.OPEN: "s",
    Status.ZERO: "s",
    Status.PRIMARY: "u",
    Status.SECONDARY: "m",
    Status.NEVER: "z",
    Status.PUBLISHED: "z",
    Status.STRUCTURAL_ZERO: "z",
}
CONSTANT = "(one)"
"""A published cell with the value 1: right-hand sides are multiples of it."""
TERM = re.compile(r"\s*+(\d++)\s*+\(\s*+([^()\s]++)\s*+\)")
LONGEST_NUMBER = 18


def read_jj(path: str | Path) -> System:
    """A system from a JJ file; cells are named by their index.

    Bounds become prior knowledge (``Knowledge.intervals()`` uses it), costs weights. A right-hand side other than zero
    becomes a multiple of a published cell with the value 1.

    >>> import tempfile
    >>> lines = ["0", "3", "0 7 7 s 0 20 0 0 0", "1 3 3 u 0 20 1 2 0", "2 4 4 s 0 20 0 0 0",
    ...          "1", "0 3 : 0 (-1) 1 (1) 2 (1)"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "small.jj").write_text("\\n".join(lines))
    ...     read_jj(Path(folder) / "small.jj")
    System('value': 3 cells, 1 equations, 1 primary, 0 secondary)
    """
    with inside(path):
        lines = _Lines(_text(Path(path)))
        if lines.whole("a JJ file begins with 0") != 0:
            raise lines.wrong("a JJ file begins with 0")
        cells = [_cell(lines) for _ in range(lines.whole("the number of cells is missing"))]
        place = {name: i for i, (name, _, _) in enumerate(cells)}
        rows = [_equation(lines, place) for _ in range(lines.whole("the number of equations is missing"))]
        lines.end()
        return _system(cells, rows)


def write_jj(system: System, path: str | Path) -> None:
    """Write a system as a JJ file, whole or not at all; packed if the name ends in ``.gz``. Confidential."""
    refuse_other(system, System, "a system", "a table is written by write_safe_file(table, path, format='jj').")
    constant = system.space.codes[0].index(CONSTANT) if CONSTANT in system.space.codes[0] else -1
    content = ("\n".join(["0", *_cell_lines(system, constant), *_equation_lines(system, constant)]) + "\n").encode()
    with whole_file(Path(path), private=True) as part:
        part.write_bytes(gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)


def _cell_lines(system: System, constant: int) -> list[str]:
    """All cells but the constant one, numbered anew."""
    nothing = np.zeros(system.size)
    otherwise = {
        "value": nothing,
        "weight": np.maximum(1.0, np.abs(system.value)),
        "lower": np.full(system.size, -np.inf) if (system.value < 0).any() else nothing,
        "upper": np.full(system.size, np.inf),
        "below": nothing,
        "above": nothing,
    }
    known = {name: getattr(system, name) for name in otherwise}
    columns = {name: _plain_all(known[name] if known[name] is not None else otherwise[name]) for name in otherwise}
    letters = [LETTERS[Status(status)] for status in system.status.tolist()]
    found = zip(columns["value"], columns["weight"], letters, *list(columns.values())[2:], strict=True)
    kept = [fields for cell, fields in enumerate(found) if cell != constant]
    return [str(len(kept)), *(f"{number} {' '.join(fields)} 0" for number, fields in enumerate(kept))]


def _equation_lines(system: System, constant: int) -> list[str]:
    rows = system.system
    number = np.cumsum(np.arange(system.size) != constant) - 1
    coefficients = _plain_all(rows.coefficients)
    lines = [str(rows.rows)]
    for first, last in pairwise(rows.start.tolist()):
        cells = rows.columns[first:last].tolist()
        right = -sum(float(rows.coefficients[first + k]) for k, cell in enumerate(cells) if cell == constant)
        terms = [f"{number[c]} ({coefficients[first + k]})" for k, c in enumerate(cells) if c != constant]
        lines.append(f"{_plain_all(np.array([right]))[0]} {len(terms)} : {' '.join(terms)}")
    return lines


def _plain_all(numbers: Floats) -> list[str]:
    """Shortest notations that read back as the same numbers."""
    return [str(int(n)) if float(n).is_integer() else repr(n) for n in numbers.tolist()]


Cell = tuple[str, Status, list[float]]
"""Name, status, and the seven numbers: value, cost, bounds, levels, sliding level."""
Row = tuple[float, list[int], list[float]]
"""Right-hand side, cells, coefficients."""


class _Lines:
    """The lines that are not blank, one after the other, with their numbers."""

    def __init__(self, text: str) -> None:
        self._rest: Iterator[tuple[int, str]] = iter(
            [(n, line.strip()) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
        )
        self._number = 0

    def next(self, otherwise: str) -> str:
        try:
            self._number, line = next(self._rest)
        except StopIteration:
            raise UnreadableFile(otherwise, where=f"after line {self._number}", hint="is the file complete?") from None
        return line

    def whole(self, otherwise: str) -> int:
        line = self.next(otherwise)
        if not line.isdecimal() or len(line) > LONGEST_NUMBER:
            raise self.wrong(otherwise)
        return int(line)

    def end(self) -> None:
        for number, _ in self._rest:
            self._number = number
            raise self.wrong("there are more lines than cells and equations")

    def wrong(self, what: str, hint: str = "see docs/system.md for the format.") -> UnreadableFile:
        return UnreadableFile(what, where=f"line {self._number}", hint=hint)


def _text(path: Path) -> str:
    content = read_bytes(path)
    if content[:2] == b"\x1f\x8b":
        most = max(FREE, limits().unpacked * len(content))
        with reading(path, "the file cannot be read", "is it complete?"), gzip.open(BytesIO(content)) as packed:
            content = packed.read(most + 1)
            if len(content) > most:
                raise TooLarge.over("unpacked", limits().unpacked, "the file unpacks to many times its size")
    text = content.decode("utf-8", errors="replace")
    if not text.strip():
        raise EmptyData("the file is empty", hint="was it written completely?")
    return text


def _cell(lines: _Lines) -> Cell:
    fields = lines.next("there are fewer cells than announced").split()
    if len(fields) != 9:
        raise lines.wrong(f"a cell has 9 entries, not {len(fields)}")
    name, value, cost, status, *levels = fields
    if status not in STATUSES:
        raise lines.wrong("the status of a cell is not known", hint="s, u, m or z.")
    return name, STATUSES[status], [_number(lines, field) for field in (value, cost, *levels)]


def _number(lines: _Lines, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise lines.wrong("a number is expected", hint="numbers with a decimal point, without separators.") from None
    if np.isnan(number):
        raise lines.wrong("a number is missing", hint="write 0 where nothing is known.")
    return number


def _equation(lines: _Lines, place: dict[str, int]) -> Row:
    line = lines.next("there are fewer equations than announced")
    head, colon, rest = line.partition(":")
    fields = head.split()
    if not colon or len(fields) != 2 or not fields[1].isdecimal():
        raise lines.wrong("an equation is written: right-hand side, number of terms, a colon, and the terms")
    terms = _terms(rest)
    if str(len(terms)) != (fields[1].lstrip("0") or "0"):
        raise lines.wrong(
            "an equation announces other terms than it has", hint="terms look like 17 (-1), their number stands before."
        )
    unknown = [name for name, _ in terms if name not in place]
    if unknown:
        raise lines.wrong(f"there is no cell {unknown[0]}", hint="terms name cells by their index.")
    return _number(lines, fields[0]), [place[n] for n, _ in terms], [_number(lines, c) for _, c in terms]


def _terms(text: str) -> list[tuple[str, str]]:
    """Cells with their coefficients, one after the other, as far as they go."""
    found: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while term := TERM.match(text, at):
        found.append((term[1], term[2]))
        at = term.end()
    return found if at == len(text) else []


def _system(cells: list[Cell], rows: list[Row]) -> System:
    names, status = [name for name, _, _ in cells], [status for _, status, _ in cells]
    numbers = np.array([numbers for _, _, numbers in cells]).reshape(len(cells), 7)
    if any(right for right, _, _ in rows):
        names.append(CONSTANT)
        status.append(Status.PUBLISHED)
        numbers = np.vstack([numbers, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]])
        rows = [(0.0, [*at, len(names) - 1], [*c, -right]) if right else (right, at, c) for right, at, c in rows]
    value, cost, lower, upper, below, above, sliding = numbers.T
    if (np.abs(cost) == np.inf).any() or (cost < 0).any():
        raise BadOption("costs are negative or infinite", hint="the cost of a cell is what hiding it takes away.")
    longer = sliding > below + above
    if longer.any():
        warnings.warn(
            f"{int(longer.sum())} cells have a sliding level beyond their other levels; their upper level was raised",
            ProtectionWarning,
            stacklevel=3,
        )
    return System.from_entries(
        names, value, _entries(rows), status=status, weight=cost, lower=lower, upper=upper, below=below,
        above=np.where(longer, sliding - below, above), positive=bool((lower >= 0).all()),
    )  # fmt: skip


def _entries(rows: list[Row]) -> tuple[Ints, Ints, Floats]:
    lengths = np.array([len(at) for _, at, _ in rows], dtype=np.int64)
    return (
        np.repeat(np.arange(lengths.size), lengths),
        np.array(list(chain.from_iterable(at for _, at, _ in rows)), dtype=np.int64),
        np.array(list(chain.from_iterable(c for _, _, c in rows)), dtype=np.float64),
    )
