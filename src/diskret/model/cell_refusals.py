"""What is wrong with a list of cells: codes, cells given twice, sums; each with its rows and with what cures it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.coded import MISSING
from diskret.model.cures import Cure, key_of
from diskret.model.errors import DuplicateCell, MissingCode, UnknownCode, listed
from diskret.model.exact import short_decimals
from diskret.model.gaps import code_cures, missing_cures
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import MOST_ROWS, Relation

MOST_COLUMNS = 20
"""Columns that are tried as a further classification."""
STEPS = (1, 2, 5, 10, 20, 50)
"""Tolerances that are offered, in units of the last decimal; round numbers, so that they tell no difference."""


def row_numbers(data: Relation, at: Ints) -> list[int]:
    """Numbers, from 1, of the first rows at some positions, as they stand in the data."""
    first = at[:MOST_ROWS]
    if data.numbered is None:
        return [int(i) + 1 for i in first]
    numbers = data.arrays(f"SELECT {data.numbered.row_number} AS n FROM {data.numbered.view}")["n"]
    return [int(n) for n in numbers[first]]


def refuse_codes_of_cells(
    data: Relation, name: str, hierarchy: Hierarchy, found: Sequence[str], unknown: Sequence[str]
) -> None:
    """Refuse rows without a code, or with one that the hierarchy does not know; ``found`` is the code of every row."""
    wanted = {MISSING} if MISSING in unknown else set(unknown)
    rows = row_numbers(data, np.array(list(islice((i for i, c in enumerate(found) if c in wanted), MOST_ROWS))))
    if MISSING not in unknown:
        error = UnknownCode.in_column(name, unknown, hierarchy.codes, rows)
        raise error.cured_by(*code_cures(name, of="unknown"))
    total = Cure(
        key=key_of("classifications", name, "missing"), value=hierarchy.total, label="take blanks as the total"
    )
    raise MissingCode(
        f"column {name!r} has cells without a code",
        where=f"{data.where}, row {rows[0]}",
        hint="a blank is not a total: write the code of the total where a sum is meant.",
        cures=[
            *([total] if hierarchy.total not in found else []),
            *code_cures(name, of="without_code"),
            *missing_cures(name, hierarchy),
        ],
        rows=rows,
    )


def refuse_duplicates(
    data: Relation, position: Ints, by: Mapping[str, Hierarchy], shape: tuple[int, ...], used: Sequence[str]
) -> None:
    """Refuse cells that are given more than once; ``used`` are the columns that play a part already."""
    cells, times = np.unique(position, return_counts=True)
    if (times == 1).all():
        return
    names = []
    for cell in cells[times > 1][:10]:
        at = np.unravel_index(cell, shape)
        names.append(", ".join(f"{n}={h.codes[i]}" for (n, h), i in zip(by.items(), at, strict=True)))
    first = row_numbers(data, np.flatnonzero(position == cells[times > 1][0])[:2])
    twice = int((times > 1).sum())
    raise DuplicateCell(
        f"{twice} {'cell is' if twice == 1 else 'cells are'} given more than once: {listed(names)}",
        where=f"{data.where}, rows {first[0]} and {first[1]} for the first",
        hint="give each cell once; add the rows up if they are parts of one cell.",
        cures=_further_columns(data, list(by), used),
        rows=row_numbers(data, np.flatnonzero(np.isin(position, cells[times > 1]))),
    )


def _further_columns(data: Relation, by: Sequence[str], used: Sequence[str]) -> list[Cure]:
    """Columns that tell the rows of one cell apart: a classification that was forgotten."""
    found = []
    for name in [n for n in data.columns if n not in used][:MOST_COLUMNS]:
        codes = ", ".join(f"coalesce({data.code(n)}, '')" for n in (*by, name))
        (rows, cells, blanks), *_ = data.query(
            f"SELECT count(*), count(DISTINCT row({codes})), count(*) - count({data.code(name)}) FROM {data.view}"
        )
        if rows == cells and not blanks:
            found.append(Cure(key="table.by", value=[*by, name], label="classify by a further column"))
    return found


def rounding_cures(value: Floats, computed: Floats, wrong: Bools, hierarchies: Sequence[Hierarchy]) -> list[Cure]:
    """The tolerance that forgives rounded sums; none where the differences are larger than rounding explains.

    It is a round number of the last decimal, and depends on the differences by nothing else: a difference may be the
    value of a part that is missing.
    """
    decimals = short_decimals(value, 6)
    if decimals is None:
        return []
    unit = 10.0**-decimals
    parts = rollup.inner_cells(hierarchies).astype(np.float64)
    rollup.add_up(parts, hierarchies)
    off = np.abs(value - computed)[wrong]
    explained = (off <= 0.5 * unit * (parts[wrong] + 1) * (1 + 1e-9)).all()
    most = float(off.max())
    fitting = [unit * step for step in STEPS if most <= unit * step * (1 + 1e-12)]
    if not explained or not fitting:
        return []
    return [Cure(key="table.tolerance", value=round(fitting[0], 6), label="allow differences by rounding")]
