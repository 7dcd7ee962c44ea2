"""A pool: several tables of one response that share cells, seen as one set of cells and one system of equations.

All tables are put into one publication space, spanned by the classifications of all of them. A table that lacks a
classification shows its total there, or the code it is fixed at (its pseudo index). Cells with the same codes are the
same cell, and a cell is hidden in all tables or in none. Whatever adds up according to any of the tables adds up for
the reader, wherever all parts are published: also across tables, and in several groupings of one classification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations, equations_of
from diskret.model.errors import BadOption, UnknownCode, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Index, Table


@dataclass(frozen=True, eq=False)
class Space:
    """The publication space: the codes of all classifications, and the cells of the pool in it."""

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    """For each classification every code that any table shows."""
    tops: tuple[str, ...]
    """For each classification the code of its total; empty where it has none or several."""
    at: tuple[Ints, ...]
    """For each classification the number of the code of every cell."""

    def name_of(self, cell: int) -> str:
        """A cell in words; a classification of which it shows the total is left out, unless it shows nothing else."""
        codes = [(n, c[int(at[cell])]) for n, c, at in zip(self.names, self.codes, self.at, strict=True)]
        shown = [(n, c) for (n, c), top in zip(codes, self.tops, strict=True) if c != top]
        return ", ".join(f"{n}={c}" for n, c in shown or codes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool(Table):
    """Several tables as one: flat arrays over their distinct cells. Audit and suppression take it like a table.

    >>> cells = {"region": ["a", "b"], "x": [10, 20]}
    >>> one = Table.from_cells(cells, by={"region": None}, value="x")
    >>> cells = {"region": ["a", "a", "b"], "size": ["s", "l", "l"], "x": [4, 6, 20]}
    >>> two = Table.from_cells(cells, by={"region": None, "size": None}, value="x")
    >>> pool = Pool.of({"regions": one, "sizes": two})
    >>> pool
    Pool('x': 2 tables, 9 cells, 3 shared, 0 primary, 0 secondary)
    >>> pool.cells_of["regions"].tolist(), pool.name_of(0)
    ([2, 5, 8], 'region=a, size=l')
    """

    tables: Mapping[str, Table]
    """The tables as they were given; their statuses are those before anything was shared."""
    cells_of: Mapping[str, Ints]
    """For every table the pool cell behind each of its (flat) cells."""
    space: Space
    system: Equations
    """Everything that adds up, over all cells."""
    axes: tuple[tuple[str, str], ...]
    """Behind ``axis`` of the equations: the classification, and the first table that adds up like this."""
    published: tuple[str, ...] = ()
    """Tables that are out already: nothing in them can be changed."""

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Table],
        *,
        fixed: Mapping[str, Mapping[str, str]] | None = None,
        over: Mapping[str, Hierarchy] | None = None,
        published: Sequence[str] = (),
    ) -> Pool:
        """Recognise shared cells, check that they agree, and give each one status.

        ``fixed`` gives pseudo indices: per table the code of a classification it does not run over (left out: the
        total). ``over`` are hierarchies along which whole tables add up, such as states to the country. ``published``
        names tables that are out already: their open cells cannot be suppressed any more. A cell that is primary in one
        table is primary in all of them. Prior knowledge is intersected, protection levels are the largest.
        """
        from diskret.model.pooling import pooled

        return pooled(tables, fixed or {}, over or {}, tuple(published))

    @property
    def names(self) -> tuple[str, ...]:
        """Classifications of the publication space."""
        return self.space.names

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """A pool has none of its own: what walks along hierarchies must use the equations."""
        raise BadOption(
            "a pool has several tables, this needs one",
            hint="use guarantee='audit' for pools, or take single tables from split().",
        )

    def index(self, *codes: str) -> Index:
        """Position of a cell, by one code per classification of the publication space."""
        if len(codes) != len(self.names):
            raise BadOption(
                f"{len(codes)} codes for {len(self.names)} classifications", hint=f"order: {listed(self.names)}."
            )
        found = np.ones(self.size, dtype=np.bool_)
        for name, known, at, code in zip(self.names, self.space.codes, self.space.at, codes, strict=True):
            if code not in known:
                raise UnknownCode.in_column(name, [str(code)], known)
            found &= at == known.index(code)
        if not found.any():
            raise BadOption(f"no table of the pool shows the cell {listed(codes)}", hint="see pool.cells_of.")
        return (int(np.flatnonzero(found)[0]),)

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of a cell in the publication space."""
        return tuple(c[int(at[index[0]])] for c, at in zip(self.space.codes, self.space.at, strict=True))

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All cells in long form, values included: an internal view, not for publication."""
        codes = zip(self.names, self.space.codes, self.space.at, strict=True)
        return {name: np.array(known)[at] for name, known, at in codes} | {
            self.response: self.value,
            "status": np.array([s.text for s in Status])[self.status],
        }

    def name_of(self, cell: int) -> str:
        """Name of a cell, for messages; classifications of which it shows the total are left out."""
        return self.space.name_of(cell)

    def line_name(self, axis: int, sum_cell: int) -> str:
        """An equation in words: what is taken apart, and along which classification."""
        along, table = self.axes[axis]
        several = sum(name == along for name, _ in self.axes) > 1
        return f"({self.name_of(sum_cell)} along {along}{f' as in {table}' if several else ''})"

    @property
    def shared(self) -> Bools:
        """Cells that more than one table shows."""
        shown = np.zeros(self.size, dtype=np.int64)
        for cells in self.cells_of.values():
            shown[cells] += 1
        result: Bools = shown > 1
        return result

    @cached_property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to."""
        sums = self.system.sum_cell[self.system.row_of()]
        part = self.system.columns != sums
        return self.system.columns[part], sums[part]

    @cached_property
    def by_cell(self) -> tuple[Ints, Ints, Floats]:
        """The equations cell by cell: where the entries of each cell begin, rows, coefficients."""
        return self.system.by_column()

    def split(self) -> dict[str, Table]:
        """The single tables with the pattern of the pool: what is hidden in one is hidden in all.

        >>> cells = {"r": ["a", "b"], "x": [10, 20], "st": ["primary", "open"]}
        >>> one = Table.from_cells(cells, by={"r": None}, value="x", status="st")
        >>> two = Table.from_cells({"r": ["a", "b"], "x": [10, 20]}, by={"r": None}, value="x")
        >>> Pool.of({"one": one, "two": two}).split()["two"].status.tolist()
        [1, 0, 0]
        """
        return dict(self._split())

    def _split(self) -> Iterator[tuple[str, Table]]:
        for name, table in self.tables.items():
            if name in self.published:
                yield name, table
                continue
            mine = self.status[self.cells_of[name]].reshape(table.shape)
            hidden = (mine == Status.PRIMARY) | (mine == Status.SECONDARY)
            yield name, replace(table, status=np.where(hidden, mine, table.status))

    def __repr__(self) -> str:
        primary, secondary = int((self.status == Status.PRIMARY).sum()), int((self.status == Status.SECONDARY).sum())
        return (
            f"Pool({self.response!r}: {len(self.tables)} tables, {self.size} cells, {int(self.shared.sum())} shared, "
            f"{primary} primary, {secondary} secondary)"
        )


@equations_of.register
def _(table: Pool, hidden: Bools | None = None) -> Equations:
    return table.system.among(table.hidden if hidden is None else hidden)
