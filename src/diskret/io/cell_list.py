"""Tables as tau-ARGUS takes them in and gives them out: a list of cells (``.tab``) with its metadata (``.rda``).

Such files hold every value, suppressed or not. They are internal: for handing a table to tau-ARGUS, not
for the public.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np

from diskret.io.metadata import Metadata, Role, Variable, classification
from diskret.io.rda import read_metadata
from diskret.io.text import inside, read_text
from diskret.model.arrays import Floats
from diskret.model.errors import (
    BadOption,
    EmptyData,
    MissingColumn,
    NegativeValue,
    NotANumber,
    NotFinite,
    UnreadableFile,
    listed,
)
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
    positive: bool = False,
    tolerance: float = 0.0,
    normalise: bool = False,
    change: Change | None = None,
) -> Table:
    """Read a table from a ``.tab`` file and the ``.rda`` file that describes it.

    Every explanatory variable is a classification. ``value`` names the response where there are several; a file with
    frequencies only gives a frequency table. Letters of the status: S and E open, U primary, M secondary, P never
    suppressed, Z zero. Protection levels count for primary cells, as in tau-ARGUS. Shadow variables are not read.
    Sums must be true; ``tolerance`` corrects small differences with a warning. With ``normalise`` codes that differ
    only in what cannot be seen are one. ``change`` gives other trees for classifications, with the same codes and more
    sums.

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
    columns = _columns(Path(data_path), metadata)
    _unify_decimals(columns, metadata)
    filled = [text not in BLANK for text in columns[response]]
    columns = {name: list(compress(texts, filled)) for name, texts in columns.items()}
    with inside(data_path):
        if not any(filled):
            raise EmptyData("there are no cells with a value", hint="a table needs at least one.")
        by: dict[str, Hierarchy] = {}
        for v in metadata.having(Role.EXPLANATORY):
            columns[v.name] = [v.total if code.lower() == v.total.lower() else code for code in columns[v.name]]
            if normalise:
                looks = {code: plain(code) for code in {*columns[v.name]}}
                columns[v.name] = [looks[code] for code in columns[v.name]]
            by[v.name] = classification(metadata, v.name, columns[v.name], normalise=normalise)
        by |= change(by, metadata) if change is not None else {}
        status = _first(metadata, Role.STATUS)
        count = _first(metadata, Role.FREQUENCY)
        table = Table.from_cells(
            columns,
            by=by,
            value=response,
            count=count,
            largest=[v.name for v in metadata.having(Role.MAXSCORE)],
            status=status,
            status_codes=_status_codes(metadata, columns[status] if status else ()),
            weight=_first(metadata, Role.COST),
            positive=positive,
            frequency=Role.FREQUENCY in metadata.variable(response).roles,
            tolerance=tolerance,
        )
        below = _protection_level(table, columns, _first(metadata, Role.LOWER_LEVEL))
        above = _protection_level(table, columns, _first(metadata, Role.UPPER_LEVEL))
    return replace(table, below=below, above=above)


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
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise UnreadableFile(
                f"a line has {len(row)} fields, the metadata name {len(names)} variables",
                where=f"{path}, line {number}",
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


def _unify_decimals(columns: Columns, metadata: Metadata) -> None:
    """Make decimal commas points, where the file has no points; blanks of contributions are zeros.

    The metadata do not say which mark is used, it follows the settings of the computer that wrote the file. A file that
    has both marks is left alone and refused later: one of them may separate thousands.
    """
    names = [v.name for v in _numeric(metadata)]
    if not any("." in text for name in names for text in columns[name]):
        columns.update({name: [text.replace(",", ".") for text in columns[name]] for name in names})
    for v in metadata.having(Role.MAXSCORE):
        columns[v.name] = ["0" if text in BLANK else text for text in columns[v.name]]


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


def _protection_level(table: Table, columns: Columns, name: str | None) -> Floats | None:
    """How far an attacker's interval must reach, for the primary cells; tau-ARGUS takes no notice of the others."""
    if name is None:
        return None
    level = np.zeros(table.shape)
    for row, text in enumerate(columns[name]):
        cell = tuple(h.index(columns[n][row]) for n, h in table.by.items())
        if table.status[cell] != Status.PRIMARY:
            continue
        where = f"row {row + 1}"
        try:
            level[cell] = math.nan if text in BLANK else float(text)
        except ValueError:
            raise NotANumber.in_column(name, text, [row + 1], "the cells") from None
        if not math.isfinite(level[cell]):
            raise NotFinite(f"a primary cell has no {name!r}", where=where, hint="give every primary cell its levels.")
        if level[cell] < 0:
            raise NegativeValue(f"column {name!r} has a negative level", where=where, hint="levels are distances.")
    return level
