"""Why a hidden value cannot lie farther away: a combination of published lines, checked in exact arithmetic.

A solver finds the combination; nothing it says is believed. Its multipliers are rounded to small fractions, and the
proof counts only if those, added up exactly, leave nothing but the cell asked about and bounds that are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.cells import Cells
from diskret.model.equations import Equations
from diskret.model.exact import exact
from diskret.model.hierarchy import Hierarchy
from diskret.model.lp import Matrix, Programme, Way
from diskret.model.table import Table
from diskret.model.tolerances import SOLVER

DENOMINATORS = (1, 2, 6, 60, 5040, 10**6)
"""Multipliers are rounded to fractions with at most these denominators, until the proof holds: most are small."""
WAY = Way(only_simplex=True)
REASONS = ("cannot be negative", "cannot be smaller than known", "cannot be larger than known")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What is known beforehand about one unknown, and how often the proof uses it."""

    column: int
    upper: bool
    """Whether the value cannot be larger (otherwise: smaller) than known."""
    multiplier: Fraction
    room: Fraction
    """How far the bound is from the true value: confidential."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A combination of equations (row, multiplier) and bounds that limits one unknown on one side.

    The combination leaves the unknown itself plus multiples of bounded unknowns; so it can rise (``upward``) or fall by
    at most ``reach``, which is exact. Without bounds the reach is zero, and the proof holds on both sides.
    """

    column: int
    upward: bool
    equations: tuple[tuple[int, Fraction], ...]
    bounds: tuple[Bound, ...]
    reach: Fraction

    def holds(self, system: Equations, room_up: Floats, room_down: Floats) -> bool:
        """Check from scratch that the unknown cannot move farther than ``reach``."""
        again = _proof(system, room_up, room_down, self.column, self.upward, dict(self.equations))
        return again is not None and again.bounds == self.bounds and again.reach <= self.reach

    def text(self, table: Table, system: Equations, most: int = 12) -> str:
        """The combination in words: names of lines and cells, no values; beyond ``most`` of a kind they are counted.

        ``row 2 + row 3 - column B - column D, because (row 1; column A) cannot be negative``
        """
        terms = sorted(_lines(table, system, self.equations), key=lambda term: term[0] < 0)
        shown = [f"{'-' if m < 0 else '+'} {_times(abs(m))}{name}" for m, name in terms[:most]]
        if len(terms) > most:
            shown.append(f"... ({len(terms) - most} more lines)")
        words = " ".join(shown).removeprefix("+ ")
        reasons = self._reasons(table, system, most)
        return ", ".join(part for part in (words, f"because {reasons}" if reasons else "") if part)

    def _reasons(self, table: Table, system: Equations, most: int) -> str:
        """The bounds in words, by what is known."""
        found: dict[str, list[str]] = {reason: [] for reason in REASONS}
        for bound in self.bounds:
            found[_reason(bound, table, system)].append(cell_name(table, system, bound.column))
        return "; ".join(
            f"{', '.join(names[:most])}{f' and {len(names) - most} more' if len(names) > most else ''} {reason}"
            for reason, names in found.items()
            if names
        )


def proof_of(
    system: Equations, room_up: Floats, room_down: Floats, column: int, upward: bool, reach: float
) -> Proof | None:
    """Why an unknown cannot move farther than ``reach`` upward (or downward); None if no proof could be verified.

    ``room_up`` and ``room_down`` say per unknown how far above and below its true value an attacker thinks it possible;
    as decimals, they are exact. Equations near the cell are tried first, few of them preferred, and bounds only where
    equations alone are not enough. The reach proven is at most the one asked for, up to the solver's rounding.

    >>> from diskret import Hierarchy
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> system = equations_of(table)
    >>> proof = proof_of(system, np.full(2, np.inf), np.array([1.0, 2.0]), 0, True, 2.0)
    >>> proof.reach, proof.text(table, system)
    (Fraction(2, 1), 'parts of s Total, because (s b) cannot be negative')
    """
    if not np.isfinite(reach):
        return None
    limit = exact(float(reach)) + exact(SOLVER * max(1.0, float(reach)))
    for rows in _ever_wider(system, column):
        for chosen in _combinations(_Near.of(system, rows, column), room_up, room_down, upward, reach):
            proof = _proof(system, room_up, room_down, column, upward, chosen)
            if proof is not None and proof.reach <= limit:
                return proof
    return None


def _combinations(
    near: _Near, room_up: Floats, room_down: Floats, upward: bool, reach: float
) -> Iterator[dict[int, Fraction]]:
    """What a solver proposes: the multipliers of rows, rounded to ever larger denominators."""
    sign = 1.0 if upward else -1.0
    up, down = room_up[near.columns], room_down[near.columns]
    moved = near.farthest(up, down, sign)
    if moved is None or sign * moved[near.at] > reach + SOLVER * max(1.0, reach):
        return
    multipliers = near.multipliers(up, down, sign, moved)
    if multipliers is None:
        return
    for denominator in DENOMINATORS:
        rounded = [Fraction(float(sign * z)).limit_denominator(denominator) for z in multipliers]
        yield {int(r): m for r, m in zip(near.rows, rounded, strict=True) if m}


def _proof(
    system: Equations, room_up: Floats, room_down: Floats, column: int, upward: bool, chosen: dict[int, Fraction]
) -> Proof | None:
    """What a combination of equations proves, in exact arithmetic; None if an unbounded unknown is left over."""
    left = {column: Fraction(1)}
    for row, multiplier in chosen.items():
        for e in range(int(system.start[row]), int(system.start[row + 1])):
            c = int(system.columns[e])
            left[c] = left.get(c, Fraction(0)) - multiplier * exact(float(system.coefficients[e]))
    bounds, reach = [], Fraction(0)
    for c in sorted(left):
        over = left[c] if upward else -left[c]
        if over == 0:
            continue
        room = float(room_up[c] if over > 0 else room_down[c])
        if not np.isfinite(room):
            return None
        bounds.append(Bound(column=c, upper=over > 0, multiplier=abs(over), room=exact(room)))
        reach += abs(over) * exact(room)
    equations = tuple(sorted(chosen.items()))
    return Proof(column=column, upward=upward, equations=equations, bounds=tuple(bounds), reach=reach)


def _ever_wider(system: Equations, column: int) -> Iterator[Ints]:
    """Rows ever farther from an unknown: those it stands in, those that share an unknown with them, and so on."""
    row = system.row_of()
    seen = np.zeros(system.cells.size, dtype=np.bool_)
    seen[column] = True
    before = -1
    while True:
        rows = np.unique(row[seen[system.columns]])
        if rows.size == before:
            return
        yield rows
        before = rows.size
        chosen = np.zeros(system.rows, dtype=np.bool_)
        chosen[rows] = True
        seen[system.columns[chosen[row]]] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class _Near:
    """Some rows of a system and their unknowns, renumbered."""

    rows: Ints
    axis: Ints
    columns: Ints
    matrix: Matrix
    """By rows; seen the other way round, a column for every row."""
    at: int
    """Where the unknown asked about stands among the columns."""

    @classmethod
    def of(cls, system: Equations, rows: Ints, column: int) -> _Near:
        lengths = np.diff(system.start)[rows]
        start = np.append(0, np.cumsum(lengths))
        entries = np.repeat(system.start[rows] - start[:-1], lengths) + np.arange(start[-1])
        columns = np.union1d(system.columns[entries], column)
        index = np.searchsorted(columns, system.columns[entries])
        matrix = Matrix(start, index, system.coefficients[entries], by_rows=True)
        at = int(np.searchsorted(columns, column))
        return cls(rows=rows, axis=system.axis[rows], columns=columns, matrix=matrix, at=at)

    def _only(self, value: float) -> Floats:
        """Zero everywhere but at the unknown asked about."""
        result = np.zeros(self.columns.size)
        result[self.at] = value
        return result

    def farthest(self, up: Floats, down: Floats, sign: float) -> Floats | None:
        """The attacker's best point with these rows only; None if it is unbounded or not found."""
        nothing = np.zeros(self.rows.size)
        return Programme(self.matrix, nothing, lower=-down, upper=up, cost=self._only(-sign), way=WAY).best()

    def multipliers(self, up: Floats, down: Floats, sign: float, moved: Floats) -> Floats | None:
        """The smallest multipliers that prove this point to be the farthest.

        Bounds may be used only where the point lies on them (complementary slackness), which makes every combination
        found a best one; so the programme has no numbers of the table in it, and its corners are small fractions.
        """
        hair = SOLVER * np.maximum(1.0, np.abs(moved))
        above, below = np.flatnonzero(up - moved <= hair), np.flatnonzero(down + moved <= hair)
        rows, bounds = self.rows.size, above.size + below.size
        # ties: rather add lines of the first classification, which run along the last, and take the others away
        added, taken = 1 + 1e-4 * (self.axis.max(initial=0) - self.axis), 1 + 1e-4 * (self.axis + 1)
        costs = (added, taken) if sign > 0 else (taken, added)
        twice = self.matrix.both_ways()
        matrix = Matrix(
            np.concatenate([twice.start, twice.start[-1] + 1 + np.arange(bounds)]),
            np.concatenate([twice.at, above, below]),
            np.concatenate([twice.value, np.ones(above.size), -np.ones(below.size)]),
        )
        found = Programme(
            matrix,
            self._only(sign),
            lower=np.zeros(2 * rows + bounds),
            upper=np.full(2 * rows + bounds, np.inf),
            cost=np.concatenate([*costs, np.full(bounds, 100.0)]),
            way=WAY,
        ).best()
        return None if found is None else found[:rows] - found[rows : 2 * rows]


# --- names ----------------------------------------------------------------------------------------------------------


def _lines(table: Table, system: Equations, equations: tuple[tuple[int, Fraction], ...]) -> list[tuple[Fraction, str]]:
    """Multipliers and names of lines; a line and the subtotals on it that are used alike are named once."""
    if not table.product:
        return [(multiplier, line_name(table, system, row)) for row, multiplier in equations]
    alike: dict[tuple[int, int, Fraction], dict[int, int]] = {}
    for row, multiplier in equations:
        axis = int(system.axis[row])
        at = [int(i) for i in np.unravel_index(int(system.sum_cell[row]), table.shape)]
        code, at[axis] = at[axis], 0
        line = axis, int(np.ravel_multi_index(at, table.shape)), multiplier
        alike.setdefault(line, {})[code] = row
    named = []
    for (axis, _, multiplier), rows in alike.items():
        named += [(rows[top], multiplier, below) for top, below in _tops(table.hierarchies[axis], rows).items()]
    return [(m, line_name(table, system, row, below)) for row, m, below in sorted(named)]


def _tops(hierarchy: Hierarchy, used: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Codes in use whose sums are not, each with the codes in use below it."""
    below: dict[int, tuple[str, ...]] = {}
    for code in used:
        top = code
        while hierarchy.parents[top] in used:
            top = hierarchy.parents[top]
        below[top] = below.get(top, ()) + ((hierarchy.codes[code],) if code != top else ())
    return below


def line_name(table: Cells, system: Equations, row: int, through: tuple[str, ...] = ()) -> str:
    """The line an equation adds along; see `Cells.line_name`."""
    return table.line_name(int(system.axis[row]), int(system.sum_cell[row]), through)


def cell_name(table: Cells, system: Equations, column: int) -> str:
    """An unknown by its codes: ``(region 05; sector C)``."""
    return table.cell_name(int(system.cells[column]))


def _times(multiplier: Fraction) -> str:
    return "" if multiplier == 1 else f"{multiplier} x "


def _reason(bound: Bound, table: Table, system: Equations) -> str:
    if bound.upper:
        return REASONS[2]
    value = exact(float(table.value.reshape(-1)[system.cells[bound.column]]))
    return REASONS[0] if bound.room == value else REASONS[1]
