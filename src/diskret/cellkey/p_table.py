"""Perturbation tables: for every count (or scaled value) the distribution of the deviation that is added to it.

A cell with the count i and the cell key u, uniform between 0 and 1, gets the first deviation v whose cumulated
probability in row i exceeds u. Rows for larger counts are all equal, so the last row stands for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadPTable, ProtectionWarning, listed

ALL = "all"
ROUNDING = 1e-6
"""Files give probabilities with eight digits or so; sums that differ from one by less are their rounding."""
LARGEST = 1e15
"""Counts, scaled values and deviations beyond this are no numbers of a table."""
BIAS = 1e-4
"""Mean deviations up to this are the rounding of files too."""


class Rows(NamedTuple):
    """The rows of one kind, end to end: row r is about ``cell[r]``, its entries run from start[r] to start[r+1]."""

    cell: Floats
    start: Ints
    deviation: Floats
    p: Floats
    upper: Floats

    def row(self, r: int) -> tuple[Floats, Floats]:
        """Deviations and probabilities of one row."""
        entries = slice(self.start[r], self.start[r + 1])
        return self.deviation[entries], self.p[entries]

    @property
    def mean(self) -> Floats:
        """Mean deviation of every row."""
        return np.add.reduceat(self.p * self.deviation, self.start[:-1])

    @property
    def variance(self) -> Floats:
        """Variance of the deviation of every row."""
        return np.add.reduceat(self.p * self.deviation**2, self.start[:-1]) - self.mean**2


@dataclass(frozen=True, eq=False, kw_only=True)
class PTable:
    """A perturbation table, entry by entry; made by `design_p_table`, `read_p_table` or `PTable.of`.

    >>> table = PTable.of([0, 1, 1, 2, 2, 2], [0, -1, 1, -1, 0, 1], [1, 0.5, 0.5, 0.25, 0.5, 0.25])
    >>> table.most, table.rows().variance.tolist()
    (1.0, [0.0, 1.0, 0.5])
    """

    cell: Floats
    deviation: Floats
    p: Floats
    upper: Floats
    """Cumulated probability inside the row."""
    kind: tuple[str, ...]
    """To which cells the entry applies: "all", or "even" and "odd" numbers of contributors."""

    @classmethod
    def of(
        cls,
        cell: Sequence[float],
        deviation: Sequence[float],
        p: Sequence[float],
        upper: Sequence[float] | None = None,
        kind: Sequence[str] | None = None,
        *,
        where: str = "",
    ) -> PTable:
        """From entries in any order; refuses what is not a perturbation table, and names the rows."""
        i, v, share = (np.asarray(column, dtype=np.float64) for column in (cell, deviation, p))
        kinds = np.array(kind if kind is not None else [ALL] * i.size)
        if not i.size:
            raise BadPTable("the perturbation table has no rows", where=where, hint="give i, v and p of every entry.")
        if not all(np.isfinite(c).all() and (np.abs(c) <= LARGEST).all() for c in (i, v, share)):
            raise BadPTable("the perturbation table holds undefined numbers", where=where, hint="correct the table.")
        order = np.lexsort((v, i, kinds))
        given = np.full(i.size, np.nan) if upper is None else np.asarray(upper, dtype=np.float64)[order]
        table = cls(
            cell=i[order], deviation=v[order], p=share[order], upper=given, kind=tuple(kinds[order].tolist())
        )  # fmt: skip
        return _checked(table, where)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of cells it tells apart."""
        return tuple(dict.fromkeys(self.kind))

    def rows(self, kind: str = ALL) -> Rows:
        """The rows of one kind of cells."""
        chosen = np.flatnonzero(np.array(self.kind, dtype=object) == kind)
        i = self.cell[chosen]
        first = np.flatnonzero(np.append(True, i[1:] != i[:-1]))
        start = np.append(first, i.size).astype(np.int64)
        return Rows(i[first], start, self.deviation[chosen], self.p[chosen], self.upper[chosen])

    @property
    def most(self) -> float:
        """Largest deviation."""
        return float(np.abs(self.deviation).max())

    @property
    def counts(self) -> bool:
        """Whether this is a table for counts: whole numbers, a row for every small count."""
        whole = bool((self.deviation == np.rint(self.deviation)).all())
        labels = self.rows(self.kinds[0]).cell
        return whole and self.kinds == (ALL,) and bool((labels == np.arange(labels.size)).all())

    def __str__(self) -> str:
        rows = self.rows(self.kinds[0])
        lines = [f"{'i':>5} {'mean':>9} {'variance':>9} {'p(stay)':>8}   published"]
        for r, label in enumerate(rows.cell):
            v, p = rows.row(r)
            stay = float(p[v == 0].sum())
            shown = ", ".join(f"{label + x:g}" for x in v if x != 0) or "itself"
            words = f"{round(float(rows.mean[r]), 5) + 0.0:>9.5f} {rows.variance[r]:>9.5f} {stay:>8.4f}   {shown}"
            lines.append(f"{label:>5g}{'+' if r == rows.cell.size - 1 else ' '}{words}")
        return "\n".join(lines)


WRONG = {
    "do not sum to one": "the probabilities of a row are a distribution.",
    "hold probabilities below 0 or above 1": "the probabilities of a row are a distribution.",
    "turn zeros positive": "an empty cell stays empty: i = 0 has the one entry v = 0.",
    "make values negative": "no deviation of row i may be below -i.",
    "have cumulated probabilities that do not fit p": "leave the column out to have it computed.",
    "hold a deviation twice": "add the probabilities of both up.",
}
"""What may be wrong with rows, and what to do."""


def _faults(label: float, v: Floats, p: Floats, upper: Floats) -> tuple[bool, ...]:
    """What is wrong with one row, in the order of `WRONG`."""
    return (
        bool(abs(p.sum() - 1) > ROUNDING),
        bool((p < 0).any() or (p > 1 + ROUNDING).any()),
        bool(label == 0 and ((v != 0) & (p > 0)).any()),
        bool((label + v < 0)[p > 0].any()),
        bool((np.abs(upper - np.cumsum(p)) > ROUNDING).any() or (np.diff(upper) < 0).any()),
        np.unique(v).size < v.size,
    )


def _checked(table: PTable, where: str) -> PTable:
    """The table with its cumulated probabilities, once nothing is wrong with it."""
    upper = table.upper.copy()
    wrong: dict[str, list[str]] = {what: [] for what in WRONG}
    biased = []
    cumulated = bool(np.isnan(table.upper).all())
    kinds = np.array(table.kind, dtype=object)
    begins = np.flatnonzero(np.append(True, (kinds[1:] != kinds[:-1]) | (table.cell[1:] != table.cell[:-1])))
    for first, end in pairwise([*begins.tolist(), kinds.size]):
        entries, kind, label = slice(first, end), kinds[first], table.cell[first]
        v, p = table.deviation[entries], table.p[entries]
        if cumulated:
            upper[entries] = np.cumsum(p)
        name = f"{label:g}" if kind == ALL else f"{label:g} ({kind})"
        for what, found in zip(WRONG, _faults(label, v, p, upper[entries]), strict=True):
            wrong[what] += [name] * found
        biased += [name] * bool(abs(float(p @ v)) > BIAS)
        upper[end - 1] = 1.0
    _refuse(wrong, where)
    if not (table.cell == 0).any():
        raise BadPTable(
            "the perturbation table has no row for 0", where=where, hint="add one: i = 0, j = 0, p = 1, v = 0."
        )
    if biased:
        warnings.warn(
            f"rows {listed(biased)} of the perturbation table have a mean deviation other than 0: "
            "perturbed counts are biased",
            ProtectionWarning,
            stacklevel=4,
        )
    return replace(table, upper=upper)


def _refuse(wrong: dict[str, list[str]], where: str) -> None:
    for what, names in wrong.items():
        if names:
            first, rest = what.split(" ", 1)
            verb = first if len(names) > 1 else {"do": "does", "have": "has"}.get(first, first + "s")
            row = "rows" if len(names) > 1 else "row"
            raise BadPTable(
                f"{row} {listed(names)} of the perturbation table {verb} {rest}", where=where, hint=WRONG[what]
            )
