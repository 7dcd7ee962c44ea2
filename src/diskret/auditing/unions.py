"""What a published sum says about the hidden cells of its line taken together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diskret.auditing.proof import line_name
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors, few_numbers
from diskret.model.equations import Equations
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.rules.further import Request
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent

JUDGE_ONE_CELL = (MinCount, Dominance, PPercent, PQ, Request)


def unions_breaking(table: Table, system: Equations) -> tuple[str, ...]:
    """Lines with an open sum whose hidden cells, taken as one cell, break a rule the table was marked by.

    Their total is known to everybody: the published sum minus what is open. If one enterprise holds nearly all of it,
    the second one can estimate it, however many cells are hidden. Contributors of different cells count as different,
    but for the largest of each cell where the table knows owners: what one of them gave to several cells is added.
    """
    rows, _, _, broken = _broken(table, system)
    return tuple(line_name(table, system, int(r)) for r in rows[broken])


def cells_breaking(table: Table, system: Equations) -> Ints:
    """The hidden cells of those lines (flat)."""
    _, line, cells, broken = _broken(table, system)
    return np.unique(cells[broken[line]])


def _broken(table: Table, system: Equations) -> tuple[Ints, Ints, Ints, Bools]:
    """Rows with an open sum, their hidden cells (number of the line, cell), and which of them break a rule."""
    rows, line, cells = _open_lines(table, system)
    lines = int(rows.size)
    broken = np.zeros(lines, dtype=np.bool_)
    judges = [r for r in table.judges if isinstance(r, JUDGE_ONE_CELL) and _knows_enough(table, r)]
    if not lines or not judges:
        return rows, line, cells, broken
    unions = Table(
        # one pseudo-cell per line; the names are never shown
        {"line": Hierarchy.flat([str(i) for i in range(lines)])},
        table.response,
        _added(table.value, cells, line, lines),
        np.zeros(lines + 1, dtype=np.uint8),
        _together(table, table.respondents, cells, line, lines),
        _together(table, table.holdings, cells, line, lines),
        positive=table.positive,
        decimals=table.decimals,
    )
    for each in judges:
        broken |= each.judge(unions).primary[:-1]
    # what one cell alone gives away the audit finds anyway
    return rows, line, cells, broken & (np.bincount(line, minlength=lines) > 1)


def _knows_enough(table: Table, rule: MinCount | Dominance | PPercent | PQ | Request) -> bool:
    people = table.holdings if rule.counted_by == "holding" else table.respondents
    if isinstance(rule, MinCount) and rule.weighted:
        return False  # how the weights of several cells overlap nobody knows
    if isinstance(rule, Request):
        # who asked is known by the shadow variable alone, where there is one
        return people is not None and people.asked is not None and people.shadow_absolute is None
    return people is not None and rule.largest <= people.ranked


def zero_lines(table: Table, system: Equations) -> list[tuple[int, Ints]]:
    """Rows with two or more hidden parts, all of them zero, and these parts: they tell too much if all must be zero."""
    row = system.row_of()
    inner = system.cells[system.columns] != system.sum_cell[row]
    row, columns = row[inner], system.columns[inner]
    more = np.bincount(row, weights=table.value.reshape(-1)[system.cells[columns]] != 0, minlength=system.rows)
    found = np.flatnonzero((np.bincount(row, minlength=system.rows) > 1) & (more == 0))
    return [(int(each), columns[row == each]) for each in found]


def _open_lines(table: Table, system: Equations) -> tuple[Ints, Ints, Ints]:
    """Rows that tell the sum of their hidden cells, and these: number of the line and flat cell.

    That is where all hidden cells stand on one side with one coefficient: mostly parts of a published sum.
    """
    row = system.row_of()
    least, most = np.full(system.rows, np.inf), np.full(system.rows, -np.inf)
    np.minimum.at(least, row, system.coefficients)
    np.maximum.at(most, row, system.coefficients)
    alike = least == most
    number = np.cumsum(alike) - 1
    chosen = alike[row]
    return np.flatnonzero(alike), number[row[chosen]], system.cells[system.columns[chosen]]


def _together(table: Table, people: Contributors | None, cells: Ints, line: Ints, lines: int) -> Contributors | None:
    """Everybody behind the hidden cells of each line."""
    if people is None:
        return None

    def added(numbers: npt.NDArray[np.generic] | None) -> Floats | None:
        return None if numbers is None else _added(numbers, cells, line, lines)

    def counted(numbers: Ints | None) -> Ints | None:
        return None if numbers is None else _added(numbers, cells, line, lines).astype(np.int64)

    first, again = _owned(people, cells, line)
    largest, protected, asked = None, None, None
    if people.largest is not None:
        given = people.largest.reshape(table.size, -1)[cells]
        if given.shape[1]:
            given[:, 0] = np.where(again, 0.0, np.bincount(first, weights=given[:, 0], minlength=cells.size))
        largest = np.zeros((lines + 1, people.ranked))
        largest[:-1] = _merged(given, line, lines)
    if people.protected_largest is not None:
        protected = np.zeros(lines + 1)
        np.maximum.at(protected, line, people.protected_largest.reshape(-1)[cells])
    if people.asked is not None:
        kinds = people.asked.shape[-1]
        asked = np.zeros((lines + 1, kinds))
        np.maximum.at(asked, line, people.asked.reshape(-1, kinds)[cells])
    # values of both signs cancel in the sum, contributions do not
    absolute = people.absolute if people.absolute is not None else np.abs(table.value)
    count = np.bincount(line, weights=people.count.reshape(-1)[cells] - again, minlength=lines)
    return Contributors(
        np.append(count, count.sum()).astype(np.int64), largest, added(absolute),
        counted(people.protected_count), protected, counted(people.public_count), added(people.public_value),
        asked=asked,
    )  # fmt: skip


def _owned(people: Contributors, cells: Ints, line: Ints) -> tuple[Ints, Bools]:
    """For every cell of a line the first one there with the same owner, and whether that is another one."""
    at = np.arange(cells.size)
    if people.owner is None:
        return at, np.zeros(cells.size, dtype=np.bool_)
    owner = few_numbers(people.owner)[cells]
    # whoever is not known is somebody else in every cell
    who = np.where(owner >= 0, owner, int(owner.max(initial=-1)) + 1 + at)
    key = line * (int(who.max(initial=0)) + 1) + who
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    found: Ints = first[number]
    return found, found != at


def _added(values: npt.NDArray[np.generic], cells: Ints, line: Ints, lines: int) -> Floats:
    added = np.bincount(line, weights=values.reshape(-1)[cells].astype(np.float64), minlength=lines)
    return np.append(added, added.sum())


def _merged(largest: Floats, line: Ints, lines: int) -> Floats:
    """The largest contributions over the cells of each line."""
    ranked = largest.shape[1]
    every = np.repeat(line, ranked)
    order = np.lexsort((-largest.reshape(-1), every))
    place = np.arange(every.size) - np.repeat(
        np.searchsorted(every[order], np.arange(lines)), np.bincount(every, minlength=lines)
    )
    result = np.zeros((lines, ranked))
    kept = place < ranked
    result[every[order][kept], place[kept]] = largest.reshape(-1)[order][kept]
    return result
