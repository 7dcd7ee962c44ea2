"""Writing a table for tau-ARGUS: the cells, their metadata, hierarchies and code lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.io.files import all_or_none, whole_file
from diskret.io.hrc import LEAD, codelist_text, hrc_text
from diskret.io.metadata import Metadata, Role, Variable
from diskret.io.rda import rda_text
from diskret.model.errors import BadOption, NotFinite, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table

SEPARATOR = ";"
LETTERS = {
    Status.OPEN: "S",
    Status.PRIMARY: "U",
    Status.SECONDARY: "M",
    Status.NEVER: "P",
    Status.PUBLISHED: "P",
    Status.STRUCTURAL_ZERO: "P",
    Status.ZERO: "S",
}
Column = tuple[Variable, Sequence[str]]


def write_cell_list(table: Table, to: str | Path) -> tuple[Path, ...]:
    """Write a table as a set of files that tau-ARGUS can open; gives their paths, the ``.tab`` file first.

    ``to`` is a folder, or the common beginning of the file names. The files hold every value, suppressed or not: they
    are internal and must not be published. tau-ARGUS has fewer statuses than we: what must be published for whatever
    reason is P, and a zero cell is S, or E where nobody contributes to it.

    >>> import tempfile
    >>> table = Table.from_cells({"s": ["m", "w"], "x": [70, 30], "n": [4, 1]}, by={"s": None}, value="x", count="n")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cells, metadata = write_cell_list(table, folder)
    ...     print(cells.name, metadata.name, cells.read_text(), sep="\\n", end="")
    x.tab
    x.rda
    "m";70;4;S
    "w";30;1;S
    "Total";100;5;S
    """
    prefix = Path(to)
    if prefix.is_dir():
        prefix = prefix / _file_name(table.response)
    _refuse_codes(table)
    files: dict[Path, str] = {}
    explanatory = []
    for number, (name, hierarchy) in enumerate(table.by.items(), start=1):
        base = f"{prefix.name}_{number}_{_file_name(name)}"
        fields, texts = _referred(hierarchy, base)
        explanatory.append(replace(Variable(name=name, roles=frozenset({Role.EXPLANATORY})), **fields))
        files |= {prefix.with_name(file): text for file, text in texts.items()}
    columns = _columns(table)
    described = Metadata(
        variables=(*explanatory, *(variable for variable, _ in columns)),
        path=prefix.with_name(f"{prefix.name}.rda"),
        separator=SEPARATOR,
        tabular=True,
    )
    cells = {prefix.with_name(f"{prefix.name}.tab"): _cell_text(table, [texts for _, texts in columns])}
    files = cells | {described.path: rda_text(described)} | files
    with all_or_none() as meanwhile:
        for path, text in files.items():
            with whole_file(meanwhile(path), private=True) as part:
                part.write_text(text, encoding="utf-8")
    return tuple(files)


def _file_name(name: str) -> str:
    return re.sub(r"\W+", "_", name) or "table"


def _referred(hierarchy: Hierarchy, base: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What the metadata say about a hierarchy, and the files they refer to."""
    fields: dict[str, Any] = {"total": hierarchy.total}
    texts: dict[str, str] = {}
    hierarchy.refuse_overlapping("a cell list of tau-ARGUS")
    if hierarchy.depth > 2:
        free = [lead for lead in (LEAD, "~", "^") if not any(code.startswith(lead) for code in hierarchy.codes)]
        fields |= {"hierarchy": f"{base}.hrc", "lead": free[0] if free else LEAD}
        texts[f"{base}.hrc"] = hrc_text(hierarchy, fields["lead"])
    labels = codelist_text(hierarchy)
    if labels:
        fields["codelist"] = f"{base}.cdl"
        texts[f"{base}.cdl"] = labels
    return fields, texts


def _refuse_codes(table: Table) -> None:
    """tau-ARGUS splits lines at the separator even inside quotes, and knows totals in upper and lower case."""
    for name, hierarchy in table.by.items():
        total = hierarchy.total.lower()
        bad = [c for c in hierarchy.codes if re.search(r'^\s|["\r\n;]|\s$|^$', c)]
        bad += [c for c in hierarchy.codes[:-1] if c.lower() == total]
        if bad:
            raise BadOption(
                f"codes {listed(bad)} of {name!r} cannot be written for tau-ARGUS",
                hint="codes have no quotes, semicolons or outer blanks, and do not have the name of the total.",
            )


def _columns(table: Table) -> list[Column]:
    """All columns behind the codes, in the order tau-ARGUS writes them."""
    name, people = table.response, table.respondents
    only_counts = table.frequency and (people is None or bool((people.count == table.value).all()))
    if only_counts:
        columns = [_column(name, table.published_value, Role.FREQUENCY)]
    else:
        columns = [_column(name, table.published_value, Role.NUMERIC, decimals=table.decimals or 0)]
        counts = people.count if people is not None and table.counted else None
        columns += _optional(f"{name}_Freq", counts, Role.FREQUENCY)
    columns += _optional(f"{name}_Cost", table.weight, Role.NUMERIC, Role.COST)
    if people is not None and people.largest is not None and not only_counts:
        columns += [_column(f"{name}_Top{j + 1}", people.largest[..., j], Role.MAXSCORE) for j in range(people.ranked)]
    columns.append((Variable(name=f"{name}_Status", roles=frozenset({Role.STATUS})), _letters(table)))
    columns += _optional(f"{name}_LowerPL", table.below, Role.NUMERIC, Role.LOWER_LEVEL)
    return columns + _optional(f"{name}_UpperPL", table.above, Role.NUMERIC, Role.UPPER_LEVEL)


def _optional(name: str, numbers: npt.NDArray[Any] | None, *roles: Role) -> list[Column]:
    """A column, or none where the table does not have it."""
    return [] if numbers is None else [_column(name, numbers, *roles)]


def _column(name: str, numbers: npt.NDArray[Any], *roles: Role, decimals: int = 0) -> Column:
    if not np.isfinite(numbers).all():
        raise NotFinite(f"{name!r} has undefined or infinite numbers", hint="tau-ARGUS cannot read them.")
    texts = [_number(x) for x in numbers.reshape(-1).tolist()]
    return Variable(name=name, roles=frozenset(roles), decimals=decimals), texts


def _number(x: float) -> str:
    text = repr(x)
    # no exponents: the shortest notation that reads back as the same number
    return np.format_float_positional(x, trim="-") if "e" in text else text.removesuffix(".0")


def _letters(table: Table) -> list[str]:
    letters = np.array([LETTERS[status] for status in Status], dtype=object)[table.status]
    letters[table.empty & (letters == "S")] = "E"
    found: list[str] = letters.reshape(-1).tolist()
    return found


def _cell_text(table: Table, columns: Sequence[Sequence[str]]) -> str:
    grids = np.indices(table.shape, dtype=np.int32).reshape(len(table.shape), -1)
    quoted = [np.array([f'"{c}"' for c in h.codes], dtype=object) for h in table.hierarchies]
    codes = [names[grid].tolist() for names, grid in zip(quoted, grids, strict=True)]
    return "".join(SEPARATOR.join(row) + "\n" for row in zip(*codes, *columns, strict=True))
