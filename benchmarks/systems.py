"""The classical instances of cell suppression as systems of equations, checked by a solver that shares no code with us.

The files (JJ format) belong to others: they are read where they lie and not copied. Every pattern is protected by moves
against the public, with the levels and bounds of the file, and then attacked straight from the file: for every
sensitive cell a table must exist that agrees with everything published and lies as far off as its levels ask.
"""

from __future__ import annotations

import csv
import gzip
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk
from benchmarks.case import Case
from diskret.model.arrays import Bools, Floats
from diskret.suppression.methods import Moves

FOLDER = Path(__file__).parents[2] / "shared" / "bench" / "csp"
MISSING = "not run: the instances of shared/bench are not here"
INSTANCES = (
    "targus", "table7", "hie1372d", "table8", "table1", "hier13", "hier133a", "jjtabel3", "table3", "two5in6",
    "osorio", "nine5d", "cbs", "dale",
)  # fmt: skip
OVERLAPPING = ("hie1372d", "hier133a")
"""Products whose classifications have several groupings: protected as tables too."""
ASKED = dk.Promise(guard="public", knowledge=dk.Knowledge.intervals())
CLOSE = 1e-6
"""A level counts as reached to this share of it: more than the tolerance of the independent solver."""
BLIND = 40
"""Programmes with random objectives before single cells are looked at."""


def cases() -> Iterator[Case]:
    """All instances as systems, two of them as tables with overlapping groupings."""
    for name in INSTANCES:
        for effort in ("default",):
            yield Case(
                f"systems-{name}", f"{name}, from its JJ file", f"diskret, moves, {effort}",
                partial(protect, name, effort, partial(system, name)), partial(system, name), warm, judge, limit=300,
            )  # fmt: skip
    for name in OVERLAPPING:
        yield Case(
            f"systems-{name}-table", f"{name}, a table with overlapping groupings", "diskret, moves, default",
            partial(protect, name, "default", partial(table, name)), partial(table, name), warm, judge, limit=300,
        )  # fmt: skip


@cache
def system(name: str, folder: Path = FOLDER) -> dk.System | None:
    """An instance as it stands in its file."""
    path = folder / f"{name}.jj.gz"
    return dk.read_jj(path) if path.exists() else None


@cache
def table(name: str, folder: Path = FOLDER) -> dk.Table | None:
    """The same as a table over classifications with several groupings, with the levels and bounds of the file."""
    whole = system(name, folder)
    if whole is None:
        return None
    dims = [hierarchy(sums) for sums in json.loads((folder / f"{name}.dims.json").read_text())]
    with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as opened:
        rows = list(csv.DictReader(opened))
    by = {f"d{i + 1}": h for i, h in enumerate(dims)}
    # cells stand in the order of the JJ file
    at = tuple(np.array([h.index(r[d]) for r in rows]) for d, h in by.items())
    cells = {d: [r[d] for r in rows] for d in by} | {"value": [float(r["value"]) for r in rows]}
    found = dk.Table.from_cells(cells, by=by, value="value", positive=True)

    def placed(array: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
        assert array is not None
        result = np.zeros(found.shape, dtype=array.dtype)
        result[at] = array
        return result

    assert np.array_equal(found.value[at], whole.value)
    return replace(
        found, status=placed(whole.status), below=placed(whole.below), above=placed(whole.above),
        lower=placed(whole.lower), upper=placed(whole.upper), weight=placed(whole.weight),
    )  # fmt: skip


def hierarchy(sums: dict[str, list[list[str]]]) -> dk.Hierarchy:
    """A classification from its sums: the tree of the largest sum, and everything else as further groupings."""
    finest = {c for lists in sums.values() for parts in lists for c in parts} - {*sums}

    def below(code: str) -> set[str]:
        return {code} if code in finest else set().union(*(below(part) for part in sums[code][0]))

    total = max(sums, key=lambda code: len(below(code)))
    tree: dict[str, str] = {}
    waiting = [total]
    while waiting:
        code = waiting.pop(0)
        for part in sums.get(code, [[]])[0]:
            tree[part] = code
            waiting.append(part)
    first = dk.Hierarchy.from_parents(tree)
    further = [{code: parts} for code, lists in sums.items() for k, parts in enumerate(lists) if k or code not in first]
    return dk.Hierarchy.from_groupings(first, *further) if further else first


def protect(name: str, effort: Any, make: Any) -> Any:
    """The protected cells."""
    cells = make()
    if cells is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return name, dk.suppress(cells, ASKED, Moves(effort=effort))


def warm() -> None:
    """Everything compiled, on a small system."""
    names, value = ["a", "b", "c", "d", "sum"], [1.0, 2.0, 3.0, 4.0, 10.0]
    small = dk.System.of(
        names, value, [dict.fromkeys(names[:4], 1) | {"sum": -1}], status=["primary", *["open"] * 4],
        above=[1] * 5, below=[1] * 5, lower=[0] * 5, upper=[20] * 5,
    )  # fmt: skip
    dk.suppress(small, ASKED)


def judge(found: Any) -> str:
    """Sizes of the pattern, and what the independent solver finds exposed."""
    if found is None:
        return MISSING
    name, done = found
    cells = done.table
    secondary = (cells.status == dk.Status.SECONDARY).reshape(-1)
    primary = int((cells.status == dk.Status.PRIMARY).sum())
    value = float(cells.value.reshape(-1)[secondary].sum())
    hidden = as_in_file(name, cells, cells.hidden) if cells.by else cells.hidden
    return (
        f"{cells.size:,} cells, {primary:,} sensitive, {int(secondary.sum()):,} secondaries, value {value:,.0f}; "
        f"{len(done.unprotected)} exposed by the audit, {exposed(FOLDER / f'{name}.jj.gz', hidden)} by another solver"
    )


def as_in_file(name: str, cells: dk.Table, hidden: Bools, folder: Path = FOLDER) -> Bools:
    """An array over the cells of a table in the order of its JJ file."""
    with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as opened:
        return np.array([hidden[cells.index(*(r[d] for d in cells.by))] for r in csv.DictReader(opened)])


# --- another solver, straight from the file ------------------------------------------------------------------------


def exposed(path: Path, hidden: Bools, *, bounds: bool = True) -> int:
    """Sensitive cells of a JJ file that cannot move by their levels while only ``hidden`` cells are unknown.

    Without ``bounds`` the attacker knows only that no value is negative, not those of the file.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    with gzip.open(path, "rt") as opened:
        lines = [line.split() for line in opened]
    size = int(lines[1][0])
    cells = lines[2 : 2 + size]
    numbers = np.array([[float(x) for x in (c[1], *c[4:8])] for c in cells])
    value, low, high, below, above = numbers.T
    unknown = np.flatnonzero(hidden)
    place = {int(c): i for i, c in enumerate(unknown)}
    data, row, column = [], [], []
    for number, terms in enumerate(lines[3 + size :]):
        for cell, coefficient in zip(terms[3::2], terms[4::2], strict=True):
            if int(cell) in place:
                data.append(float(coefficient.strip("()")))
                row.append(number)
                column.append(place[int(cell)])
    matrix = csr_array((data, (row, column)), shape=(len(lines) - 3 - size, unknown.size))
    matrix = matrix[np.diff(matrix.indptr) > 0]
    low, high = (low, high) if bounds else (np.zeros_like(low), np.full_like(high, 10 * value.max()))
    rooms = np.column_stack([low - value, high - value])[unknown]
    sensitive = np.array([c[3] == "u" for c in cells])
    need = np.stack([np.where(sensitive, below, 0.0)[unknown], np.where(sensitive, above, 0.0)[unknown]])
    reached = np.zeros_like(need)

    def solve(cost: Floats) -> None:
        found = linprog(cost, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=rooms, method="highs")
        if found.status == 0:
            np.maximum(reached, [-found.x, found.x], out=reached)

    def waiting() -> npt.NDArray[np.bool_]:
        return reached < need * (1 - CLOSE)

    rng = np.random.default_rng(0)
    for _ in range(BLIND):
        if waiting().any():
            # every solution is a table that agrees with all that is published: it shows many cells off at once
            down, up = waiting()
            solve((down.astype(float) - up.astype(float)) * rng.random(unknown.size) * np.sign(rng.random(1) - 0.2))
    missing = set()
    for side, cell in zip(*np.nonzero(waiting()), strict=True):
        if waiting()[side, cell]:
            cost = np.zeros(unknown.size)
            cost[cell] = 1.0 - 2.0 * side
            solve(cost)
            if waiting()[side, cell]:
                missing.add(int(cell))
    return len(missing)
