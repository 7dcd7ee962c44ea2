"""Why a hidden value cannot lie farther away: a combination of published lines, checked in exact arithmetic.

A solver finds the combination; nothing it says is believed. Its multipliers are rounded to small fractions, and the
proof counts only if those, added up exactly, leave nothing but the cell asked about and bounds that are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import highspy
import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.cells import Cells
from diskret.model.equations import Equations
from diskret.model.exact import exact
from diskret.model.table import Table

TOLERANCE = 1e-7
"""How much a proof may miss the reach asked for, relative to it (at least to 1): that one comes from a solver."""
DENOMINATORS = (1, 2, 6, 60, 5040, 10**6)
FREE = 1e30


@dataclass(frozen=True)
class Bound:
    """What is known beforehand about one unknown, and how often the proof uses it."""

    column: int
    upper: bool
    """Whether the value cannot be larger (otherwise: smaller) than known."""
    multiplier: Fraction
    room: Fraction
    """How far the bound is from the true value: confidential."""


@dataclass(frozen=True)
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
        reasons = []
        for reason in ("cannot be negative", "cannot be smaller than known", "cannot be larger than known"):
            names = [cell_name(table, system, b.column) for b in self.bounds if _reason(b, table, system) == reason]
            if names:
                more = f" and {len(names) - most} more" if len(names) > most else ""
                reasons.append(f"{', '.join(names[:most])}{more} {reason}")
        return ", ".join(part for part in (words, "because " + "; ".join(reasons) if reasons else "") if part)


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
    sign = 1.0 if upward else -1.0
    if not np.isfinite(reach):
        return None
    for rows in _ever_wider(system, column):
        near = _Near.of(system, rows, column)
        moved = near.farthest(room_up, room_down, sign)
        if moved is None or sign * moved[near.at] > reach + TOLERANCE * max(1.0, reach):
            continue
        multipliers = near.multipliers(room_up, room_down, sign, moved)
        if multipliers is None:
            continue
        for denominator in DENOMINATORS:
            rounded = [Fraction(float(sign * z)).limit_denominator(denominator) for z in multipliers]
            chosen = {int(r): m for r, m in zip(rows, rounded, strict=True) if m}
            proof = _proof(system, room_up, room_down, column, upward, chosen)
            if proof is not None and proof.reach <= exact(float(reach)) + exact(TOLERANCE * max(1.0, float(reach))):
                return proof
    return None


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
        bounds.append(Bound(c, over > 0, abs(over), exact(room)))
        reach += abs(over) * exact(room)
    return Proof(column, upward, tuple(sorted(chosen.items())), tuple(bounds), reach)


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


@dataclass(frozen=True, eq=False)
class _Near:
    """Some rows of a system and their unknowns, renumbered."""

    columns: Ints
    start: Ints
    index: Ints
    value: Floats
    axis: Ints
    at: int
    """Where the unknown asked about stands among the columns."""

    @classmethod
    def of(cls, system: Equations, rows: Ints, column: int) -> _Near:
        lengths = np.diff(system.start)[rows]
        start = np.append(0, np.cumsum(lengths))
        entries = np.repeat(system.start[rows] - start[:-1], lengths) + np.arange(start[-1])
        columns = np.union1d(system.columns[entries], column)
        index = np.searchsorted(columns, system.columns[entries])
        value, axis = system.coefficients[entries], system.axis[rows]
        return cls(columns, start, index, value, axis, int(np.searchsorted(columns, column)))

    def farthest(self, room_up: Floats, room_down: Floats, sign: float) -> Floats | None:
        """The attacker's best point with these rows only; None if it is unbounded or not found."""
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.columns.size, self.axis.size
        cost = np.zeros(self.columns.size)
        cost[self.at] = -sign
        lp.col_cost_ = cost
        lp.col_lower_ = np.maximum(-room_down[self.columns], -FREE)
        lp.col_upper_ = np.minimum(room_up[self.columns], FREE)
        lp.row_lower_ = lp.row_upper_ = np.zeros(self.axis.size)
        self._matrix(lp, highspy.MatrixFormat.kRowwise, self.start, self.index, self.value)
        return _solved(lp)

    def multipliers(self, room_up: Floats, room_down: Floats, sign: float, moved: Floats) -> Floats | None:
        """The smallest multipliers that prove this point to be the farthest.

        Bounds may be used only where the point lies on them (complementary slackness), which makes every combination
        found a best one; so the programme has no numbers of the table in it, and its corners are small fractions.
        """
        hair = TOLERANCE * np.maximum(1.0, np.abs(moved))
        above = np.flatnonzero(room_up[self.columns] - moved <= hair)
        below = np.flatnonzero(room_down[self.columns] + moved <= hair)
        rows, bounds = self.axis.size, above.size + below.size
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * rows + bounds, self.columns.size
        # ties: rather add lines of the first classification, which run along the last, and take the others away
        added, taken = 1 + 1e-4 * (self.axis.max(initial=0) - self.axis), 1 + 1e-4 * (self.axis + 1)
        costs = (added, taken) if sign > 0 else (taken, added)
        lp.col_cost_ = np.concatenate([*costs, np.full(bounds, 100.0)])
        lp.col_lower_, lp.col_upper_ = np.zeros(lp.num_col_), np.full(lp.num_col_, FREE)
        goal = np.zeros(self.columns.size)
        goal[self.at] = sign
        lp.row_lower_ = lp.row_upper_ = goal
        start = np.concatenate(
            [self.start, self.start[-1] + self.start[1:], 2 * self.start[-1] + 1 + np.arange(bounds)]
        )
        index = np.concatenate([self.index, self.index, above, below])
        value = np.concatenate([self.value, -self.value, np.ones(above.size), -np.ones(below.size)])
        self._matrix(lp, highspy.MatrixFormat.kColwise, start, index, value)
        found = _solved(lp)
        return None if found is None else found[:rows] - found[rows : 2 * rows]

    @staticmethod
    def _matrix(lp: Any, form: Any, start: Ints, index: Ints, value: Floats) -> None:
        lp.a_matrix_.format_ = form
        lp.a_matrix_.start_, lp.a_matrix_.index_ = start.astype(np.int32), index.astype(np.int32)
        lp.a_matrix_.value_ = value


def _solved(lp: Any) -> Floats | None:
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("solver", "simplex")
    model.passModel(lp)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(model.getSolution().col_value)


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
        parents, codes = table.hierarchies[axis].parents, table.hierarchies[axis].codes
        through: dict[int, list[str]] = {}
        for code in rows:
            top = code
            while parents[top] in rows:
                top = parents[top]
            through.setdefault(top, []).extend([codes[code]] if code != top else [])
        named += [(rows[top], multiplier, tuple(below)) for top, below in through.items()]
    return [(m, line_name(table, system, row, below)) for row, m, below in sorted(named)]


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
        return "cannot be larger than known"
    value = exact(float(table.value.reshape(-1)[system.cells[bound.column]]))
    return "cannot be negative" if bound.room == value else "cannot be smaller than known"
