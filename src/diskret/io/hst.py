"""What is said about single cells beforehand: ``.hst`` a-priori files of tau-ARGUS.

One statement per line: the codes of a cell (a total is its code, or nothing), then what is said about it: ``s`` safe,
``u`` unsafe, ``p`` never suppressed, ``m`` or ``ml`` suppressed secondary, ``c`` or ``w`` and a cost, ``pl`` and the
lower and upper protection level. Blank lines and lines that begin with ``//`` are passed over.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from diskret.io.files import whole_file
from diskret.io.text import read_text
from diskret.model.arrays import Floats, Ints
from diskret.model.damage import reading
from diskret.model.errors import BadOption, EmptyData, NotFinite, UnreadableFile, listed, masked
from diskret.model.given import refuse_no_table
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table

Errors = Literal["refuse", "ignore"]
WORDS = {"S": "s", "U": "u", "P": "p", "M": "m", "ML": "m", "C": "c", "W": "c", "PL": "pl"}
NUMBERS = {"c": 1, "pl": 2}
"""How many numbers follow a word."""
SEPARATORS = (";", ",", "|", "\t")
HINT = "write the codes of a cell, then s, u, p or m, or c and a cost, or pl and two protection levels."
LETTERS = {Status.PRIMARY: "u", Status.SECONDARY: "m", Status.NEVER: "p", Status.PUBLISHED: "p"}


class Wrong(NamedTuple):
    """A line that says nothing that could be done."""

    line: int
    why: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Apriori:
    """Statements about cells, in the order of their file; `diskret.apply_apriori` sets them in a table."""

    path: str
    lines: Ints
    """Line of each statement."""
    codes: tuple[tuple[str, ...], ...]
    """Per classification the code of each statement; empty for the total."""
    words: tuple[str, ...]
    """What each statement is about: s, u, p, m, c or pl."""
    first: Floats
    """The cost, or the lower protection level; nan where there is none."""
    second: Floats
    """The upper protection level; nan where there is none."""
    wrong: tuple[Wrong, ...] = ()
    """Lines that were passed over."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Apriori({len(self)} statements about cells of {len(self.codes)} classifications)"


def read_apriori(
    path: str | Path, *, separator: str | None = None, classifications: int | None = None, errors: Errors = "refuse"
) -> Apriori:
    """Read an a-priori file.

    The separator and the number of classifications are found in the first line if they are not given. Lines that are
    no statement are refused, or with ``errors="ignore"`` passed over and kept in ``wrong``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "own.hst").write_text('// by hand\\n"05";"C";u\\n"";"C";c;100\\n05;D;pl;10;20\\n')
    ...     said = read_apriori(Path(folder) / "own.hst")
    >>> said, said.words, said.codes
    (Apriori(3 statements about cells of 2 classifications), ('u', 'c', 'pl'), (('05', '', '05'), ('C', 'C', 'D')))
    """
    if errors not in ("refuse", "ignore"):
        raise BadOption(f"errors {errors!r}", hint="'refuse' or 'ignore'.")
    text = read_text(path, lines=True).replace("\r\r\n", "\n")
    with reading(path, "the a-priori file cannot be read", HINT):
        return _read(text, str(path), separator, classifications, errors)


def _read(text: str, path: str, separator: str | None, classifications: int | None, errors: Errors) -> Apriori:
    numbered = [(n, line.strip(" \ufeff")) for n, line in enumerate(text.splitlines(), start=1)]
    # a tab at the beginning may stand behind the blank code of a total
    kept = [(n, line) for n, line in numbered if line.strip() and not line.lstrip().startswith("//")]
    if not kept:
        raise EmptyData("the a-priori file says nothing", where=path, hint=HINT)
    between = _separator(separator, kept[0][1], path, classifications)
    rows = _rows([line for _, line in kept], [n for n, _ in kept], between, path)
    width = classifications or _width(rows[0])
    if not width:
        raise UnreadableFile("the first line is not a statement", where=f"{path}, line {kept[0][0]}", hint=HINT)
    found = [_statement(row, width) for row in rows]
    wrong = [Wrong(n, said) for (n, _), said in zip(kept, found, strict=True) if isinstance(said, str)]
    if wrong and errors == "refuse":
        raise UnreadableFile(wrong[0].why, where=f"{path}, {lines_of(wrong)}", hint=HINT)
    good = [(n, row, said) for (n, _), row, said in zip(kept, rows, found, strict=True) if not isinstance(said, str)]
    return Apriori(
        path=path,
        lines=np.array([n for n, _, _ in good], dtype=np.int64),
        codes=tuple(tuple(row[axis] for _, row, _ in good) for axis in range(width)),
        words=tuple(word for _, _, (word, _, _) in good),
        first=np.array([x for _, _, (_, x, _) in good], dtype=np.float64),
        second=np.array([x for _, _, (_, _, x) in good], dtype=np.float64),
        wrong=tuple(wrong),
    )


def lines_of(wrong: Sequence[Wrong]) -> str:
    """The lines of a file, for a message."""
    return f"{'lines' if len(wrong) > 1 else 'line'} {listed([each.line for each in wrong])}"


def _separator(given: str | None, line: str, path: str, width: int | None) -> str:
    """The separator that is given, or the one by which the first line is a statement."""
    if given is not None and (len(given) != 1 or given in '" \r\n'):
        raise BadOption(f"separator {given!r}", hint="one character, such as ';'.")
    tried = [given] if given else [each for each in SEPARATORS if _says(line, each, width)]
    if len(tried) == 1 and tried[0] in line:
        return tried[0]
    raise UnreadableFile(
        f"the first line does not have the separator {given!r}"
        if given
        else "it is not clear what separates the fields",
        where=path,
        hint=f"name the separator, such as separator=';'; {HINT}",
    )


def _says(line: str, separator: str, width: int | None) -> bool:
    """Whether a line is a statement with a separator."""
    fields = [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]
    return fields[width].upper() in WORDS if width and len(fields) > width else _width(fields) > 0


def _rows(lines: list[str], numbers: list[int], separator: str, path: str) -> list[list[str]]:
    """The fields of all lines, without outer blanks and quotation marks."""
    for number, line in zip(numbers, lines, strict=True):
        if line.count('"') % 2:
            raise UnreadableFile(
                "a quotation mark is not closed", where=f"{path}, line {number}", hint="close it, or leave it out."
            )
    read = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[field.strip() for field in row] for row in read]


def _width(row: Sequence[str]) -> int:
    """How many codes stand before a statement, seen from its end; 0 if it is none."""
    fields = [field.strip() for field in row]
    while fields and not fields[-1]:
        fields.pop()
    for behind, words in ((0, "s u p m ml"), (1, "c w"), (2, "pl ab")):
        if len(fields) > behind + 1 and fields[-1 - behind].lower() in words.split():
            return len(fields) - 1 - behind
    return 0


Said = tuple[str, float, float]


def _statement(row: Sequence[str], width: int) -> Said | str:
    """What a line says, or why it says nothing."""
    if len(row) <= width:
        return f"a line has {len(row)} fields, a statement has more than {width}"
    word = WORDS.get(row[width].upper())
    if word is None:
        return (
            "bounds beforehand (ab) are not read, nor are they by tau-ARGUS"
            if row[width].upper() == "AB"
            else f"{masked(row[width][:20])!r} is not a statement about a cell"
        )
    given = row[width + 1 : width + 1 + NUMBERS.get(word, 0)]
    numbers = [_number(text) for text in given]
    if len(numbers) < NUMBERS.get(word, 0) or not all(map(math.isfinite, numbers)):
        return f"{word!r} needs {NUMBERS[word]} numbers" if word == "pl" else "'c' needs a number"
    if min(numbers, default=0.0) < 0:
        return "a cost or a protection level is negative"
    first, second = [*numbers, math.nan, math.nan][:2]
    # as in tau-ARGUS: a cell that costs nothing would be hidden for nothing
    return word, (first or 1.0) if word == "c" else first, second


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text.replace(",", "."))
    except ValueError:
        return math.nan


# --- writing ---------------------------------------------------------------------------------------------------------


def write_apriori(table: object, path: str | Path, *, separator: str = ";") -> None:
    """Write the statuses, protection levels and prices of a table as an a-priori file that tau-ARGUS reads.

    Takes a table, or what protected it. Primary cells are ``u`` with their levels (``pl``), secondary ones ``m``, cells
    that are never suppressed ``p``; totals are left blank. The file is confidential: it tells primary from secondary.

    >>> import tempfile
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "never"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_apriori(table, Path(folder) / "t.hst")
    ...     print((Path(folder) / "t.hst").read_text(), end="")
    "a";u
    "b";m
    "c";p
    """
    made = table if isinstance(table, Table) else getattr(table, "table", table)
    refuse_no_table(made, "a history file")
    assert isinstance(made, Table)
    if made.linked:
        raise BadOption("an a-priori file of a pool", hint="write its tables one by one: pool.split().")
    text = apriori_text(made, separator)
    with whole_file(path, private=True) as part:
        part.write_text(text, encoding="utf-8", newline="")


def apriori_text(table: Table, separator: str = ";") -> str:
    """The lines of an a-priori file."""
    if len(separator) != 1 or separator in '" \r\n':
        raise BadOption(f"separator {separator!r}", hint="one character, such as ';'.")
    quoted = [_quoted(name, hierarchy, separator) for name, hierarchy in table.by.items()]
    status = table.status.reshape(-1)
    lines = [(cell, 0, LETTERS[Status(status[cell])]) for cell in np.flatnonzero(np.isin(status, [*LETTERS])).tolist()]
    if table.below is not None or table.above is not None:
        below, above = (_numbers(table, level) for level in (table.below, table.above))
        primary = np.flatnonzero(status == Status.PRIMARY).tolist()
        lines += [(cell, 1, f"pl{separator}{below[cell]}{separator}{above[cell]}") for cell in primary]
    if table.weight is not None:
        lines += [(cell, 2, f"c{separator}{price}") for cell, price in enumerate(_numbers(table, table.weight))]
    codes = [names[at] for names, at in zip(quoted, np.unravel_index(np.arange(table.size), table.shape), strict=True)]
    return "".join(separator.join([*(axis[cell] for axis in codes), said]) + "\n" for cell, _, said in sorted(lines))


def _quoted(name: str, hierarchy: Hierarchy, separator: str) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Codes in quotation marks, nothing in those of the total; tau-ARGUS splits lines even inside them."""
    bad = [c for c in hierarchy.codes if separator in c or '"' in c or len(c.splitlines()) != 1 or c.strip() != c]
    if bad:
        raise BadOption(
            f"codes {listed(bad)} of {name!r} cannot be written to an a-priori file",
            hint="choose another separator; codes have no quotation marks, line ends or outer blanks.",
        )
    return np.array([*(f'"{c}"' for c in hierarchy.codes[:-1]), '""'], dtype=object)


def _numbers(table: Table, numbers: Floats | None) -> list[str]:
    """Numbers of all cells without exponents."""
    flat = np.zeros(table.size) if numbers is None else numbers.reshape(-1)
    if not np.isfinite(flat).all():
        raise NotFinite("a level or price is undefined or infinite", hint="tau-ARGUS cannot read it.")
    return [np.format_float_positional(x, trim="-") for x in flat.tolist()]
