"""Tables as tau-ARGUS takes them in and gives them out: a list of cells (``.tab``) with its metadata (``.rda``).

Such files hold every value, suppressed or not. They are internal: for handing a table to tau-ARGUS, not
for the public.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.metadata import Metadata, Role, Variable, classification
from diskret.io.rda import read_metadata
from diskret.io.text import inside, read_text
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, EmptyData, MissingColumn, ProtectionWarning, UnreadableFile, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.spelling import plain
from diskret.model.status import Status
from diskret.model.table import Table

BLANK = {"", "-"}
"""How tau-ARGUS writes that there is no number."""
Columns = dict[str, list[str]]
Change = Callable[[Mapping[str, Hierarchy], Metadata], Mapping[str, Hierarchy]]


def read_cell_list(
    data_path: str | Path,
    metadata_path: str | Path,
    *,
    value: str | None = None,
    shadow: str | None = None,
    statuses: bool = True,
    normalise: bool = False,
    change: Change | None = None,
    **strictness: Any,
) -> Table:
    """Read a table from a ``.tab`` file and the ``.rda`` file that describes it.

    Every explanatory variable is a classification. ``value`` names the response where there are several; a file with
    frequencies only gives a frequency table. Letters of the status: S and E open, U primary, M secondary, P never
    suppressed, Z zero. As in tau-ARGUS a blank code is the total, a cell without a value is not there, and protection
    levels count for primary cells. Largest contributions without frequencies do for dominance and p%. ``shadow`` names
    the variable they contribute to, if it is not the response. ``positive``, ``tolerance`` and ``sums`` say as in
    `Table.from_cells` how strictly numbers are read: sums must be true, unless these allow something else. Without
    ``statuses`` those of the file and its protection levels do not count. With ``normalise`` codes that differ only in
    what cannot be seen are one. ``change`` gives the classifications to keep, in their order, perhaps with other trees
    that have the same codes and more sums; of those it leaves out the table stands at the total.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, metadata = Path(folder) / "t.tab", Path(folder) / "t.rda"
    ...     _ = data.write_text('"1";70,5;4;S\\n" 2";30,0;1;U\\n"Total";100,5;5;S\\n')
    ...     _ = metadata.write_text("Size\\n<RECODEABLE>\\nX\\n<NUMERIC>\\nN\\n<FREQUENCY>\\nS\\n<STATUS>\\n")
    ...     table = read_cell_list(data, metadata)
    >>> table.value.tolist(), table.count.tolist(), table.status.tolist()
    ([70.5, 30.0, 100.5], [4, 1, 5], [0, 1, 0])
    """
    metadata = read_metadata(metadata_path, tabular=True)
    response = _response(metadata, value)
    seen = None if shadow is None else metadata.variable(shadow).name
    columns = _filled(_columns(Path(data_path), metadata), response)
    with inside(data_path):
        if not columns[response]:
            raise EmptyData("there are no cells with a value", hint="a table needs at least one.")
        by: dict[str, Hierarchy] = {}
        for v in metadata.having(Role.EXPLANATORY):
            columns[v.name] = [_code(code, v.total) for code in columns[v.name]]
            if normalise:
                looks = {code: plain(code) for code in {*columns[v.name]}}
                columns[v.name] = [looks[code] for code in columns[v.name]]
            by[v.name] = classification(metadata, v.name, columns[v.name], normalise=normalise)
        by = dict(change(by, metadata)) if change is not None else by
        columns = _at_totals(columns, metadata, by)
        status, below, above = (
            _first(metadata, role) if statuses else None for role in (Role.STATUS, Role.LOWER_LEVEL, Role.UPPER_LEVEL)
        )
        count = _first(metadata, Role.FREQUENCY)
        codes = _status_codes(metadata, columns[status] if status else ())
        if status:
            _refuse_empty_with_values(columns[response], columns[status])
        return Table.from_cells(
            columns | _numbers(columns, metadata, response),
            by=by,
            value=response,
            count=count,
            largest=[] if response == count else [v.name for v in metadata.having(Role.MAXSCORE)],
            shadow=None if shadow is None or seen == response else seen,
            status=status,
            status_codes=codes,
            below=below,
            above=above,
            weight=_first(metadata, Role.COST),
            frequency=Role.FREQUENCY in metadata.variable(response).roles,
            **strictness,
        )


def _code(code: str, total: str) -> str:
    """A code; the total in any case, or as a blank."""
    return total if code == "" or code.lower() == total.lower() else code


def _filled(columns: Columns, response: str) -> Columns:
    """The cells that have a value."""
    filled = [text not in BLANK for text in columns[response]]
    return {name: list(compress(texts, filled)) for name, texts in columns.items()}


def _at_totals(columns: Columns, metadata: Metadata, by: Mapping[str, Hierarchy]) -> Columns:
    """The cells at the totals of the classifications that are left out."""
    left = [v for v in metadata.having(Role.EXPLANATORY) if v.name not in by]
    if not left:
        return columns
    rows = zip(*(columns[v.name] for v in left), strict=True)
    kept = [all(code == v.total for code, v in zip(row, left, strict=True)) for row in rows]
    if not any(kept):
        names = listed(v.name for v in left)
        raise EmptyData(f"there are no cells at the total of {names}", hint="list these classifications, too.")
    return {name: list(compress(texts, kept)) for name, texts in columns.items()}


def _first(metadata: Metadata, role: Role) -> str | None:
    found = metadata.having(role)
    if len(found) > 1:
        names = listed(v.name for v in found)
        raise BadOption(f"variables {names} are all <{role}>", where=str(metadata.path), hint="only one can be.")
    return found[0].name if found else None


def _response(metadata: Metadata, value: str | None) -> str:
    """The variable to tabulate: the one asked for, the only numeric one, or the frequencies."""
    where = str(metadata.path)
    if not metadata.having(Role.EXPLANATORY):
        raise BadOption("no explanatory variable", where=where, hint="mark the classifications with <RECODEABLE>.")
    possible = _responses(metadata)
    if value is not None:
        possible += [v.name for v in metadata.having(Role.FREQUENCY)]
        by_name = {name.lower(): name for name in reversed(possible)}
        if value.lower() not in by_name:
            raise MissingColumn.named([value], possible, where)
        return by_name[value.lower()]
    if not possible:
        raise BadOption("no response and no frequencies", where=where, hint="mark one with <NUMERIC> or <FREQUENCY>.")
    if len(possible) > 1:
        raise BadOption(f"several responses: {listed(possible)}", where=where, hint="choose one with value=....")
    return possible[0]


def _responses(metadata: Metadata) -> list[str]:
    """What could be tabulated: numbers, or else frequencies."""
    numbers = tuple(v for v in metadata.variables if v.response and Role.EXPLANATORY not in v.roles)
    return [v.name for v in numbers or metadata.having(Role.FREQUENCY)]


def _columns(path: Path, metadata: Metadata) -> Columns:
    """The file as text columns without outer blanks; every line must hold every variable."""
    names = [v.name for v in metadata.variables]
    rows = _rows(path, metadata)
    lengths = [len(row) for row in rows]
    further = lengths[0] - len(names)
    if further > 0 and {*lengths} == {lengths[0]}:
        # tau-ARGUS writes what its audit found behind the columns that its metadata name
        if any("".join(row[len(names) :]).strip() for row in rows):
            warnings.warn(
                f"{further} columns after those that the metadata name are not read", ProtectionWarning, stacklevel=3
            )
        rows = [row[: len(names)] for row in rows]
    elif {*lengths} != {len(names)}:
        number = next(i for i, length in enumerate(lengths) if length != len(names))
        raise UnreadableFile(
            f"a line has {lengths[number]} fields, the metadata name {len(names)} variables",
            where=f"{path}, line {number + 1}",
            hint=f"every line holds {listed(names, most=20)}.",
        )
    return {name: [text.strip() for text in texts] for name, texts in zip(names, zip(*rows, strict=True), strict=True)}


def _rows(path: Path, metadata: Metadata) -> list[list[str]]:
    lines = [line for line in read_text(path, lines=True).splitlines() if line.strip()]
    try:
        return list(csv.reader(lines, delimiter=metadata.separator or ";", skipinitialspace=True))
    except (TypeError, ValueError):
        raise UnreadableFile(
            "the separator is not one visible character", where=str(metadata.path), hint='for example <SEPARATOR> ";".'
        ) from None
    except csv.Error as e:
        raise UnreadableFile("the file is not a list of cells", where=str(path), hint="is it complete?") from e


def _numeric(metadata: Metadata) -> list[Variable]:
    return [v for v in metadata.variables if v.roles and not v.roles & {Role.EXPLANATORY, Role.STATUS}]


def _among(found: Mapping[str, Any], metadata: Metadata, *roles: Role) -> list[Variable]:
    """The variables of some roles that hold numbers."""
    return [v for role in roles for v in metadata.having(role) if v.name in found]


def _numbers(columns: Columns, metadata: Metadata, response: str) -> dict[str, Any]:
    """The columns of numbers as numbers; as they are, for whoever refuses them, where signs are not clear.

    The metadata do not say which decimal sign is used, it follows the settings of the computer that wrote the file. If
    it has both, one of them must stand between thousands everywhere (1.234,5).
    """
    found: dict[str, Any] = {v.name: columns[v.name] for v in _numeric(metadata)}
    for v in _among(found, metadata, Role.MAXSCORE):
        found[v.name] = ["0" if text in BLANK else text for text in found[v.name]]
    for v in _among(found, metadata, Role.COST):
        own = zip(found[v.name], columns[response], strict=True)
        found[v.name] = [value.lstrip("-") if text in BLANK else text for text, value in own]
    for v in _among(found, metadata, Role.LOWER_LEVEL, Role.UPPER_LEVEL, Role.SHADOW):
        found[v.name] = ["" if text in BLANK else text for text in found[v.name]]
    written = [text for texts in found.values() for text in texts if "." in text or "," in text]
    signs = {sign for sign in ".," if any(sign in text for text in written)}
    if len(signs) == 2:
        thousands = _between_thousands(written)
        if thousands is None:
            return found
        found = {name: [text.replace(thousands, "") for text in texts] for name, texts in found.items()}
    return {name: _converted(texts) for name, texts in found.items()}


def _between_thousands(written: Sequence[str]) -> str | None:
    """The sign between thousands where a file has points and commas; None where that is not clear."""
    last = {max(".,", key=text.rfind) for text in written if "." in text and "," in text}
    if len(last) != 1:
        return None
    decimal = last.pop()
    thousands = "." if decimal == "," else ","
    number = re.compile(rf"[-+]?(\d+|\d{{1,3}}(\{thousands}\d{{3}})+)(\{decimal}\d*)?")
    return thousands if all(number.fullmatch(text) for text in written) else None


def _converted(texts: list[str]) -> list[str] | Floats:
    """Texts as numbers, blanks undefined; as they are if one is none, for whoever says so with its row."""
    try:
        if any("_" in text for text in texts):
            return texts
        return np.array([float(text.replace(",", ".") or "nan") for text in texts], dtype=np.float64)
    except ValueError:
        return texts


def _refuse_empty_with_values(values: Sequence[str], letters: Sequence[str]) -> None:
    """Refuse cells that are called empty and are not, as tau-ARGUS does."""
    both = zip(values, letters, strict=True)
    rows = [row for row, (text, letter) in enumerate(both, 1) if letter in ("E", "e") and text.strip("-0.,")]
    if rows:
        raise BadOption(
            f"{len(rows)} cells have the status of an empty cell and a value",
            where=f"rows {listed(rows[:10])}",
            hint="give them the status S, or the value 0.",
        )


def _status_codes(metadata: Metadata, found: Sequence[str]) -> dict[str, Status]:
    letters = {"E": Status.OPEN, "M": Status.SECONDARY, "Z": Status.ZERO}
    letters |= {metadata.safe: Status.OPEN, metadata.unsafe: Status.PRIMARY, metadata.protect: Status.NEVER}
    codes = letters | {letter.lower(): status for letter, status in letters.items() if letter.lower() not in letters}
    unknown = [row for row, text in enumerate(found, start=1) if text and text not in codes]
    if unknown:
        raise BadOption(
            f"{len(unknown)} cells have a status that is not known",
            where=f"rows {listed(unknown)}",
            hint=f"the letters are {listed(sorted(letters))}.",
        )
    return codes
